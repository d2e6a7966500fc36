package search

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare/internal/sealed"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Log is the record of a search: its requests and the evaluations returned, in
// order. Methods are deterministic: with the same start, box and options they make the
// same requests as long as the evaluations are the same. A search is therefore resumed
// by starting it again with the log of the interrupted one.
//
// The evaluations in the log are taken from it, bit for bit, without calling the
// objective; the next request is then, bit for bit, that of an uninterrupted search. An
// objective whose evaluations depend on earlier requests, such as by warm starts,
// returns that state in [Evaluation].Memory. The caller that resumes the search gives
// the objective what [Log.Memories] returns, and evaluations are the same, too.
//
// A request that differs from the log's is refused: the log belongs to another search.
// The budget may grow under [Exact]; the other schedules depend on it.
//
// A Log serves one search at a time. The zero value is an empty log in memory.
type Log struct {
	key, path string
	entries   []entry
	unsaved   bool          // the file lacks some of the entries
	savedAt   time.Time     // when the file was last replaced
	saveTime  time.Duration // how long that took
}

// pauseFactor is the least pause after a save, as a multiple of the time that the save took, so that
// saving takes at most a twentieth of the time of a search.
const pauseFactor = 20

// entry is one request and its evaluation.
type entry struct {
	LogLambda  sealed.Vector  `json:"log_lambda"`
	AskedTol   sealed.Number  `json:"asked_tol"`
	ValueOnly  bool           `json:"value_only"`
	Value      sealed.Number  `json:"value"`
	FoldValues sealed.Vector  `json:"fold_values,omitempty"`
	Gradient   sealed.Vector  `json:"gradient"`
	Curvature  sealed.Vector  `json:"curvature"`
	Tol        sealed.Number  `json:"tol"`
	Support    int            `json:"support"`
	Trusted    bool           `json:"trusted"`
	Status     outcome.Status `json:"status"`
	Test       sealed.Number  `json:"test"`
	Tested     bool           `json:"tested"`
	Flat       bool           `json:"flat"`
	Spread     sealed.Number  `json:"standard_error"`
	TrainLoss  sealed.Number  `json:"train_loss"`
	Filled     sealed.Number  `json:"saturation"`
	Work       sealed.Number  `json:"work"`
	Seconds    sealed.Number  `json:"seconds"`
	Last       []byte         `json:"last,omitempty"` // of the last entry only
	Kept       []byte         `json:"kept,omitempty"`
}

// NewLog returns an empty log in memory. The key identifies the problem and the
// options of the search, in any form the caller chooses.
func NewLog(key string) *Log { return &Log{key: key} }

// OpenLog returns the log in the file, or an empty one if there is no file. From then on
// evaluations are saved to the file: each at once or, where that would take more than a twentieth
// of the time, several together, and all of them when a search ends, however it ends. The file is
// replaced as a whole, so that it always holds a complete state. An error of saving ends the
// search.
//
// The errors are those of [ReadLog], with the file's name, and errors of kind IO. The key is that
// of [NewLog].
func OpenLog(path, key string) (*Log, error) {
	l := &Log{key: key, path: path}
	sealed.Sweep(path)
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

// ReadLog reads what [Log.Write] wrote. A log that is damaged or of another version is an
// [outcome.Error] of kind Parse; a log with another key is one of kind BadParameter. If r
// fails, the error is of kind IO. The key is that of [NewLog].
func ReadLog(r io.Reader, key string) (*Log, error) {
	var body logBody
	if err := logFile.Read(r, &body); err != nil {
		return nil, err
	}
	if body.Key != key {
		return nil, outcome.At(outcome.BadParameter, "key", "the log belongs to %q, not to %q", body.Key, key)
	}
	return &Log{key: body.Key, entries: body.Entries}, nil
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

// Memories returns the memory of every evaluation, in order.
func (l *Log) Memories() []Memory {
	out := make([]Memory, 0, len(l.entries))
	for i := range l.entries {
		out = append(out, Memory{Last: l.entries[i].Last, Kept: l.entries[i].Kept})
	}
	return out
}

// at returns the k-th evaluation, or an error if it belongs to another request.
func (l *Log) at(k int, request Request) (Evaluation, error) {
	e := &l.entries[k]
	sameBits := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
	if !slices.EqualFunc(e.LogLambda, request.LogLambda, sameBits) || !sameBits(float64(e.AskedTol), request.Tol) || e.ValueOnly != request.ValueOnly {
		return Evaluation{}, outcome.At(outcome.BadParameter, "log", "evaluation %d of the log does not match this search: the log belongs to another search", k)
	}
	if r := len(e.LogLambda); !e.ValueOnly && len(e.Gradient) != r || e.Curvature != nil && len(e.Curvature) != r*r {
		return Evaluation{}, outcome.Errorf(outcome.Parse, "the log of a search is damaged: evaluation %d does not have one slope for each λ", k)
	}
	return Evaluation{
		Value:      float64(e.Value),
		FoldValues: e.FoldValues,
		Gradient:   e.Gradient,
		Curvature:  e.Curvature,
		Tol:        float64(e.Tol),
		Support:    e.Support,
		Trusted:    e.Trusted,
		Status:     e.Status,
		Test:       float64(e.Test),
		Tested:     e.Tested,
		Flat:       e.Flat,
		Seconds:    float64(e.Seconds),

		StandardError: float64(e.Spread),
		TrainLoss:     float64(e.TrainLoss),
		Saturation:    float64(e.Filled),
		Work:          float64(e.Work),
	}, nil
}

// add records a request and its evaluation, and saves the log if it is time to.
func (l *Log) add(request Request, e Evaluation) error {
	if k := len(l.entries); k > 0 {
		l.entries[k-1].Last = nil
	}
	l.entries = append(l.entries, entry{
		LogLambda:  request.LogLambda,
		AskedTol:   sealed.Number(request.Tol),
		ValueOnly:  request.ValueOnly,
		Value:      sealed.Number(e.Value),
		FoldValues: e.FoldValues,
		Gradient:   e.Gradient,
		Curvature:  e.Curvature,
		Tol:        sealed.Number(e.Tol),
		Support:    e.Support,
		Trusted:    e.Trusted,
		Status:     e.Status,
		Test:       sealed.Number(e.Test),
		Tested:     e.Tested,
		Flat:       e.Flat,
		Spread:     sealed.Number(e.StandardError),
		TrainLoss:  sealed.Number(e.TrainLoss),
		Filled:     sealed.Number(e.Saturation),
		Work:       sealed.Number(e.Work),
		Seconds:    sealed.Number(e.Seconds),
		Last:       e.Memory.Last,
		Kept:       e.Memory.Kept,
	})
	l.unsaved = l.path != ""
	if time.Since(l.savedAt) < pauseFactor*l.saveTime {
		return nil
	}
	return l.save()
}

// save replaces the file of the log if it lacks evaluations. A nil log has no file.
func (l *Log) save() error {
	if l == nil || !l.unsaved {
		return nil
	}
	began := time.Now()
	data, err := l.encode()
	if err != nil {
		return err
	}
	if err := sealed.Replace(l.path, data); err != nil {
		return l.ioError("cannot save the log", err)
	}
	l.unsaved, l.savedAt = false, time.Now()
	l.saveTime = l.savedAt.Sub(began)
	return nil
}

func (l *Log) ioError(message string, err error) error {
	return &outcome.Error{Kind: outcome.IO, Message: message, File: l.path, Err: err}
}

// logFile is the file format of a log.
var logFile = sealed.Kind{Key: "pare_search_log", Noun: "log of a search", Version: 4, Oldest: 3}

type logBody struct {
	Key     string  `json:"key"`
	Entries []entry `json:"evaluations"`
}

func (l *Log) encode() ([]byte, error) {
	return logFile.Encode(logBody{l.key, append([]entry{}, l.entries...)})
}
