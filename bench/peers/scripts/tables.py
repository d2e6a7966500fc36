# Readers of text in Python's libraries. A line of standard input is a file.
import gc
import json
import sys
import time

import pandas
import scipy
import scipy.io
import sklearn
from sklearn.datasets import load_svmlight_file


def read_csv(path):
    table = pandas.read_csv(path)
    return pandas.get_dummies(table, dtype=float) if path.endswith("words.csv") else table


readers = {
    "csv": read_csv,
    "mtx": scipy.io.mmread,
    "svm": lambda path: load_svmlight_file(path)[0],
}
print(f"pandas {pandas.__version__}, SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}", flush=True)
for line in sys.stdin:
    path = line.rstrip("\n")
    gc.collect()
    start = time.process_time()
    X = readers[path.rsplit(".", 1)[1]](path)
    print(json.dumps({"seconds": time.process_time() - start, "rows": X.shape[0]}), flush=True)
