package parquet

import (
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/seed-45b9a24c/pare/table"
)

// cellOf converts a value that is not null into a cell.
type cellOf func(parquet.Value) table.Cell

// newCellOf returns the conversion for values of a type.
func newCellOf(t parquet.Type) cellOf {
	kind := t.Kind()
	if logical := t.LogicalType(); logical != nil {
		switch v := logical.Value.(type) {
		case *format.DecimalType:
			return func(value parquet.Value) table.Cell { return decimal(value, v.Scale) }
		case *format.DateType:
			return func(value parquet.Value) table.Cell {
				return moment(time.Unix(0, 0).UTC().AddDate(0, 0, int(value.Int32())), time.DateOnly)
			}
		case *format.TimeType:
			return times(kind, v.Unit.Value.Duration(), "15:04:05.999999999")
		case *format.TimestampType:
			return times(kind, v.Unit.Value.Duration(), "2006-01-02 15:04:05.999999999")
		case *format.IntType:
			if !v.IsSigned {
				return unsigned
			}
		}
	}
	switch kind {
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return func(value parquet.Value) table.Cell { return table.Cell{Kind: table.Text, Text: value.String()} }
	case parquet.Int96:
		return julian
	default:
		return numeric
	}
}

// moment returns the cell of a time.
func moment(t time.Time, layout string) table.Cell {
	return table.Cell{Kind: table.Time, Text: t.Format(layout)}
}

// times converts values that count units of time since 1970, or since midnight.
func times(kind parquet.Kind, unit time.Duration, layout string) cellOf {
	second := int64(time.Second / unit)
	return func(value parquet.Value) table.Cell {
		n := integer(value, kind)
		return moment(time.Unix(n/second, n%second*int64(unit)).UTC(), layout)
	}
}

// julian converts a value of nanoseconds and a Julian day, the form in which old writers store times.
func julian(value parquet.Value) table.Cell {
	const epoch = 2440588 // the Julian day of 1 January 1970
	v := value.Int96()
	day, nanoseconds := int64(int32(v[2])), int64(v[1])<<32|int64(v[0])
	return moment(time.Unix((day-epoch)*24*60*60, nanoseconds).UTC(), "2006-01-02 15:04:05.999999999")
}

// decimal spells a decimal number; it is later parsed to the nearest float64.
func decimal(value parquet.Value, scale int32) table.Cell {
	var digits big.Int
	switch kind := value.Kind(); kind {
	case parquet.Int32, parquet.Int64:
		digits.SetInt64(integer(value, kind))
	default: // big-endian two's complement
		b := value.Bytes()
		if digits.SetBytes(b); len(b) > 0 && b[0] >= 0x80 {
			digits.Sub(&digits, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
	}
	return table.Cell{Kind: table.Spelled, Text: fmt.Sprintf("%de%d", &digits, -scale)}
}

func integer(value parquet.Value, kind parquet.Kind) int64 {
	if kind == parquet.Int32 {
		return int64(value.Int32())
	}
	return value.Int64()
}

func unsigned(value parquet.Value) table.Cell {
	if value.Kind() == parquet.Int32 {
		return number(float64(value.Uint32()))
	}
	return number(float64(value.Uint64()))
}

func numeric(value parquet.Value) table.Cell {
	switch value.Kind() {
	case parquet.Boolean:
		if value.Boolean() {
			return number(1)
		}
		return number(0)
	case parquet.Int32:
		return number(float64(value.Int32()))
	case parquet.Int64:
		return number(float64(value.Int64()))
	case parquet.Float:
		return number(float64(value.Float()))
	default:
		return number(value.Double())
	}
}

// number is the cell of a number; NaN stands for a missing value.
func number(v float64) table.Cell {
	if math.IsNaN(v) {
		return table.Cell{Kind: table.Absent}
	}
	return table.Cell{Kind: table.Number, Number: v}
}
