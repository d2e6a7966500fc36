package sparse

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestQuickIsExact: whatever quick takes is what strconv makes of it, and it
// takes nothing before or after.
func TestQuickIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	taken := 0
	draws := int(oracle.Draws(200_000))
	for range draws {
		index := strconv.Itoa(r.IntN(1 << r.IntN(31)))
		value := strconv.FormatFloat(r.NormFloat64()*math.Pow10(r.IntN(12)-4), "ffge"[r.IntN(4)], r.IntN(20), 64)
		end := []string{" ", "\n", "#", "\r\n", "e ", "_", ":"}[r.IntN(7)]
		text := " " + index + ":" + value + end
		s := scanner{buf: []byte(text + strings.Repeat("7", quickReach)), columns: MaxDim, opt: ReadOptions{MaxEntries: 1}}
		s.end = len(s.buf)
		s.rows.row(0)
		at := rowState{-1, -1}
		s.quick(1, &at)
		if s.pos == 0 {
			if at.named >= 0 || s.rows.nnz > 0 {
				t.Fatalf("%q: declined, yet it left %+v and %d entries", text, at, s.rows.nnz)
			}
			continue
		}
		taken++
		want, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		if end != " " && end != "\n" || s.pos != len(text)-len(end) || strconv.Itoa(at.named+1) != index {
			t.Fatalf("%q: took %d bytes, column %d", text, s.pos, at.named)
		}
		if want == 0 {
			if s.rows.nnz != 0 {
				t.Fatalf("%q: a zero was stored", text)
			}
			continue
		}
		records := s.rows.complete()[0]
		_, _, _, size := decode(records[:recordReach]) // the label
		step, form, raw, _ := decode(records[size : size+recordReach])
		v := number(form, raw)
		if int(step)-1 != at.named || math.Float64bits(v) != math.Float64bits(want) {
			t.Fatalf("%q: step %d, value %v, want %v", text, step, v, want)
		}
	}
	if taken < draws/10 {
		t.Errorf("only %d entries were taken", taken)
	}
}
