// Package peers compares our solvers with other people's, fairly.
//
// Every contestant gets the same numbers in memory and its own clock, which
// leaves out starting, reading and compiling. What it says about its precision
// is not believed: the coefficients it returns are certified here ([Problem.Certify])
// by plain loops over X and y that share nothing with our solvers. Each
// contestant's tolerance is lowered until the certified gap meets the target, and
// then all are timed, one after the other, round after round, so that whatever
// disturbs the machine disturbs all.
//
// A contestant is a program that speaks a line protocol (scripts/): it is started
// with the file of the problem (see [Problem.Write]), the model, its strengths
// and a variant, prints a line with its name once the problem is in memory, and
// then answers each tolerance on a line of its own with one JSON object:
//
//	{"seconds": 0.1, "objective": 0.4, "gap": null, "index": [0, 7], "value": [0.2, -0.1]}
//
// Peers that are not installed are named where results are, not passed over. Debian has
// scikit-learn (python3-sklearn), glmnet (r-cran-glmnet) and LIBLINEAR (liblinear4). celer,
// skglm and adelie are Python packages of those names (pip install celer skglm adelie), and
// BlitzML is built from github.com/tbjohns/BlitzML by its setup.py. A package elsewhere is found
// through PYTHONPATH.
package peers
