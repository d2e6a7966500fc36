# scikit-learn's coordinate descent. Variant "gram" precomputes X'X. Other losses have a
# ridge, or both strengths, and a solver that the variant names.
import warnings

import sklearn
from sklearn.linear_model import (ElasticNet, GammaRegressor, Lasso, LogisticRegression,
                                  PoissonRegressor, TweedieRegressor)

path, model, alpha, ridge, variant, parameter = sys.argv[1:7]
alpha, ridge = float(alpha), float(ridge)
X, y = problem(path)
warnings.simplefilter("ignore")


def estimator(tol):
    common = dict(fit_intercept=False, tol=tol, max_iter=1_000_000)
    if model == "enet":
        return ElasticNet(alpha=alpha + ridge, l1_ratio=alpha / (alpha + ridge), precompute=variant == "gram", **common)
    if model in ("lasso", "wlasso"):
        return Lasso(alpha=alpha, precompute=variant == "gram", **common)
    if model == "poisson_ridge":
        return PoissonRegressor(alpha=ridge, solver=variant, **common)
    if model == "gamma_ridge":
        return GammaRegressor(alpha=ridge, solver=variant, **common)
    if model == "tweedie_ridge":
        return TweedieRegressor(power=float(parameter), link="log", alpha=ridge, solver=variant, **common)
    # |w|_1 and |w|^2/2 have shares of one strength, and the mean loss is n times as strong.
    kind = {"logreg_ridge": "l2", "logreg_enet": "elasticnet", "multinomial": "l1"}[model]
    share = dict(l1_ratio=alpha / (alpha + ridge)) if kind == "elasticnet" else {}
    if model == "multinomial":
        share["multi_class"] = "multinomial"
    return LogisticRegression(penalty=kind, C=1 / (len(y) * (alpha + ridge)), solver=variant, **share, **common)


def solve(tol):
    m = estimator(tol).fit(X, y)
    return m.coef_.T.ravel(), None, float(m.dual_gap_) if hasattr(m, "dual_gap_") else None


serve("scikit-learn " + sklearn.__version__, solve)
