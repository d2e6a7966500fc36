# celer and skglm, coordinate descent on working sets. They are compiled at their
# first solve, which is a loose one here and out of the clock. celer's logistic
# regression minimises |w|_1 + C sum log(1 + exp(-y w'x)), so C = 1 / (n alpha).
import importlib
import warnings

path, model, alpha, ridge, package, parameter = sys.argv[1:7]
alpha, ridge = float(alpha), float(ridge)
X, y = problem(path)
module = importlib.import_module(package)
warnings.simplefilter("ignore")


def estimator(tol):
    common = dict(fit_intercept=False, tol=tol, max_iter=1000)
    if model == "enet":
        return module.ElasticNet(alpha=alpha + ridge, l1_ratio=alpha / (alpha + ridge), **common)
    if model in ("lasso", "wlasso"):
        return module.Lasso(alpha=alpha, **common)
    if model == "mcp":
        return module.MCPRegression(alpha=alpha, gamma=3, **common)
    if model == "scad":
        from skglm.datafits import Quadratic
        from skglm.penalties import SCAD
        from skglm.solvers import AndersonCD
        return module.GeneralizedLinearEstimator(Quadratic(), SCAD(alpha, 3.7), AndersonCD(**common))
    if model in ("group", "sparse_group"):
        members = [np.flatnonzero(problem.groups == g).tolist() for g in np.unique(problem.groups)]
    if model == "sparse_group":
        from skglm.datafits import QuadraticGroup
        from skglm.penalties import WeightedL1GroupL2
        from skglm.solvers import GroupBCD
        starts = np.cumsum([0] + [len(m) for m in members]).astype(np.int32)
        columns = np.concatenate(members).astype(np.int32)
        penalty = WeightedL1GroupL2(alpha, 0.5 * np.sqrt(np.diff(starts)), np.full(len(columns), 0.5), starts, columns)
        return module.GeneralizedLinearEstimator(QuadraticGroup(starts, columns), penalty, GroupBCD(ws_strategy="fixpoint", **common))
    if model == "group":
        return module.GroupLasso(groups=members, alpha=alpha, weights=np.sqrt([len(m) for m in members]), **common)
    if model != "logreg":
        from skglm.datafits import Gamma, Huber, Logistic, Poisson
        from skglm.penalties import L1, L1_plus_L2
        from skglm.solvers import AndersonCD, ProxNewton
        datafit = {"huber": lambda: Huber(float(parameter)), "logreg_enet": Logistic, "poisson": Poisson, "gamma": Gamma}[model]()
        penalty = L1_plus_L2(alpha + ridge, alpha / (alpha + ridge)) if ridge else L1(alpha)
        return module.GeneralizedLinearEstimator(datafit, penalty, (AndersonCD if model == "huber" else ProxNewton)(**common))
    if package == "celer":
        return module.LogisticRegression(C=1 / (len(y) * alpha), penalty="l1", **common)
    return module.SparseLogisticRegression(alpha=alpha, **common)


def solve(tol):
    return estimator(tol).fit(X, y).coef_.ravel(), None, None


estimator(1e-1).fit(X, y)
serve(package + " " + module.__version__, solve)
