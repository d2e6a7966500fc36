//go:build unix

// Command mutate asks whether the tests would notice a slip in Go code: it changes one
// expression at a time, by an overlay that leaves the files alone, and runs the tests. A change
// that no test notices survives. Assembly has its own program: kernels/testdata/mutate.
//
//	go run ./tools/mutate ./model ./loss                    # 100 changes, chosen by -seed
//	go run ./tools/mutate -also ./bilevel,. ./implicit      # survivors meet the tests of those packages, too
//	go run ./tools/mutate -files 'cd/certificate.go' ./cd   # in some files
//
// The sample is uniform over all changes that the rules allow. Tests run in their short form,
// for processor time that is limited, so that a change which loops is noticed. Survivors that
// change no result, and why, are in docs/mutants.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
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
	count int
	seed  uint64
	also  string
	files string
	limit time.Duration
}

func main() {
	var o options
	flag.IntVar(&o.count, "n", 100, "number of changes")
	flag.Uint64Var(&o.seed, "seed", 1, "chooses the changes")
	flag.StringVar(&o.also, "also", "", "packages whose tests survivors meet, with commas between")
	flag.StringVar(&o.files, "files", "", "a pattern of the files to change; all of the packages without it")
	flag.DurationVar(&o.limit, "limit", 3*time.Minute, "for one run of the tests")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, packages []string) error {
	if len(packages) == 0 {
		return errors.New("name packages, such as ./model")
	}
	var all []mutant
	for _, folder := range packages {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			return err
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			if chosen, err := filepath.Match(o.files, filepath.ToSlash(file)); err != nil || o.files != "" && !chosen {
				continue
			}
			found, err := mutants(folder, file)
			if err != nil {
				return err
			}
			all = append(all, found...)
		}
	}
	rng := rand.New(rand.NewPCG(o.seed, 0))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	tried, noticed := 0, 0
	for _, m := range all {
		if tried == o.count || ctx.Err() != nil {
			break
		}
		verdict, err := try(ctx, dir, m, o)
		if err != nil {
			return err
		}
		if verdict == notCompiled {
			continue
		}
		if tried++; verdict == killed {
			noticed++
		} else {
			fmt.Println("survived:", m)
		}
	}
	fmt.Printf("%d of %d changes noticed (%.1f %%), of %d there are\n", noticed, tried, 100*float64(noticed)/float64(max(tried, 1)), len(all))
	return ctx.Err()
}

type verdict int

const (
	survived verdict = iota
	killed
	notCompiled
)

// try runs the tests with one change.
func try(ctx context.Context, dir string, m mutant, o options) (verdict, error) {
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	file, err := filepath.Abs(m.file)
	if err != nil {
		return 0, err
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
	if err == nil {
		err = os.WriteFile(changed, m.text, 0o600)
	}
	if err == nil {
		err = os.WriteFile(overlay, list, 0o600)
	}
	if err != nil {
		return 0, err
	}
	if err := execute(ctx, o.limit, "go", "build", "-overlay", overlay, m.folder); err != nil {
		return notCompiled, ctx.Err()
	}
	tests := []string{m.folder}
	if o.also != "" {
		tests = append(tests, strings.Split(o.also, ",")...)
	}
	for _, one := range tests {
		if err := execute(ctx, o.limit, "go", "test", "-short", "-failfast", "-vet=off", "-overlay", overlay, one); err != nil {
			return killed, ctx.Err()
		}
	}
	return survived, nil
}

// execute runs a command in a process group of its own and, where it takes too long, kills
// the group.
func execute(ctx context.Context, limit time.Duration, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	command := exec.CommandContext(ctx, name, args...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = time.Second
	return command.Run()
}
