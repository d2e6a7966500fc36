package kernels_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
)

// FuzzSets makes operands of arbitrary bytes and compares every kernel of every
// set with the reference.
func FuzzSets(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\xf0\x7f\x00\x00\x00\x00\x00\x00\xf8\xff"), uint8(3), 1.5)
	f.Add(make([]byte, 8*70), uint8(1), math.Inf(1))
	f.Add(make([]byte, 8*200), uint8(5), 2.0)
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"), uint8(7), -0.5)
	f.Add([]byte("0"), uint8(3), 6.5) // no elements
	f.Fuzz(func(t *testing.T, data []byte, stride uint8, a float64) {
		floats := make([]float64, len(data)/8)
		for i := range floats {
			floats[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		}
		n := len(floats) / 4
		o := operands{
			a: a, x: floats[:n], y: floats[n : 2*n], values: floats[2*n : 3*n], target: floats[3*n:],
			rows: make([]int32, n), colPtr: []int64{0},
		}
		o.lanes, o.mask = make([]float64, kernels.Lanes*len(o.target)), make([]uint8, len(o.target))
		for i := range o.lanes {
			o.lanes[i] = o.target[i/kernels.Lanes]
		}
		o.single = make([]float32, n)
		for i, v := range o.x {
			o.single[i] = float32(v)
		}
		for i := range o.mask {
			o.mask[i] = data[i]
		}
		for k := range o.rows { // a rotation, so that rows are distinct
			o.rows[k] = int32((k + int(stride)) % n)
		}
		for at := 0; at < n; {
			at = min(n, at+int(data[at]%9))
			o.colPtr = append(o.colPtr, int64(at))
			if len(o.colPtr) > 4*n {
				break
			}
		}
		o.out = make([]float64, len(o.colPtr)-1)
		c := tileCase{m: 8, stride: len(floats) / 8, x: floats, y: floats, l: floats, t: floats, vectors: new([8][]float64)}
		if c.stride >= 8 {
			c.vector = floats[:8]
		}
		for _, k := range kernels.Available() {
			for _, op := range tileOperations {
				if c.stride < 8 {
					break
				}
				got, want := c.clone(), c.clone()
				op.run(k, got)
				op.reference(nil, want)
				compare(t, k.Name+" "+op.name, got.t, want.t)
			}
			for _, op := range operations {
				compare(t, k.Name+" "+op.name, op.run(k, o.clone()), op.run(reference, o.clone()))
			}
		}
	})
}
