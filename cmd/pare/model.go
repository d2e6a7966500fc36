package main

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
)

// statedModel is the inner problem that the flags state.
type statedModel struct {
	loss   loss.Loss // nil: the model's own
	traits pare.Traits
	wrong  error
}

// multinomial is the name of the loss of all classes together, which is not a loss of a single score.
const multinomial = "multinomial"

// penalties returns the models that the values of --penalty stand for, with a loss of a single score or of all
// classes.
func penalties(loss string) map[string]pare.Model {
	if loss == multinomial {
		return map[string]pare.Model{
			"l1": pare.Multinomial, "enet": pare.MultinomialNet, "group": pare.MultinomialGroup, "l1_per_class": pare.MultinomialPerClass,
		}
	}
	return map[string]pare.Model{
		"l1": pare.Lasso, "enet": pare.ElasticNet, "ridge": pare.Ridge,
		"group": pare.GroupLasso, "group_enet": pare.GroupNet, "sparse_group": pare.SparseGroup, "sparse_group_l1": pare.SparseGroupPair,
		"mcp": pare.MCP, "scad": pare.SCAD,
	}
}

// AfterApply is called by the parser once flags are set. It resolves --model, --loss and --penalty into one
// model; check reports its error.
func (f *problemFlags) AfterApply() error { //nolint:unparam // the parser asks for an error, and would wrap it
	f.stated.wrong = f.resolve()
	return nil
}

func (f *problemFlags) resolve() error {
	if err := oneOf("model", f.Model, pare.Models()...); err != nil {
		return err
	}
	if machine := pare.Model(f.Loss); f.Loss != "" && machine.Traits().Samples {
		if f.Penalty != "" || f.Model != pare.Models()[0] {
			return outcome.At(outcome.Usage, "loss", "%s is a model with its own penalty; leave out --penalty and --model", machine)
		}
		f.Model = machine
	}
	if f.Penalty != "" || f.Loss == multinomial {
		known := penalties(f.Loss)
		if err := oneOf("penalty", cmp.Or(f.Penalty, "l1"), slices.Sorted(maps.Keys(known))...); err != nil {
			return err
		}
		if f.Model != pare.Models()[0] { // the default
			return outcome.At(outcome.Usage, "penalty", "applies only with --loss; --model %s has its own penalty", f.Model)
		}
		f.Model = known[cmp.Or(f.Penalty, "l1")]
	}
	if err := f.chooseLoss(); err != nil {
		return err
	}
	var err error
	f.stated.traits, err = pare.Config{Model: f.Model, Loss: f.stated.loss}.Traits()
	if err == nil {
		f.Model = f.stated.traits.Model
	}
	return err
}

// chooseLoss sets the loss that --loss names, or that of --model, with --delta or --power.
func (f *problemFlags) chooseLoss() error {
	name := f.Loss
	if name == multinomial || f.Model.Traits().Samples {
		name = ""
	}
	if name == "" && (f.Delta != "" || f.Power != nil) {
		name = f.Model.Traits().Loss
	}
	if name == "" {
		return nil
	}
	var names []string
	for _, l := range loss.All() {
		names = append(names, l.Name())
		if l.Name() == name {
			f.stated.loss = l
		}
	}
	if name == f.Loss {
		if err := oneOf("loss", name, names...); err != nil {
			return err
		}
	}
	if f.Power != nil {
		if _, ok := f.stated.loss.(loss.Tweedie); !ok {
			return outcome.At(outcome.Usage, "power", "applies only to the tweedie loss; give --loss tweedie")
		}
		f.stated.loss = loss.Tweedie{Power: *f.Power}
	}
	if f.Delta == "" {
		return nil
	}
	huber, ok := f.stated.loss.(loss.Huber)
	if !ok {
		return outcome.At(outcome.Usage, "delta", "applies only to the huber loss; give --loss huber")
	}
	delta, relative, err := parseDelta(f.Delta)
	if relative {
		huber.Deviations = delta
	} else {
		huber.Delta = delta
	}
	f.stated.loss = huber
	return err
}

// parseDelta parses NUMBER or MULTIPLE*mad; MULTIPLE may be a product.
func parseDelta(text string) (delta float64, relative bool, err error) {
	factors := strings.Split(text, "*")
	if last := len(factors) - 1; factors[last] == "mad" {
		factors, relative = factors[:last], true
	} else if last > 0 {
		factors = []string{text}
	}
	delta = 1
	for _, factor := range factors {
		v, err := strconv.ParseFloat(factor, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 1) {
			return 0, false, outcome.At(outcome.Usage, "delta", "%q is neither a positive number nor a multiple of the median absolute deviation, such as 2*mad", text)
		}
		delta *= v
	}
	return delta, relative, nil
}

// judge returns the criterion that --validation-loss names; nil for the model's own. If it is the deviance of
// the loss minimised, it takes that loss's parameters.
func (f commonFlags) judge(name string) criterion.Criterion {
	if l := f.stated.loss; l != nil {
		if own := criterion.Deviance(l); own.Name() == name {
			return own
		}
	}
	return criterion.Named(name)
}

// on reports whether the λ are logarithms of strengths of the given kind.
func (f problemFlags) on(kind pare.Strengths) bool { return f.stated.traits.Strengths == kind }

// lossBeside names the loss if the model's name does not imply it.
func (f problemFlags) lossBeside() string {
	own, err := pare.Config{Model: f.Model}.Traits()
	if err != nil || own.Loss == f.stated.traits.Loss {
		return ""
	}
	return f.stated.traits.Loss
}

// problem names the model, and the loss if the model's name does not imply it.
func (f problemFlags) problem() string {
	if l := f.lossBeside(); l != "" {
		return string(f.Model) + " of the " + l + " loss"
	}
	return string(f.Model)
}
