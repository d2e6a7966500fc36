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

// Log is the state of a search: what it has asked, and what it was answered, in
// order. Methods are deterministic, so that one given the same start, box and
// options takes the same way through the same answers: a search resumes by being
// started again with the log of the one that was interrupted.
//
// Every evaluation in the log is taken from it, bit for bit, without asking the
// objective; what the search asks next is, bit for bit, what it would have asked. An
// objective whose answers depend on what it was asked before, such as by inner solutions
// to start from, says so in [Evaluation].Memory; whoever resumes the search gives it
// back what [Log.Memories] returns, and the answers are the same, too.
//
// A question that is not the log's is refused: the log is another search's. A
// budget may grow under [Exact]; the other schedules depend on it.
//
// A Log serves one search at a time. The zero value is an empty log in memory.
type Log struct {
	key, path string
	entries   []entry
	unsaved   bool          // the file lacks some of them
	saved     time.Time     // when the file was last replaced
	took      time.Duration // that
}

// rests is how many times as long as it took to save the log it is not saved again: a log of many
// evaluations, or of long ones, takes a twentieth of the time of a search.
const rests = 20

// entry is one question and its answer.
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
	Last       []byte         `json:"last,omitempty"` // of the last entry alone
	Kept       []byte         `json:"kept,omitempty"`
}

// NewLog returns an empty log in memory. The key names the problem and the
// options of the search, in the caller's words.
func NewLog(key string) *Log { return &Log{key: key} }

// OpenLog returns the log in the file, or an empty one where there is no file.
// From then on evaluations are saved there, at once or, where that would take more than a
// twentieth of the time, some together; all of them at the latest when a search ends, however it
// does. The file is replaced whole, so that it always holds a state that was. Errors of saving
// end the search.
//
// The errors are those of [ReadLog], with the file's name, and of kind IO.
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

// ReadLog reads what [Log.Write] wrote. A damaged log is an [outcome.Error] of
// kind Parse, as is one of another version; a log with another key is one of kind
// BadParameter. Where r fails, the error is of kind IO.
func ReadLog(r io.Reader, key string) (*Log, error) {
	var body logBody
	if err := logFile.Read(r, &body); err != nil {
		return nil, err
	}
	if body.Key != key {
		return nil, outcome.At(outcome.BadParameter, "key", "the log is that of %q, not of %q", body.Key, key)
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

// Memories returns what the objective has said that it remembers, evaluation by evaluation.
func (l *Log) Memories() []Memory {
	out := make([]Memory, 0, len(l.entries))
	for i := range l.entries {
		out = append(out, Memory{Last: l.entries[i].Last, Kept: l.entries[i].Kept})
	}
	return out
}

// at returns the k-th answer, if its question is the one asked.
func (l *Log) at(k int, request Request) (Evaluation, error) {
	e := &l.entries[k]
	sameBits := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
	if !slices.EqualFunc(e.LogLambda, request.LogLambda, sameBits) || !sameBits(float64(e.AskedTol), request.Tol) || e.ValueOnly != request.ValueOnly {
		return Evaluation{}, outcome.At(outcome.BadParameter, "log", "evaluation %d of the log is not what this search asks: the log is another search's", k)
	}
	if r := len(e.LogLambda); !e.ValueOnly && len(e.Gradient) != r || e.Curvature != nil && len(e.Curvature) != r*r {
		return Evaluation{}, outcome.Errorf(outcome.Parse, "the log of a search is damaged: evaluation %d has not one slope for each λ", k)
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

// add keeps a question and its answer.
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
	if time.Since(l.saved) < rests*l.took {
		return nil
	}
	return l.save()
}

// save replaces the log's file by a new one where that lacks evaluations. nil has no file.
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
	l.unsaved, l.saved = false, time.Now()
	l.took = l.saved.Sub(began)
	return nil
}

func (l *Log) ioError(message string, err error) error {
	return &outcome.Error{Kind: outcome.IO, Message: message, File: l.path, Err: err}
}

// logFile is how a log is kept.
var logFile = sealed.Kind{Key: "pare_search_log", Noun: "log of a search", Version: 4, Oldest: 3}

type logBody struct {
	Key     string  `json:"key"`
	Entries []entry `json:"evaluations"`
}

func (l *Log) encode() ([]byte, error) {
	return logFile.Encode(logBody{l.key, append([]entry{}, l.entries...)})
}
