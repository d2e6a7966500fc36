package table

import (
	"slices"
	"strconv"
)

// Schema says how the columns of a file become the columns of a design matrix. Models keep their schema, so
// that further files are read as the first was. It never changes.
type Schema struct {
	// Inputs are the columns of the file that are used, in the order of the matrix; nil: all columns as they
	// are, as in svmlight text.
	Inputs []Input `json:"inputs,omitempty"`

	// Width is the number of columns of the file, for matching files without a header; 0 where it does not
	// matter.
	Width int `json:"width,omitempty"`

	// Target is the name of the target's column, or its number from 1; "" where the target was not a column.
	Target string `json:"target,omitempty"`

	// TargetPosition is the target's column in the file, from 0; −1 where the target was not a column.
	TargetPosition int `json:"target_position"`

	// ZeroBased says that svmlight indices count from 0.
	ZeroBased bool `json:"zero_based,omitempty"`

	// Missing says what becomes of missing cells.
	Missing Missing `json:"missing,omitempty"`
}

// Input is a column of a file that is used.
type Input struct {
	Name     string `json:"name,omitempty"`
	Position int    `json:"position"` // in the file, from 0

	// Categories are the texts that become one column each, ascending; nil: the column is numeric.
	Categories []string `json:"categories,omitempty"`

	// Fill replaces a missing cell: one value for each column that the input becomes; nil: nothing replaces it.
	Fill []float64 `json:"fill,omitempty"`
}

// width returns the number of columns of the matrix that the input becomes.
func (in Input) width() int {
	if in.Categories == nil {
		return 1
	}
	return len(in.Categories)
}

// Columns returns the number of columns of the matrix; 0 where all columns of the file are used.
func (s *Schema) Columns() int {
	p := 0
	for _, in := range s.Inputs {
		p += in.width()
	}
	return p
}

// Names returns the names of the columns of the matrix: "color=red" for a category, "column 3" for a column of
// the file without a name. nil where the file has no names, there are no categories, and the columns of the
// matrix are the first of the file.
func (s *Schema) Names() []string {
	named := false
	for j, in := range s.Inputs {
		named = named || in.Name != "" || in.Categories != nil || in.Position != j
	}
	if !named {
		return nil
	}
	names := make([]string, 0, len(s.Inputs))
	for _, in := range s.Inputs {
		name := in.Name
		if name == "" {
			name = "column " + strconv.Itoa(in.Position+1)
		}
		if in.Categories == nil {
			names = append(names, name)
		}
		for _, c := range in.Categories {
			names = append(names, name+"="+c)
		}
	}
	return names
}

// Check says what is wrong with a schema of p columns that comes from outside; "" if nothing is.
func (s *Schema) Check(p int) string {
	seen := map[int]bool{}
	for _, in := range s.Inputs {
		switch {
		case in.Position < 0 || s.Width > 0 && in.Position >= s.Width || seen[in.Position]:
			return "the positions of the columns"
		case in.Fill != nil && len(in.Fill) != in.width(), slices.ContainsFunc(in.Fill, notFinite):
			return "the values for missing cells"
		case !slices.IsSorted(in.Categories) || len(slices.Compact(slices.Clone(in.Categories))) != len(in.Categories):
			return "the categories"
		}
		seen[in.Position] = true
	}
	if s.Inputs != nil && s.Columns() != p {
		return "the columns"
	}
	return ""
}
