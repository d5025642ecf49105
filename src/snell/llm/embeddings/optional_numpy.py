"""Import numpy, which is optional: everything works without it, more slowly."""

import os
import sys
from typing import Any

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def numpy_or_none() -> Any:
    """
    Return numpy with one thread, unless it is loaded already; None if it is not installed.

    numpy reads its number of threads once, when it is loaded. The default is one for each core, and on a busy machine
    these wait for each other far longer than the arithmetic with small matrices takes.
    """
    if "numpy" in sys.modules:
        return sys.modules["numpy"]
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        import numpy
    except ImportError:
        return None
    finally:
        for name, value in before.items():  # programs that hooks start keep their own setting
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    return numpy
