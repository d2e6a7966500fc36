#!/usr/bin/env python3
"""Makes models.jsonl: criteria and hypergradients in decimal arithmetic of 50 digits,
on the diabetes data. It shares nothing with the Go code, and needs nothing beyond
Python's own library:  python3 testdata/golden/models.py > testdata/golden/models.jsonl
"""
import gzip, json, math, os
from decimal import Decimal as D, getcontext

getcontext().prec = 50
HERE = os.path.dirname(os.path.abspath(__file__))
INF = D("Infinity")


def read():
    X, y = [], []
    with gzip.open(os.path.join(HERE, "../../internal/embedded/diabetes.svm.gz"), "rt") as f:
        for line in f:
            label, *pairs = line.split()
            row = [D(0)] * 10
            for pair in pairs:
                j, v = pair.split(":")
                row[int(j) - 1] = D(float(v))  # as a float64 reads it
            X.append(row)
            y.append(D(float(label)))
    return X, y


def linear(A, b):
    """Gaussian elimination with pivoting."""
    n = len(b)
    M = [list(A[i]) + [b[i]] for i in range(n)]
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(M[i][k]))
        M[k], M[p] = M[p], M[k]
        for i in range(k + 1, n):
            f = M[i][k] / M[k][k]
            for j in range(k, n + 1):
                M[i][j] -= f * M[k][j]
    x = [D(0)] * n
    for i in reversed(range(n)):
        x[i] = (M[i][n] - sum(M[i][j] * x[j] for j in range(i + 1, n))) / M[i][i]
    return x


class Training:
    """The rows of weight s > 0: their means, deviations and products."""

    def __init__(self, X, y, s, intercept, standardize):
        p, N = len(X[0]), sum(s)
        self.mean, self.scale, self.ymean = [D(0)] * p, [D(1)] * p, D(0)
        if intercept:
            self.mean = [sum(w * r[j] for w, r in zip(s, X)) / N for j in range(p)]
            self.ymean = sum(w * t for w, t in zip(s, y)) / N
        if standardize:
            self.scale = [(sum(w * (r[j] - self.mean[j]) ** 2 for w, r in zip(s, X)) / N).sqrt() for j in range(p)]
        rows = [(w, self.row(r), t - self.ymean) for w, r, t in zip(s, X, y) if w > 0]
        self.gram = [[sum(w * r[j] * r[k] for w, r, _ in rows) / N for k in range(p)] for j in range(p)]
        self.c = [sum(w * r[j] * t for w, r, t in rows) / N for j in range(p)]

    def row(self, r):
        return [(v - m) / d for v, m, d in zip(r, self.mean, self.scale)]

    def solve(self, alpha, ridge, positive):
        """Coordinate descent in floats finds support and signs; one exact solve, checked."""
        p = len(self.c)
        g, c = [[float(v) for v in r] for r in self.gram], [float(v) for v in self.c]
        a, b = [float(v) for v in alpha], [0.0] * p
        for _ in range(200_000):
            moved = 0.0
            for j in range(p):
                if math.isinf(a[j]):
                    continue
                t = c[j] - sum(g[j][k] * b[k] for k in range(p)) + g[j][j] * b[j]
                if positive:
                    new = max(t - a[j], 0)
                else:
                    new = math.copysign(max(abs(t) - a[j], 0), t)
                new /= g[j][j] + float(ridge)
                moved, b[j] = max(moved, abs(new - b[j])), new
            if moved < 1e-9:
                break
        S = [j for j in range(p) if b[j] != 0]
        sign = [D(0) if alpha[j] == 0 else D(1).copy_sign(D(b[j])) for j in S]
        A = [[self.gram[j][k] + (ridge if j == k else 0) for k in S] for j in S]
        x = linear(A, [self.c[j] - alpha[j] * e for j, e in zip(S, sign)])
        for k, e in zip(x, sign):
            assert e == 0 or k * e > 0
        for j in range(p):
            z = self.c[j] - sum(self.gram[j][k] * v for k, v in zip(S, x))
            assert j in S or (z if positive else abs(z)) < alpha[j]
        return S, sign, A, x


def evaluate(X, y, s, fold, case, alpha, ridge):
    """Criterion and its gradient: by λ, λ₂ and every column's λ."""
    train = [w if f != 0 else D(0) for w, f in zip(s, fold)]
    t = Training(X, y, train, case["intercept"], case["standardize"])
    S, sign, A, x = t.solve(alpha, ridge, case["positive"])
    W = sum(w for w, f in zip(s, fold) if f == 0)
    value, g = D(0), [D(0)] * len(S)
    for w, r, target, f in zip(s, X, y, fold):
        if f != 0:
            continue
        r = t.row(r)
        d = t.ymean + sum(r[j] * v for j, v in zip(S, x)) - target
        value += w * d * d / W
        for k, j in enumerate(S):
            g[k] += 2 * w * d * r[j] / W
    v = linear(A, g)
    each = [D(0)] * len(alpha)
    for j, e, k in zip(S, sign, v):
        each[j] = -alpha[j] * e * k
    return value, sum(each), -ridge * sum(b * k for b, k in zip(x, v)), each


def criterion(X, y, case, alpha, ridge):
    n = len(y)
    s = [D(1 + i % 5) / 2 for i in range(n)] if case["weights"] else [D(1)] * n
    if case["split"] == "holdout":
        splits = [[0 if i % 3 == 2 else 1 for i in range(n)]]
    else:
        splits = [[0 if i % 5 == k else 1 for i in range(n)] for k in range(5)]
    parts = [evaluate(X, y, s, f, case, alpha, ridge) for f in splits]
    mean = lambda values: sum(values) / len(parts)
    return (mean([p[0] for p in parts]), mean([p[1] for p in parts]), mean([p[2] for p in parts]),
            [mean([p[3][j] for p in parts]) for j in range(len(alpha))])


def main():
    X, y = read()
    p = 10
    for model, split, intercept, standardize, positive, weights, log in [
        ("ridge", "holdout", False, False, False, False, [-6]),
        ("ridge", "cv", True, False, False, False, [-8]),
        ("ridge", "cv", True, True, False, True, [-2]),
        ("lasso", "cv", True, False, True, False, [-1.5]),
        ("lasso", "cv", True, True, False, False, [1.25]),
        ("lasso", "cv", True, False, False, True, [-2]),
        ("enet", "holdout", True, False, True, False, [-2, -7]),
        ("enet", "cv", False, True, False, True, [1, -3]),
        ("wlasso", "cv", True, False, True, False, [-2 + 0.125 * j for j in range(p)]),
        ("wlasso", "holdout", True, True, False, True, [1 - 0.25 * j for j in range(p)]),
        ("wlasso", "cv", True, False, False, False, [-math.inf if j == 3 else math.inf if j == 8 else -1 - 0.125 * j for j in range(p)]),
    ]:
        case = dict(model=model, split=split, intercept=intercept, standardize=standardize, positive=positive, weights=weights)

        def at(l):
            strengths = [INF if v == math.inf else D(0) if v == -math.inf else D(v).exp() for v in l]
            if model == "ridge":
                alpha, ridge = [D(0)] * p, strengths[0]
            elif model == "wlasso":
                alpha, ridge = strengths, D(0)
            else:
                alpha, ridge = [strengths[0]] * p, strengths[1] if model == "enet" else D(0)
            return criterion(X, y, case, alpha, ridge)

        value, common, ridge, each = at(log)
        gradient = {"lasso": [common], "enet": [common, ridge], "ridge": [ridge], "wlasso": each}[model]
        h, worst = D("1e-12"), D(0)
        for i, l in enumerate(log):
            if math.isinf(l):
                continue
            up, down = ([D(v) if not math.isinf(v) else v for v in log] for _ in range(2))
            up[i] += h
            down[i] -= h
            difference = (at(up)[0] - at(down)[0]) / (2 * h)
            worst = max(worst, abs(difference - gradient[i]) / max(abs(g) for g in gradient))
        case.update(log_lambda=[l if not math.isinf(l) else str(l) for l in log], value=float(value),
                    gradient=[float(g) for g in gradient], fd_relative_error=float(worst))
        print(json.dumps(case), flush=True)


if __name__ == "__main__":
    main()
