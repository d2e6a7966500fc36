package distributed_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/distributed"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestDataLieElsewhere checks that workers read data sets from a common directory or from an
// address, and accept them only with the right SHA-256. Nothing passes through the store of the
// servers.
func TestDataLieElsewhere(t *testing.T) {
	shared := t.TempDir()
	files := httptest.NewServer(http.FileServer(http.Dir(shared)))
	defer files.Close()
	x, y := problem(60, 10, 0)
	want, err := pare.Select(t.Context(), x, y, pare.SelectOptions{}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	choose := func(data string) (s *pare.Selection, err error) {
		url, o := serve(t), options
		o.Data = data
		nc, ended := connect(t, url), make(chan error, 1)
		ctx, stop := context.WithCancel(t.Context())
		go func() { ended <- distributed.Worker{Name: "w0", Slots: 1, Cache: t.TempDir(), Options: o}.Run(ctx, nc) }()
		defer func() {
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}()
		run, err := distributed.Submit(ctx, nc, x, y, o)
		if err != nil {
			return nil, err
		}
		defer run.Close()
		s, err = pare.Select(ctx, x, y, pare.SelectOptions{Lanes: run.Lanes}, pare.Config{})
		js, _ := jetstream.New(nc)
		store, there := js.ObjectStore(ctx, "PARE_DATA")
		if there != nil {
			t.Fatal(there)
		}
		if all, _ := store.List(ctx); len(all) != 0 {
			t.Errorf("%s: %d data sets in the store", data, len(all))
		}
		return s, err
	}
	if _, err := choose(files.URL); outcome.KindOf(err) != outcome.IO || !strings.Contains(err.Error(), "404") {
		t.Errorf("nothing there: %v", err)
	}
	for _, data := range []string{shared, files.URL} {
		s, err := choose(data)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if a, b := bits(want), bits(s); a != b {
			t.Errorf("%s: %s\nin one process\n%s", data, b, a)
		}
	}
	names, err := filepath.Glob(filepath.Join(shared, "*"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	text, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)-1] ^= 1
	if err := os.WriteFile(names[0], text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := choose(files.URL); outcome.KindOf(err) != outcome.Parse || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("damaged: %v", err)
	}
}
