# BlitzML. It minimises the sum of losses and a penalty times |w|_1, so that ours times n are
# its strengths, and stops where its gap is below a share of its objective.
import blitzml

path, model, alpha = sys.argv[1:4]
X, y = problem(path)
blitzml.suppress_warnings()
stated = {"lasso": blitzml.LassoProblem, "wlasso": blitzml.LassoProblem,
          "logreg": blitzml.SparseLogisticRegressionProblem, "squared_hinge": blitzml.SparseSquaredHingeProblem}[model]


def solve(tol):
    problem = stated(X, y)
    return problem.solve(len(y) * float(alpha), include_bias_term=False, stopping_tolerance=tol).weights, None, None


serve("BlitzML " + blitzml.__version__, solve)
