package pare

import (
	"encoding/json"
	"math"
	"reflect"
)

// MarshalJSON writes the fields by their names, as encoding/json does, with null for numbers
// that are not finite and Err as its text: a selection can always be written.
func (s *Selection) MarshalJSON() ([]byte, error) {
	fields := writable(reflect.ValueOf(*s)).(map[string]any)
	fields["Err"] = nil
	if s.Err != nil {
		fields["Err"] = s.Err.Error()
	}
	return json.Marshal(fields)
}

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
