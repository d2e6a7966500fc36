package sparse_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestVerdicts lists what is accepted, what is refused, and where the error points. Every text
// is line 2 of its file.
func TestVerdicts(t *testing.T) {
	const accepted = outcome.Kind("")
	for k, c := range []struct {
		name, line string
		kind       outcome.Kind
		byt        int64
		says       string
	}{
		{"the usual", "+1 1:0.5 3:-2", accepted, 0, ""},
		{"label alone", "3", accepted, 0, ""},
		{"real label", "-1.5e-3 1:1", accepted, 0, ""},
		{"tabs", "1\t1:1\t\t2:1\t", accepted, 0, ""},
		{"carriage return", "1 1:1\r", accepted, 0, ""},
		{"qid", "1 qid:7 1:1", accepted, 0, ""},
		{"qid alone", "1 qid:7", accepted, 0, ""},
		{"long qid", "1 qid:99999999999999999999999 1:1", accepted, 0, ""},
		{"comment", "1 1:1 # 1:2 : nan \x00", accepted, 0, ""},
		{"comment at once", "1 1:1#x", accepted, 0, ""},
		{"comment after label", "1#x", accepted, 0, ""},
		{"comment after qid", "1 qid:1#x", accepted, 0, ""},
		{"plus in a value", "1 1:+5", accepted, 0, ""},
		{"no digit before the point", "1 1:.5", accepted, 0, ""},
		{"no digit after the point", "1 1:5.", accepted, 0, ""},
		{"leading zeros in a value", "1 1:007", accepted, 0, ""},
		{"capital exponent", "1 1:1E5", accepted, 0, ""},
		{"zero", "1 1:0 2:-0.0 3:0e999", accepted, 0, ""},
		{"largest float64", "1 1:1.7976931348623157e308", accepted, 0, ""},
		{"least subnormal", "1 1:5e-324", accepted, 0, ""},

		{"the index is 0", "1 0:1", outcome.Parse, 3, "the index is 0, but indices count from 1"},
		{"negative index", "1 -1:1", outcome.Parse, 3, `found "-1:1"`},
		{"signed index", "1 +5:1", outcome.Parse, 3, `found "+5:1"`},
		{"index 007", "1 007:1", outcome.Parse, 3, "leading zero"},
		{"index 00", "1 00:1", outcome.Parse, 3, "leading zero"},
		{"unsorted", "1 1:1 3:1 2:1", outcome.Parse, 11, "index 2 follows index 3"},
		{"duplicate", "1 1:1 2:1 2:1", outcome.Parse, 11, "index 2 follows index 2"},
		{"duplicate zero", "1 1:0 1:1", outcome.Parse, 7, "index 1 follows index 1"},
		{"index beyond the default limit", "1 67108865:1", outcome.Limit, 3, "67108864 columns"},
		{"index 2^31-2", "1 2147483646:1", outcome.Limit, 3, "limit"},
		{"index 2^31", "1 2147483648:1", outcome.Limit, 3, "limit"},
		{"index 2^32+1", "1 4294967297:1", outcome.Limit, 3, "limit"},
		{"index 2^62", "1 4611686018427387904:1", outcome.Limit, 3, "limit"},
		{"index 2^63", "1 9223372036854775808:1", outcome.Limit, 3, "limit"},
		{"index 2^64+1", "1 18446744073709551617:1", outcome.Limit, 3, "limit"},
		{"index of 10000 digits", "1 1" + strings.Repeat("0", 9999) + ":1", outcome.Limit, 3, "limit"},
		{"index with a point", "1 1.0:1", outcome.Parse, 4, `expected a colon after the index, found ".0:1"`},
		{"index with a letter", "1 x:1", outcome.Parse, 3, `expected an index, found "x:1"`},
		{"hexadecimal index", "1 0x1:1", outcome.Parse, 3, "the index is 0"},

		{"nan", "1 1:nan", outcome.Parse, 5, `expected a value, found "nan"`},
		{"NaN", "1 1:NaN", outcome.Parse, 5, ""},
		{"inf", "1 1:inf", outcome.Parse, 5, ""},
		{"-inf", "1 1:-inf", outcome.Parse, 5, ""},
		{"Infinity", "1 1:Infinity", outcome.Parse, 5, ""},
		{"hexadecimal", "1 1:0x1p-2", outcome.Parse, 5, `found "0x1p-2"`},
		{"underscore", "1 1:1_0", outcome.Parse, 5, `found "1_0"`},
		{"1e400", "1 1:1e400", outcome.Parse, 5, "outside the range of float64"},
		{"just beyond the largest", "1 1:1.7976931348623159e308", outcome.Parse, 5, "outside the range"},
		{"1e-400", "1 1:1e-400", outcome.Parse, 5, "outside the range of float64"},
		{"half the least subnormal", "1 1:2.4703282292062327e-324", outcome.Parse, 5, "outside the range"},
		{"exponent beyond int64", "1 1:1e99999999999999999999", outcome.Parse, 5, "outside the range"},
		{"decimal comma", "1 1:1,5", outcome.Parse, 5, `found "1,5"`},
		{"no value", "1 1:", outcome.Parse, 5, "expected a value, found the end of the line"},
		{"no value, more follows", "1 1: 2:1", outcome.Parse, 5, "found a blank"},
		{"no value, comment", "1 1:#", outcome.Parse, 5, "found a comment"},
		{"no index", "1 :1", outcome.Parse, 3, `found ":1"`},
		{"no colon", "1 1 2:1", outcome.Parse, 4, "expected a colon after the index, found a blank"},
		{"no colon at the end", "1 1", outcome.Parse, 4, "found the end of the line"},
		{"two colons", "1 1::1", outcome.Parse, 5, `found ":1"`},
		{"two values", "1 1:2:3", outcome.Parse, 5, `found "2:3"`},
		{"space before the colon", "1 1 :1", outcome.Parse, 4, ""},
		{"space after the colon", "1 1: 1", outcome.Parse, 5, ""},
		{"sign alone", "1 1:-", outcome.Parse, 5, ""},
		{"two signs", "1 1:+-1", outcome.Parse, 5, ""},
		{"point alone", "1 1:.", outcome.Parse, 5, ""},
		{"exponent without digits", "1 1:1e", outcome.Parse, 5, ""},
		{"exponent with a sign only", "1 1:1e+", outcome.Parse, 5, ""},
		{"exponent alone", "1 1:e5", outcome.Parse, 5, ""},
		{"two points", "1 1:1.2.3", outcome.Parse, 5, ""},
		{"letter after a value", "1 1:1f", outcome.Parse, 5, `found "1f"`},
		{"non-breaking space", "1\u00a01:1", outcome.Parse, 1, ""},
		{"vertical tab", "1 1:1\v2:1", outcome.Parse, 5, ""},
		{"Arabic digits", "1 1:\u0661", outcome.Parse, 5, ""},

		{"no label", "1:1 2:1", outcome.Parse, 1, `expected a label, found "1:1"`},
		{"label a word", "spam 1:1", outcome.Parse, 1, `expected a label, found "spam"`},
		{"label nan", "nan 1:1", outcome.Parse, 1, ""},
		{"label 1e400", "1e400 1:1", outcome.Parse, 1, "a label is outside the range"},
		{"several labels", "1,2 1:1", outcome.Parse, 1, `found "1,2"`},
		{"qid without digits", "1 qid: 1:1", outcome.Parse, 3, "digits after qid:"},
		{"qid with a letter", "1 qid:a 1:1", outcome.Parse, 3, "digits after qid:"},
		{"qid later", "1 1:1 qid:1", outcome.Parse, 7, "expected an index"},
		{"qid twice", "1 qid:1 qid:1", outcome.Parse, 9, "expected an index"},
		{"q", "1 q", outcome.Parse, 3, "expected an index"},
		{"carriage returns for lines", "1 1:1\r-1 1:1", outcome.Parse, 7, "expected an index"},
		{"carriage returns for lines, labels", "1 1:1\r2 1:1", outcome.Parse, 8, "expected a colon"},

		{"NUL", "1 1:1\x00", outcome.Parse, 5, `found "1\x00"`},
		{"NUL alone", "\x00", outcome.Parse, 1, `found "\x00"`},
		{"NUL in the label", "1\x00 1:1", outcome.Parse, 1, ""},
		{"NUL in the index", "1 1\x00:1", outcome.Parse, 4, ""},
		{"byte order mark", "\ufeff1 1:1", outcome.Parse, 1, ""},
		{"UTF-16", "1\x00 \x001\x00", outcome.Parse, 1, ""},

		{"long number", "1 1:1" + strings.Repeat("0", 4096), outcome.Limit, 5, "more than 4096 bytes"},
		{"long fraction", "1 1:0." + strings.Repeat("3", 4095), outcome.Limit, 5, "more than 4096 bytes"},
		{"longer than any buffer", "1 1:" + strings.Repeat("3", 200_000), outcome.Limit, 5, "more than 4096 bytes"},
		{"long exponent", "1 1:1e" + strings.Repeat("0", 5000) + "1", outcome.Limit, 5, "more than 4096 bytes"},
		{"long label", strings.Repeat("3", 5000), outcome.Limit, 1, "a label of more than 4096 bytes"},
		{"longest number", "1 1:0." + strings.Repeat("3", 4094), accepted, 0, ""},
		{"longest qid", "1 qid:" + strings.Repeat("3", 4092), accepted, 0, ""},
		{"long qid, longer than allowed", "1 qid:" + strings.Repeat("3", 4093), outcome.Limit, 3, "a qid of more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ends := []string{"\n", "", "\n1 1:1\n", "\r\n" + strings.Repeat("1 1:1\n", 20_000)}
			if !oracle.Turn(k, 1) {
				ends = ends[:3]
			}
			for _, end := range ends {
				m, y, err := read("-1 2:1\n"+c.line+end, sparse.ReadOptions{Name: "some.svm"})
				if c.kind == accepted {
					if err != nil {
						t.Fatalf("rejected: %v", err)
					}
					continue
				}
				var e *outcome.Error
				if !errors.As(err, &e) {
					t.Fatalf("error is %v, want a typed one", err)
				}
				if e.Kind != c.kind || e.Line != 2 || e.Byte != c.byt || e.File != "some.svm" {
					t.Errorf("%s at %s line %d, byte %d; want %s at line 2, byte %d (%v)", e.Kind, e.File, e.Line, e.Byte, c.kind, c.byt, e)
				}
				if !strings.Contains(e.Error(), c.says) {
					t.Errorf("message %q does not say %q", e, c.says)
				}
				if len(e.Error()) > 200 {
					t.Errorf("message of %d bytes", len(e.Error()))
				}
				if m != nil || y != nil {
					t.Error("a partial matrix escaped")
				}
			}
		})
	}
}
