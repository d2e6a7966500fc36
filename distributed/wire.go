package distributed

import (
	"crypto/sha256"
	"fmt"
	"math"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/fxamacker/cbor/v2"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
)

// protocol is the version of the message formats of this package. A worker takes part only in jobs
// of its own build, see [Version].
const protocol = 3

// Version names the build. Answers are sure to have the same bits only if they come from the same build.
func Version() string {
	version := fmt.Sprintf("protocol %d", protocol)
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version
	}
	parts := []string{version, info.Main.Version}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
			parts = append(parts, s.Value)
		}
	}
	return strings.Join(parts, ", ")
}

// record states a job for workers.
type record struct {
	Version        string
	Data           string // SHA-256 of the data set, in hexadecimal
	Bytes          int64  // size of the data set
	Folds, Classes int    // Classes is 0 if each fold is one lane
	Config         map[string]cbor.RawMessage
	Loss           *named
	Validation     map[string]cbor.RawMessage
	Criterion      string // judges held-out rows; "": the model's own loss
	MaxGram        int
	MaxPacked      int64
}

// named is a loss of package loss and its parameters.
type named struct {
	Name       string
	Parameters cbor.RawMessage
}

// perGroup is the number of classes of a fold in a group.
const perGroup = 8

// groups returns the number of groups of a job.
func (r *record) groups() int { return r.Folds * r.blocks() }

func (r *record) blocks() int { return max(1, (r.Classes+perGroup-1)/perGroup) }

// group returns the group of a lane.
func (r *record) group(id bilevel.LaneID) int { return id.Fold*r.blocks() + id.Class/perGroup }

// lanes lists the lanes of a group.
func (r *record) lanes(group int) (ids []bilevel.LaneID) {
	fold, first := group/r.blocks(), group%r.blocks()*perGroup
	for class := first; class < min(first+perGroup, max(1, r.Classes)); class++ {
		ids = append(ids, bilevel.LaneID{Fold: fold, Class: class})
	}
	return ids
}

// Bounds on the contents of a message. Package bilevel and pare.NewLanes check the rest, as they
// check the arguments of any caller.
const (
	mostClasses = 1 << 20
	mostGroups  = 1 << 16 // for each group a worker subscribes to a subject
	mostBytes   = 1 << 40
)

// check refuses a record that a coordinator of this build cannot have written.
func (r *record) check() error {
	switch {
	case len(r.Data) != 2*sha256.Size:
		return malformed("the hash of the data has %d digits", len(r.Data))
	case r.Bytes <= 0 || r.Bytes > mostBytes:
		return malformed("the data have %d bytes", r.Bytes)
	case r.MaxGram < 0:
		return malformed("%d columns of a Gram matrix", r.MaxGram)
	case r.MaxPacked < 0:
		return malformed("%d bytes of copies of columns", r.MaxPacked)
	case r.Folds < 1 || r.Classes < 0:
		return malformed("%d folds of %d classes", r.Folds, r.Classes)
	case r.Folds > mostGroups || r.Classes > mostClasses || r.groups() > mostGroups:
		return outcome.At(outcome.Limit, "folds", "%d folds of %d classes are too many for workers, which take up to %d folds, or folds of %d classes each; use fewer folds, or select in one process", r.Folds, r.Classes, mostGroups, perGroup)
	}
	return nil
}

func malformed(format string, args ...any) error {
	return outcome.Errorf(outcome.Parse, "a message is malformed: "+format, args...)
}

// answer is the first part of a worker's answer to a request to a group. The results follow it,
// unless Error is set.
type answer struct {
	Request [sha256.Size]byte // hash of the bytes of the request
	Worker  string
	Seconds float64
	Error   *refusal
	Amiss   bool // Error is a fault of the worker, not of the request; such an answer is not stored
}

// refusal is an error in a message.
type refusal struct {
	Kind, Flag, Part, Message   string
	HasRow, HasColumn, HasClass bool
	Row, Column                 int
	Class                       float64
}

func newRefusal(err error) *refusal {
	if e, ok := err.(*outcome.Error); ok && e.Err == nil { //nolint:errorlint // one that wraps others is sent as text
		return &refusal{string(e.Kind), e.Flag, e.Part, e.Message, e.HasRow, e.HasColumn, e.HasClass, e.Row, e.Column, e.Class}
	}
	kind := outcome.KindOf(err)
	if kind == "" {
		kind = outcome.Internal
	}
	return &refusal{Kind: string(kind), Message: err.Error()}
}

func (r *refusal) err(worker string) error {
	return &outcome.Error{
		Kind: outcome.Kind(r.Kind), Flag: r.Flag, Part: r.Part, Message: r.Message + " (worker " + worker + ")",
		HasRow: r.HasRow, Row: r.Row, HasColumn: r.HasColumn, Column: r.Column, HasClass: r.HasClass, Class: r.Class,
	}
}

// encode returns a value as CBOR, in which floating-point numbers keep their bits and equal values
// have equal bytes.
func encode(v any) ([]byte, error) {
	mode, err := cbor.EncOptions{Sort: cbor.SortBytewiseLexical}.EncMode()
	var text []byte
	if err == nil {
		text, err = mode.Marshal(v)
	}
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.Internal, Message: "a message cannot be encoded", Err: err}
	}
	return text, nil
}

// encodeEach appends values to a message, one after the other.
func encodeEach[T any](text []byte, all []T) ([]byte, error) {
	for _, v := range all {
		one, err := encode(v)
		if err != nil {
			return nil, err
		}
		text = append(text, one...)
	}
	return text, nil
}

// decodeEach decodes a message, or the rest of one, with at most the given number of values. The values are
// not sent as an array, because decoding one could allocate a hundred times the memory of its message.
func decodeEach[T any](text []byte, most int) (all []T, err error) {
	for len(text) > 0 {
		if len(all) == most {
			return nil, malformed("it has more than %d parts", most)
		}
		var v T
		if text, err = decodeFirst(text, &v); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// decode decodes a message of one value.
func decode(text []byte, v any) error {
	rest, err := decodeFirst(text, v)
	if err == nil && len(rest) > 0 {
		err = malformed("%d bytes follow", len(rest))
	}
	return err
}

// decodeFirst decodes the first value of a message, with limits on its structure, and returns the rest.
func decodeFirst(text []byte, v any) (rest []byte, err error) {
	mode, err := cbor.DecOptions{
		MaxArrayElements: math.MaxInt32, MaxMapPairs: 1 << 10, MaxNestedLevels: 16,
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
	}.DecMode()
	if err == nil {
		rest, err = mode.UnmarshalFirst(text, v)
	}
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.Parse, Message: "a message is malformed", Err: err}
	}
	return rest, nil
}

// newRecord returns the record of a job. It refuses losses and criteria that the caller has written, since
// code cannot be sent to workers.
func newRecord(j pare.Job) (*record, error) {
	r := &record{Version: Version(), MaxGram: j.MaxGram, MaxPacked: j.MaxPacked}
	var err error
	if l := j.Config.Loss; l != nil {
		if known(l) == nil {
			return nil, outcome.At(outcome.Usage, "loss", "%s is a loss of the caller's own, which workers do not have; leave Lanes out", l.Name())
		}
		r.Loss = &named{Name: l.Name()}
		if r.Loss.Parameters, err = encode(l); err != nil {
			return nil, err
		}
	}
	if c := j.Validation.Loss; c != nil {
		at := slices.IndexFunc(criterion.Names(), func(name string) bool { return reflect.DeepEqual(criterion.Named(name), c) })
		if at < 0 {
			return nil, outcome.At(outcome.Usage, "validation-loss", "%s is a criterion of the caller's own, which workers do not have; leave Lanes out", c.Name())
		}
		r.Criterion = criterion.Names()[at]
	}
	j.Config.Loss, j.Validation.Loss = nil, nil
	j.Config.Solved, j.Config.Pool, j.Config.Observer, j.Config.Threads = nil, nil, nil, 0 // these belong to one process
	if r.Config, err = fields(j.Config); err != nil {
		return nil, err
	}
	r.Validation, err = fields(j.Validation)
	return r, err
}

// known returns the loss of package loss that has the type of l, nil if there is none.
func known(l loss.Loss) loss.Loss {
	for _, one := range loss.All() {
		if reflect.TypeOf(one) == reflect.TypeOf(l) {
			return one
		}
	}
	return nil
}

// job returns the job that the record states.
func (r *record) job() (j pare.Job, err error) {
	j.MaxGram, j.MaxPacked = r.MaxGram, r.MaxPacked
	if err := setFields(&j.Config, r.Config); err != nil {
		return j, err
	}
	if err := setFields(&j.Validation, r.Validation); err != nil {
		return j, err
	}
	if r.Criterion != "" {
		if !slices.Contains(criterion.Names(), r.Criterion) {
			return j, malformed("no criterion %q", r.Criterion)
		}
		j.Validation.Loss = criterion.Named(r.Criterion)
	}
	if r.Loss == nil {
		return j, nil
	}
	for _, l := range loss.All() {
		if l.Name() == r.Loss.Name {
			own := reflect.New(reflect.TypeOf(l))
			if err := decode(r.Loss.Parameters, own.Interface()); err != nil {
				return j, err
			}
			j.Config.Loss = own.Elem().Interface().(loss.Loss)
			return j, nil
		}
	}
	return j, malformed("no loss %q", r.Loss.Name)
}

// fields encodes the nonzero fields of a struct, by name.
func fields(of any) (map[string]cbor.RawMessage, error) {
	out := map[string]cbor.RawMessage{}
	v := reflect.ValueOf(of)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if v.Field(i).IsZero() {
			continue
		}
		if !v.Type().Field(i).IsExported() || !plain(v.Field(i).Type()) {
			return nil, outcome.Errorf(outcome.Usage, "%s of the %s belongs to this process and cannot be sent to workers; leave it out", name, v.Type().Name())
		}
		text, err := encode(v.Field(i).Interface())
		if err != nil {
			return nil, err
		}
		out[name] = text
	}
	return out, nil
}

// plain reports whether a type is a bool, a number, a string, or a slice of these.
func plain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice:
		return plain(t.Elem())
	case reflect.Bool, reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint32, reflect.Uint64, reflect.Float64, reflect.String:
		return true
	default:
		return false
	}
}

// setFields decodes into a struct what fields has encoded.
func setFields(to any, text map[string]cbor.RawMessage) error {
	v := reflect.ValueOf(to).Elem()
	for name, value := range text {
		field := v.FieldByName(name)
		if !field.IsValid() || !plain(field.Type()) {
			return malformed("%s has no field %q", v.Type().Name(), name)
		}
		if err := decode(value, field.Addr().Interface()); err != nil {
			return err
		}
	}
	return nil
}
