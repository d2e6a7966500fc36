package sealed

import (
	"bytes"
	"errors"
	"math"
	"strconv"
)

// Number is a float64 that JSON keeps bit for bit; NaN and ±Inf are written as strings, and all NaNs are
// written alike.
type Number float64

// MarshalJSON implements [json.Marshaler].
func (x Number) MarshalJSON() ([]byte, error) { return x.append(nil), nil }

func (x Number) append(b []byte) []byte {
	if math.Abs(float64(x)) <= math.MaxFloat64 {
		return strconv.AppendFloat(b, float64(x), 'g', -1, 64)
	}
	b = append(b, '"')
	b = strconv.AppendFloat(b, float64(x), 'g', -1, 64)
	return append(b, '"')
}

// UnmarshalJSON implements [json.Unmarshaler].
func (x *Number) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(string(bytes.Trim(b, `"`)), 64)
	*x = Number(v)
	return err
}

// Vector is a []float64 whose entries are written like [Number].
type Vector []float64

// MarshalJSON implements [json.Marshaler].
func (v Vector) MarshalJSON() ([]byte, error) {
	if v == nil {
		return []byte("null"), nil
	}
	b := append(make([]byte, 0, 2+20*len(v)), '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = Number(x).append(b)
	}
	return append(b, ']'), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (v *Vector) UnmarshalJSON(b []byte) error {
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
	*v = make(Vector, len(fields))
	for i, field := range fields {
		var x Number
		if err := x.UnmarshalJSON(field); err != nil {
			return err
		}
		(*v)[i] = float64(x)
	}
	return nil
}
