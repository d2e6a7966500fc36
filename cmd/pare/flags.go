package main

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"strings"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/outcome"
)

// commonFlags are the flags of all commands, so that the same flags state the same problem to each of them. A
// command uses those that concern it.
type commonFlags struct {
	dataFlags
	problemFlags
	classFlags
	columnFlags
	validationFlags
	engineFlags
	outputFlags
}

func (f commonFlags) check() error {
	if f.stated.wrong == nil && f.stated.traits.Grouped && f.ColumnGroups == "" {
		return outcome.At(outcome.Usage, "column-groups", "%s needs groups of columns; give --column-groups prefix, size:10 or a file", f.Model)
	}
	return checks(f.dataFlags, f.problemFlags, f.columnFlags, f.validationFlags, f.engineFlags)
}

// config returns the problem and the engine as a library configuration.
func (f commonFlags) config(d *dataset) pare.Config {
	return pare.Config{
		Model:        f.Model,
		Loss:         f.stated.loss,
		NoIntercept:  !f.centred(),
		Intercept:    f.stated.traits.Bare && f.centred(),
		Positive:     f.Positive,
		Standardize:  f.Standardize,
		Weights:      d.weights,
		Offset:       d.offset,
		ClassWeights: d.classWeights,
		Balanced:     d.balanced,
		Tol:          f.Tol,
		Threads:      f.threads(),
		Kernels:      f.Kernels,
		Method:       f.method(),
		Certify:      f.certifies(d),
		Pool:         d.pool(f.threads(), 1),

		PenaltyFactors: d.factors,
		Lower:          d.lower,
		Upper:          d.upper,

		Groups: d.columnGroups, GroupWeights: d.groupWeights,
		Tau: given(f.Tau, 0), Gamma: given(f.Gamma, 0), A: given(f.A, 0),
	}
}

// outputFlags are the flags for what is printed.
type outputFlags struct {
	Coef     bool `help:"Print all coefficients, in the text or the JSON (fit, select, path)." group:"Output"`
	JSON     bool `name:"json" help:"Print one JSON object on standard output." group:"Output"`
	Quiet    bool `help:"Print no progress." group:"Output"`
	Progress bool `help:"Print progress in plain lines if standard error is not a terminal." group:"Output"`
}

func (f outputFlags) output() outputFlags { return f }

// engineFlags are the flags for how the computation is done.
type engineFlags struct {
	Method  string `default:"implicit" placeholder:"METHOD" help:"How hypergradients are computed (grad, select): implicit, or forward or backward along the iterates of --solver (default: implicit)." group:"Engine"`
	Solver  string `placeholder:"SOLVER" help:"cd: coordinate descent; pgd: proximal gradient descent, for forward and backward only (default: cd; pgd for forward and backward)." group:"Engine"`
	Threads int    `placeholder:"N" help:"Number of threads (default: all cores); results do not depend on it." group:"Engine"`
	Kernels string `placeholder:"SET" help:"Kernel set (default: the fastest that this processor has)." group:"Engine"`
	Certify *bool  `negatable:"" help:"Try to prove the support and uniqueness (fit, grad, select; default: on small data, where that costs little)." group:"Engine"`
}

// certified is the number of multiplications that a proof may take unless --certify asks for it.
const certified = 2e7

// certifies reports whether to attempt proofs: if asked to, or if they could not take more than moments. A
// proof takes a Gram matrix of columns and its Cholesky factor, and for a logistic loss a triangular solve per
// row.
func (f commonFlags) certifies(d *dataset) bool {
	if f.Certify != nil {
		return *f.Certify
	}
	rows, columns := d.x.Dims()
	n, p := float64(rows), float64(columns)
	return p*(float64(d.nnz)+float64(p*p)+float64(n*p)) <= certified
}

func (f engineFlags) check() error {
	if f.Threads < 0 {
		return outcome.At(outcome.BadParameter, "threads", "must be 1 or more, or 0 for all cores; got %d", f.Threads)
	}
	if err := oneOf("method", f.Method, "implicit", "forward", "backward"); err != nil {
		return err
	}
	if f.Solver == "" {
		return nil
	}
	if f.Method == "implicit" {
		if f.Solver == "pgd" {
			return outcome.At(outcome.Usage, "solver", "pgd applies only to --method forward and backward; implicit uses cd")
		}
		return oneOf("solver", f.Solver, "cd")
	}
	return oneOf("solver", f.Solver, "cd", "pgd")
}

// solution checks the flags of a command that computes no hypergradients.
func (f engineFlags) solution(command string) error {
	if f.Method != "implicit" {
		return outcome.At(outcome.Usage, "method", "%s computes no hypergradient and solves by cd; forward and backward apply only to grad and select", command)
	}
	return nil
}

func (f engineFlags) method() pare.Method {
	if f.Method == "implicit" {
		return pare.Implicit
	}
	return pare.Method(f.Method + "-" + cmp.Or(f.Solver, "pgd"))
}

func (f engineFlags) threads() int {
	if f.Threads == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return f.Threads
}

// problemFlags are the flags for the inner problem.
type problemFlags struct {
	Model       pare.Model `default:"lasso" placeholder:"MODEL" help:"lasso, enet, wlasso, ridge, logreg, poisson, gamma, tweedie, huber, squared_hinge, multiclass, svm, svr, simplex_svr or another; \"pare help models\" describes all (default: lasso)." group:"Problem"`
	Loss        string     `placeholder:"LOSS" help:"In place of --model: squared, logistic, poisson, gamma, tweedie, huber, squared_hinge, smoothed_hinge, or multinomial (softmax), with --penalty; or svm, svr, simplex_svr." group:"Problem"`
	Penalty     string     `placeholder:"PENALTY" help:"The penalty with --loss: l1, enet, ridge, group, group_enet, sparse_group, sparse_group_l1, mcp or scad; with multinomial l1, enet, group or l1_per_class (default: l1)." group:"Problem"`
	Delta       string     `placeholder:"D" help:"huber: the residual from which the loss is linear, in units of the target, or as a multiple of its median absolute deviation on the training rows, such as 2*mad (default: 1.345*1.4826*mad)." group:"Problem"`
	Power       *float64   `placeholder:"P" help:"tweedie: the variance is the mean to this power, above 1 and below 2 (default: 1.5)." group:"Problem"`
	Tau         *float64   `placeholder:"T" help:"sparse_group: the share of the ℓ1 term in the strength (default: 0.5)." group:"Problem"`
	Gamma       *float64   `placeholder:"G" help:"mcp: coefficients beyond γα do not shrink (default: 3, for standardised columns)." group:"Problem"`
	A           *float64   `name:"a" placeholder:"A" help:"scad: coefficients beyond aα do not shrink (default: 3.7, for standardised columns)." group:"Problem"`
	Intercept   *bool      `negatable:"" help:"Fit an unpenalised intercept (default: true; false for svm)." group:"Problem"`
	Standardize bool       `help:"Penalise as if columns had unit variance on the training rows; coefficients are those of the columns in the file (svm: with --intercept)." group:"Problem"`
	Positive    bool       `help:"Constrain coefficients to be 0 or more (not ridge, svm, svr)." group:"Problem"`
	Tol         float64    `default:"1e-6" placeholder:"GAP" help:"Relative duality gap to reach (default: 1e-6)." group:"Problem"`

	stated statedModel
}

func (f problemFlags) check() error {
	if f.stated.wrong != nil {
		return f.stated.wrong
	}
	if f.Power != nil && !(*f.Power > 1 && *f.Power < 2) {
		return outcome.At(outcome.BadParameter, "power", "must be above 1 (the poisson loss) and below 2 (the gamma loss), got %g", *f.Power)
	}
	if !(f.Tol > 0 && f.Tol < 1) { // 0 would select the library's default
		return outcome.At(outcome.BadParameter, "tol", "the relative gap must be positive and below 1, the gap of the null model; got %g", f.Tol)
	}
	return nil
}

// centred reports whether there is an intercept.
func (f problemFlags) centred() bool {
	return given(f.Intercept, !f.stated.traits.Bare)
}

// validationFlags are the flags for the criterion and for the rows that are held out.
type validationFlags struct {
	Criterion      pare.Criterion `default:"cv" placeholder:"CRITERION" help:"cv, holdout: the model's loss on held-out rows; sure, aic, bic: the squared loss on all rows and the degrees of freedom, estimated along a random direction that --seed draws; alo, gcv: approximate leave-one-out and generalised cross-validation, from one fit (default: cv)." group:"Validation (select, grad, path)"`
	ValidationLoss string         `name:"validation-loss" placeholder:"LOSS" help:"The loss on held-out rows: mse, mae, logistic, hinge (smoothed), squared_hinge, poisson_deviance, gamma_deviance or tweedie_deviance; with --search grid, halton, random or tpe also misclassification, or auc for one minus the area (default: the model's)." group:"Validation (select, grad, path)"`
	Folds          *int           `placeholder:"K" help:"Number of folds; holdout holds out the last only (default: 5)." group:"Validation (select, grad, path)"`
	Split          pare.Split     `default:"rows" placeholder:"SPLIT" help:"How rows are split into folds. rows: in turn; stratified: in turn after sorting by target; blocks: runs of neighbouring rows; forward: runs in the order of time, each predicted from those before it (default: rows)." group:"Validation (select, grad, path)"`
	Groups         string         `placeholder:"COLUMN|FILE" help:"The group of each row, a column or a file with one integer per line; rows of a group stay in one fold." group:"Validation (select, grad, path)"`
	Shuffle        *bool          `negatable:"" help:"Shuffle the rows before they are split into folds (default: true; false for blocks and forward)." group:"Validation (select, grad, path)"`
	Seed           uint64         `placeholder:"N" help:"Seed of the shuffle, of random searches, and of the direction that estimates the degrees of freedom of sure, aic and bic (default: 0)." group:"Validation (select, grad, path)"`
	Sigma          *float64       `placeholder:"S" help:"sure, aic, bic: the standard deviation of the noise (default: estimated)." group:"Validation (select, grad, path)"`
	FoldIDs        string         `name:"fold-ids" aliases:"fold-column" placeholder:"COLUMN|FILE" help:"The fold of each row instead, a column or a file with one integer per row: 0 and up are folds, -1 always trains, -2 is kept for a final test (select). With holdout 0 validates and -1 trains." group:"Validation (select, grad, path)"`
}

func (f validationFlags) check() error {
	if err := oneOf("criterion", f.Criterion, pare.Criteria()...); err != nil {
		return err
	}
	if f.Folds != nil && *f.Folds < 2 { // 0 would select the library's default
		return outcome.At(outcome.BadParameter, "folds", "at least 2 folds are needed, got %d", *f.Folds)
	}
	if f.Sigma != nil && !(*f.Sigma > 0 && !math.IsInf(*f.Sigma, 1)) {
		return outcome.At(outcome.BadParameter, "sigma", "the noise level must be positive and finite, got %g", *f.Sigma)
	}
	if f.Sigma != nil && !f.informed() {
		return outcome.At(outcome.Usage, "sigma", "applies only to --criterion sure, aic and bic")
	}
	if f.ValidationLoss != "" {
		if err := oneOf("validation-loss", f.ValidationLoss, criterion.Names()...); err != nil {
			return err
		}
	}
	if flag := f.apart(); flag != "" && f.informed() {
		return outcome.At(outcome.Usage, flag, "applies only to --criterion cv and holdout; %s judges on all rows and holds none out", f.Criterion)
	}
	if err := oneOf("split", f.Split, pare.Splits()...); err != nil {
		return err
	}
	if given(f.Shuffle, false) && (f.FoldIDs != "" || f.Split == pare.Blocks || f.Split == pare.Forward) {
		return outcome.At(outcome.Usage, "shuffle", "cannot be used with --fold-ids, --split blocks or --split forward, which determine the folds")
	}
	if err := present("groups", f.Groups); err != nil {
		return err
	}
	return present("fold-ids", f.FoldIDs)
}

// apart returns the first flag given that concerns held-out rows, "" if none is.
func (f validationFlags) apart() string {
	switch {
	case f.ValidationLoss != "":
		return "validation-loss"
	case f.FoldIDs != "":
		return "fold-ids"
	case f.Groups != "":
		return "groups"
	case f.Split != pare.ByRow:
		return "split"
	case f.Folds != nil:
		return "folds"
	case f.Shuffle != nil:
		return "shuffle"
	default:
		return ""
	}
}

// informed reports whether the criterion is computed on all rows.
func (f validationFlags) informed() bool {
	return f.Criterion != pare.CV && f.Criterion != pare.HoldOut
}

// validation reads the fold ids and groups, if they are given.
func (f commonFlags) validation(d *dataset) (pare.Validation, error) {
	v := pare.Validation{Criterion: f.Criterion, Sigma: given(f.Sigma, 0), Seed: f.Seed}
	if f.informed() {
		return v, nil
	}
	v.Folds, v.Split, v.InOrder, v.Loss = given(f.Folds, 0), f.Split, !f.shuffles(), f.judge(f.ValidationLoss)
	var err error
	if f.FoldIDs != "" {
		v.FoldIDs, err = perRow(d, "fold-ids", f.FoldIDs, parseFold(len(d.y)))
	}
	if f.Groups != "" && err == nil {
		v.Groups, err = d.groups(f.Groups)
	}
	return v, err
}

// shuffles reports whether rows are shuffled. By default they are, unless the split has runs of neighbouring
// rows or fold ids are given.
func (f validationFlags) shuffles() bool {
	return given(f.Shuffle, f.FoldIDs == "" && f.Split != pare.Blocks && f.Split != pare.Forward)
}

// judged describes the criterion: its loss, and the rows on which it is computed.
func (a asked) judged(sigma float64) string {
	switch {
	case !a.informed():
		judged := cmp.Or(a.ValidationLoss, a.stated.traits.Judged)
		if judged == "auc" { // a loss must fall as predictions improve
			judged = "1 − auc"
		}
		return judged + "; " + a.split()
	case a.Criterion == pare.ALO || a.Criterion == pare.GCV:
		return "all rows"
	}
	text := fmt.Sprintf("all rows; degrees of freedom estimated with seed %d", a.Seed)
	switch {
	case sigma == 0:
		return text
	case a.Sigma == nil:
		return fmt.Sprintf("noise level %.5g, estimated; %s", sigma, text)
	default:
		return fmt.Sprintf("noise level %.5g; %s", sigma, text)
	}
}

// lanes names the inner problems of an evaluation.
func (f validationFlags) lanes() string {
	switch {
	case f.Criterion == pare.ALO, f.Criterion == pare.GCV:
		return "all rows"
	case f.informed():
		return "two targets"
	}
	return "the folds"
}

// split describes how rows are split into folds.
func (f validationFlags) split() string {
	text := fmt.Sprintf("%d folds", given(f.Folds, 5))
	switch {
	case f.FoldIDs != "":
		text = "folds of " + f.FoldIDs
		if f.Split == pare.Forward {
			text += ", each from those before it"
		}
		return text
	case f.Criterion == pare.HoldOut:
		text = "the last of " + text
	}
	switch f.Split {
	case pare.ByRow:
	case pare.Blocks:
		return text + " of neighbouring rows"
	case pare.Forward:
		return text + ", each predicted from the rows before it"
	case pare.Stratified:
		text += " stratified by the target"
	}
	if f.Groups != "" {
		text += " of whole groups"
	}
	if f.shuffles() {
		return text + fmt.Sprintf(", rows shuffled with seed %d", f.Seed)
	}
	return text + ", rows in file order"
}

// criterion returns the name of the criterion in text.
func (f validationFlags) criterion() string {
	switch f.Criterion {
	case pare.HoldOut:
		return "hold-out error"
	case pare.CV:
		return "CV error"
	default:
		return strings.ToUpper(string(f.Criterion))
	}
}

// gridFlags are the flags for a geometric grid.
type gridFlags struct {
	Points   *int     `placeholder:"N" help:"Points of the grid (default: 100)." group:"Grid"`
	MinRatio *float64 `placeholder:"R" help:"The grid runs from αmax down to R·αmax (default: 0.001)." group:"Grid"`
}

// mostPoints is the largest number of points of a grid: all of them are held in memory.
const mostPoints = 1_000_000

func (f gridFlags) check() error {
	if n := f.points(); n < 1 || n > mostPoints {
		return outcome.At(outcome.BadParameter, "points", "the number of points must be from 1 to %s, got %d", count(mostPoints), n)
	}
	if r := f.minRatio(); !(r > 0 && r <= 1) {
		return outcome.At(outcome.BadParameter, "min-ratio", "must be above 0 and at most 1, got %g", r)
	}
	return nil
}

func (f gridFlags) points() int { return given(f.Points, 100) }

func (f gridFlags) minRatio() float64 { return given(f.MinRatio, 0.001) }

// given returns the value of a flag, or otherwise if the flag is not given.
func given[T any](flag *T, otherwise T) T {
	if flag == nil {
		return otherwise
	}
	return *flag
}

// oneOf returns an error if the value of a flag is not among those that exist.
func oneOf[S ~string](flag string, value S, there ...S) error {
	names := make([]string, len(there))
	for i, s := range there {
		if value == s {
			return nil
		}
		names[i] = string(s)
	}
	verb := "choose from"
	if len(names) == 1 {
		verb = "use"
	}
	return outcome.At(outcome.Usage, flag, "unknown value %q%s; %s %s", value, perhaps(string(value), names, ""), verb, strings.Join(names, ", "))
}

// checks returns the first error of several checks.
func checks(all ...interface{ check() error }) error {
	for _, c := range all {
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}
