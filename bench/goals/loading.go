package goals

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/seed-45b9a24c/pare/bench/peers"
	"github.com/seed-45b9a24c/pare/bench/studies"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Loading is S8: uncompressed text, which is in the system's cache after the first round, is read in turn by
// pare and by scikit-learn.
func Loading(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := newTable(o)
	dir, err := os.MkdirTemp("", "perf-load-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // in the temporary directory
	sklearn, absent := peers.StartLoad(ctx, dir)
	if absent == nil {
		defer sklearn.Close()
	}
	err = t.each(ctx, o.Choose([]string{"reuters_places", "gina_like", "imdb", "mnist"}, 2), func(d studies.Data) error {
		path := filepath.Join(dir, d.Name+".svm")
		if err := write(path, d); err != nil {
			return err
		}
		bytes, nonzeros := d.X.(*sparse.CSC).Bytes(), int(d.X.NNZ())
		d.X = nil // frees memory for the copies below
		var us, them []float64
		var peak int64
		for round := range t.rounds() {
			t.say("%s: round %d", d.Name, round+1)
			seconds, most, err := load(ctx, path)
			if err != nil {
				return err
			}
			us, peak = append(us, seconds), max(peak, most)
			if absent == nil {
				seconds, _, found, err := sklearn.Load(ctx, path)
				if err != nil {
					return err
				}
				if found != nonzeros {
					return fmt.Errorf("scikit-learn finds %d nonzeros, we find %d", found, nonzeros)
				}
				them = append(them, seconds)
			}
		}
		memory := fmt.Sprintf("peak of the heap %.2f × the matrix", float64(peak)/float64(bytes))
		if absent != nil {
			t.note(d.Name, "load", median(us), "≥ 5; memory ≤ 3", memory+"; "+absent.Error())
		} else {
			t.add(d.Name, "load", median(us), sklearn.Version(), median(them), "≥ 5; memory ≤ 3", memory)
		}
		return os.Remove(path)
	})
	return t.result("S8"), err
}

func write(path string, d studies.Data) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := sparse.WriteSVMLight(file, d.X, d.Y); err != nil {
		return err
	}
	return file.Close()
}

// load reads a file and watches the heap meanwhile: peak is the largest size of objects, garbage included,
// above the size before.
func load(ctx context.Context, path string) (seconds float64, peak int64, err error) {
	runtime.GC()
	before, stop, done := heap(), make(chan struct{}), make(chan int64)
	go func() {
		most := int64(0)
		for tick := time.NewTicker(2 * time.Millisecond); ; {
			select {
			case <-stop:
				tick.Stop()
				done <- max(most, heap())
				return
			case <-tick.C:
				most = max(most, heap())
			}
		}
	}()
	began := time.Now()
	x, y, err := sparse.OpenSVMLight(ctx, path, sparse.ReadOptions{})
	seconds = time.Since(began).Seconds()
	close(stop)
	peak = <-done - before
	if x == nil || y == nil {
		return 0, 0, io.ErrUnexpectedEOF
	}
	return seconds, peak, err
}

func heap() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
