package sparse_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

const smallText = "+1 1:0.5 3:2\n-1 2:1.25\n"

// smallBzip2 is smallText compressed by bzip2 1.0.8, since the standard library cannot compress
// it.
const smallBzip2 = "QlpoOTFBWSZTWWPyBcYAAALYAAAQQAt6ECAAMQDTTQNR+qNNkkbRxDy2PcFCzPi7kinChIMfkC4w"

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstandard(t *testing.T, text string) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll([]byte(text), nil)
}

func file(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(path string) (*sparse.CSC, []float64, error) {
	return sparse.OpenSVMLight(context.Background(), path, sparse.ReadOptions{})
}

func bzipped(t *testing.T) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(smallBzip2)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestOpenByContent(t *testing.T) {
	for name, content := range map[string][]byte{
		"plain":      []byte(smallText),
		"a.svm":      []byte(smallText),
		"a.svm.gz":   gzipped(t, smallText),
		"A.SVM.GZ":   gzipped(t, smallText),
		"two.gz":     append(gzipped(t, smallText[:10]), gzipped(t, smallText[10:])...),
		"a.bz2":      bzipped(t),
		"a.svm.zst":  zstandard(t, smallText),
		"two.zst":    append(zstandard(t, smallText[:10]), zstandard(t, smallText[10:])...),
		"- b.svm":    []byte(smallText),
		"gz":         []byte(smallText),
		"plain.gz":   []byte(smallText),
		"plain.zst":  []byte(smallText),
		"packed.svm": gzipped(t, smallText),
		"packed":     zstandard(t, smallText),
	} {
		m, y, err := open(file(t, name, content))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := write(t, m, y); got != "1 1:0.5 3:2\n-1 2:1.25\n" {
			t.Errorf("%s: read %q", name, got)
		}
	}
}

// TestOpenLargeCompressed reads a compressed file that is larger than all buffers, through the
// decompressing goroutine.
func TestOpenLargeCompressed(t *testing.T) {
	text := strings.Repeat("1 1:0.125 77:3\n-1 5:2e-3 # comment\n", 50_000)
	want, yWant, err := read(text, sparse.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"a.gz": gzipped(t, text), "a.zst": zstandard(t, text)} {
		m, y, err := open(file(t, name, content))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if write(t, m, y) != write(t, want, yWant) {
			t.Errorf("%s: another matrix", name)
		}
	}
}

// TestOpenFailures checks that every error has its kind and the file's name, and comes without
// a matrix.
func TestOpenFailures(t *testing.T) {
	text := strings.Repeat(smallText, 20_000)
	broken := gzipped(t, text)
	broken[len(broken)-6] ^= 1 // a byte of the checksum
	for _, c := range []struct {
		name    string
		content []byte
		kind    outcome.Kind
		line    int // 0: not checked
	}{
		{"parse.gz", gzipped(t, "1 1:1\n1 x\n"), outcome.Parse, 2},
		{"early.gz", gzipped(t, "x\n"+text), outcome.Parse, 1},
		{"early.zst", zstandard(t, "x\n"+text), outcome.Parse, 1},
		{"magic.gz", []byte("\x1f\x8b"), outcome.IO, 1},
		{"magic.bz2", []byte("BZh"), outcome.IO, 1},
		{"magic.zst", []byte("\x28\xb5\x2f\xfd"), outcome.IO, 1},
		{"cut.gz", gzipped(t, text)[:600], outcome.IO, 0},
		{"cut.bz2", bzipped(t)[:40], outcome.IO, 1},
		{"cut.zst", zstandard(t, text)[:60], outcome.IO, 0},
		{"checksum.gz", broken, outcome.IO, 0},
		{"trailing.gz", append(gzipped(t, smallText), "trailing"...), outcome.IO, 0},
	} {
		path := file(t, c.name, c.content)
		m, y, err := open(path)
		var e *outcome.Error
		if !errors.As(err, &e) || e.Kind != c.kind || e.File != path || c.line > 0 && e.Line != c.line || m != nil || y != nil {
			t.Errorf("%s: %v (matrix %v), want %s", c.name, err, m != nil, c.kind)
		}
	}

	_, _, err := open(filepath.Join(t.TempDir(), "absent.svm"))
	if outcome.KindOf(err) != outcome.IO || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
	if _, _, err := open(t.TempDir()); outcome.KindOf(err) != outcome.IO || !strings.Contains(err.Error(), "is a directory, not a file") || strings.Contains(err.Error(), "line") {
		t.Errorf("a directory: %v", err)
	}
	_, _, err = sparse.OpenSVMLight(context.Background(), file(t, "a", []byte("x")), sparse.ReadOptions{Name: "the data"})
	if e := (*outcome.Error)(nil); !errors.As(err, &e) || e.File != "the data" {
		t.Errorf("Name is not used: %v", err)
	}
}

func TestOpenStandardInput(t *testing.T) {
	in, err := os.Open(file(t, "in", []byte(smallText)))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer func(stdin *os.File) { os.Stdin = stdin }(os.Stdin)
	os.Stdin = in
	m, y, err := open("-")
	if err != nil {
		t.Fatal(err)
	}
	if got := write(t, m, y); got != "1 1:0.5 3:2\n-1 2:1.25\n" {
		t.Errorf("read %q", got)
	}
	if os.Stdin, err = os.Open(file(t, "in", []byte("spam"))); err != nil {
		t.Fatal(err)
	}
	defer os.Stdin.Close()
	if _, _, err := open("-"); err == nil || !strings.HasPrefix(err.Error(), "standard input: line 1, byte 1: ") {
		t.Errorf("%v", err)
	}
}

// TestOpenCancelled checks that a cancel closes a compressed file and ends its goroutine.
func TestOpenCancelled(t *testing.T) {
	path := file(t, "a.gz", bytes.Repeat(gzipped(t, strings.Repeat(smallText, 4000)), 100))
	for _, after := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(context.Background(), after)
		m, _, err := sparse.OpenSVMLight(ctx, path, sparse.ReadOptions{})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || m != nil {
			t.Errorf("after %v: %v", after, err)
		}
	}
}
