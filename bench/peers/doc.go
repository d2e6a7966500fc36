// Package peers compares our solvers with other solvers on equal terms.
//
// Every contestant gets the same numbers in memory and times itself, without starting, reading and compiling.
// What it reports about its precision is not relied on: the coefficients it returns are certified here
// ([Problem.Certify]), by plain loops over X and y that share nothing with our solvers. Each contestant's
// tolerance is lowered until the certified gap meets the target. Then all are timed in turn, round after round,
// so that disturbances of the machine affect all of them.
//
// A contestant is a program that speaks a line protocol (scripts/): it is started with the file of the problem
// (see [Problem.Write]), the model, its strengths and a variant, prints a line with its name once the problem
// is in memory, and then answers each tolerance with one JSON object on a line of its own:
//
//	{"seconds": 0.1, "objective": 0.4, "gap": null, "index": [0, 7], "value": [0.2, -0.1]}
//
// Results name the peers that are not installed. Debian has scikit-learn (python3-sklearn), glmnet
// (r-cran-glmnet) and LIBLINEAR (liblinear4). celer, skglm and adelie are Python packages of those names (pip
// install celer skglm adelie), and BlitzML is built from github.com/tbjohns/BlitzML by its setup.py. A package
// elsewhere is found through PYTHONPATH.
package peers
