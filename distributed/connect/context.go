package connect

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/seed-45b9a24c/pare/outcome"
)

// saved is a connection in the JSON format of "nats context". Settings that are not listed here must be
// empty, so that no setting is ignored silently.
type saved struct {
	URL      string `json:"url"`
	User     string `json:"user"`
	Password string `json:"password"`
	Token    string `json:"token"`
	Creds    string `json:"creds"`
	NKey     string `json:"nkey"`
	CA       string `json:"ca"`
	Cert     string `json:"cert"`
	Key      string `json:"key"`
	TLSFirst bool   `json:"tls_first"`
}

// harmless lists settings that concern only the program nats.
var harmless = []string{"name", "description", "color_scheme"}

// openContext reads a context, given as a file or by its name in "nats context".
func openContext(name string) (*saved, error) {
	path := name
	if !strings.ContainsRune(name, os.PathSeparator) && filepath.Ext(name) != ".json" {
		dir := os.Getenv("XDG_CONFIG_HOME")
		if dir == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return nil, &outcome.Error{Kind: outcome.IO, Flag: "context", Message: "there is no home directory to look for contexts in; give a file", Err: err}
			}
			dir = filepath.Join(home, ".config")
		}
		path = filepath.Join(dir, "nats", "context", name+".json")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.IO, Flag: "context", File: path, Message: "cannot be read", Err: err}
	}
	s, all := &saved{}, map[string]any{}
	if err = json.Unmarshal(text, s); err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.Parse, Flag: "context", File: path, Message: "is no context of nats", Err: err}
	}
	own, _ := json.Marshal(s)
	known := map[string]any{}
	_ = json.Unmarshal(own, &known)
	for _, setting := range slices.Sorted(maps.Keys(all)) {
		if _, ok := known[setting]; ok || slices.Contains(harmless, setting) || empty(all[setting]) {
			continue
		}
		return nil, &outcome.Error{Kind: outcome.Usage, Flag: "context", File: path, Message: "sets " + setting + ", which is not known here; use a context without it"}
	}
	return s, nil
}

// empty reports whether the value of a setting is empty.
func empty(v any) bool {
	list, ok := v.([]any)
	return v == nil || v == "" || v == false || ok && len(list) == 0
}

// options returns the options of the connection.
func (s *saved) options() (all []nats.Option, err error) {
	add := func(set bool, o nats.Option) {
		if set {
			all = append(all, o)
		}
	}
	add(s.User != "", nats.UserInfo(s.User, s.Password))
	add(s.Token != "", nats.Token(s.Token))
	add(s.Creds != "", nats.UserCredentials(s.Creds))
	add(s.CA != "", nats.RootCAs(s.CA))
	add(s.Cert != "" && s.Key != "", nats.ClientCert(s.Cert, s.Key))
	add(s.TLSFirst, nats.TLSHandshakeFirst())
	if s.NKey != "" {
		o, err := nats.NkeyOptionFromSeed(s.NKey)
		if err != nil {
			return nil, &outcome.Error{Kind: outcome.IO, Flag: "context", File: s.NKey, Message: "the nkey cannot be read", Err: err}
		}
		all = append(all, o)
	}
	return all, nil
}
