package rules_test

// module is the import path of the root package.
const module = "github.com/seed-45b9a24c/pare"

// A pkg is a package and the packages directly below it. It may import these and the packages
// below them, and no other package of the module.
type pkg struct {
	path string   // relative to the module; "." is the root package
	on   []string // the packages directly below
	// outside marks packages that are not part of the library: commands, tools, helpers of
	// tests. They may print, and may need modules that the library must not use.
	outside bool
	// modules may be imported here in addition to those of the whole library.
	modules []string
}

// layers lists every package from the lowest layer up, which is a good order to read them in. A
// package that is not listed fails the test.
var layers = []pkg{
	{path: "outcome"},
	{path: "kernels/amd64"},
	{path: "kernels/arm64"},
	{path: "internal/decimal"},
	{path: "kernels", on: []string{"kernels/amd64", "kernels/arm64", "internal/decimal"}},
	{path: "kernels/kblas", on: []string{"kernels"}},
	{path: "internal/random", on: []string{"kernels"}},
	{path: "internal/input", on: []string{"outcome"}, modules: []string{"github.com/klauspost/compress"}},
	{path: "internal/sealed", on: []string{"outcome"}},
	{path: "internal/plain"},
	{path: "internal/team", on: []string{"kernels"}},
	{path: "internal/arena", on: []string{"kernels"}},
	{path: "sparse", on: []string{"kernels", "internal/decimal", "internal/input", "internal/sealed", "internal/team", "internal/arena"}},
	{path: "loss", on: []string{"kernels", "outcome"}},
	{path: "table", on: []string{"sparse"}},
	{path: "sparse/gonum", on: []string{"sparse"}},
	{path: "model", on: []string{"sparse", "loss"}},
	{path: "support", on: []string{"model"}},
	{path: "cd", on: []string{"support", "internal/random"}},
	{path: "implicit", on: []string{"support", "internal/random"}},
	{path: "iterdiff", on: []string{"model"}},
	{path: "criterion", on: []string{"loss"}},
	{path: "search", on: []string{"outcome", "internal/random", "internal/sealed", "internal/plain"}},
	{path: "bilevel", on: []string{"cd", "implicit", "iterdiff", "criterion", "search"}},
	{path: "choose", on: []string{"bilevel"}},
	{path: "internal/inner", on: []string{"bilevel"}},
	{path: "internal/share"},
	{path: ".", on: []string{"table", "choose", "internal/inner", "internal/share"}},

	{path: "report", on: []string{"."}, outside: true},
	{path: "internal/embedded", on: []string{"sparse"}},
	{path: "bench/synthetic", on: []string{"sparse"}, outside: true},
	{path: "bench", on: []string{".", "bench/synthetic"}, outside: true},
	{path: "bench/machine", on: []string{"kernels"}, outside: true},
	{path: "bench/loops", on: []string{"bench/machine", "internal/random"}, outside: true},
	{path: "bench/chart", outside: true},
	{path: "bench/studies", on: []string{".", "bench/chart", "bench/synthetic", "internal/embedded"}, outside: true},
	{path: "bench/peers", on: []string{".", "bench/machine"}, outside: true},
	{path: "bench/goals", on: []string{"bench/studies", "bench/peers"}, outside: true},

	{path: "table/parquet", on: []string{"table"}, outside: true},
	{path: "internal/guard", outside: true},
	{path: "internal/oracle", outside: true},
	{path: "internal/exact", on: []string{"internal/oracle"}, outside: true},
	{path: "internal/fixture", on: []string{"model", "internal/random", "internal/oracle", "internal/embedded"}, outside: true},
	{path: "internal/rules", outside: true},
	{path: "cmd/pare", on: []string{".", "table/parquet", "report", "internal/embedded"}, outside: true},
	{path: "cmd/perf", on: []string{".", "table/parquet", "bench/synthetic", "bench/loops", "bench/goals", "internal/embedded"}, outside: true},
	{path: "tools/samebits", outside: true},
	{path: "tools/mutate", outside: true},
}

// libraryModules are the modules that any library package may import.
var libraryModules = []string{
	"gonum.org/v1/gonum",
	"github.com/klauspost/cpuid/v2",
	"golang.org/x/exp",
	"golang.org/x/sys",
	"golang.org/x/sync",
}
