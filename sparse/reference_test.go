package sparse_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// The reference parser holds the whole text, cuts it into lines and tokens with regular
// expressions, and computes numbers with big.Float. It shares only the documented grammar with
// the reader.

type refEntry struct {
	i, j int
	v    float64
}

type refMatrix struct {
	n, p    int
	entries []refEntry // by row, then column
	y       []float64
}

type refError struct {
	kind outcome.Kind
	line int
	byt  int64
}

var (
	refToken  = regexp.MustCompile(`[^ \t\r]+`)
	refNumber = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	refPrefix = regexp.MustCompile(`^[+-]?[0-9]*(\.[0-9]*)?([eE][+-]?[0-9]*)?`)
	refDigits = regexp.MustCompile(`^[0-9]*`)
	refQuery  = regexp.MustCompile(`^qid:[0-9]+$`)
)

func referenceParse(text []byte, opt sparse.ReadOptions) (*refMatrix, *refError) {
	base := 1
	if opt.ZeroBased {
		base = 0
	}
	m := &refMatrix{}
	for number, line := range strings.Split(string(text), "\n") {
		fail := func(kind outcome.Kind, at int) (*refMatrix, *refError) {
			return nil, &refError{kind, number + 1, int64(at) + 1}
		}
		line, _, _ = strings.Cut(line, "#")
		tokens := refToken.FindAllStringIndex(line, -1)
		previous := -1
		for k, t := range tokens {
			start, token := t[0], line[t[0]:t[1]]
			if k == 0 {
				label, kind := referenceNumber(token)
				if kind != "" {
					return fail(kind, start)
				}
				m.y = append(m.y, label)
				continue
			}
			if k == 1 && token[0] == 'q' {
				if !refQuery.MatchString(token) {
					return fail(outcome.Parse, start)
				}
				continue
			}
			digits := refDigits.FindString(token)
			if digits == "" || (len(digits) > 1 && digits[0] == '0') {
				return fail(outcome.Parse, start)
			}
			index, _ := new(big.Int).SetString(digits, 10)
			column := new(big.Int).Sub(index, big.NewInt(int64(base)))
			limit := opt.MaxFeatures
			if limit == 0 {
				limit = sparse.DefaultMaxFeatures
			}
			switch {
			case column.Sign() < 0:
				return fail(outcome.Parse, start)
			case opt.Features > 0 && column.Cmp(big.NewInt(int64(opt.Features))) >= 0:
				return fail(outcome.Shape, start)
			case column.Cmp(big.NewInt(int64(limit))) >= 0 && opt.Features == 0:
				return fail(outcome.Limit, start)
			case len(digits) == len(token) || token[len(digits)] != ':':
				return fail(outcome.Parse, start+len(digits))
			}
			j := int(column.Int64())
			if j <= previous {
				return fail(outcome.Parse, start)
			}
			previous = j
			v, kind := referenceNumber(token[len(digits)+1:])
			if kind != "" {
				return fail(kind, start+len(digits)+1)
			}
			if v != 0 {
				m.entries = append(m.entries, refEntry{len(m.y) - 1, j, v})
			}
			m.p = max(m.p, j+1)
		}
	}
	m.n = len(m.y)
	if opt.Features > 0 {
		m.p = opt.Features
	}
	return m, nil
}

func referenceNumber(token string) (float64, outcome.Kind) {
	if len(refPrefix.FindString(token)) > sparse.MaxNumber {
		return 0, outcome.Limit
	}
	if !refNumber.MatchString(token) {
		return 0, outcome.Parse
	}
	mantissa, power, _ := strings.Cut(strings.ToLower(token), "e")
	zero := !strings.ContainsAny(mantissa, "123456789")
	if power != "" && !zero {
		if e, err := strconv.Atoi(power); err != nil || e > 99999 || e < -99999 {
			return 0, outcome.Parse
		}
	}
	if zero {
		if token[0] == '-' {
			return math.Copysign(0, -1), ""
		}
		return 0, ""
	}
	wide, _, err := big.ParseFloat(token, 10, 4096, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	v, _ := wide.Float64()
	if v == 0 || math.IsInf(v, 0) {
		return 0, outcome.Parse
	}
	return v, ""
}

// checkAgainst compares what the reader returned with the reference.
func checkAgainst(want *refMatrix, wantErr *refError, m *sparse.CSC, y []float64, err error) error {
	if wantErr != nil {
		var e *outcome.Error
		if !errors.As(err, &e) {
			if err == nil {
				err = errors.New("absent")
			}
			return fmt.Errorf("error is %w, want %v at line %d, byte %d", err, wantErr.kind, wantErr.line, wantErr.byt)
		}
		if e.Kind != wantErr.kind || e.Line != wantErr.line || e.Byte != wantErr.byt {
			return fmt.Errorf("error is %s %w, want %v at line %d, byte %d", e.Kind, e, wantErr.kind, wantErr.line, wantErr.byt)
		}
		if m != nil || y != nil {
			return errors.New("a matrix came with the error")
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("unexpected error: %w", err)
	}
	if n, p := m.Dims(); n != want.n || p != want.p {
		return fmt.Errorf("matrix is %d × %d, want %d × %d", n, p, want.n, want.p)
	}
	if !slices.EqualFunc(y, want.y, sameBits) {
		return fmt.Errorf("labels %v, want %v", y, want.y)
	}
	if err := checkInvariants(m); err != nil {
		return err
	}
	sorted := slices.Clone(want.entries)
	slices.SortStableFunc(sorted, func(a, b refEntry) int { return cmp.Compare(a.j, b.j) })
	if int64(len(sorted)) != m.NNZ() {
		return fmt.Errorf("%d nonzeros, want %d", m.NNZ(), len(sorted))
	}
	for k := 0; k < len(sorted); {
		j := sorted[k].j
		rows, values := m.Column(j)
		for c, i := range rows {
			if k == len(sorted) || sorted[k].j != j || sorted[k].i != int(i) || !sameBits(sorted[k].v, values[c]) {
				return fmt.Errorf("column %d has (%d, %v), want %v", j, i, values[c], sorted[min(k, len(sorted)-1)])
			}
			k++
		}
		if k < len(sorted) && sorted[k].j == j {
			return fmt.Errorf("column %d lacks %v", j, sorted[k])
		}
	}
	return nil
}

func sameBits(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// checkInvariants checks that a matrix satisfies every invariant of CSC.
func checkInvariants(m *sparse.CSC) error {
	n, p := m.Dims()
	order, colPtr, rows, values := m.Storage()
	if r, v := m.Arrays(); !slices.Equal(r, rows) || !slices.Equal(v, values) {
		return errors.New("Arrays are not those of Storage")
	}
	if !slices.Equal(order, m.Order()) || len(colPtr) != len(order)+1 || colPtr[0] != 0 ||
		int(colPtr[len(order)]) != len(rows) || len(rows) != len(values) || m.NNZ() != int64(len(rows)) {
		return errors.New("storage does not fit together")
	}
	for s, j := range order {
		if j < 0 || int(j) >= p {
			return fmt.Errorf("slot %d holds column %d of %d", s, j, p)
		}
		length := colPtr[s+1] - colPtr[s]
		if length <= 0 {
			return fmt.Errorf("slot %d holds %d entries", s, length)
		}
		if s > 0 {
			if before := colPtr[s] - colPtr[s-1]; before > length || before == length && order[s-1] >= j {
				return fmt.Errorf("slots %d and %d are not in order of length, then index", s-1, s)
			}
		}
		r, v := m.Column(int(j))
		if int64(len(r)) != length || len(v) != len(r) || &r[0] != &rows[colPtr[s]] || &v[0] != &values[colPtr[s]] {
			return fmt.Errorf("column %d is not slot %d", j, s)
		}
		if place := m.Place(int(j)); place != s {
			return fmt.Errorf("the place of column %d is %d, want %d", j, place, s)
		}
		if from, to := m.Span(int(j)); from != colPtr[s] || to != colPtr[s+1] {
			return fmt.Errorf("column %d spans %d to %d, its slot %d to %d", j, from, to, colPtr[s], colPtr[s+1])
		}
		if cap(r) != len(r) || cap(v) != len(v) {
			return fmt.Errorf("column %d can be appended to", j)
		}
		for k, i := range r {
			if i < 0 || int(i) >= n || k > 0 && i <= r[k-1] || v[k] == 0 || math.IsNaN(v[k]) || math.IsInf(v[k], 0) {
				return fmt.Errorf("column %d, entry %d: row %d, value %v", j, k, i, v[k])
			}
		}
	}
	listed := map[int32]bool{}
	for _, j := range order {
		listed[j] = true
	}
	if len(listed) != len(order) {
		return errors.New("a column is stored twice")
	}
	for j := range min(p, 100) {
		from, to := m.Span(j)
		if r, v := m.Column(j); r == nil || !listed[int32(j)] && len(r)+len(v)+int(to-from) > 0 {
			return fmt.Errorf("column %d: nil, or not listed and not empty", j)
		}
	}
	return nil
}

// textMaker writes random svmlight text, mostly valid.
type textMaker struct {
	*rand.Rand
	b    bytes.Buffer
	base int
	p    int
}

func (g *textMaker) pick(choices ...string) string { return choices[g.IntN(len(choices))] }

func (g *textMaker) file(lines int) []byte {
	g.b.Reset()
	eol := g.pick("\n", "\n", "\r\n")
	for k := range lines {
		g.line()
		if k < lines-1 || g.IntN(2) == 0 {
			g.b.WriteString(eol)
		}
	}
	text := g.b.Bytes()
	for g.IntN(4) == 0 && len(text) > 0 { // damage the text
		at := g.IntN(len(text))
		switch g.IntN(3) {
		case 0:
			const bytes = "0123456789 :.+-eE#q\n\r\t\x00nai_x,\xff"
			text[at] = bytes[g.IntN(len(bytes))]
		case 1:
			text = slices.Delete(text, at, min(at+1+g.IntN(3), len(text)))
		default:
			text = slices.Insert(text, at, text[at:min(at+1+g.IntN(8), len(text))]...)
		}
	}
	return text
}

func (g *textMaker) line() {
	switch g.IntN(12) {
	case 0:
		g.b.WriteString(g.pick("", " ", "\t\t ", "# only : a 1:2 comment", "  #\x00\xff#"))
		return
	case 1:
		g.blank()
	}
	g.b.WriteString(g.number())
	if g.IntN(6) == 0 {
		g.blank()
		fmt.Fprintf(&g.b, "qid:%d", g.IntN(1000))
	}
	j := g.base - 1
	for range g.IntN(1 + g.IntN(20)) {
		j += 1 + g.IntN(1+g.p)
		g.blank()
		fmt.Fprintf(&g.b, "%d:%s", j, g.number())
	}
	if g.IntN(6) == 0 {
		g.b.WriteString(g.pick(" ", "\t", "", "  \t"))
	}
	if g.IntN(8) == 0 {
		g.b.WriteString(g.pick("#", " # comment", "#1:2 3:4"))
	}
}

func (g *textMaker) blank() {
	if g.IntN(10) > 0 {
		g.b.WriteByte(' ')
		return
	}
	g.b.WriteString(strings.Repeat(g.pick(" ", "\t", " \t", "\r "), 1+g.IntN(3)))
}

// number spells a random float64 in one of the ways found in files.
func (g *textMaker) number() string {
	sign := g.pick("", "", "", "-", "+")
	switch g.IntN(14) {
	case 0:
		return sign + "1"
	case 1:
		return sign + strconv.Itoa(g.IntN(300))
	case 2, 3, 4:
		return sign + strconv.FormatFloat(g.Float64(), 'f', 1+g.IntN(8), 64)
	case 5:
		return sign + strconv.FormatFloat(math.Float64frombits(g.Uint64()&^(1<<63)%0x7ff0000000000000), 'g', -1, 64)
	case 6:
		return sign + strconv.FormatFloat(g.ExpFloat64(), 'e', g.IntN(25), 64)
	case 7:
		return sign + strconv.FormatUint(g.Uint64(), 10)
	case 8:
		return sign + strconv.FormatUint(g.Uint64()>>g.IntN(64), 10) + g.pick("e", "E", "e+", "e-", "E-") + strconv.Itoa(g.IntN(40))
	case 9:
		return sign + g.pick("0", "0.0", ".0", "0.", "00", "0e5", "0e999999", "-0", "0.000e-400")
	case 10:
		return sign + g.pick(".5", "5.", "05", "1e5", "1.e2", "1e0005", "9007199254740993", "9007199254740992.5", "1e22", "1e23", "123456789012345678901234567890")
	case 11:
		return sign + g.pick("4.9e-324", "2.4703282292062328e-324", "2.4703282292062327e-324", "1.7976931348623157e308", "1.7976931348623159e308", "2.2250738585072011e-308")
	case 12:
		return sign + strings.Repeat("0", g.IntN(30)) + "." + strings.Repeat("0", g.IntN(30)) + strconv.Itoa(1+g.IntN(1e6))
	default:
		if g.IntN(20) > 0 {
			return sign + "0." + strconv.Itoa(g.IntN(10000))
		}
		return g.pick("nan", "inf", "0x1p-2", "1_0", "1e400", "1e-400", "1,5", "", "1:2", "e5", ".", "1e", "1e+", "--1", "+-1", "1.2.3", sign+"0."+strings.Repeat("123456789", 440), sign+strings.Repeat("9", 5000))
	}
}

// pieces reads r in random short reads, some of them empty.
type pieces struct {
	r    io.Reader
	rand *rand.Rand
	most int
}

func (p *pieces) Read(b []byte) (int, error) {
	return p.r.Read(b[:min(len(b), p.rand.IntN(p.most+1))])
}

func TestReferenceKnowsItsGrammar(t *testing.T) {
	m, err := referenceParse([]byte("# c\n+1 qid:3 1:.5 3:2e1#x\r\n\n-1 2:0\n"), sparse.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := &refMatrix{n: 2, p: 3, entries: []refEntry{{0, 0, 0.5}, {0, 2, 20}}, y: []float64{1, -1}}
	if fmt.Sprint(m) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", m, want)
	}
	if _, err := referenceParse([]byte("1 1:1\n1 2:1 1:1"), sparse.ReadOptions{}); err == nil || *err != (refError{outcome.Parse, 2, 7}) {
		t.Errorf("got %v", err)
	}
}
