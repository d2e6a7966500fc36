# celer and skglm, coordinate descent on working sets. They are compiled at their
# first solve, which is a loose one here and out of the clock. celer's logistic
# regression minimises |w|_1 + C sum log(1 + exp(-y w'x)), so C = 1 / (n alpha).
import importlib
import warnings

path, model, alpha, ridge, package = sys.argv[1:6]
alpha, ridge = float(alpha), float(ridge)
X, y = problem(path)
module = importlib.import_module(package)
warnings.simplefilter("ignore")


def estimator(tol):
    common = dict(fit_intercept=False, tol=tol, max_iter=1000)
    if model == "enet":
        return module.ElasticNet(alpha=alpha + ridge, l1_ratio=alpha / (alpha + ridge), **common)
    if model != "logreg":
        return module.Lasso(alpha=alpha, **common)
    if package == "celer":
        return module.LogisticRegression(C=1 / (len(y) * alpha), penalty="l1", **common)
    return module.SparseLogisticRegression(alpha=alpha, **common)


def solve(tol):
    return estimator(tol).fit(X, y).coef_.ravel(), None, None


estimator(1e-1).fit(X, y)
serve(package + " " + module.__version__, solve)
