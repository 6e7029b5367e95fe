"""The tests: several run at once, so numpy computes in one thread in each process and its children."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
