"""A lock that no thread waits for without end."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from snell.model.errors import StoreError
from snell.system.deadline import BoundedLock


def test_the_same_thread_may_enter_again_and_another_one_is_told_after_its_time() -> None:
    lock = BoundedLock("`a.db`", 0.05)

    def enter() -> str:
        with lock:
            return "inside"

    with ThreadPoolExecutor(1) as other:
        with lock, lock, pytest.raises(StoreError, match=r"another thread has held it for 0\.05 s"):
            other.submit(enter).result(20)
        assert other.submit(enter).result(20) == "inside"
