package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// pageCommand renews the tables of a page from the files beside it. It replaces the text between two marks and
// leaves the rest of the page alone:
//
//	<!-- table FILE [: COLUMN, ...] -->   a CSV, or some columns of it
//	<!-- peers FILE : MODEL,... GAP -->           what perf peers --csv wrote, a row per problem
//	<!-- best FILE, ... : MODEL,... [RATIO] = GOAL; ... -->   the best other program of each problem, beside a goal
//	<!-- run FILE -->                             how a study was run
//	<!-- end -->
type pageCommand struct {
	File string `arg:"" optional:"" default:"docs/results.md" help:"The page (default: docs/results.md)."`
}

const endMark = "<!-- end -->"

// blocks returns, by the name of a mark, the function that makes the block from the files and the text after
// the colon.
var blocks = map[string]func(paths []string, how string) (string, error){
	"table": ofOne(tableBlock), "peers": ofOne(peersBlock), "run": ofOne(runBlock), "best": bestBlock,
}

// ofOne adapts a block of a single file.
func ofOne(block func(path, how string) (string, error)) func(paths []string, how string) (string, error) {
	return func(paths []string, how string) (string, error) {
		if len(paths) > 1 {
			return "", errors.New("one file, not several")
		}
		return block(paths[0], how)
	}
}

func (c *pageCommand) run(_ context.Context, env environment) error {
	text, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	renewed, err := renew(string(text), filepath.Dir(c.File), func(why string) { fmt.Fprintf(env.stderr, "perf: left as it is: %s\n", why) })
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	return os.WriteFile(c.File, []byte(renewed), 0o644)
}

// renew replaces the blocks of a page whose files are under dir. A block whose file is missing stays as it is.
func renew(page, dir string, skipped func(why string)) (string, error) {
	var out strings.Builder
	for {
		from := strings.Index(page, "<!-- ")
		if from < 0 {
			out.WriteString(page)
			return out.String(), nil
		}
		length := strings.Index(page[from:], " -->")
		if length < 0 {
			return "", errors.New("a mark that does not end")
		}
		mark := page[from+len("<!-- ") : from+length]
		kind, rest, _ := strings.Cut(mark, " ")
		render := blocks[kind]
		after := from + length + len(" -->")
		out.WriteString(page[:after])
		page = page[after:]
		if render == nil { // an ordinary comment
			continue
		}
		end := strings.Index(page, endMark)
		if end < 0 {
			return "", fmt.Errorf("no %s after %q", endMark, mark)
		}
		names, how, _ := strings.Cut(rest, ":")
		var paths []string
		for name := range strings.SplitSeq(names, ",") {
			paths = append(paths, filepath.Join(dir, strings.TrimSpace(name)))
		}
		block, err := render(paths, strings.TrimSpace(how))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			skipped(err.Error())
			out.WriteString(page[:end])
		case err != nil:
			return "", fmt.Errorf("%s: %w", mark, err)
		default:
			out.WriteString("\n" + block)
		}
		out.WriteString(endMark)
		page = page[end+len(endMark):]
	}
}

// readCSV returns the heading and the rows of a file.
func readCSV(path string) ([]string, [][]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err == nil && len(rows) == 0 {
		err = errors.New("an empty table")
	}
	if err != nil {
		return nil, nil, err
	}
	return rows[0], rows[1:], nil
}

// digits shortens a number to five digits.
func digits(cell string) string {
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil || strings.Trim(cell, "-0123456789") == "" {
		return cell
	}
	return strconv.FormatFloat(v, 'g', 5, 64)
}

// three shortens a number to three digits.
func three(cell string) string {
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return cell
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

func markdown(heading []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(heading)
	b.WriteString(strings.Repeat("|---", len(heading)) + "|\n")
	for _, row := range rows {
		line(row)
	}
	return b.String()
}

func tableBlock(path, columns string) (string, error) {
	heading, rows, err := readCSV(path)
	if err != nil {
		return "", err
	}
	chosen := heading
	if columns != "" {
		chosen = strings.Split(columns, ",")
	}
	var at []int
	for i, name := range chosen {
		chosen[i] = strings.TrimSpace(name)
		k := slices.Index(heading, chosen[i])
		if k < 0 {
			return "", fmt.Errorf("no column %q; there are %s", chosen[i], strings.Join(heading, ", "))
		}
		at = append(at, k)
	}
	short := make([][]string, len(rows))
	for r, row := range rows {
		for _, k := range at {
			short[r] = append(short[r], strings.ReplaceAll(digits(row[k]), "|", "\\|"))
		}
	}
	return markdown(slices.Clone(chosen), short), nil
}

func runBlock(path, _ string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return "", err
	}
	revision := ""
	if r.Revision != "" {
		revision = ", revision " + r.Revision[:min(12, len(r.Revision))]
	}
	absent := ""
	if r.Missing != nil {
		absent = ". Not installed: " + strings.Join(r.Missing, "; ")
	}
	took := "" // not known if a run was interrupted and resumed
	if r.Seconds >= 0.5 {
		took = fmt.Sprintf("%.0f s on ", r.Seconds)
	}
	return fmt.Sprintf("`%s`: %s%s; %s, kernels %s, %s%s; load averages before … after: %s%s\n",
		r.Command, took, r.Date, r.Machine, r.Kernels, r.Go, revision, r.Load, absent), nil
}

// peersBlock has a row per problem of some models at a gap: our seconds, and the ratio to them of the seconds
// of each other program.
func peersBlock(path, how string) (string, error) {
	heading, rows, err := readCSV(path)
	if err != nil {
		return "", err
	}
	models, gap, _ := strings.Cut(how, " ")
	target, err := strconv.ParseFloat(strings.TrimSpace(gap), 64)
	if err != nil {
		return "", fmt.Errorf("models and a gap, not %q", how)
	}
	if !slices.Equal(heading, peersHeading()) {
		return "", errors.New("not a table of perf peers --csv")
	}
	var problems, others []string
	cells := map[[2]string]string{}
	for _, r := range rows {
		row, name := r[0], r[2]
		t, err := strconv.ParseFloat(r[1], 64)
		if err != nil {
			return "", err
		}
		if of, _, _ := strings.Cut(row, " "); !slices.Contains(strings.Split(models, ","), of) || t != target {
			continue
		}
		if !slices.Contains(problems, row) {
			problems = append(problems, row)
		}
		if !slices.Contains(others, name) {
			others = append(others, name)
		}
		cell := r[len(r)-1] // the reason, if there are no seconds
		switch {
		case r[6] == "":
		case slices.Index(others, name) < 2: // ours come first, in seconds
			cell = three(r[6]) + " s"
		default:
			cell = fmt.Sprintf("%s [%s, %s]", three(r[9]), three(r[10]), three(r[11]))
		}
		cells[[2]string{row, name}] = cell
	}
	if problems == nil {
		return "Not in the last run.\n", nil
	}
	table := make([][]string, 0, len(problems))
	for _, row := range problems {
		line := []string{row}
		for _, name := range others {
			line = append(line, cells[[2]string{row, name}])
		}
		table = append(table, line)
	}
	return markdown(append([]string{"problem"}, others...), table), nil
}
