# scikit-learn's coordinate descent. Variant "gram" precomputes X'X.
import warnings

import sklearn
from sklearn.linear_model import ElasticNet, Lasso

path, model, alpha, ridge, variant = sys.argv[1:6]
alpha, ridge = float(alpha), float(ridge)
X, y = problem(path)
warnings.simplefilter("ignore")


def solve(tol):
    common = dict(fit_intercept=False, tol=tol, max_iter=1_000_000, precompute=variant == "gram")
    if model == "enet":
        m = ElasticNet(alpha=alpha + ridge, l1_ratio=alpha / (alpha + ridge), **common)
    else:
        m = Lasso(alpha=alpha, **common)
    m.fit(X, y)
    return m.coef_, None, float(m.dual_gap_)


serve("scikit-learn " + sklearn.__version__, solve)
