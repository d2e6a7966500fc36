package bilevel

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// memory is what lets another process go on to the bit. A problem that remembers has its
// lanes solve every request anew, from the coefficients that they begin with and nothing else
// that a solver has learnt on the way; evaluations carry those coefficients.
type memory struct {
	on  bool
	tag byte // of the problem, since those of several may share a log
}

// after returns what an evaluation at λ has left behind in the lanes asked; nothing where
// the memory is off.
func (m *memory) after(ctx context.Context, runner Runner, lanes []LaneRequest, known points, logLambda []float64) (out search.Memory, err error) {
	if !m.on {
		return out, nil
	}
	if out.Last, err = m.states(ctx, runner, lanes, 0, nil); err != nil {
		return out, err
	}
	if number := known.number(logLambda); number > 0 {
		out.Kept, err = m.states(ctx, runner, lanes, number, logLambda)
	}
	return out, err
}

// states encodes the states of all lanes, those kept under a number where that is positive.
func (m *memory) states(ctx context.Context, runner Runner, lanes []LaneRequest, number int, logLambda []float64) ([]byte, error) {
	for i := range lanes {
		lanes[i].Ask, lanes[i].From = AskState, number
	}
	results, err := runner.Run(ctx, lanes, nil)
	if err != nil {
		return nil, err
	}
	return m.encode(results, logLambda), nil
}

// encode joins the states of lanes.
func (m *memory) encode(lanes []LaneResult, logLambda []float64) []byte {
	data := appendFloats([]byte{m.tag}, logLambda)
	for i := range lanes {
		data = binary.AppendUvarint(data, uint64(len(lanes[i].State)))
		data = append(data, lanes[i].State...)
	}
	return data
}

// restore gives lanes what was left behind under the same tag; resumed reports that there
// was such.
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
	return outcome.Errorf(outcome.Parse, "the memory of an evaluation in the log is not that of this problem")
}

// Remember makes the answers of the problem depend on its requests and on the coefficients
// that its lanes begin with alone, at some cost, and evaluations carry those as their
// Memory. It takes over what a problem of the same data and specification has left behind,
// evaluation by evaluation; memories of other problems, under another tag, are passed over.
// It comes before the first evaluation. The error, of kind Parse, is about memories that no
// such problem can have left, or that of the [Runner].
func (p *Problem) Remember(ctx context.Context, tag byte, left []search.Memory) error {
	p.memory = memory{true, tag}
	_, err := p.memory.restore(ctx, p.runner, p.ask(LaneRequest{}), &p.kept, left)
	return err
}

func (p *Problem) leftBy(ctx context.Context, logLambda []float64) (search.Memory, error) {
	return p.memory.after(ctx, p.runner, p.ask(LaneRequest{}), p.kept, logLambda)
}

// Remember is [Problem.Remember].
func (m *Multiclass) Remember(ctx context.Context, tag byte, left []search.Memory) error {
	m.memory = memory{true, tag}
	resumed, err := m.memory.restore(ctx, m.runner, m.ask(LaneRequest{}), &m.kept, left)
	for _, f := range m.folds {
		f.led = resumed
	}
	return err
}

func (m *Multiclass) leftBy(ctx context.Context, logLambda []float64) (search.Memory, error) {
	return m.memory.after(ctx, m.runner, m.ask(LaneRequest{}), m.kept, logLambda)
}

// encode encodes a state: columns, coefficients, and how they move.
func (k *state) encode() (data []byte) {
	data = binary.AppendUvarint(data, uint64(len(k.Support)))
	for _, j := range k.Support {
		data = binary.AppendUvarint(data, uint64(j))
	}
	data = appendFloats(data, k.Coef)
	return appendFloats(appendFloats(data, []float64{k.tangent.lambda}), k.tangent.coef)
}

// decodeState reads what encode has written, of columns below size.
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

// decoder reads numbers until one is not as it was written.
type decoder struct {
	rest   []byte
	failed bool
}

// count reads a number of at most so much.
func (d *decoder) count(most int) int {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || most < 0 || n > uint64(most) {
		d.failed, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[size:]
	return int(n)
}

// bytes reads a number and as many bytes.
func (d *decoder) bytes() []byte {
	n := d.count(len(d.rest))
	if n > len(d.rest) { // which is less by the number itself
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
