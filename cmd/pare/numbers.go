package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// count formats an integer with thousands separators.
func count[T int | int64](n T) string {
	digits := strconv.FormatInt(int64(n), 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "s") {
		noun += "e"
	}
	return count(n) + " " + noun + "s"
}

func seconds(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.3g ms", 1e3*s)
	}
	return fmt.Sprintf("%.3g s", s)
}

func percent(share float64) string { return fmt.Sprintf("%.3g %%", 100*share) }

func short(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// listAll formats numbers with all their digits, separated by commas.
func listAll(values []float64) string {
	fields := make([]string, len(values))
	for i, v := range values {
		fields[i] = short(v)
	}
	return strings.Join(fields, ",")
}

func bytesize(n int64) string {
	v, unit := float64(n), "B"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if v < 1024 {
			break
		}
		v, unit = v/1024, u
	}
	return fmt.Sprintf("%.3g %s", v, unit)
}

// spread formats numbers for a table column: one or two as a list, more as the range that they cover, in the
// brief format.
func spread(values []float64, format, brief string) string {
	if len(values) <= 2 {
		return list(values, format)
	}
	low, high := slices.Min(values), slices.Max(values)
	if low, high := fmt.Sprintf(brief, low), fmt.Sprintf(brief, high); low != high {
		return low + " to " + high
	}
	return fmt.Sprintf(format, low) + " each"
}

// list formats numbers separated by commas.
func list(values []float64, format string) string {
	fields := make([]string, len(values))
	for i, v := range values {
		fields[i] = fmt.Sprintf(format, v)
	}
	return strings.Join(fields, ",")
}
