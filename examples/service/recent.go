package main

import "slices"

// recent holds things by id, in the order in which they were added.
type recent[T any] struct {
	held  map[string]T
	order []string
}

func (r *recent[T]) put(id string, thing T) {
	if r.held == nil {
		r.held = map[string]T{}
	}
	if _, known := r.held[id]; !known {
		r.order = append(r.order, id)
	}
	r.held[id] = thing
}

func (r *recent[T]) get(id string) (T, bool) {
	thing, ok := r.held[id]
	return thing, ok
}

// forget removes the oldest things until no more than most remain. It keeps things for which may
// returns false; a nil may allows all to be removed.
func (r *recent[T]) forget(most int, may func(T) bool) {
	for k := 0; k < len(r.order) && len(r.order) > most; {
		id := r.order[k]
		if may != nil && !may(r.held[id]) {
			k++
			continue
		}
		delete(r.held, id)
		r.order = slices.Delete(r.order, k, k+1)
	}
}
