// Package sealed keeps values in files that are either whole or refused: JSON
// with a name, a version and a checksum, read only if it is byte for byte what
// would be written, and replaced by rename after a sync.
package sealed

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Kind is a kind of file.
type Kind struct {
	Key     string // in the file, before the version: "pare_model"
	Noun    string // in messages: "saved model"
	Version int
	Oldest  int // version that is read still; 0: none but Version
}

// Encode returns the file of a body, which must encode to the same JSON always.
func (k Kind) Encode(body any) ([]byte, error) { return k.encode(body, k.Version) }

func (k Kind) encode(body any, version int) ([]byte, error) {
	inner, err := json.Marshal(body)
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.Internal, Message: "cannot encode the " + k.Noun, Err: err}
	}
	sum := sha256.Sum256(inner)
	data := fmt.Appendf(k.opening(), "%d,\"sha256\":\"%x\",\"body\":", version, sum)
	return append(append(data, inner...), "}\n"...), nil
}

// opening is what every file of the kind begins with.
func (k Kind) opening() []byte { return fmt.Appendf(nil, "{%q:", k.Key) }

// Read reads what Encode wrote into body, a pointer. Anything else is an
// [outcome.Error] of kind Parse, a file of another version too. What begins otherwise is
// refused there, however long it is: data, or a device that has no end. Where r fails,
// the error is of kind IO.
func (k Kind) Read(r io.Reader, body any) error {
	data := make([]byte, len(k.opening()))
	_, err := io.ReadFull(r, data)
	if err == nil && !bytes.Equal(data, k.opening()) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return outcome.Errorf(outcome.Parse, "not a %s", k.Noun)
	}
	if err == nil {
		var rest []byte
		rest, err = io.ReadAll(r)
		data = append(data, rest...)
	}
	if err != nil {
		return &outcome.Error{Kind: outcome.IO, Message: "cannot read the " + k.Noun, Err: err}
	}
	return k.decode(data, body)
}

func (k Kind) oldest() int {
	if k.Oldest == 0 {
		return k.Version
	}
	return k.Oldest
}

// versions are those read, in words.
func (k Kind) versions() string {
	if k.oldest() == k.Version {
		return fmt.Sprintf("version %d", k.Version)
	}
	return fmt.Sprintf("versions %d to %d", k.oldest(), k.Version)
}

func (k Kind) decode(data []byte, body any) error {
	var file map[string]json.RawMessage
	if err := json.Unmarshal(data, &file); err != nil {
		return &outcome.Error{Kind: outcome.Parse, Message: "not a " + k.Noun, Err: err}
	}
	var version int
	if json.Unmarshal(file[k.Key], &version) != nil {
		return outcome.Errorf(outcome.Parse, "not a %s", k.Noun)
	}
	if version > k.Version || version < k.oldest() {
		return outcome.Errorf(outcome.Parse, "version %d of a %s, this program reads %s", version, k.Noun, k.versions())
	}
	sum := sha256.Sum256(file["body"])
	if want := hex.EncodeToString(sum[:]); strings.Trim(string(file["sha256"]), `"`) != want {
		return outcome.Errorf(outcome.Parse, "the %s is damaged: its checksum is wrong", k.Noun)
	}
	if err := json.Unmarshal(file["body"], body); err != nil {
		return &outcome.Error{Kind: outcome.Parse, Message: "the " + k.Noun + " is damaged", Err: err}
	}
	// What was written is all there is, spelled as we spell it. What a version has added is
	// left out where it is not set.
	if again, err := k.encode(body, version); err != nil || !bytes.Equal(again, data) {
		return outcome.Errorf(outcome.Parse, "the %s is damaged: it is not as it was written", k.Noun)
	}
	return nil
}

// Replace puts data in place of the file, with its permissions, or makes it. Whatever
// happens, the file is the old one or the new one.
func Replace(path string, data []byte) error { return replace(path, data, (*os.File).Sync) }

// ReplaceWith is [Replace] with what write writes.
func ReplaceWith(path string, write func(io.Writer) error) error {
	return replaceWith(path, write, (*os.File).Sync)
}

// replace is Replace with what brings a file or a directory to the disk.
func replace(path string, data []byte, sync func(*os.File) error) error {
	write := func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
	return replaceWith(path, write, sync)
}

func replaceWith(path string, write func(io.Writer) error, sync func(*os.File) error) error {
	file, err := beside(path)
	if err != nil {
		return err
	}
	err = write(file)
	err = errors.Join(err, sync(file), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	// The name is safe once the directory is; not every system can sync one.
	if d, err := os.Open(filepath.Dir(path)); err == nil {
		_ = sync(d)
		_ = d.Close()
	}
	return nil
}

// Replaceable returns the error with which [Replace] would not begin.
func Replaceable(path string) error {
	file, err := beside(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// beside creates the file that is to take the place of what is at path.
func beside(path string) (*os.File, error) {
	old, err := os.Stat(path)
	if err == nil && !old.Mode().IsRegular() {
		return nil, errors.New("what is there is not a file to replace")
	}
	const names = 1000 // those of processes that were killed remain
	var file *os.File
	for k := range names {
		name := fmt.Sprintf("%s.tmp%d-%d", path, os.Getpid(), k)
		file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err == nil && old != nil {
		if err = file.Chmod(old.Mode().Perm()); err != nil {
			err = errors.Join(err, file.Close(), os.Remove(file.Name()))
		}
	}
	return file, err
}
