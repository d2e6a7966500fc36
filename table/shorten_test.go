package table

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestMessagesAreCutBetweenRunes checks that a message shows the beginning of a long cell, cut so
// that it remains valid UTF-8.
func TestMessagesAreCutBetweenRunes(t *testing.T) {
	for before := range 4 {
		for _, letter := range []string{"a", "é", "€", "🙂"} {
			cell := strings.Repeat("x", before) + strings.Repeat(letter, 41)
			got := shorten(cell)
			kept, cut := strings.CutSuffix(got, "…")
			if !cut || !utf8.ValidString(got) || !strings.HasPrefix(cell, kept) || len(kept) > 40 || len(kept) <= 40-utf8.UTFMax {
				t.Errorf("%q is cut to %q", cell, got)
			}
		}
	}
	if got := shorten("short"); got != "short" {
		t.Errorf("short is %q", got)
	}
}
