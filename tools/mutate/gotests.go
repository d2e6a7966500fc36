//go:build unix

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ofGo returns a sample of the changes of Go code that options choose, large enough for the count
// of those that build, and how many changes there are.
func ofGo(ctx context.Context, dir string, o options) (sample []mutant, of int, err error) {
	all, err := changesOf(o)
	if err != nil {
		return nil, 0, err
	}
	of = len(all)
	slices.SortFunc(all, func(a, b change) int { return cmp.Compare(a.rank(o.seed), b.rank(o.seed)) })
	all = all[:min(of, o.count+o.count/4+10)]
	var inside []change
	for _, c := range all {
		if c.body != (section{}) {
			inside = append(inside, c)
		}
	}
	if inside, err = builds(ctx, dir, inside, o); err != nil {
		return nil, 0, err
	}
	numbers := map[string][]int{}
	for i, c := range inside {
		numbers[c.name()] = append(numbers[c.name()], i+1)
	}
	overlay, err := weave(dir, inside)
	if err != nil {
		return nil, 0, err
	}
	programs := &programs{dir: dir, overlay: overlay, options: o}
	for _, c := range all {
		m := mutant{name: c.name(), words: c.words()}
		switch same := numbers[c.name()]; {
		case c.body == (section{}):
			m.test = func(ctx context.Context) (string, error) { return programs.outside(ctx, c) }
		case len(same) == 0:
			continue // the compiler refuses it
		default:
			m.test = func(ctx context.Context) (string, error) { return programs.test(ctx, same[0]) }
			numbers[c.name()] = same[1:]
		}
		sample = append(sample, m)
	}
	return sample, of, nil
}

// programs are the test programs of the changed packages and of those that use them, built when
// the first change needs them.
type programs struct {
	options

	dir, overlay string
	built        []*program
}

// A program is the tests of a package.
type program struct {
	folder, binary string
	tests          []test
	longer         []test // those left out for their time
}

// A test is one that succeeds without a change.
type test struct {
	name      string
	processor time.Duration
	reaches   map[int]bool // numbers of changes
}

// folders are those whose tests a change meets, in this order.
func (p *programs) folders() []string {
	folders := p.packages
	if p.also != "" {
		folders = append(slices.Clip(folders), strings.Split(p.also, ",")...)
	}
	return folders
}

// test runs all tests that reach a change, the shorter ones of a package first.
func (p *programs) test(ctx context.Context, number int) (verdict string, err error) {
	reached := false
	for i, folder := range p.folders() {
		if i == len(p.built) {
			one, err := p.build(ctx, folder)
			if err != nil {
				return "", err
			}
			p.built = append(p.built, one)
		}
		var short, long []test
		for _, t := range p.built[i].tests {
			if !t.reaches[number] {
				continue
			}
			reached = true
			if t.processor < time.Second/2 {
				short = append(short, t)
			} else {
				long = append(long, t)
			}
		}
		for _, tests := range [][]test{short, long} {
			if ok, err := p.run(ctx, p.built[i], tests, strconv.Itoa(number)); err != nil || !ok {
				return killed, err
			}
		}
	}
	for _, of := range p.built {
		if p.argued == "" {
			break
		}
		if ok, err := p.run(ctx, of, of.longer, strconv.Itoa(number)); err != nil || !ok {
			return killed, err
		}
	}
	if !reached {
		return unreached, nil
	}
	return survived, nil
}

// run reports whether the tests succeed with a change.
func (p *programs) run(ctx context.Context, of *program, tests []test, number string) (ok bool, err error) {
	if len(tests) == 0 {
		return true, nil
	}
	var names []string
	var processor time.Duration
	for _, t := range tests {
		names = append(names, t.name)
		processor += t.processor
	}
	out, err := p.execute(ctx, of, names, 5*processor+10*time.Second, "PARE_MUTANT="+number)
	if err != nil && ctx.Err() == nil {
		by := "no end, or a panic"
		if m := failed.FindStringSubmatch(out); m != nil {
			by = m[1]
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", of.folder, by)
	}
	return err == nil, ctx.Err()
}

var failed = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

func (p *programs) execute(ctx context.Context, of *program, names []string, limit time.Duration, environment ...string) (output string, err error) {
	args := append([]string{"env"}, environment...)
	args = append(args, of.binary, "-test.short", "-test.failfast", "-test.run", "^("+strings.Join(names, "|")+")$")
	return execute(ctx, of.folder, 10*limit, limited(limit, args...)...)
}

// build builds the tests of a package and asks each which changes it reaches.
func (p *programs) build(ctx context.Context, folder string) (*program, error) {
	binary := filepath.Join(p.dir, fmt.Sprintf("%d.test", len(p.built)))
	one := &program{folder: folder, binary: binary}
	if out, err := execute(ctx, ".", 10*p.limit, "go", "test", "-c", "-vet=off", "-overlay", p.overlay, "-o", binary, folder); err != nil {
		return nil, fmt.Errorf("the tests of %s do not build: %w\n%s", folder, err, out)
	}
	list, err := execute(ctx, folder, p.limit, binary, "-test.list", "^(Test|Example|Fuzz)")
	if err != nil {
		return nil, err
	}
	for name := range strings.FieldsSeq(list) {
		t := test{name: name, reaches: map[int]bool{}}
		file := filepath.Join(p.dir, "reached")
		_ = os.Remove(file)
		before, limit := ofChildren(), p.limit
		if p.most > 0 {
			limit = p.most
		}
		if out, err := p.execute(ctx, one, []string{name}, limit, "PARE_MUTANT=reached", "PARE_REACHED="+file); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if p.most > 0 && ofChildren()-before >= p.most {
				one.longer = append(one.longer, test{name: name, processor: p.limit / 5})
				continue
			}
			fmt.Fprintf(os.Stderr, "%s: %s fails without any change and is left out\n%s", folder, name, out)
			continue
		}
		t.processor = ofChildren() - before
		text, _ := os.ReadFile(file) // none where it reaches nothing
		for n := range strings.FieldsSeq(string(text)) {
			number, _ := strconv.Atoi(n)
			t.reaches[number] = true
		}
		if len(t.reaches) > 0 {
			one.tests = append(one.tests, t)
		}
	}
	return one, nil
}

// outside tests a change outside of functions, for which programs are built anew.
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
	for _, folder := range p.folders() {
		if _, err := execute(ctx, ".", 10*p.limit, limited(p.limit, "go", "test", "-short", "-failfast", "-vet=off", "-overlay", overlay, folder)...); err != nil {
			return killed, ctx.Err()
		}
	}
	return survived, nil
}
