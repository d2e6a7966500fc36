package loops

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// Compiled runs C loops, and those of OpenBLAS, for comparison. They are compiled on the measuring machine and
// run in a process of their own, one request at a time, in turn with our kernels.
type Compiled struct {
	// Version names the compiler and the OpenBLAS, or says why there is none.
	Version string

	folder  string
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
}

//go:embed c/loops.c
var source []byte

// Compile builds the loops with gcc and starts them. If that fails there are no loops, and Version gives the
// reason.
func Compile(ctx context.Context) *Compiled {
	c := &Compiled{}
	if err := c.start(ctx); err != nil {
		c.Close()
		return &Compiled{Version: fmt.Sprintf("absent (%v)", err)}
	}
	return c
}

func (c *Compiled) start(ctx context.Context) (err error) {
	if c.folder, err = os.MkdirTemp("", "loops"); err != nil {
		return err
	}
	file, program := filepath.Join(c.folder, "loops.c"), filepath.Join(c.folder, "loops")
	if err := os.WriteFile(file, source, 0o600); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "gcc", "-O3", "-march=native", "-ffast-math", "-o", program, file, "-ldl")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w %s", err, out)
	}
	process := exec.CommandContext(ctx, program)
	process.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1")
	if os.Getenv("OPENBLAS_CORETYPE") == "" { // OpenBLAS does not recognise CPUs newer than itself
		if cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512VL) {
			process.Env = append(process.Env, "OPENBLAS_CORETYPE=SkylakeX")
		} else if cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3) {
			process.Env = append(process.Env, "OPENBLAS_CORETYPE=Haswell")
		}
	}
	if c.in, err = process.StdinPipe(); err != nil {
		return err
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := process.Start(); err != nil {
		return err
	}
	c.process, c.out = process, bufio.NewScanner(out)
	c.Version = c.answer()
	return nil
}

func (c *Compiled) answer() string {
	if !c.out.Scan() {
		return ""
	}
	return c.out.Text()
}

// Close ends the process.
func (c *Compiled) Close() {
	if c.process != nil {
		_ = c.in.Close()
		_ = c.process.Wait()
	}
	_ = os.RemoveAll(c.folder)
}

// once returns the time of a call in nanoseconds, 0 if there is no such loop.
func (c *Compiled) once(who, operation string, n, length int, each time.Duration) float64 {
	if c.process == nil {
		return 0
	}
	if _, err := fmt.Fprintln(c.in, who, operation, n, length, each.Nanoseconds()); err != nil {
		return 0
	}
	ns, _ := strconv.ParseFloat(strings.TrimSpace(c.answer()), 64)
	return ns
}

// others are the names of the implementations that may exist, in the order of the table.
var others = [...]string{"openblas", "gcc", "gcc4", "naive"}

// implementations returns the implementations of an operation that exist.
func (c *Compiled) implementations(op operation) []implementation {
	var all []implementation
	for _, who := range others {
		if c.once(who, op.name, op.n, op.length, 0) > 0 {
			all = append(all, implementation{
				Result: Result{Set: who},
				time:   func(each time.Duration) float64 { return c.once(who, op.name, op.n, op.length, each) },
			})
		}
	}
	return all
}
