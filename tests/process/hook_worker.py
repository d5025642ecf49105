"""A worker for Python hooks, and the files that people wrote for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from typing import Any

from snell.handlers.worker.client import Worker
from snell.model.decision import Outcome
from snell.model.hooks import Hook, Scope
from snell.runtime.hook_loader import LoadedFile, PythonFiles
from tests.helpers import call, without_times
from tests.process.sandbox import is_alive
from tests.waiting import wait_until

IMPORTS = "from snell.sdk.decorators import informs, judges, rewrites\nfrom snell.model.effects import *\n"


class HookWorker:
    """A worker, and the files that people wrote for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.worker = Worker()
        self.files = PythonFiles(self.worker)

    def write(self, source: str, name: str = "mine.py", imports: str = IMPORTS) -> Path:
        path = self.folder / name
        path.write_text(imports + dedent(source), encoding="utf-8")
        return path

    def load(self, source: str, name: str = "mine.py", imports: str = IMPORTS) -> LoadedFile:
        path = self.write(source, name, imports)
        return self.files.load(path, scope=Scope.SESSION, layer="user", pack=path.stem)

    def hooks(self, source: str, name: str = "mine.py", **fields: Any) -> list[Hook]:
        loaded = self.load(source, name)
        assert loaded.problem == ""
        return [with_fields(hook, **fields) for hook in loaded.hooks]

    def answers(self, source: str, event: Any = None, **fields: Any) -> list[Outcome]:
        return without_times(self.worker.run(self.hooks(source, **fields), event or call()))

    @property
    def pid(self) -> int:
        child = self.worker._child
        assert child is not None
        return child.pid


def with_fields(hook: Hook, **fields: Any) -> Hook:
    return Hook(**{**{name: getattr(hook, name) for name in hook.__struct_fields__}, **fields})


@contextmanager
def open_hook_worker(folder: Path) -> Iterator[HookWorker]:
    """A desk for one test; a child that outlives it fails the test."""
    hook_worker = HookWorker(folder)
    yield hook_worker
    child = hook_worker.worker._child
    hook_worker.worker.close()
    assert child is None or wait_until(lambda: not is_alive(child.pid))
