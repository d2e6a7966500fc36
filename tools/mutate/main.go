//go:build unix

// Command mutate tests whether the tests would notice a slip: it changes one expression of Go
// code, or one instruction of assembly, at a time, builds the tests and runs them. A change that
// no test notices survives. From the module's root:
//
//	go run ./tools/mutate ./model ./loss                    # 100 changes, chosen by -seed
//	go run ./tools/mutate -most 1s -suite 30s ./implicit    # survivors also face the tests of the packages above
//	go run ./tools/mutate -files 'cd/certificate.go,cd/drift.go' ./cd   # in some files
//	go run ./tools/mutate -argued tools/mutate/argued.txt -least 60 ./cd   # fails if fewer than 60 % are noticed
//	go run ./tools/mutate -set avx2                         # in the assembly of a kernel set; with -files 'kernels/amd64/bell*' in some files
//	go run ./tools/mutate -set avx2 -labels                 # a trap behind every label: is every stage executed?
//	go run ./tools/mutate -log FILE ./cd                    # writes verdicts to FILE; run again, it resumes
//	GOARCH=arm64 CGO_ENABLED=0 ./mutate -set neon -exec qemu-aarch64-static
//
// (For the last, build the command for this machine first: go build ./tools/mutate.)
//
// The sample is uniform over all changes that the rules allow; for Go code, an edit of the code leaves most of
// the sample unchanged. Tests run in their short form, with limited processor time, so that a change which
// loops is noticed. One program holds all changes of Go code of a sample, and for each change only those tests
// of its package run that reach the changed block: a sample takes minutes. With -suite two figures are printed:
// what short tests of the package itself notice, and what the whole suite notices; the suite's shorter tests
// come first, and the tests of one change end after the time given. The module is not modified, and several
// runs may go on at once. Survivors that change no result, and why, are in docs/mutants.md.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

type options struct {
	count       int
	seed        uint64
	limit       time.Duration
	log         string
	most, suite time.Duration // of Go code
	files       string
	argued      string
	least       float64
	set, runner string // of assembly
	labels      bool
	packages    []string
}

func main() {
	var o options
	flag.IntVar(&o.count, "n", 100, "number of changes; of Go code: of each package")
	flag.Uint64Var(&o.seed, "seed", 1, "chooses the changes")
	flag.DurationVar(&o.limit, "limit", 3*time.Minute, "processor time for one run of the tests; ten times that by the clock")
	flag.DurationVar(&o.most, "most", 0, "of Go code: leave out tests that take more processor time than this (default: none)")
	flag.StringVar(&o.log, "log", "", "file of verdicts, read first if it is there")
	flag.DurationVar(&o.suite, "suite", 0, "of Go code: survivors meet the longer tests of the package and, if they are inside of functions, those of all packages that import it, each for so much processor time")
	flag.StringVar(&o.files, "files", "", "patterns of the files to change, separated by commas (default: all of the packages or the set)")
	flag.StringVar(&o.argued, "argued", "", "of Go code: a list of changes that survive, each with the reason why it makes no difference, or \"gap\"; they are not tried")
	flag.Float64Var(&o.least, "least", 0, "an error if less than so many percent of the changes of a package are noticed that make a difference")
	flag.StringVar(&o.set, "set", "", "change the assembly of this kernel set instead")
	flag.StringVar(&o.runner, "exec", "", "with -set: a program that runs the test binary")
	flag.BoolVar(&o.labels, "labels", false, "with -set: put a trap behind every label instead")
	flag.Parse()
	o.packages = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// A mutant is a changed program.
type mutant struct {
	name   string // the place and the change
	words  string // the same without the line number
	folder string // of Go code: its package
	test   func(context.Context) (verdict string, err error)
}

const (
	killed    = "killed"
	elsewhere = "killed by longer tests or those of other packages"
	survived  = "survived"
	notBuilt  = "not built"
	unreached = "survived, since no test reaches it"
)

// run tests a sample of the mutants.
func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Setenv("TMPDIR", dir); err != nil { // tests that are killed do not remove their files
		return err
	}
	var all []mutant
	of := map[string]int{}
	switch {
	case o.set != "":
		all, err = ofAssembly(ctx, dir, o)
		of[""] = len(all)
	case len(o.packages) == 0:
		err = errors.New("name packages, such as ./model, or a kernel set: -set avx2")
	default:
		all, of, err = ofGo(ctx, dir, o)
	}
	if err != nil {
		return err
	}
	log := os.Stderr
	if o.log != "" {
		if log, err = os.OpenFile(o.log, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o644); err != nil {
			return err
		}
		defer log.Close()
	}
	return report(ctx, all, of, log, o)
}

// A tally counts what becomes of the changes of a package.
type tally struct {
	tried, noticed, own, argued int // own: noticed by the package's own tests, except those that -most leaves out
}

// report tests mutants until there are as many of each package as required, and prints those that survive.
func report(ctx context.Context, all []mutant, of map[string]int, log io.Writer, o options) error {
	known, err := recorded(o.log)
	if err != nil {
		return err
	}
	reasons, err := recorded(o.argued)
	if err != nil {
		return err
	}
	counts := map[string]*tally{}
	for folder := range of {
		counts[folder] = &tally{}
	}
	for _, m := range all {
		t := counts[m.folder]
		if ctx.Err() != nil {
			break
		}
		if t.tried+t.argued == o.count && !o.labels {
			continue
		}
		if why, ok := reasons[m.words]; ok {
			if strings.HasPrefix(why, "gap") {
				t.tried++
			} else {
				t.argued++
			}
			continue
		}
		verdict, ok := known[m.name]
		if !ok {
			if verdict, err = m.test(ctx); err != nil {
				return err
			}
			fmt.Fprintf(log, "%s\t%s\n", verdict, m.name)
		}
		switch verdict {
		case notBuilt:
			continue
		case killed:
			t.noticed, t.own = t.noticed+1, t.own+1
		case elsewhere:
			t.noticed++
		default:
			fmt.Printf("%s: %s\n", verdict, m.name)
		}
		t.tried++
	}
	var few []string
	for _, folder := range slices.Sorted(maps.Keys(of)) {
		t := counts[folder]
		t.print(folder, of[folder], o)
		if t.tried > 0 && t.share() < o.least {
			few = append(few, folder)
		}
	}
	if err := ctx.Err(); err != nil || len(few) == 0 {
		return err
	}
	return fmt.Errorf("of the changes of %s fewer than %g %% are noticed: write tests that notice those above, or add changes that make no difference to the list of -argued, with the reason", strings.Join(few, ", "), o.least)
}

// share returns the percentage of the changes tried that were noticed.
func (t *tally) share() float64 { return 100 * float64(t.noticed) / float64(max(t.tried, 1)) }

// print prints the tally of a package that has the given number of changes.
func (t *tally) print(folder string, of int, o options) {
	if folder != "" {
		fmt.Print(strings.TrimPrefix(folder, "./"), ": ")
	}
	fmt.Printf("%d of %d changes noticed (%.1f %%)", t.noticed, t.tried, t.share())
	if o.suite > 0 {
		fmt.Printf(", %d by its own tests", t.own)
		if o.most > 0 {
			fmt.Printf(" of at most %v", o.most)
		}
	}
	if t.argued > 0 {
		fmt.Printf(", %d more make no difference", t.argued)
	}
	fmt.Printf(", of %d there are\n", of)
}

func shuffle[T any](all []T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
}

// recorded reads a file of pairs: changes with the verdicts of earlier runs, or argued changes with the
// reasons.
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
		if verdict, name, ok := strings.Cut(lines.Text(), "\t"); ok {
			known[name] = verdict
		}
	}
	return known, lines.Err()
}

// ofChildren returns the processor time of all commands that have ended.
func ofChildren() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// limited returns a command line with limited processor time, so that a mutant that loops ends soon even on a
// busy machine.
func limited(limit time.Duration, args ...string) []string {
	return append([]string{"sh", "-c", fmt.Sprintf(`ulimit -v 16000000; ulimit -t %d; exec "$@"`, max(1, int(math.Ceil(limit.Seconds())))), "sh"}, args...)
}

// execute runs a command in a process group of its own and kills the group if it takes too long, since tests
// start child processes.
func execute(ctx context.Context, folder string, limit time.Duration, args ...string) (output string, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	command := exec.CommandContext(ctx, args[0], args[1:]...)
	command.Dir = folder
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = time.Second
	out, err := command.CombinedOutput()
	if command.Process != nil {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // processes that it has left behind
	}
	return string(out), err
}
