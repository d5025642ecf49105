"""How long the page is served: while a page is open, and a little longer, since going to another page closes one."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

AFTER_CLOSE = 5.0  # seconds without an open page; a slow browser takes some to open the next one
WITHOUT_PAGE = 900.0  # for the link to be opened, and between two requests of a browser without JavaScript


class Lifetime:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open = 0
        self._had_page = False
        self._last = clock()
        self.is_ended = False

    def note_request(self) -> None:
        self._last = self._clock()

    @contextmanager
    def page(self) -> Iterator[None]:
        """Count a page as open; its stream of changes says that it is."""
        self._open, self._had_page = self._open + 1, True
        try:
            yield
        finally:
            self._open -= 1
            self._last = self._clock()

    @property
    def is_over(self) -> bool:
        """Whether the process may end: it was told to, or no page is open."""
        quiet = self._clock() - self._last
        return self.is_ended or (not self._open and quiet > (AFTER_CLOSE if self._had_page else WITHOUT_PAGE))
