# LIBLINEAR, the shared library itself: the program would have to read the file as text,
# inside its own clock. Its objectives are |w|_1 or |w|^2/2 and C times the sum of losses:
# -s 6 is l1 with the logistic loss, -s 0 the ridge with it and -s 7 the same in the dual,
# -s 5 l1 with the squared hinge, without our half, -s 2 and -s 1 the ridge with it; -s 3 is
# the dual of the SVM and -s 13 that of the SVR, alpha their C.
import ctypes
import ctypes.util
from ctypes import POINTER, Structure, c_char_p, c_double, c_int, c_void_p

path, model, alpha, ridge, variant, parameter = sys.argv[1:7]
X, y = problem(path)
n, p = X.shape
R = sparse.csr_matrix(X)
library = ctypes.CDLL(ctypes.util.find_library("linear") or "liblinear.so.4")

# One array of nodes; a row ends with index -1.
node = np.dtype([("index", np.int32), ("value", np.float64)], align=True)
nodes = np.empty(R.nnz + n, node)
ends = R.indptr[1:] + np.arange(n)
inside = np.ones(len(nodes), bool)
inside[ends] = False
nodes["index"][inside] = R.indices + 1
nodes["value"][inside] = R.data
nodes["index"][ends] = -1
starts = R.indptr[:-1] + np.arange(n)
rows = (nodes.ctypes.data + starts * node.itemsize).astype(np.uint64)


class Problem(Structure):
    _fields_ = [("l", c_int), ("n", c_int), ("y", c_void_p), ("x", c_void_p), ("bias", c_double)]


class Parameter(Structure):  # the rest differs from version to version and stays 0
    _fields_ = [("solver_type", c_int), ("eps", c_double), ("C", c_double), ("nr_weight", c_int),
                ("weight_label", c_void_p), ("weight", c_void_p), ("p", c_double), ("rest", c_double * 8)]


class Model(Structure):
    _fields_ = [("param", Parameter), ("rest", c_double * 16)]


silent = ctypes.CFUNCTYPE(None, c_char_p)(lambda text: None)
library.set_print_string_function(silent)
library.train.restype = c_void_p
library.train.argtypes = [POINTER(Problem), POINTER(Parameter)]
library.get_decfun_coef.restype = c_double
library.get_decfun_coef.argtypes = [c_void_p, c_int, c_int]
library.free_and_destroy_model.argtypes = [POINTER(c_void_p)]
library.get_labels.argtypes = [c_void_p, POINTER(c_int)]

labels = np.ascontiguousarray(y)
prob = Problem(n, p, labels.ctypes.data, rows.ctypes.data, -1.0)
trained = c_void_p()


strength = n * (float(alpha) + float(ridge))
kind = {"svm": (3, 0, float(alpha)), "svr": (13, 0, float(alpha)), "logreg": (6, 0, 1 / strength), "squared_hinge": (5, 0, 0.5 / strength),
        "logreg_ridge": (7 if variant == "dual" else 0, 0, 1 / strength),
        "squared_hinge_ridge": (1 if variant == "dual" else 2, 0, 0.5 / strength)}[model]


def solve(tol):
    global trained
    param = Parameter(*kind, 0, None, None, float(parameter))
    param.eps = tol
    trained = c_void_p(library.train(ctypes.byref(prob), ctypes.byref(param)))
    return Coefficients(), None, None


class Coefficients:
    """The coefficients of the model, read outside the clock."""

    def __array__(self, dtype=None):
        coef = np.array([library.get_decfun_coef(trained, j + 1, 0) for j in range(p)])
        if model == "svr":
            library.free_and_destroy_model(ctypes.byref(trained))
            return coef
        pair = (c_int * 2)()
        library.get_labels(trained, pair)
        library.free_and_destroy_model(ctypes.byref(trained))
        return coef if pair[0] == 1 else -coef


version = c_int.in_dll(library, "liblinear_version").value
serve("liblinear %d.%02d" % (version // 100, version % 100), solve)
