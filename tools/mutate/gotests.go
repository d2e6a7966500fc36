//go:build unix

package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ofGo returns a sample of the changes of Go code that the options select, large enough to have the required
// count of changes that build for each package, and the number of changes of each package.
func ofGo(ctx context.Context, dir string, o options) (sample []mutant, of map[string]int, err error) {
	every, err := changesOf(o)
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(every, func(a, b change) int { return cmp.Compare(a.rank(o.seed), b.rank(o.seed)) })
	of = map[string]int{}
	var all, inside []change
	for _, c := range every {
		if of[c.folder]++; of[c.folder] > o.count+o.count/4+10 {
			continue
		}
		if all = append(all, c); c.body != (section{}) {
			inside = append(inside, c)
		}
	}
	if inside, err = builds(ctx, dir, inside, o); err != nil {
		return nil, nil, err
	}
	numbers := map[string][]int{}
	for i, c := range inside {
		numbers[c.name()] = append(numbers[c.name()], i+1)
	}
	overlay, err := weave(dir, inside)
	if err != nil {
		return nil, nil, err
	}
	programs := &programs{dir: dir, overlay: overlay, options: o, built: map[string]*program{}, above: map[string][]string{}}
	for _, c := range all {
		m := mutant{name: c.name(), words: c.words(), folder: c.folder}
		switch same := numbers[c.name()]; {
		case c.body == (section{}):
			m.test = func(ctx context.Context) (string, error) { return programs.outside(ctx, c) }
		case len(same) == 0:
			continue // the compiler refuses it
		default:
			number := same[0]
			m.test = func(ctx context.Context) (string, error) {
				return programs.test(ctx, c.folder, false, func(t test) bool { return t.reaches[number] }, func(tests []test) (bool, error) {
					return programs.run(ctx, tests, strconv.Itoa(number))
				})
			}
			numbers[c.name()] = same[1:]
		}
		sample = append(sample, m)
	}
	return sample, of, nil
}

// programs are the test programs of the changed packages and of the packages that use them, built when a change
// first needs them.
type programs struct {
	options

	dir, overlay string
	built        map[string]*program // by folder
	above        map[string][]string // folder: the folders whose tests use its package
}

// A program has the tests of one package.
type program struct {
	folder, binary string
	tests, longer  []test
	unasked        []string // longer tests that have not been run yet to find what they reach
}

// A test is one that succeeds without any change.
type test struct {
	of        *program
	name      string
	processor time.Duration
	reaches   map[int]bool // numbers of changes
}

// test runs the tests of a change's package that may reach the change. If the change survives and the options
// ask for it, test also runs the tests that -most leaves out, and those of packages above, unless the change
// stands apart: then each of these programs would have to be built again.
func (p *programs) test(ctx context.Context, folder string, apart bool, meets func(test) bool, try func([]test) (ok bool, err error)) (verdict string, err error) {
	own, err := p.program(ctx, folder, p.most)
	if err != nil {
		return "", err
	}
	verdict = unreached
	all := func(tests []test, most time.Duration) (ok bool, err error) {
		for _, b := range batches(tests, meets, most) {
			verdict = survived
			if ok, err := try(b); err != nil || !ok {
				return false, err
			}
		}
		return true, nil
	}
	if ok, err := all(own.tests, math.MaxInt64); err != nil || !ok {
		return killed, err
	}
	if p.suite == 0 && p.argued == "" {
		return verdict, nil
	}
	if own.unasked, err = p.ask(ctx, own, &own.longer, own.unasked, p.limit); err != nil {
		return "", err
	}
	more := slices.Clone(own.longer)
	if p.suite > 0 && !apart {
		others, err := p.others(ctx, folder)
		if err != nil {
			return "", err
		}
		more = append(more, others...)
	}
	if ok, err := all(more, cmp.Or(p.suite, math.MaxInt64)); err != nil || !ok {
		return elsewhere, err
	}
	return verdict, nil
}

// batches returns the tests that reach a change, the shortest first, as many as finish within most. Tests of
// less than half a second are grouped by package, the others are alone.
func batches(tests []test, meets func(test) bool, most time.Duration) (all [][]test) {
	tests = slices.DeleteFunc(slices.Clone(tests), func(t test) bool { return !meets(t) })
	slices.SortStableFunc(tests, func(a, b test) int { return cmp.Compare(a.processor, b.processor) })
	of := map[*program]int{}
	for _, t := range tests {
		if most -= t.processor; most < 0 {
			break
		}
		at, ok := of[t.of]
		switch {
		case t.processor >= time.Second/2:
			all = append(all, []test{t})
		case ok:
			all[at] = append(all[at], t)
		default:
			of[t.of] = len(all)
			all = append(all, []test{t})
		}
	}
	return all
}

// others returns the tests of the packages that import a package, or whose tests do.
func (p *programs) others(ctx context.Context, folder string) (tests []test, err error) {
	folders, ok := p.above[folder]
	if !ok {
		if folders, err = above(ctx, folder); err != nil {
			return nil, err
		}
		p.above[folder] = folders
	}
	for _, one := range folders {
		of, err := p.program(ctx, one, p.suite)
		if err != nil {
			return nil, err
		}
		tests = append(tests, of.tests...)
	}
	return tests, nil
}

// above lists the folders of the packages whose tests use a package.
func above(ctx context.Context, folder string) (folders []string, err error) {
	list := func(args ...string) ([]string, error) {
		out, err := execute(ctx, ".", time.Minute, append([]string{"go", "list"}, args...)...)
		if err != nil {
			return nil, fmt.Errorf("go list: %w\n%s", err, out)
		}
		return strings.Split(strings.TrimSpace(out), "\n"), nil
	}
	own, err := list("-f", "{{.ImportPath}} {{.Dir}}", folder)
	if err != nil {
		return nil, err
	}
	path, dir, _ := strings.Cut(own[0], " ")
	lines, err := list("-test", "-f", `{{if .ForTest}}{{else}}{{.Dir}} {{.ImportPath}} {{join .Deps " "}}{{end}}`, "./...")
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		words := strings.Fields(line)
		if len(words) > 2 && strings.HasSuffix(words[1], ".test") && words[0] != dir && slices.Contains(words[2:], path) {
			folders = append(folders, words[0])
		}
	}
	return folders, nil
}

// program builds the tests of a package when they are first needed.
func (p *programs) program(ctx context.Context, folder string, most time.Duration) (*program, error) {
	if one := p.built[folder]; one != nil {
		return one, nil
	}
	one := &program{folder: folder, binary: filepath.Join(p.dir, fmt.Sprintf("%d.test", len(p.built)))}
	if out, err := execute(ctx, ".", 10*p.limit, "go", "test", "-c", "-vet=off", "-overlay", p.overlay, "-o", one.binary, folder); err != nil {
		return nil, fmt.Errorf("the tests of %s do not build: %w\n%s", folder, err, out)
	}
	if _, err := os.Stat(one.binary); err != nil { // no test files
		p.built[folder] = one
		return one, nil
	}
	list, err := execute(ctx, folder, p.limit, one.binary, "-test.list", "^(Test|Example|Fuzz)")
	if err != nil {
		return nil, err
	}
	one.unasked, err = p.ask(ctx, one, &one.tests, strings.Fields(list), cmp.Or(most, p.limit))
	p.built[folder] = one
	return one, err
}

// ask runs tests one by one, adds those that succeed to some, with the changes that they reach, and returns the
// names of those that take longer than most.
func (p *programs) ask(ctx context.Context, of *program, some *[]test, names []string, most time.Duration) (longer []string, err error) {
	for _, name := range names {
		t := test{of: of, name: name, reaches: map[int]bool{}}
		file := filepath.Join(p.dir, "reached")
		_ = os.Remove(file)
		before := ofChildren()
		out, err := p.execute(ctx, []test{t}, most, "PARE_MUTANT=reached", "PARE_REACHED="+file)
		t.processor = ofChildren() - before
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case t.processor >= most:
			longer = append(longer, name)
			continue
		case err != nil:
			fmt.Fprintf(os.Stderr, "%s: %s fails without any change and is left out\n%s", of.folder, name, out)
			continue
		}
		text, _ := os.ReadFile(file) // no file if the test reaches no change
		for n := range strings.FieldsSeq(string(text)) {
			number, _ := strconv.Atoi(n)
			t.reaches[number] = true
		}
		*some = append(*some, t)
	}
	return longer, nil
}

// run reports whether tests of one package succeed with a change.
func (p *programs) run(ctx context.Context, tests []test, number string) (ok bool, err error) {
	out, err := p.execute(ctx, tests, 5*total(tests)+10*time.Second, "PARE_MUTANT="+number)
	if err != nil && ctx.Err() == nil {
		by := "no end, or a panic"
		if m := failed.FindStringSubmatch(out); m != nil {
			by = m[1]
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", tests[0].of.folder, by)
	}
	return err == nil, ctx.Err()
}

var failed = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

func total(tests []test) (processor time.Duration) {
	for _, t := range tests {
		processor += t.processor
	}
	return processor
}

// pattern returns a regular expression that matches exactly these tests of a package.
func pattern(tests []test) string {
	names := make([]string, len(tests))
	for i, t := range tests {
		names[i] = t.name
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

func (p *programs) execute(ctx context.Context, tests []test, limit time.Duration, environment ...string) (output string, err error) {
	args := append([]string{"env"}, environment...)
	args = append(args, tests[0].of.binary, "-test.short", "-test.failfast", "-test.run", pattern(tests))
	return execute(ctx, tests[0].of.folder, 10*limit, limited(limit, args...)...)
}

// outside tests a change outside of functions, which needs programs of its own.
func (p *programs) outside(ctx context.Context, c change) (verdict string, err error) {
	text, err := os.ReadFile(c.file)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(p.dir, "outside")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file, err := filepath.Abs(c.file)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(dir, "changed.go")
	if err := os.WriteFile(changed, []byte(string(text[:c.part.from])+c.text+string(text[c.part.to:])), 0o600); err != nil {
		return "", err
	}
	overlay, err := writeOverlay(dir, map[string]string{file: changed})
	if err != nil {
		return "", err
	}
	if _, err := execute(ctx, ".", 10*p.limit, "go", "build", "-overlay", overlay, c.folder); err != nil {
		return notBuilt, ctx.Err()
	}
	return p.test(ctx, c.folder, true, func(test) bool { return true }, func(tests []test) (bool, error) {
		_, err := execute(ctx, ".", 10*p.limit, limited(p.limit+10*total(tests), "go", "test", "-short", "-failfast", "-vet=off", "-overlay", overlay, "-run", pattern(tests), tests[0].of.folder)...)
		return err == nil, ctx.Err()
	})
}
