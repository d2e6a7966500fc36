package connect_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/seed-45b9a24c/pare/distributed/connect"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestContexts checks that address and credentials are read from a NATS context, given by its
// name or file, and that errors name the context.
func TestContexts(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, Username: "ada", Password: "secret", NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the server does not start")
	}
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	if err := os.MkdirAll(filepath.Join(dir, "nats", "context"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"good":  fmt.Sprintf(`{"description": "d", "url": %q, "user": "ada", "password": "secret", "socks_proxy": "", "windows_ca_certs_match": null}`, s.ClientURL()),
		"wrong": fmt.Sprintf(`{"url": %q, "user": "ada", "password": "guess"}`, s.ClientURL()),
		"proxy": `{"socks_proxy": "socks5://elsewhere"}`,
		"text":  `url`,
		"nkey":  `{"nkey": "/none"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, "nats", "context", name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]struct {
		kind outcome.Kind
		says string
	}{
		"good": {},
		filepath.Join(dir, "nats", "context", "good.json"): {},
		"wrong":   {outcome.IO, "Authorization"},
		"proxy":   {outcome.Usage, "socks_proxy"},
		"text":    {outcome.Parse, "no context"},
		"nkey":    {outcome.IO, "nkey"},
		"missing": {outcome.IO, "cannot be read"},
	} {
		nc, err := connect.Flags{Context: name}.Connect("", "test", slog.New(slog.DiscardHandler))
		if err == nil {
			nc.Close()
		}
		if outcome.KindOf(err) != want.kind || err != nil && !strings.Contains(err.Error(), want.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
