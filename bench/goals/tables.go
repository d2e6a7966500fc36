package goals

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/seed-45b9a24c/pare/bench/machine"
	"github.com/seed-45b9a24c/pare/bench/peers"
	"github.com/seed-45b9a24c/pare/bench/studies"
	text "github.com/seed-45b9a24c/pare/table"
)

// fiveTimes is the goal relative to the readers of Python's libraries; for words there is no goal.
const fiveTimes = "≥ 5"

// textFile is a text file that is generated to be read.
type textFile struct {
	name    string
	columns int // of the matrix, without the target
	write   func(w *bufio.Writer, rng *rand.Rand, rows int)
	goal    string
}

// tableFiles are tables as programs write them, and matrices in the two sparse text formats.
func tableFiles() []textFile {
	cells := func(spell func(b []byte, v float64) []byte) func(w *bufio.Writer, rng *rand.Rand, rows int) {
		return func(w *bufio.Writer, rng *rand.Rand, rows int) {
			for j := range 50 {
				fmt.Fprintf(w, "x%d,", j)
			}
			fmt.Fprintln(w, "y")
			var b []byte
			for range rows {
				b = b[:0]
				for range 51 {
					b = append(spell(b, rng.NormFloat64()), ',')
				}
				b[len(b)-1] = '\n'
				_, _ = w.Write(b) // Flush returns the error
			}
		}
	}
	return []textFile{
		{"digits.csv", 50, cells(func(b []byte, v float64) []byte { return strconv.AppendFloat(b, v, 'f', -1, 64) }), fiveTimes},
		{"decimals.csv", 50, cells(func(b []byte, v float64) []byte { return strconv.AppendFloat(b, v, 'f', 5, 64) }), fiveTimes},
		{"integers.csv", 50, cells(func(b []byte, v float64) []byte { return strconv.AppendInt(b, 100+int64(300*math.Abs(v))%900, 10) }), fiveTimes},
		{"words.csv", 504, wordCells, ""},
		{"matrix.mtx", 5_000, func(w *bufio.Writer, rng *rand.Rand, rows int) {
			fmt.Fprintf(w, "%%%%MatrixMarket matrix coordinate real general\n%d 5000 %d\n", rows, 50*rows)
			for i := range rows {
				for k := range 50 {
					fmt.Fprintf(w, "%d %d %.16g\n", i+1, 100*k+1+rng.IntN(100), rng.NormFloat64())
				}
			}
		}, fiveTimes},
		{"digits.svm", 5_000, sparseLines(16), fiveTimes},
		{"decimals.svm", 5_000, sparseLines(5), fiveTimes},
	}
}

// wordCells writes 50 columns of ten words each and four columns of numbers.
func wordCells(w *bufio.Writer, rng *rand.Rand, rows int) {
	for j := range 54 {
		fmt.Fprintf(w, "x%d,", j)
	}
	fmt.Fprintln(w, "y")
	for range rows {
		for range 50 {
			fmt.Fprintf(w, "level %d,", rng.IntN(10))
		}
		for range 4 {
			fmt.Fprintf(w, "%.2f,", rng.NormFloat64())
		}
		fmt.Fprintf(w, "%.3f\n", rng.NormFloat64())
	}
}

func sparseLines(digits int) func(w *bufio.Writer, rng *rand.Rand, rows int) {
	return func(w *bufio.Writer, rng *rand.Rand, rows int) {
		for i := range rows {
			fmt.Fprint(w, 2*(i%2)-1)
			for k := range 50 {
				fmt.Fprintf(w, " %d:%.*g", 100*k+1+rng.IntN(100), digits, rng.NormFloat64())
			}
			fmt.Fprintln(w)
		}
	}
}

// Tables is S11: files, which are in the system's cache after the first round, are read in turn by pare, on one
// thread, and by the readers of Python's libraries. The least processor time counts.
func Tables(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := newTable(o)
	dir, err := os.MkdirTemp("", "perf-tables-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // in the temporary directory
	reader, absent := peers.StartTables(ctx, dir)
	if absent == nil {
		defer reader.Close()
	}
	rows, rounds := 40_000, 9
	if o.Quick {
		rows, rounds = 4_000, 5
	}
	for _, f := range tableFiles() {
		t.say("%s", f.name)
		path := filepath.Join(dir, f.name)
		if err := f.save(path, rows); err != nil {
			return nil, err
		}
		ours, theirs := math.Inf(1), math.Inf(1)
		for range rounds {
			seconds, err := f.read(ctx, path, rows)
			if err != nil {
				return nil, err
			}
			if ours = min(ours, seconds); absent != nil {
				continue
			}
			if seconds, err = reader.Read(ctx, path, rows); err != nil {
				return nil, err
			}
			theirs = min(theirs, seconds)
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		size := fmt.Sprintf("%.1f MB", float64(info.Size())/1e6)
		if absent != nil {
			t.note(f.name, "read", ours, f.goal, size+"; "+absent.Error())
		} else {
			t.add(f.name, "read", ours, reader.Version(), theirs, f.goal, size)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return t.result("S11"), nil
}

func (f textFile) save(path string, rows int) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w := bufio.NewWriterSize(file, 1<<20)
	f.write(w, rand.New(rand.NewPCG(11, 11)), rows)
	return w.Flush()
}

// read returns the processor time of reading, in seconds.
func (f textFile) read(ctx context.Context, path string, rows int) (seconds float64, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	runtime.GC()
	o := text.Options{Threads: 1, NoTarget: filepath.Ext(path) == ".mtx"}
	if filepath.Ext(path) == ".csv" {
		o.Target, o.OneHot = "y", true
	}
	before, ok := machine.ProcessorTime()
	d, err := text.Open(ctx, path, o)
	after, _ := machine.ProcessorTime()
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return 0, errors.New("this system does not say what processor time a process has taken")
	}
	if n, p := d.X.Dims(); n != rows || p > f.columns || p < f.columns*9/10 {
		return 0, fmt.Errorf("%s is read as %d × %d", f.name, n, p)
	}
	return (after - before).Seconds(), nil
}
