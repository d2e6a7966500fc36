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
	"strings"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Kind is a kind of file.
type Kind struct {
	Key     string // in the file, before the version: "pare_model"
	Noun    string // in messages: "saved model"
	Version int
	Oldest  int // oldest version that can be read; 0: only Version
	// Most is the largest size of a file in bytes; 0: 1 GiB. Reading takes about six times that.
	Most int64
}

// Encode returns the contents of the file for a body, which must always encode to the same JSON.
func (k Kind) Encode(body any) ([]byte, error) { return k.encode(body, k.Version) }

func (k Kind) encode(body any, version int) ([]byte, error) {
	inner, err := json.Marshal(body)
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.Internal, Message: "cannot encode the " + k.Noun, Err: err}
	}
	sum := sha256.Sum256(inner)
	data := fmt.Appendf(k.prefix(), "%d,\"sha256\":\"%x\",\"body\":", version, sum)
	return append(append(data, inner...), "}\n"...), nil
}

// prefix is the beginning of every file of the kind.
func (k Kind) prefix() []byte { return fmt.Appendf(nil, "{%q:", k.Key) }

// Read reads what Encode wrote into body, a pointer. Anything else is an [outcome.Error] of kind Parse, and
// so is a file of another version. Input with another beginning is refused there, so that data of any length,
// or a device without end, is not read further. A file that is too long is an error of kind Limit. Where r
// fails, the error is of kind IO.
func (k Kind) Read(r io.Reader, body any) error {
	data := make([]byte, len(k.prefix()))
	_, err := io.ReadFull(r, data)
	if err == nil && !bytes.Equal(data, k.prefix()) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return outcome.Errorf(outcome.Parse, "not a %s", k.Noun)
	}
	if err == nil {
		most := k.Most
		if most == 0 {
			most = 1 << 30
		}
		var rest []byte
		if rest, err = io.ReadAll(io.LimitReader(r, most+1)); int64(len(rest)) > most {
			return outcome.Errorf(outcome.Limit, "a %s of more than %d bytes", k.Noun, most)
		}
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

// versions returns the versions that can be read, in words.
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
		return outcome.Errorf(outcome.Parse, "this is version %d of a %s, but this program reads %s", version, k.Noun, k.versions())
	}
	sum := sha256.Sum256(file["body"])
	if want := hex.EncodeToString(sum[:]); strings.Trim(string(file["sha256"]), `"`) != want {
		return outcome.Errorf(outcome.Parse, "the %s is damaged: its checksum is wrong", k.Noun)
	}
	if err := json.Unmarshal(file["body"], body); err != nil {
		return &outcome.Error{Kind: outcome.Parse, Message: "the " + k.Noun + " is damaged", Err: err}
	}
	// The file must be byte for byte what encode writes. Fields that a later version has added are omitted
	// where they are not set.
	if again, err := k.encode(body, version); err != nil || !bytes.Equal(again, data) {
		return outcome.Errorf(outcome.Parse, "the %s is damaged: its contents are not as they were written", k.Noun)
	}
	return nil
}
