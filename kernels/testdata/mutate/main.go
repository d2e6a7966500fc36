// Command mutate asks whether the tests of package kernels would notice a slip
// in its assembly: it changes one instruction at a time in a copy of the module,
// builds the tests and runs them there. A change that no test notices survives.
//
// From the module's root:
//
//	go run ./kernels/testdata/mutate -set avx2            # 200 changes, chosen by -seed
//	go run ./kernels/testdata/mutate -set avx2 -labels    # a trap behind every label: is every stage executed?
//	go run ./kernels/testdata/mutate -set avx2 -log FILE  # verdicts to FILE; run again, it goes on where it was
//	GOARCH=arm64 CGO_ENABLED=0 go run ./kernels/testdata/mutate -set neon -exec qemu-aarch64-static
//
// (For the last, build the command for this machine first: go build -o mutate.)
//
// The sample is uniform over all changes that the rules allow in the files of the
// set, headers included. Every run has a copy of its own, so that several may go
// on at once; a mutant that loops for ever is killed with all its children.
// Survivors that change no result are in docs/mutants.md, with the reason.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

type options struct {
	count  int
	seed   uint64
	set    string
	runner string
	labels bool
	limit  time.Duration
	log    string
}

func main() {
	var o options
	flag.IntVar(&o.count, "n", 200, "number of changes")
	flag.Uint64Var(&o.seed, "seed", 1, "chooses the changes")
	flag.StringVar(&o.set, "set", "avx2", "the set whose files are changed")
	flag.StringVar(&o.runner, "exec", "", "a program that runs the test binary")
	flag.BoolVar(&o.labels, "labels", false, "put a trap behind every label instead")
	flag.DurationVar(&o.limit, "limit", time.Minute, "processor time for one run of the tests; ten times that by the clock")
	flag.StringVar(&o.log, "log", "", "file of verdicts, read first if it is there")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// A mutant is one changed line of one file.
type mutant struct {
	path string // below the module's root
	line int    // from 0
	text string // what stands there instead
	was  string
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d: %s  was  %s", m.path, m.line+1, strings.TrimSpace(m.text), strings.TrimSpace(m.was))
}

const (
	killed       = "killed"
	survived     = "survived"
	notAssembled = "not assembled"
)

func run(ctx context.Context, o options) error {
	root, err := copyModule()
	defer func() { _ = os.RemoveAll(root) }()
	if err != nil {
		return err
	}
	verdict, out, err := test(ctx, root, o)
	if err != nil {
		return err
	}
	if verdict != survived {
		return fmt.Errorf("the tests fail without any change: %s\n%s", verdict, out)
	}
	mutants, err := list(root, o.set, o.labels)
	if err != nil {
		return err
	}
	if !o.labels {
		rng := rand.New(rand.NewPCG(o.seed, 0))
		rng.Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })
	}
	known, err := recorded(o.log)
	if err != nil {
		return err
	}
	log := os.Stderr
	if o.log != "" {
		if log, err = os.OpenFile(o.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
			return err
		}
		defer log.Close()
	}
	tried, noticed := 0, 0
	for _, m := range mutants {
		if tried == o.count && !o.labels {
			break
		}
		verdict, ok := known[m.String()]
		if !ok {
			if verdict, err = try(ctx, root, m, o); err != nil {
				return err
			}
			fmt.Fprintf(log, "%s\t%s\n", verdict, m)
		}
		switch verdict {
		case notAssembled:
			continue
		case killed:
			noticed++
		default:
			fmt.Printf("survived: %s\n", m)
		}
		tried++
	}
	fmt.Printf("%d of %d changes noticed (%.1f %%)\n", noticed, tried, 100*float64(noticed)/float64(max(tried, 1)))
	return nil
}

// recorded reads the verdicts of earlier runs.
func recorded(path string) (map[string]string, error) {
	known := map[string]string{}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if verdict, which, ok := strings.Cut(lines.Text(), "\t"); ok {
			known[which] = verdict
		}
	}
	return known, lines.Err()
}

// try tests one change and takes it back.
func try(ctx context.Context, root string, m mutant, o options) (verdict string, err error) {
	path := filepath.Join(root, m.path)
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	lines := strings.Split(string(text), "\n")
	lines[m.line] = m.text
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.WriteFile(path, text, 0o600)) }()
	verdict, _, err = test(ctx, root, o)
	return verdict, err
}

// The tests that say nothing about the sets' assembly, or nothing that the
// others do not.
const skipped = "Ulp|TypicalError|ErrorBound|LongOperands|WorldStops|Allocate|Example|UnknownSet"

// test builds the tests and runs them on the set. A run that does not end counts
// as a failure; the error is that ctx has ended.
func test(ctx context.Context, root string, o options) (verdict, output string, err error) {
	binary := filepath.Join(root, "kernels.test")
	if out, err := execute(ctx, root, 10*o.limit, "go", "test", "-c", "-ldflags=-s -w", "-o", binary, "./kernels"); err != nil {
		return notAssembled, out, ctx.Err()
	}
	args := []string{binary, "-test.short", "-test.failfast", "-kernels.set", o.set}
	if o.labels { // a trap is not in the lists of instructions: leave the static rules out
		args = append(args, "-test.skip", skipped+"|Assembly|Twin|Gate")
	} else {
		args = append(args, "-test.skip", skipped)
	}
	if o.runner != "" {
		args = append([]string{o.runner}, args...)
	}
	// Processor time, so that a mutant which loops is not waited for on a busy machine.
	args = append([]string{"sh", "-c", fmt.Sprintf(`ulimit -t %d; exec "$@"`, int(o.limit.Seconds())), "sh"}, args...)
	if out, err := execute(ctx, filepath.Join(root, "kernels"), 10*o.limit, args[0], args[1:]...); err != nil {
		return killed, out, ctx.Err()
	}
	return survived, "", nil
}

// execute runs a command in a process group of its own and, where it takes too
// long, kills the group: the tests start children.
func execute(ctx context.Context, folder string, limit time.Duration, name string, args ...string) (output string, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	command := exec.CommandContext(ctx, name, args...)
	command.Dir = folder
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = time.Second
	out, err := command.CombinedOutput()
	if command.Process != nil {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // whom it has left behind
	}
	return string(out), err
}

// copyModule copies what package kernels needs into a temporary module.
func copyModule() (root string, err error) {
	if root, err = os.MkdirTemp("", "mutate"); err != nil {
		return "", err
	}
	for _, from := range []string{"go.mod", "go.sum", "kernels", "internal/guard"} {
		err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				return os.MkdirAll(filepath.Join(root, path), 0o700)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(root, path), text, 0o600)
		})
		if err != nil {
			return root, err
		}
	}
	return root, nil
}

// list returns every change that the rules below make.
func list(root, set string, labels bool) ([]mutant, error) {
	architecture := "amd64"
	if set == "neon" {
		architecture = "arm64"
	}
	paths, err := filepath.Glob(filepath.Join(root, "kernels", architecture, "*"))
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, path := range paths {
		base := filepath.Base(path)
		if ext := filepath.Ext(path); ext != ".s" && ext != ".h" {
			continue
		}
		if other := strings.Contains(base, "_avx") && !strings.Contains(base, "_"+set+"_"); other {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(string(text), "\n") {
			changes := mutations(line)
			if labels {
				changes = trap(line)
			}
			for _, changed := range changes {
				all = append(all, mutant{path: name, line: i, text: changed, was: line})
			}
		}
	}
	return all, nil
}
