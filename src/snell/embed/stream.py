"""Notices that an agent loop sends to listeners while it runs: one type per kind, named in `type` in JSON."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any, Literal

from msgspec import Struct

from snell.embed.tool_call import Input
from snell.engine.match import Predicate, compile_matcher
from snell.handlers.python import crash
from snell.model.catalogue import row_of
from snell.model.errors import HookError
from snell.runtime.callback_hooks import AnyMatcher, check_matchers

STREAM = "Stream"  # the name of listeners in a registration


class Notice(Struct, frozen=True, kw_only=True, tag_field="type"):
    """Base of all notices of a session."""

    session_id: str = ""
    agent_id: str = ""

    @property
    def type(self) -> str:
        return str(self.__struct_config__.tag)


class SessionInfo(Notice, frozen=True, kw_only=True, tag="session_info"):
    cwd: str = ""
    tools: tuple[str, ...] = ()


class Status(Notice, frozen=True, kw_only=True, tag="status"):
    """The state of the loop, as text for users."""

    text: str


class Text(Notice, frozen=True, kw_only=True, tag="text"):
    """A text of the model."""

    text: str


class Thinking(Notice, frozen=True, kw_only=True, tag="thinking"):
    text: str


class ToolCalled(Notice, frozen=True, kw_only=True, tag="tool_call"):
    """A call as the model requested it; the result has the input that ran."""

    tool: str
    input: Input
    tool_use_id: str = ""


class ToolReturned(Notice, frozen=True, kw_only=True, tag="tool_result"):
    tool: str
    status: str
    input: Input
    text: str
    tool_use_id: str = ""


class WorkProduct(Notice, frozen=True, kw_only=True, tag="work_product"):
    """A result that stays: a file, a page, a report."""

    name: str
    path: str = ""
    text: str = ""


class AuthRequired(Notice, frozen=True, kw_only=True, tag="auth_required"):
    """The user must log in before the agent can continue."""

    service: str
    url: str = ""


class IterationEnd(Notice, frozen=True, kw_only=True, tag="iteration_end"):
    """One round of model and tools has ended."""

    number: int
    reason: str = ""


class Error(Notice, frozen=True, kw_only=True, tag="error"):
    message: str
    kind: str = ""


class HookExecuted(Notice, frozen=True, kw_only=True, tag="hook_executed"):
    """A hook ran. Statuses: success, blocking, non_blocking_error, cancelled."""

    event: str
    hook: str
    status: Literal["success", "blocking", "non_blocking_error", "cancelled"] | str = "success"
    tool: str = ""
    seconds: float = 0.0


Listener = Callable[[Notice], Any]


class Listeners:
    """The listeners of a session. The failure of a listener only causes an error notice."""

    def __init__(self, listeners: Iterable[Listener] = ()) -> None:
        self._all: list[tuple[Predicate | None, Listener]] = [(None, each) for each in listeners]

    def __bool__(self) -> bool:
        return bool(self._all)

    def add(self, matchers: Iterable[AnyMatcher]) -> None:
        """Add the listeners of a registration; their matcher is compared with the type of a notice."""
        for each in check_matchers(STREAM, matchers):
            fits = compile_matcher(each.matcher, None, row_of("PreToolUse"))
            if wrong := [listener for listener in each.hooks if inspect.iscoroutinefunction(listener)]:
                raise HookError(f"`{wrong[0].__name__}` is a coroutine; listeners must be plain functions")
            self._all = [*self._all, *((fits, listener) for listener in each.hooks)]  # a copy keeps its own list

    def notify(self, notice: Notice) -> None:
        """Call all listeners whose matcher matches."""
        failed = [error for fits, listener in self._all if (error := _call_listener(fits, listener, notice))]
        if not isinstance(notice, Error):  # else a listener that fails on errors would be called again and again
            for error in failed:
                self.notify(Error(message=error, kind="listener", session_id=notice.session_id))


def _call_listener(fits: Predicate | None, listener: Listener, notice: Notice) -> str:
    if fits and not fits(notice.type):
        return ""
    try:
        listener(notice)
    except Exception as error:  # noqa: BLE001 - a listener is a hook that only watches
        return f"a listener failed: {crash(error).message}"
    return ""
