package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/seed-45b9a24c/pare/report"
)

// page lays out text: a title, then rows of a label and a text. Lines are no wider than the screen unless a
// word is.
type page struct {
	out   *bytes.Buffer
	width int
	facts []report.Fact // the texts of the rows, for a report
	// terminal says that the page is printed on a terminal.
	terminal bool
}

const (
	usualWidth = 80
	leastWidth = 40
	mostWidth  = 120 // beyond it lines are hard to read
	margin     = 17  // indentation of the texts; labels are in it
)

// screen returns the width to write in, in columns: that of COLUMNS, else that of the terminal, else 80.
func screen(w io.Writer) int {
	columns, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || columns <= 0 {
		columns = usualWidth
		if file, ok := w.(*os.File); ok {
			if c, _, err := term.GetSize(int(file.Fd())); err == nil && c > 0 {
				columns = c
			}
		}
	}
	return min(max(columns, leastWidth), mostWidth)
}

func (p *page) line(format string, args ...any) {
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "␊") // a name may contain one
	p.out.WriteString(strings.TrimRight(visible(text), " "))
	p.out.WriteByte('\n')
}

// visible replaces the control characters in a text, such as those of escape sequences in column names, by
// visible ones; line feeds stay.
func visible(text string) string {
	const pictures = '␀' // symbols for the 32 control characters, in their order
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || !unicode.IsControl(r):
			return r
		case r < ' ':
			return pictures + r
		default:
			return unicode.ReplacementChar
		}
	}, text)
}

// row prints a label and a text beside it.
func (p *page) row(label, format string, args ...any) {
	said := fmt.Sprintf(format, args...)
	p.note(label, said)
	for _, text := range wrap(said, p.width-margin) {
		p.line("  %s%s", pad(label, margin-2), text)
		label = ""
	}
}

// note keeps the text of a row for a report.
func (p *page) note(label, said string) {
	said = strings.Join(strings.Fields(said), " ")
	last := len(p.facts) - 1
	switch {
	case label != "" || last < 0:
		p.facts = append(p.facts, report.Fact{Label: label, Text: said})
	case strings.HasSuffix(p.facts[last].Text, ":"):
		p.facts[last].Text += " " + said
	default:
		p.facts[last].Text += "; " + said
	}
}

func (p *page) heading(what string, d *dataset) {
	p.line("pare %s", what)
	for _, text := range wrap(d.String(), p.width) {
		p.line("%s", text)
	}
	p.line("")
}

func (p *page) title(command string, a asked) {
	p.heading(command+", "+a.problem()+" "+a.intercept(), a.data)
}

// next suggests commands. A command that does not fit on a line is continued after a backslash, as in a shell.
func (p *page) next(commands ...string) {
	label := "next"
	for _, c := range commands {
		if c == "" {
			continue
		}
		lines := fill(c, p.width-margin-2)
		for i, text := range lines {
			if i < len(lines)-1 {
				text += ` \`
			}
			if i > 0 {
				text = "  " + text
			}
			p.line("  %s%s", pad(label, margin-2), text)
			label = ""
		}
	}
}

// items prints short texts side by side, as many per line as fit.
func (p *page) items(texts []string) {
	p.note("", strings.Join(texts, ", "))
	line := ""
	flush := func() { p.line("%*s%s", margin, "", line) }
	for _, text := range texts {
		switch joined := line + "   " + text; {
		case line == "":
			line = text
		case utf8.RuneCountInString(joined) <= p.width-margin:
			line = joined
		default:
			flush()
			line = text
		}
	}
	if line != "" {
		flush()
	}
}

// column is a column of a table. Where the screen is narrow, columns with the largest spare are left out first;
// those with 0 always stay.
type column struct {
	head  string
	left  bool // aligned to the left
	spare int
}

// table prints rows under column heads.
func (p *page) table(indent int, columns []column, rows [][]string) {
	widths := make([]int, len(columns))
	for j, c := range columns {
		widths[j] = utf8.RuneCountInString(c.head)
		for _, row := range rows {
			widths[j] = max(widths[j], utf8.RuneCountInString(row[j]))
		}
	}
	gone := make([]bool, len(columns))
	for {
		total, least := indent, -1
		for j, c := range columns {
			if gone[j] {
				continue
			}
			total += widths[j] + 2
			if c.spare > 0 && (least < 0 || c.spare > columns[least].spare) {
				least = j
			}
		}
		if total-2 <= p.width || least < 0 {
			break
		}
		gone[least] = true
	}
	list := func(cell func(j int) string) {
		var fields []string
		for j, c := range columns {
			switch text := cell(j); {
			case gone[j]:
			case c.left:
				fields = append(fields, pad(text, widths[j]))
			default:
				fields = append(fields, strings.Repeat(" ", widths[j]-utf8.RuneCountInString(text))+text)
			}
		}
		p.line("%*s%s", indent, "", strings.Join(fields, "  "))
	}
	list(func(j int) string { return columns[j].head })
	for _, row := range rows {
		list(func(j int) string { return row[j] })
	}
}

// pad pads a text to a width.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

// wrap breaks a text into lines.
func wrap(text string, width int) []string {
	var lines []string
	rest := []rune(text)
	for len(rest) > width {
		at := breakAt(rest, width)
		lines = append(lines, strings.TrimRight(string(rest[:at]), " "))
		rest = []rune(strings.TrimLeft(string(rest[at:]), " "))
	}
	return append(lines, string(rest))
}

// breakAt returns where a line ends: at a blank after a comma, semicolon or colon in its right half; else at
// the last blank that fits and is not between quotes; else at the last blank that fits; else at the first blank
// of all.
func breakAt(text []rune, width int) int {
	quoted := false
	for _, r := range text[:width] {
		quoted = quoted != (r == '"')
	}
	last, between := -1, -1
	for at := width; at > 0; at-- {
		switch {
		case text[at] != ' ':
		case quoted:
			between = max(between, at)
		case at > width/2 && strings.ContainsRune(",;:", text[at-1]):
			return at
		default:
			last = max(last, at)
		}
		quoted = quoted != (text[at-1] == '"')
	}
	if at := cmp.Or(max(last, 0), max(between, 0)); at > 0 {
		return at
	}
	if next := slices.Index(text[width:], ' '); next >= 0 {
		return width + next
	}
	return len(text)
}

// fill breaks a command into lines between words, each as full as possible.
func fill(text string, width int) []string {
	var lines []string
	for _, word := range shellWords(text) {
		last := len(lines) - 1
		if last < 0 || utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) > width-2*min(last, 1) {
			lines = append(lines, word)
		} else {
			lines[last] += " " + word
		}
	}
	return lines
}

// shellWords splits a command into words; blanks between quotes belong to a word.
func shellWords(text string) []string {
	quoted := false
	return strings.FieldsFunc(text, func(r rune) bool {
		if r == '\'' {
			quoted = !quoted
		}
		return r == ' ' && !quoted
	})
}
