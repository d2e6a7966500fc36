package table

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

// inputColumn is an input with its position in the matrix.
type inputColumn struct {
	Input
	firstColumn int // its first column of the matrix
	codes       map[string]int
	values      map[float64]int // codes of categories that are numbers; ambiguous where several are the same number
	column      column
}

const ambiguous = -1

// setCodes fills codes and values.
func (at *inputColumn) setCodes() {
	at.codes, at.values = make(map[string]int, len(at.Categories)), map[float64]int{}
	for code, text := range at.Categories {
		at.codes[text] = code
		if v, err := parseNumber(text); err == nil {
			if _, met := at.values[v]; met {
				code = ambiguous
			}
			at.values[v] = code
		}
	}
}

// code returns the code of a cell's category: found by its text, or else by its number, since another program may
// write the number with a point if the column has missing cells.
func (at *inputColumn) code(cell Cell) (code int, ok bool) {
	if code, ok = at.codes[cell.Text]; ok {
		return code, true
	}
	v, err := cell.parse()
	if err != nil {
		return 0, false
	}
	code, ok = at.values[v]
	return code, ok && code != ambiguous
}

// match returns the input for each column of the file, and the column of the target, −1 if there is none.
func (s *Schema) match(h header, p int, named string, aside map[string]int) ([]*inputColumn, int, error) {
	target, err := s.matchTarget(h, named)
	if err != nil {
		return nil, 0, err
	}
	if s == nil || s.Inputs == nil {
		return plainMatch(h, p, target, aside)
	}
	positions, err := s.positions(h, target)
	if err != nil {
		return nil, 0, err
	}
	byColumn, start := make([]*inputColumn, h.width), 0
	for i, in := range s.Inputs {
		at := &inputColumn{Input: in, firstColumn: start, column: column{categories: in.Categories != nil}}
		if in.Categories != nil {
			at.setCodes()
		}
		byColumn[positions[i]] = at
		start += in.width()
	}
	if start != p {
		return nil, 0, outcome.Errorf(outcome.Shape, "the schema makes %d columns, but the model has %d", start, p)
	}
	return byColumn, target, nil
}

// columnsPresent returns those columns of a list that the file has, by name.
func (h header) columnsPresent(aside []string) map[string]int {
	found := map[string]int{}
	for _, name := range aside {
		if k, ok := h.find(name); ok && name != "" {
			found[name] = k
		}
	}
	return found
}

// plainMatch takes all columns as they are, except the target and those of aside.
func plainMatch(h header, p, target int, aside map[string]int) ([]*inputColumn, int, error) {
	others := slices.Collect(maps.Values(aside))
	if target >= 0 {
		others = append(others, target)
	}
	byColumn, next := make([]*inputColumn, h.width), 0
	for k := range byColumn {
		if !slices.Contains(others, k) {
			byColumn[k] = &inputColumn{firstColumn: next}
			next++
		}
	}
	if next != p && h.width > 0 {
		return nil, 0, shape(h, fmt.Sprintf("%d columns besides the target, but the model has %d", next, p))
	}
	return byColumn, target, nil
}

func shape(h header, message string) error {
	return &outcome.Error{Kind: outcome.Shape, File: h.file, Message: message}
}

// matchTarget finds the target: by the given name, or else as in the schema.
func (s *Schema) matchTarget(h header, named string) (int, error) {
	switch {
	case named != "":
		return h.require("target", named)
	case s == nil || s.TargetPosition < 0:
		return -1, nil
	case s.samePositions(h):
		return s.TargetPosition, nil
	case h.names != nil && s.named():
		return h.findUnique(s.Target)
	case h.width == s.Width:
		return s.TargetPosition, nil
	default:
		return -1, nil
	}
}

// samePositions reports whether the file has the schema's columns at the same positions, by their names. Positions
// then distinguish columns of the same name, such as a feature named as the target.
func (s *Schema) samePositions(h header) bool {
	if h.names == nil || h.width != s.Width || s.TargetPosition >= h.width || s.TargetPosition >= 0 && h.names[s.TargetPosition] != s.Target {
		return false
	}
	return !slices.ContainsFunc(s.Inputs, func(in Input) bool { return h.names[in.Position] != in.Name })
}

// named reports whether the schema comes from a file with a header.
func (s *Schema) named() bool {
	return slices.ContainsFunc(s.Inputs, func(in Input) bool { return in.Name != "" })
}

// positions returns, for each input, its column in the file.
func (s *Schema) positions(h header, target int) ([]int, error) {
	out := make([]int, len(s.Inputs))
	if h.names != nil && s.named() && !s.samePositions(h) {
		for i, in := range s.Inputs {
			k, err := in.Position, error(nil)
			if in.Name != "" {
				k, err = h.findUnique(in.Name)
			}
			if err != nil {
				return nil, err
			}
			if k < 0 || k >= h.width {
				return nil, shape(h, fmt.Sprintf("there is no column %q, which the model uses; %s", in.Name, h.columnList()))
			}
			out[i] = k
		}
		return out, nil
	}
	for i, in := range s.Inputs {
		switch {
		case h.width == s.Width:
			out[i] = in.Position
		case h.width == len(s.Inputs):
			out[i] = i
		case h.width == s.Width-1 && s.TargetPosition >= 0 && target < 0:
			if out[i] = in.Position; in.Position > s.TargetPosition {
				out[i]--
			}
		default:
			return nil, shape(h, fmt.Sprintf("the columns have no names, and their number is %d, but the model was fitted on %d", h.width, s.Width))
		}
		if out[i] >= h.width {
			return nil, shape(h, fmt.Sprintf("there is no column %d, which the model uses", out[i]+1))
		}
	}
	return out, nil
}
