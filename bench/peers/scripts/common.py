# What every peer in Python shares: reading the problem, answering tolerances.
import json
import os
import sys
import time

import numpy as np
from scipy import sparse


def problem(path):
    with open(path, "rb") as f:
        n, p, nnz, dense = np.fromfile(f, np.int32, 4)
        starts = np.fromfile(f, np.int32, p + 1)
        rows = np.fromfile(f, np.int32, nnz)
        values = np.fromfile(f, np.float64, nnz)
        y = np.fromfile(f, np.float64, n)
        problem.groups = np.fromfile(f, np.int32, p)  # of the columns; empty where there are none
    X = sparse.csc_matrix((values, rows, starts), shape=(n, p))
    if dense:
        X = np.asfortranarray(X.toarray())
    return X, y


def serve(name, solve):
    """solve(tol) returns the coefficients, the objective and the gap it claims."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints does not disturb the answers
    print(name + ", " + sys.executable, file=out, flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        coef, objective, gap = solve(float(line))
        seconds = time.perf_counter() - start
        coef = np.asarray(coef)
        index = np.flatnonzero(coef)
        answer = {"seconds": seconds, "objective": objective, "gap": gap,
                  "index": index.tolist(), "value": coef[index].tolist()}
        print(json.dumps(answer), file=out, flush=True)
