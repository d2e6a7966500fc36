// Package plain writes and reads results as JSON, in which numbers that are not finite are null.
package plain

import (
	"encoding/json"
	"math"
	"reflect"
)

// Marshal encodes a value by the names of its fields, as encoding/json does, but with null for numbers that
// are not finite, and without fields that are interfaces.
func Marshal(v any) ([]byte, error) { return json.Marshal(Value(v)) }

// Value returns the value that Marshal encodes: for a struct, a map of its fields.
func Value(v any) any { return writable(reflect.ValueOf(v)) }

// writable turns structs into maps and numbers that are not finite into nil.
func writable(v reflect.Value) any {
	switch v.Kind() { //nolint:exhaustive // other kinds are written as they are
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil
		}
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return writable(v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return nil
		}
		all := make([]any, v.Len())
		for i := range all {
			all[i] = writable(v.Index(i))
		}
		return all
	case reflect.Struct:
		fields := map[string]any{}
		for _, f := range reflect.VisibleFields(v.Type()) {
			if f.IsExported() && !f.Anonymous && f.Tag.Get("json") != "-" && f.Type.Kind() != reflect.Interface {
				fields[f.Name] = writable(v.FieldByIndex(f.Index))
			}
		}
		return fields
	}
	return v.Interface()
}

// LogLambda is a vector of logarithms of strengths that reads null as −Inf, the logarithm of 0.
type LogLambda []float64

// UnmarshalJSON implements [json.Unmarshaler].
func (l *LogLambda) UnmarshalJSON(text []byte) error {
	var all []*float64
	if err := json.Unmarshal(text, &all); err != nil || all == nil {
		*l = nil
		return err
	}
	*l = make(LogLambda, len(all))
	for i, v := range all {
		if (*l)[i] = math.Inf(-1); v != nil {
			(*l)[i] = *v
		}
	}
	return nil
}
