"""numpy is loaded with one thread, and the programs that are started later hear nothing of that."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("numpy")

_PROGRAM = """
import os
from snell.llm.embeddings import numpy_or_none

before = dict(os.environ)
numpy = numpy_or_none()
numpy.ones((500, 500)) @ numpy.ones((500, 500))
tasks = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1
print(dict(os.environ) == before, tasks, numpy_or_none() is numpy)
"""


@pytest.mark.parametrize("given", [{}, {"OMP_NUM_THREADS": "3"}])
def test_numpy_is_loaded_with_one_thread_and_the_environment_stays_as_it_was(given: dict[str, str]) -> None:
    env = {"PATH": os.defpath, **given}
    done = subprocess.run([sys.executable, "-c", _PROGRAM], env=env, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "True 1 True\n"
