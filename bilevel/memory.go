package bilevel

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// memory says whether another process can resume a search with the same bits. If so, the lanes of the
// problem solve every request anew, from the coefficients that they begin with and without anything else
// from earlier solves, and evaluations carry those coefficients in their Memory.
type memory struct {
	on  bool
	tag byte // identifies the problem, since several problems may share a log
}

// after returns the memory of an evaluation at λ: the states of the given lanes, and those that they kept
// at λ. It is empty if the memory is off.
func (m *memory) after(ctx context.Context, runner Runner, lanes []LaneRequest, known points, logLambda []float64) (out search.Memory, err error) {
	if !m.on {
		return out, nil
	}
	if out.Last, err = m.encodeStates(ctx, runner, lanes, 0, nil); err != nil {
		return out, err
	}
	if number := known.number(logLambda); number > 0 {
		out.Kept, err = m.encodeStates(ctx, runner, lanes, number, logLambda)
	}
	return out, err
}

// encodeStates encodes the states of the given lanes: the ones kept under a number if that is positive, else the
// current ones. It modifies lanes.
func (m *memory) encodeStates(ctx context.Context, runner Runner, lanes []LaneRequest, number int, logLambda []float64) ([]byte, error) {
	for i := range lanes {
		lanes[i].Ask, lanes[i].From = AskState, number
	}
	results, err := runner.Run(ctx, lanes, nil)
	if err != nil {
		return nil, err
	}
	return m.encode(results, logLambda), nil
}

// encode encodes the tag, λ and the states of all lanes.
func (m *memory) encode(lanes []LaneResult, logLambda []float64) []byte {
	data := appendFloats([]byte{m.tag}, logLambda)
	for i := range lanes {
		data = binary.AppendUvarint(data, uint64(len(lanes[i].State)))
		data = append(data, lanes[i].State...)
	}
	return data
}

// restore restores the lanes from memories with the problem's tag, and passes over others. resumed reports
// whether the last memory had a current state for them.
func (m *memory) restore(ctx context.Context, runner Runner, lanes []LaneRequest, known *points, left []search.Memory) (resumed bool, err error) {
	give := func(data []byte, kept bool) (own bool, err error) {
		if len(data) == 0 || data[0] != m.tag {
			return false, nil
		}
		d := decoder{rest: data[1:]}
		logLambda, number := d.floats(), 0
		if kept {
			known.add(logLambda)
			number = known.number(logLambda)
		}
		for i := range lanes {
			lanes[i].Ask, lanes[i].Keep, lanes[i].State = AskRestore, number, d.bytes()
		}
		if d.failed || len(d.rest) > 0 {
			return false, errMemory()
		}
		_, err = runner.Run(ctx, lanes, nil)
		return true, err
	}
	for _, one := range left {
		if _, err = give(one.Kept, true); err == nil {
			resumed, err = give(one.Last, false)
		}
		if err != nil {
			return false, err
		}
	}
	return resumed, nil
}

func errMemory() error {
	return outcome.Errorf(outcome.Parse, "the state saved with an evaluation in the log belongs to another problem")
}

// Remember makes the answers of the problem depend only on its requests and on the coefficients
// that its lanes begin with, at some cost, and makes evaluations carry these coefficients as their
// Memory. left has the memories of earlier evaluations of a problem with the same data and
// specification, in their order, from which Remember restores the lanes; it passes over memories with
// another tag, which belong to other problems. Call it before the first evaluation. The error is of kind
// Parse if no such problem can have left the memories, or else that of the [Runner].
func (p *Problem) Remember(ctx context.Context, tag byte, left []search.Memory) error {
	p.memory = memory{true, tag}
	_, err := p.memory.restore(ctx, p.runner, p.toAllLanes(LaneRequest{}), &p.kept, left)
	return err
}

func (p *Problem) memoryAfter(ctx context.Context, logLambda []float64) (search.Memory, error) {
	return p.memory.after(ctx, p.runner, p.toAllLanes(LaneRequest{}), p.kept, logLambda)
}

// Remember is [Problem.Remember].
func (m *Multiclass) Remember(ctx context.Context, tag byte, left []search.Memory) error {
	m.memory = memory{true, tag}
	resumed, err := m.memory.restore(ctx, m.runner, m.toAllLanes(LaneRequest{}), &m.kept, left)
	for _, f := range m.folds {
		f.started = resumed
	}
	return err
}

func (m *Multiclass) memoryAfter(ctx context.Context, logLambda []float64) (search.Memory, error) {
	return m.memory.after(ctx, m.runner, m.toAllLanes(LaneRequest{}), m.kept, logLambda)
}

// encode encodes a state: columns, coefficients, and the tangent.
func (k *state) encode() (data []byte) {
	data = binary.AppendUvarint(data, uint64(len(k.Support)))
	for _, j := range k.Support {
		data = binary.AppendUvarint(data, uint64(j))
	}
	data = appendFloats(data, k.Coef)
	return appendFloats(appendFloats(data, []float64{k.tangent.lambda}), k.tangent.coef)
}

// decodeState decodes what encode has written. Columns must be below size.
func decodeState(data []byte, size int) (k state, err error) {
	d := decoder{rest: data}
	columns := d.count(min(size, len(data)))
	for range columns {
		k.Support = append(k.Support, int32(d.count(size-1)))
	}
	k.Coef = d.floats()
	at := d.floats()
	k.tangent.coef = d.floats()
	if moves := len(k.tangent.coef); d.failed || len(d.rest) > 0 || len(at) != 1 || len(k.Coef) != columns || moves > 0 && moves != columns {
		return k, errMemory()
	}
	k.tangent.lambda = at[0]
	return k, nil
}

func appendFloats(data []byte, values []float64) []byte {
	data = binary.AppendUvarint(data, uint64(len(values)))
	for _, v := range values {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
	}
	return data
}

// decoder reads encoded numbers; failed is set where they are malformed.
type decoder struct {
	rest   []byte
	failed bool
}

// count reads an integer of at most most.
func (d *decoder) count(most int) int {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || most < 0 || n > uint64(most) {
		d.failed, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[size:]
	return int(n)
}

// bytes reads a length and that many bytes.
func (d *decoder) bytes() []byte {
	n := d.count(len(d.rest))
	if n > len(d.rest) { // count has shortened rest since the check
		d.failed, d.rest = true, nil
		return nil
	}
	out := d.rest[:n]
	d.rest = d.rest[n:]
	return out
}

func (d *decoder) floats() []float64 {
	n := d.count(len(d.rest) / 8)
	if len(d.rest) < 8*n {
		d.failed, d.rest = true, nil
		return nil
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(d.rest[8*i:]))
		d.failed = d.failed || math.IsNaN(out[i])
	}
	d.rest = d.rest[8*n:]
	return out
}
