package peers

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
)

// Store keeps comparisons in a file, row by row, so that a long run can resume after an interruption.
type Store struct {
	path string
	// Key identifies what the results depend on besides the rows: the machine and the settings. A file with
	// another key is discarded.
	Key         string       `json:"key"`
	Comparisons []Comparison `json:"comparisons"`
}

// OpenStore reads the file, if it exists; without a path nothing is kept.
func OpenStore(path, key string) (*Store, error) {
	s := &Store{path: path, Key: key}
	if path == "" {
		return s, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	var kept Store
	if err := json.Unmarshal(text, &kept); err != nil {
		return nil, err
	}
	if kept.Key == key {
		s.Comparisons = kept.Comparisons
	}
	return s, nil
}

// Has reports whether the row has been done.
func (s *Store) Has(row string) bool {
	return slices.ContainsFunc(s.Comparisons, func(c Comparison) bool { return c.Row == row })
}

// Add keeps the comparisons of a row; the file is replaced atomically.
func (s *Store) Add(all []Comparison) error {
	s.Comparisons = append(s.Comparisons, all...)
	if s.path == "" {
		return nil
	}
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.path+".new", append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(s.path+".new", s.path)
}
