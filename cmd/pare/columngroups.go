package main

import (
	"strconv"
	"strings"

	"github.com/seed-45b9a24c/pare/outcome"
)

// columnFacts are the column groups of a dataset.
type columnFacts struct {
	columnGroups []int     // by prepared column; nil: none
	groupWeights []float64 // by group; nil: the default, √size
}

// sizePrefix begins a value that gives the size of the groups.
const sizePrefix = "size:"

func (f columnFlags) checkGroups() error {
	text, sized := strings.CutPrefix(f.ColumnGroups, sizePrefix)
	switch {
	case sized:
		if k, err := strconv.Atoi(text); err != nil || k < 1 {
			return outcome.At(outcome.Usage, "column-groups", "%q is not a size of groups; give for example size:10", f.ColumnGroups)
		}
	case f.ColumnGroups != "" && f.ColumnGroups != "prefix":
		if err := present("column-groups", f.ColumnGroups); err != nil {
			return err
		}
	case f.ColumnGroups == "" && f.GroupWeights != "":
		return outcome.At(outcome.Usage, "group-weights", "applies only with --column-groups")
	}
	return present("group-weights", f.GroupWeights)
}

// repeatGroups adds these flags as they were given.
func (f columnFlags) repeatGroups(add func(set bool, flag string)) {
	add(f.ColumnGroups != "", "--column-groups="+quote(f.ColumnGroups))
	add(f.GroupWeights != "", "--group-weights="+quote(f.GroupWeights))
}

// group reads the column groups and their weights into d.
func (f columnFlags) group(d *dataset) (err error) {
	if f.ColumnGroups == "" {
		return nil
	}
	var all []int // by column of the file
	text, sized := strings.CutPrefix(f.ColumnGroups, sizePrefix)
	switch {
	case sized:
		size, _ := strconv.Atoi(text) // checkGroups has checked it
		for j := range d.prepared.Columns {
			all = append(all, j/size)
		}
	case f.ColumnGroups == "prefix":
		if d.Names == nil {
			return outcome.At(outcome.Usage, "column-groups", "the columns have no names to derive groups from; give a file or size:K")
		}
		all = prefixGroups(d.Names)
	default:
		if all, err = readLines("column-groups", f.ColumnGroups, parseGroup); err != nil {
			return err
		}
		if len(all) != d.prepared.Columns {
			return badFile("column-groups", f.ColumnGroups, outcome.Errorf(outcome.Shape, "%d values for %d columns; there must be one per column", len(all), d.prepared.Columns))
		}
	}
	d.columnGroups = make([]int, len(d.prepared.Kept))
	for i, j := range d.prepared.Kept {
		d.columnGroups[i] = all[j]
	}
	if f.GroupWeights != "" {
		d.groupWeights, err = readLines("group-weights", f.GroupWeights, parseNumber)
	}
	return err
}

// prefixGroups groups columns by the part of their names before =, which --one-hot writes, or else before the
// last _ or dot.
func prefixGroups(names []string) (groups []int) {
	number := map[string]int{}
	for _, name := range names {
		prefix, _, found := strings.Cut(name, "=")
		if !found {
			if at := strings.LastIndexAny(name, "_."); at > 0 {
				prefix = name[:at]
			}
		}
		at, known := number[prefix]
		if !known {
			at = len(number)
			number[prefix] = at
		}
		groups = append(groups, at)
	}
	return groups
}
