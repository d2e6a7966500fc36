# scikit-learn's reader of svmlight text. A line of standard input is a file.
import json
import sys
import time

import sklearn
from sklearn.datasets import load_svmlight_file

print("scikit-learn " + sklearn.__version__ + ", " + sys.executable, flush=True)
for line in sys.stdin:
    start = time.perf_counter()
    X, y = load_svmlight_file(line.rstrip("\n"))
    print(json.dumps({"seconds": time.perf_counter() - start, "rows": X.shape[0], "nonzeros": int(X.nnz)}), flush=True)
