package input_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-45b9a24c/pare/internal/input"
	"github.com/seed-45b9a24c/pare/outcome"
)

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestTextComesOutWhole checks that a text is read completely, compressed or not, whatever the
// sizes of the reads.
func TestTextComesOutWhole(t *testing.T) {
	text := strings.Repeat("some text, and some more\n", 10_000)
	for name, content := range map[string][]byte{"plain": []byte(text), "gzip": zipped(t, text)} {
		for arriving, r := range map[string]io.Reader{
			"at once": bytes.NewReader(content), "by bytes": iotest.OneByteReader(bytes.NewReader(content)), "with its end": iotest.DataErrReader(bytes.NewReader(content)),
		} {
			in := input.From(t.Context(), r, name)
			got, err := io.ReadAll(in)
			in.Close()
			if err != nil || string(got) != text {
				t.Errorf("%s, %s: %d bytes, %v", name, arriving, len(got), err)
			}
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := input.Open(t.Context(), path, name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(in); err != nil || string(got) != text || in.Unpacks() != (name == "gzip") || in.File() == nil {
			t.Errorf("%s, from a file: %d bytes, %v", name, len(got), err)
		}
		in.Close()
	}
}

// TestCloseEarly checks that closing a file early ends its decompression.
func TestCloseEarly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, zipped(t, strings.Repeat("x", 1<<22)), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := input.Open(t.Context(), path, "file")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	in.Close() // must return
}

// TestSourcesThatWaitOrFail checks that reading from a source that waits ends with the context,
// and that the failure of a source is returned as an error.
func TestSourcesThatWaitOrFail(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	waiting, _ := io.Pipe()
	in, enough := input.From(ctx, waiting, "pipe"), errors.New("enough")
	done := make(chan error)
	go func() {
		_, err := in.Read(make([]byte, 10))
		done <- err
	}()
	cancel(enough)
	if err := <-done; !errors.Is(err, enough) {
		t.Errorf("%v", err)
	}
	broken := errors.New("broken")
	if _, err := io.ReadAll(input.From(context.Background(), iotest.ErrReader(broken), "r")); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if _, err := io.ReadAll(input.From(context.Background(), bytes.NewReader(zipped(t, "text")[:12]), "cut")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("half a file: %v", err)
	}
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, err := input.Open(context.Background(), path, "it"); outcome.KindOf(err) != outcome.IO {
			t.Errorf("%s: %v", path, err)
		}
	}
}
