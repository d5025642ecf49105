"""numpy, where it is installed: everything here works without it, more slowly."""

import os
import sys
from typing import Any

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def numpy_or_none() -> Any:
    """
    numpy with one thread, unless somebody has loaded it already; None if it is not there.

    It reads how many threads to use once, when it is loaded. By itself it takes one for each core, and on a busy
    machine these wait for each other far longer than our small matrices take.
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
        for name, value in before.items():  # programs that hooks start have their own opinion
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    return numpy
