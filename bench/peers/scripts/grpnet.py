# adelie's group elastic net with groups of one column. Its losses have weights 1 / n, and its
# penalty is lmda (alpha |b| + (1 - alpha) b^2 / 2). Variant "path" takes ten strengths
# from the largest down to ours, as its screening rules are made for paths.
import adelie

path, model, alpha, ridge, variant = sys.argv[1:6]
X, y = problem(path)
strength = float(alpha) + float(ridge)
share = float(alpha) / strength
matrix = adelie.matrix.sparse(X) if sparse.issparse(X) else adelie.matrix.dense(X)
if model == "logreg":
    y = (y > 0).astype(float)
    largest = np.abs(X.T @ (y - 0.5)).max() / (len(y) * share)
    loss = adelie.glm.binomial(y)
else:
    largest = np.abs(X.T @ y).max() / (len(y) * share)
    loss = adelie.glm.gaussian(y)
steps = np.geomspace(largest, strength, 10) if variant == "path" else np.array([strength])


def solve(tol):
    state = adelie.grpnet(matrix, loss, alpha=share, lmda_path=steps, tol=tol, irls_tol=tol, intercept=False,
                          early_exit=False, progress_bar=False, n_threads=1)
    if len(state.lmdas) < len(steps):
        raise RuntimeError("adelie stopped on its way to the strength")
    return state.betas[-1].toarray().ravel(), None, None


serve("adelie " + adelie.__version__, solve)
