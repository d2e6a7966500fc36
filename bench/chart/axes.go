package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// steps places the ticks of a linear axis: up to seven, at multiples of 1, 2 or 5 times a power of ten.
type steps struct{}

func (steps) Ticks(low, high float64) (ticks []plot.Tick) {
	if !(high > low) || math.IsInf(high-low, 1) {
		return nil
	}
	const most = 7
	power := int(math.Floor(math.Log10((high - low) / most)))
	step := math.Pow10(power)
	for _, m := range []float64{1, 2, 5, 10} {
		step = m * math.Pow10(power)
		if (high-low)/step <= most {
			break
		}
	}
	digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	for k := math.Ceil(low/step - 1e-9); k*step <= high+1e-9*step; k++ {
		v := k*step + 0 // −0 + 0 is 0
		text := strconv.FormatFloat(v, 'f', digits, 64)
		if math.Abs(v) >= 1e6 {
			text = strconv.FormatFloat(v, 'g', 4, 64)
		}
		ticks = append(ticks, plot.Tick{Value: v, Label: text})
	}
	return ticks
}

// logarithm is [plot.LogScale], except at one value: package plot places the label of an axis at the mean of
// its ends, intending the middle of the axis.
type logarithm struct{ plot.LogScale }

func (l logarithm) Normalize(low, high, x float64) float64 {
	if x == 0.5*(high+low) {
		return 0.5
	}
	return l.LogScale.Normalize(low, high, x)
}

func logarithmic(a *plot.Axis) {
	a.Scale, a.Tick.Marker = logarithm{}, powers{}
	if a.Min == a.Max { // otherwise plot widens the range by addition, down to 0
		a.Min, a.Max = a.Min/2, 2*a.Max
	}
}

// powers places the ticks of a logarithmic axis: a number at every power of ten if there are few, and also at 2
// and 5 times it if there are fewer than two powers.
type powers struct{}

func (powers) Ticks(low, high float64) (ticks []plot.Tick) {
	if !(low > 0 && high > low && !math.IsInf(high/low, 1)) {
		return nil
	}
	decades := math.Log10(high / low)
	step := max(1, int(math.Ceil(decades/6)))
	for e := int(math.Floor(math.Log10(low))); e <= int(math.Ceil(math.Log10(high))); e++ {
		for m := 1.0; m < 10; m++ {
			v := m * math.Pow10(e)
			if e < 0 {
				v = m / math.Pow10(-e) // the nearest float64, which prints in few digits
			}
			if v < low*(1-1e-12) || v > high*(1+1e-12) {
				continue
			}
			t := plot.Tick{Value: v}
			if m == 1 && e%step == 0 || decades < 2 && (m == 2 || m == 5) {
				t.Label = label(v)
			}
			if step == 1 || m == 1 {
				ticks = append(ticks, t)
			}
		}
	}
	return ticks
}

func label(v float64) string {
	if v >= 1e-3 && v < 1e5 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
