package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-45b9a24c/pare/bench/machine"
	"github.com/seed-45b9a24c/pare/bench/studies"
	"github.com/seed-45b9a24c/pare/outcome"
)

// runFlags are the flags of commands that run studies.
type runFlags struct {
	Names   []string `arg:"" optional:"" help:"Which; names or their beginnings (default: all)."`
	List    bool     `help:"List what there is and do nothing."`
	File    string   `placeholder:"FILE" help:"svmlight text to use in place of the sets of text."`
	Data    string   `default:"../shared/data" placeholder:"DIR" help:"Where data sets are (default: ../shared/data). What is not there is generated where a seeded set stands for it, or left out."`
	Output  string   `short:"o" placeholder:"DIR" help:"Where the files go (default: docs/figures, of goals docs/goals)."`
	Quick   bool     `help:"Fewer and smaller sets, fewer points: minutes."`
	Sets    []string `placeholder:"NAME" help:"Only these sets, by the names that studies give them, such as rcv1."`
	Seed    uint64   `help:"Of random problems."`
	Threads int      `help:"Threads at work at once (default: all cores)."`
	State   string   `placeholder:"FILE" help:"Note here what is done; the same command, interrupted, goes on from it."`
}

// record describes how a study was run. It is written beside the study's tables.
type record struct {
	Name     string   `json:"name"`
	About    string   `json:"about"`
	Command  string   `json:"command"`
	Date     string   `json:"date"`
	Seconds  float64  `json:"seconds"`
	Load     string   `json:"load"` // before and after
	Machine  string   `json:"machine"`
	Kernels  string   `json:"kernels"`
	Go       string   `json:"go"`
	Revision string   `json:"revision,omitempty"`
	Files    []string `json:"files"`
	Missing  []string `json:"missing,omitempty"` // programs for comparison that are not installed
}

// newRecord returns the record of a run that has just ended.
func newRecord(name, about, command string, began time.Time, load string, m machine.Machine) record {
	return record{
		Name: name, About: about, Command: command,
		Date: began.UTC().Format(time.DateOnly), Seconds: time.Since(began).Seconds(), Load: load + " … " + machine.Load(),
		Machine: fmt.Sprintf("%s, %d cores", m.CPU, m.Cores), Kernels: m.Active, Go: m.Go, Revision: m.Revision,
	}
}

func (r record) write(path string) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// state records what an interrupted run has done.
type state struct {
	Key  string   `json:"key"` // of the settings; a run with another key begins afresh
	Done []string `json:"done"`
}

// run runs the chosen studies, one after another, and writes their results. show, if not nil, prints a result.
func (c *runFlags) run(ctx context.Context, env environment, command string, all []studies.Study, show func(studies.Study, *studies.Result) error) error {
	if c.List {
		return env.left(func(w io.Writer) {
			for _, s := range all {
				fmt.Fprintf(w, "%s\t%s\n", s.Name, s.About)
			}
		})
	}
	if c.Output == "" {
		c.Output = "docs/" + command
	}
	chosen, err := c.choose(all)
	if err != nil {
		return err
	}
	m := machine.Describe()
	done, err := c.readState(fmt.Sprintf("%s, %s, %s, kernels %s, quick %v, sets %v, file %q, threads %d", command, m.Revision, m.CPU, m.Active, c.Quick, c.Sets, c.File, c.Threads))
	if err != nil {
		return err
	}
	for k, s := range chosen {
		if slices.Contains(done.Done, s.Name) {
			continue
		}
		began, load := time.Now(), machine.Load()
		o := studies.Options{
			Library: studies.Library{Dir: c.Data, File: c.File}, Quick: c.Quick, Sets: c.Sets, Seed: c.Seed, Threads: c.Threads,
			Progress: func(what string) { env.status("%d/%d %s: %s", k+1, len(chosen), s.Name, what) },
		}
		r, err := s.Run(ctx, o)
		env.status("")
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(env.stderr, "perf: %s left out: %v\n", s.Name, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		if empty(r) {
			fmt.Fprintf(env.stderr, "perf: %s left out: none of its sets is in %s\n", s.Name, c.Data)
			continue
		}
		note := newRecord(s.Name, s.About, "perf "+command+" "+s.Name+c.settings(), began, load, m)
		if err := c.save(env, s.Name, r, note); err != nil {
			return err
		}
		if show != nil {
			if err := show(s, r); err != nil {
				return err
			}
		}
		if err := c.writeState(&done, s.Name); err != nil {
			return err
		}
	}
	return c.finished()
}

// finished removes the state once all is done, so that the next run begins afresh.
func (c *runFlags) finished() error {
	if c.State == "" {
		return nil
	}
	if err := os.Remove(c.State); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// empty reports whether no table has rows.
func empty(r *studies.Result) bool {
	for _, t := range r.Tables {
		if len(t.Rows) > 0 {
			return false
		}
	}
	return true
}

// settings returns the flags that change results, as on the command line.
func (c *runFlags) settings() string {
	text := ""
	if c.Quick {
		text += " --quick"
	}
	if len(c.Sets) > 0 {
		names := strings.Join(c.Sets, ",")
		if strings.Contains(names, " ") {
			names = `"` + names + `"`
		}
		text += " --sets " + names
	}
	if c.File != "" {
		text += " --file " + c.File
	}
	if c.Seed != 0 {
		text += fmt.Sprintf(" --seed %d", c.Seed)
	}
	if c.Threads != 0 {
		text += fmt.Sprintf(" --threads %d", c.Threads)
	}
	return text
}

func (c *runFlags) choose(all []studies.Study) ([]studies.Study, error) {
	if len(c.Names) == 0 {
		return all, nil
	}
	var chosen []studies.Study
	for _, name := range c.Names {
		before := len(chosen)
		for _, s := range all {
			exact := slices.ContainsFunc(all, func(t studies.Study) bool { return t.Name == name })
			if s.Name == name || !exact && strings.HasPrefix(s.Name, name) {
				chosen = append(chosen, s)
			}
		}
		if len(chosen) == before {
			var names []string
			for _, s := range all {
				names = append(names, s.Name)
			}
			return nil, outcome.Errorf(outcome.Usage, "nothing is called %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	return chosen, nil
}

func (c *runFlags) readState(key string) (state, error) {
	s := state{Key: key}
	if c.State == "" {
		return s, nil
	}
	text, err := os.ReadFile(c.State)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	var kept state
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if kept.Key == key {
		return kept, err
	}
	return s, err
}

func (c *runFlags) writeState(s *state, name string) error {
	s.Done = append(s.Done, name)
	if c.State == "" {
		return nil
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(c.State, text, 0o644)
}

// save writes the tables, the charts and the record, and prints where they are.
func (c *runFlags) save(env environment, name string, r *studies.Result, note record) error {
	if err := os.MkdirAll(c.Output, 0o755); err != nil {
		return err
	}
	write := func(name string, f func(w io.Writer) error) error {
		path := filepath.Join(c.Output, name)
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		if err := f(file); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		fmt.Fprintln(env.stdout, path)
		note.Files = append(note.Files, name)
		return file.Close()
	}
	for _, name := range slices.Sorted(maps.Keys(r.Tables)) {
		if err := write(name+".csv", r.Tables[name].CSV); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Charts)) {
		if err := write(name+".svg", r.Charts[name].SVG); err != nil {
			return err
		}
	}
	return note.write(filepath.Join(c.Output, name+".json"))
}

// writeCSV writes one table.
func writeCSV(path string, t studies.Table) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := t.CSV(file); err != nil {
		return err
	}
	return file.Close()
}
