package table

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/seed-45b9a24c/pare/internal/input"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// kept is what a mapped file holds besides its matrix and target.
type kept struct {
	Format string   `json:"format"`
	Names  []string `json:"names,omitempty"`
	Labels []string `json:"labels,omitempty"`
	Schema *Schema  `json:"schema"`
}

// mapped is appended to the format of the file from which a mapped file was made.
const mapped = ", mapped"

// Keep writes the data to a file that [Open] maps into memory: Open then parses nothing, and pages that are not
// used are not read. Aside is not kept. The error is that of [sparse.WriteMapped].
func (d *Data) Keep(path string) error {
	about, err := json.Marshal(kept{strings.TrimSuffix(d.Format, mapped), d.Names, d.Labels, d.Schema})
	if err != nil {
		return &outcome.Error{Kind: outcome.Internal, Message: "cannot encode the description of the data", Err: err}
	}
	return sparse.WriteMapped(path, d.X, d.Y, about)
}

// Close unmaps mapped data: X and Y must not be used after that. It does nothing to other data.
func (d *Data) Close() error {
	if d.mapped == nil {
		return nil
	}
	return d.mapped.Close()
}

// Mapped reports whether X and Y are in a file that is mapped into memory.
func (d *Data) Mapped() bool { return d.mapped != nil }

// openMapped maps the file of an input.
func openMapped(in *input.Input, o Options) (*Data, error) {
	if in.File() == nil || in.Unpacks() {
		return nil, refused(in.Name, "a mapped file, which cannot be read from a stream or from inside another file; give the file itself")
	}
	m, err := sparse.Map(in.File().Name(), sparse.MapOptions{Trust: o.Trust, Threads: o.Threads})
	if err != nil {
		return nil, err
	}
	d, err := mappedData(in.Context(), m, o)
	if err != nil {
		_ = m.Close()
		return nil, err
	}
	return d, nil
}

func mappedData(ctx context.Context, m *sparse.Mapped, o Options) (*Data, error) {
	bad := func(what string) (*Data, error) {
		return nil, &outcome.Error{Kind: outcome.Parse, File: o.Name, Message: "the mapped file is damaged: " + what}
	}
	var about kept
	decoder := json.NewDecoder(bytes.NewReader(m.About()))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&about); err != nil || about.Schema == nil {
		return bad("its description is invalid")
	}
	n, p := m.Matrix().Dims()
	if what := about.Schema.Check(p); what != "" || about.Names != nil && len(about.Names) != p {
		return bad("its names or columns are invalid")
	}
	d := &Data{Format: about.Format + mapped, X: m.Matrix(), Y: m.Target(), Names: about.Names, Labels: about.Labels, Rows: n, Schema: about.Schema, mapped: m}
	for _, v := range d.Y {
		if d.Labels != nil && (v < 0 || int(v) >= len(d.Labels) || v != float64(int(v))) {
			return bad("its labels are invalid")
		}
	}
	if err := d.choose(o); err != nil {
		return nil, err
	}
	switch {
	case o.Target != "" && d.Y != nil:
		return nil, outcome.At(outcome.Usage, "target", "%s already contains its target; leave --target out", o.Name)
	case o.hasFile():
		if err := d.readTarget(ctx, o.Target); err != nil {
			return nil, err
		}
	case o.Target != "":
		return nil, outcome.At(outcome.Usage, "target", "there is no file %q; %s is a mapped file, whose target must be in a file of its own", o.Target, o.Name)
	case d.Y == nil && !o.NoTarget:
		return nil, outcome.At(outcome.Usage, "target", "%s has no target: give --target a file with one value per row", o.Name)
	}
	return d, nil
}
