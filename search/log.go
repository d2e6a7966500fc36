package search

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Log is the state of a search: what it has asked, and what it was answered, in
// order. Methods are deterministic, so that one given the same start, box and
// options takes the same way through the same answers: a search resumes by being
// started again with the log of the one that was interrupted.
//
// What is promised: every evaluation in the log is taken from it, bit for bit,
// without asking the objective; what the search asks next is, bit for bit, what
// it would have asked. What is not: the objective's own state, such as inner
// solutions to start from, is not in the log. An objective whose values depend
// on what it was asked before, within its tolerance, may answer from then on with
// other bits than it would have, unless its owner restores that state too.
//
// A question that is not the log's is refused: the log is another search's. A
// budget may grow under [Exact]; the other schedules depend on it.
//
// A Log serves one search at a time. The zero value is an empty log in memory.
type Log struct {
	key, path string
	entries   []entry
}

// entry is one question and its answer.
type entry struct {
	LogLambda vector `json:"log_lambda"`
	AskedTol  number `json:"asked_tol"`
	ValueOnly bool   `json:"value_only"`
	Value     number `json:"value"`
	Gradient  vector `json:"gradient"`
	Curvature vector `json:"curvature"`
	Tol       number `json:"tol"`
	Support   int    `json:"support"`
	Trusted   bool   `json:"trusted"`
	Flat      bool   `json:"flat"`
	Seconds   number `json:"seconds"`
}

// NewLog returns an empty log in memory. The key names the problem and the
// options of the search, in the caller's words.
func NewLog(key string) *Log { return &Log{key: key} }

// OpenLog returns the log in the file, or an empty one where there is no file.
// From then on every evaluation is saved there before the next is asked: the
// file is replaced whole, so that it always holds a state that was. Errors of
// saving end the search.
//
// The errors are those of [ReadLog], with the file's name, and of kind IO.
func OpenLog(path, key string) (*Log, error) {
	l := &Log{key: key, path: path}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, l.ioError("cannot open the log", err)
	}
	defer file.Close()
	old, err := ReadLog(file, key)
	if err != nil {
		if e, ok := errors.AsType[*outcome.Error](err); ok {
			e.File = path
		}
		return nil, err
	}
	l.entries = old.entries
	return l, nil
}

// ReadLog reads what [Log.Write] wrote. A damaged log is an [outcome.Error] of
// kind Parse, as is one of another version; a log with another key is one of kind
// BadParameter.
func ReadLog(r io.Reader, key string) (*Log, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.IO, Message: "cannot read the log", Err: err}
	}
	var f logFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, &outcome.Error{Kind: outcome.Parse, Message: "not a log of a search", Err: err}
	}
	if f.Version != logVersion {
		return nil, outcome.Errorf(outcome.Parse, "version %d of the log of a search, this program reads %d", f.Version, logVersion)
	}
	if sum := sha256.Sum256(f.Body); f.Sum != hex.EncodeToString(sum[:]) {
		return nil, outcome.Errorf(outcome.Parse, "the log of a search is damaged: its checksum is wrong")
	}
	var body logBody
	if err := json.Unmarshal(f.Body, &body); err != nil {
		return nil, &outcome.Error{Kind: outcome.Parse, Message: "the log of a search is damaged", Err: err}
	}
	l := &Log{key: body.Key, entries: body.Entries}
	// What was written is all there is, spelled as we spell it.
	if again, err := l.encode(); err != nil || !bytes.Equal(again, data) {
		return nil, outcome.Errorf(outcome.Parse, "the log of a search is damaged: it is not as it was written")
	}
	if l.key != key {
		return nil, outcome.At(outcome.BadParameter, "key", "the log is that of %q, not of %q", l.key, key)
	}
	return l, nil
}

// Write writes the log: JSON with a version and a checksum.
func (l *Log) Write(w io.Writer) error {
	data, err := l.encode()
	if err != nil {
		return err
	}
	if _, err = w.Write(data); err != nil {
		return l.ioError("cannot write the log", err)
	}
	return nil
}

// Len returns the number of evaluations.
func (l *Log) Len() int { return len(l.entries) }

// at returns the k-th answer, if its question is the one asked.
func (l *Log) at(k int, request Request) (Evaluation, error) {
	e := &l.entries[k]
	sameBits := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
	if !slices.EqualFunc(e.LogLambda, request.LogLambda, sameBits) || !sameBits(float64(e.AskedTol), request.Tol) || e.ValueOnly != request.ValueOnly {
		return Evaluation{}, outcome.At(outcome.BadParameter, "log", "evaluation %d of the log is not what this search asks: the log is another search's", k)
	}
	return Evaluation{
		Value:     float64(e.Value),
		Gradient:  e.Gradient,
		Curvature: e.Curvature,
		Tol:       float64(e.Tol),
		Support:   e.Support,
		Trusted:   e.Trusted,
		Flat:      e.Flat,
		Seconds:   float64(e.Seconds),
	}, nil
}

// add keeps a question and its answer.
func (l *Log) add(request Request, e Evaluation) error {
	l.entries = append(l.entries, entry{
		LogLambda: request.LogLambda,
		AskedTol:  number(request.Tol),
		ValueOnly: request.ValueOnly,
		Value:     number(e.Value),
		Gradient:  e.Gradient,
		Curvature: e.Curvature,
		Tol:       number(e.Tol),
		Support:   e.Support,
		Trusted:   e.Trusted,
		Flat:      e.Flat,
		Seconds:   number(e.Seconds),
	})
	if l.path == "" {
		return nil
	}
	return l.save()
}

// save replaces the log's file by a new one.
func (l *Log) save() error {
	data, err := l.encode()
	if err != nil {
		return err
	}
	dir := filepath.Dir(l.path)
	file, err := os.CreateTemp(dir, filepath.Base(l.path)+".tmp*")
	if err != nil {
		return l.ioError("cannot save the log", err)
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), l.path)
	}
	if err != nil {
		return l.ioError("cannot save the log", errors.Join(err, os.Remove(file.Name())))
	}
	// The name is safe once the directory is; not every system can sync one.
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
	return nil
}

func (l *Log) ioError(message string, err error) error {
	return &outcome.Error{Kind: outcome.IO, Message: message, File: l.path, Err: err}
}

const logVersion = 1

// logFile is a log on disk; Sum is that of the bytes of Body.
type logFile struct {
	Version int             `json:"pare_search_log"`
	Sum     string          `json:"sha256"`
	Body    json.RawMessage `json:"body"`
}

type logBody struct {
	Key     string  `json:"key"`
	Entries []entry `json:"evaluations"`
}

func (l *Log) encode() ([]byte, error) {
	body, err := json.Marshal(logBody{l.key, append([]entry{}, l.entries...)})
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.Internal, Message: "cannot encode the log", Err: err}
	}
	sum := sha256.Sum256(body)
	data := fmt.Appendf(nil, "{\"pare_search_log\":%d,\"sha256\":\"%x\",\"body\":", logVersion, sum)
	data = append(data, body...)
	return append(data, "}\n"...), nil
}

// number is a float64 that JSON keeps bit for bit; NaN and ±Inf are strings, and
// every NaN is the same.
type number float64

// MarshalJSON implements [json.Marshaler].
func (x number) MarshalJSON() ([]byte, error) { return x.append(nil), nil }

func (x number) append(b []byte) []byte {
	if finite(float64(x)) {
		return strconv.AppendFloat(b, float64(x), 'g', -1, 64)
	}
	b = append(b, '"')
	b = strconv.AppendFloat(b, float64(x), 'g', -1, 64)
	return append(b, '"')
}

// UnmarshalJSON implements [json.Unmarshaler].
func (x *number) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(string(bytes.Trim(b, `"`)), 64)
	*x = number(v)
	return err
}

// vector is a []float64 in the manner of number.
type vector []float64

// MarshalJSON implements [json.Marshaler].
func (v vector) MarshalJSON() ([]byte, error) {
	if v == nil {
		return []byte("null"), nil
	}
	b := append(make([]byte, 0, 2+20*len(v)), '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = number(x).append(b)
	}
	return append(b, ']'), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (v *vector) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*v = nil
		return nil
	}
	if len(b) < 2 || b[0] != '[' {
		return errors.New("not a list of numbers")
	}
	fields := bytes.Split(b[1:len(b)-1], []byte{','})
	if len(fields) == 1 && len(fields[0]) == 0 {
		fields = nil
	}
	*v = make(vector, len(fields))
	for i, field := range fields {
		var x number
		if err := x.UnmarshalJSON(field); err != nil {
			return err
		}
		(*v)[i] = float64(x)
	}
	return nil
}
