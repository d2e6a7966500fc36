package main

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare"
)

// shape adds the paths of a JSON value, with the types of their leaves, to a set.
func shape(prefix string, v any, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			shape(prefix+"."+key, inner, into)
		}
	case []any:
		for _, inner := range v {
			shape(prefix+"[]", inner, into)
		}
	case nil:
		into[prefix+" null"] = true
	case float64:
		into[prefix+" number"] = true
	default:
		into[fmt.Sprintf("%s %T", prefix, v)] = true
	}
}

const fitShape = `
	.dual_margin number, .epochs number, .gap number, .gap_relative number, .intercept number, .kernels string, .kkt number,
	.log_lambda[] number, .log_lambda_max[] number, .model string, .n number, .nnz number, .objective number,
	.p number, .passes number, .seconds.certify number, .seconds.load number, .seconds.solve number, .status string, .support number,
	.support_certified bool, .threads number, .unique bool`

const coefShape = `, .coef.index[] number, .coef.value[] number`

const gradShape = `
	.bound string, .cg_iterations number, .criterion string, .error_bound number, .gap_relative number,
	.injectivity_margin number, .kernels string, .kkt number, .log_lambda[] number, .log_lambda_max[] number,
	.method string, .model string, .n number, .nnz number, .p number, .seconds.gradient number,
	.seconds.load number, .seconds.solve number, .status string, .support number, .support_certified bool,
	.threads number, .value number`

const measuresShape = `, .measures.mae number, .measures.mse number`

const selectShape = `
	.evaluations[].log_lambda[] number, .evaluations[].seconds number, .evaluations[].support number,
	.evaluations[].tol number, .evaluations[].value number, .log_lambda[] number, .null_value number,
	.seconds.load number, .seconds.refit number, .seconds.search number, .status string, .value number`

const seenShape = `, .seen.basins number, .seen.from number, .seen.to number`

const errorShape = `, .standard_error number, .evaluations[].standard_error number`

const oneSEShape = `, .one_se.log_lambda[] number, .one_se.value number, .seconds.one_se number`

func TestJSONHasTheStatedShape(t *testing.T) {
	within := func(prefix, shape string) string { return strings.ReplaceAll(shape, "\t.", "\t"+prefix+".") }
	final := strings.ReplaceAll(within(".final", strings.ReplaceAll(fitShape, ", .", ",\n\t.")), "\n\t", " ")
	for _, test := range []struct{ args, want string }{
		{"fit --ratio 0.1", fitShape},
		{"fit --ratio 0.1 --coef", fitShape + coefShape},
		{"fit --ratio 0.1,0.2 --model enet", fitShape},
		{"grad --ratio 0.1", gradShape + ", .gradient[] number"},
		{"grad --ratio 0.1 --model enet --criterion holdout", gradShape + ", .gradient[] number"},
		{"grad --ratio 0.1 --model wlasso", gradShape + ", .gradient.index[] number, .gradient.value[] number"},
		{"grad --ratio 0.1 --method forward", strings.Replace(gradShape, "margin number", "margin null", 1) + ", .gradient[] number"},
		{"select", selectShape + measuresShape + "," + final + oneSEShape + seenShape + errorShape + ", .gradient_norm number, .evaluations[].gradient_norm number"},
		{"select --criterion holdout", selectShape + measuresShape + "," + final + seenShape + errorShape + ", .gradient_norm number, .evaluations[].gradient_norm number"},
		{"select --criterion sure", selectShape + "," + final + seenShape + errorShape + ", .sigma number, .gradient_norm number, .evaluations[].gradient_norm number"},
		{"grad --ratio 0.1 --model wlasso --criterion aic", gradShape + ", .sigma number, .gradient.index[] number, .gradient.value[] number"},
		{"select --model wlasso --criterion sure", strings.Replace(selectShape, ".evaluations[].log_lambda[] number, ", "", 1) + "," + final + seenShape +
			errorShape + ", .common.log_lambda[] number, .common.value number, .sigma number, .gradient_norm number, .evaluations[].gradient_norm null, .evaluations[].gradient_norm number"},
		{"select --search grid --points 5", selectShape + measuresShape + "," + final + oneSEShape + errorShape + ", .gradient_norm null, .evaluations[].gradient_norm null"},
		{"path --points 3", `.points[].epochs number, .points[].gap_relative number, .points[].log_lambda[] number,
			.points[].objective number, .points[].seconds number, .points[].support number, .points[].value number,
			.seconds.load number, .seconds.solve number, .status string`},
		{"info", `.format string, .density number, .duplicate_columns number, .empty_columns number, .labels.distinct number,
			.labels.kind string, .labels.max number, .labels.min number, .log_lambda_max.enet number, .log_lambda_max.huber number, .log_lambda_max.poisson number,
			.log_lambda_max.gamma number, .log_lambda_max.tweedie number, .log_lambda_max.squared_hinge null, .log_lambda_max.svr null, .log_lambda_max.simplex_svr null,
			.log_lambda_max.group null, .log_lambda_max.group_enet null, .log_lambda_max.sparse_group null, .log_lambda_max.sparse_group_l1 null,
			.log_lambda_max.mcp number, .log_lambda_max.scad number, .log_lambda_max.multinomial null, .log_lambda_max.multinomial_enet null,
			.log_lambda_max.multinomial_group null, .log_lambda_max.multinomial_per_class null,
			.log_lambda_max.lasso number, .log_lambda_max.logreg null, .log_lambda_max.multiclass null, .log_lambda_max.ridge number, .log_lambda_max.svm null, .log_lambda_max.wlasso number,
			.memory_bytes number, .n number, .nnz number, .p number`},
	} {
		t.Run(test.args, func(t *testing.T) {
			got := map[string]bool{}
			shape("", decoded[any](t, exitOK, strings.Fields(test.args)...), got)
			want := map[string]bool{}
			for field := range strings.SplitSeq(test.want, ",") {
				want[strings.Join(strings.Fields(field), " ")] = true
			}
			if !maps.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
			}
		})
	}
}

// TestEveryNameIsDocumented checks that docs/json.md has every name that can be printed.
func TestEveryNameIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range []any{fitResult{}, gradResult{}, selectResult{}, pathResult{}, infoResult{}, predictResult{}, inspectResult{}, convertResult{}, failure{}} {
		for name := range names(reflect.TypeOf(result)) {
			if !strings.Contains(string(text), "`"+name+"`") {
				t.Errorf("%T has %s, the page has not", result, name)
			}
		}
	}
}

// names returns the JSON names of the values of a type.
func names(of reflect.Type) map[string]bool {
	found := map[string]bool{}
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice:
		return names(of.Elem())
	case reflect.Struct:
		for field := range of.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name != "" {
				found[name] = true
			}
			if name != "" || field.Anonymous {
				maps.Copy(found, names(field.Type))
			}
		}
	}
	return found
}

// TestJSONSurvivesInfinity checks that numbers which JSON cannot hold become null, on data with
// αmax = 0.
func TestJSONSurvivesInfinity(t *testing.T) {
	file := writeFile(t, "constant.svm", "3 1:1\n3 2:1\n3 1:2\n")
	type nullable struct {
		LogLambdaMax []*float64 `json:"log_lambda_max"`
	}
	if r := decoded[nullable](t, exitOK, "fit", file, "--log-lambda", "-1"); len(r.LogLambdaMax) != 1 || r.LogLambdaMax[0] != nil {
		t.Errorf("log_lambda_max %v, want [null]", r.LogLambdaMax)
	}
	type info struct {
		LogLambdaMax map[string]*float64 `json:"log_lambda_max"`
	}
	if r := decoded[info](t, exitOK, "info", file); len(r.LogLambdaMax) != len(pare.Models()) || r.LogLambdaMax["lasso"] != nil {
		t.Errorf("log_lambda_max %v, want nulls", r.LogLambdaMax)
	}
	empty := decoded[info](t, exitOK, "info", writeFile(t, "empty.svm", ""))
	if empty.LogLambdaMax["lasso"] != nil {
		t.Error("αmax of no rows")
	}
}
