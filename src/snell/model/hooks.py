"""Hook: a declared reaction to an event, and the handler that says how it is run."""

from collections.abc import Callable
from enum import IntEnum
from typing import Any, ClassVar, Literal

from msgspec import Struct

Role = Literal["rewrites", "judges", "informs", "watches"]
OnFailure = Literal["allow", "ask", "block"]
ExitCodeMode = Literal["client", "strict"]

DEFAULT_TIMEOUT = 600.0
LONGEST_TIMEOUT = 600.0
ASYNC_TIMEOUT = 15.0


class Scope(IntEnum):
    """Where a hook comes from, in execution order. Session: user, project and local settings, and run time."""

    POLICY = 0
    PLUGIN = 1
    SESSION = 2
    SKILL = 3


class Source(Struct, frozen=True):
    """Where a hook is declared: user, project, local, policy, run time, `pack:NAME`, `plugin:NAME` or `skill:NAME`."""

    layer: str = "run time"
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file and self.line else self.file or self.layer


class Handler(Struct, frozen=True):
    """How a hook is run. Each type of handler has a struct of its own, in `handlers/`."""

    kind: ClassVar[str] = ""
    compared_by: ClassVar[tuple[str, ...]] = ()  # the fields that two handlers share when only one should run

    @property
    def identity(self) -> tuple[Any, ...]:
        """Return what two handlers have in common when only one of them should run."""
        fields = self.compared_by
        return (self.kind, *(getattr(self, name) for name in fields)) if fields else (self.kind, repr(self))

    @property
    def short_name(self) -> str:
        """Return a word for the id of a hook that has no name."""
        return self.kind


class Inline(Handler, frozen=True, weakref=True):
    """A function in this process: of a built-in pack, or of the program that embeds Snell."""

    kind: ClassVar[str] = "python"

    function: Callable[..., Any]
    waits: bool = False  # for files, programs or the network: the daemon handles other requests meanwhile
    batches: bool = False  # a watcher that only writes rows, for which several events share a commit

    @property
    def identity(self) -> tuple[Any, ...]:
        return ("inline", id(self.function))


class ApprovedFiles(Struct, frozen=True):
    """The files that a project's hook runs, and the digests of the bytes that the user approved."""

    root: str
    files: tuple[tuple[str, str], ...]  # full path, digest


class PythonFile(Handler, frozen=True):
    """A function in a file of a project, user or pack; it runs in the worker process."""

    kind: ClassVar[str] = "python"
    compared_by: ClassVar[tuple[str, ...]] = ("path", "function")

    path: str
    function: str
    digest: str = ""

    @property
    def short_name(self) -> str:
        return self.function


class Broken(Handler, frozen=True):
    """A hook that could not be loaded; running it is a failure, so a policy that cannot be read blocks."""

    kind: ClassVar[str] = "broken"

    reason: str


class Hook(Struct, frozen=True, kw_only=True, eq=False):
    """Compared by identity: two equal declarations in different places are two hooks."""

    id: str
    event: str
    handler: Handler
    scope: Scope = Scope.SESSION
    role: Role | None = None  # None: an imported hook, which may return anything
    matcher: str | None = None
    matcher_type: str | None = None
    kinds: tuple[str, ...] = ()
    condition: str | None = None
    once: bool = False
    is_async: bool = False
    force_sync: bool = False
    timeout: float = DEFAULT_TIMEOUT
    async_timeout: float = ASYNC_TIMEOUT
    rewakes: bool = False  # a late refusal wakes the agent, where the client supports that
    on_failure: OnFailure | None = None
    exit_code_mode: ExitCodeMode = "client"
    enabled: bool = True
    status_message: str = ""
    group: str = ""
    session_id: str = ""  # only for this session; empty = for all
    only_for: str = ""  # the agent in an embedding program that it belongs to, with the sub-agents below; empty = all
    untrusted: str = ""  # why a project's hook must not run; empty = it may
    source: Source = Source()

    @property
    def can_judge(self) -> bool:
        return self.role is None or self.role == "judges"

    @property
    def failure_policy(self) -> OnFailure:
        """Return what a failure means: as declared, or `block` for a policy hook that can judge, else `allow`."""
        if self.on_failure:
            return self.on_failure
        return "block" if self.scope is Scope.POLICY and self.can_judge else "allow"

    @property
    def runs_later(self) -> bool:
        """Return whether the reply does not wait for this hook. A session starts only after its hooks, async or not."""
        waits = self.force_sync or self.event == "SessionStart"
        return self.role == "watches" or (self.is_async and not waits)

    @property
    def time_limit(self) -> float:
        return min(self.async_timeout if self.is_async and self.runs_later else self.timeout, LONGEST_TIMEOUT)


class Switches(Struct, frozen=True):
    """Settings that turn many hooks off at once."""

    disable_all_hooks: bool = False  # by a user or project: everything but policy hooks
    policy_disables_all: bool = False  # by the policy itself: everything
    allow_managed_hooks_only: bool = False
    rewrites_from: str = ""  # "policy" keeps rewriting to policy hooks
    order: str = "together"  # or "sequential": hooks run one after the other
    paused: str = ""  # by whom and until when only policy hooks run
    only_observe: bool = False  # what other than policy hooks would do is recorded, and does not happen

    def why_disabled(self, hook: Hook) -> str:
        """Return why the switches keep this hook from running; empty when they do not."""
        if self.policy_disables_all:
            return "the policy sets disable_all_hooks"
        if hook.scope is Scope.POLICY:
            return ""
        if self.disable_all_hooks:
            return "disable_all_hooks is set"
        if self.paused:
            return self.paused
        return "allow_managed_hooks_only is set" if self.allow_managed_hooks_only else ""


class Tier(Struct, frozen=True):
    """Hooks that are decided together: the policy's, or all others."""

    is_policy: bool
    others: tuple[Hook, ...] = ()  # judges, informers and hooks without a declared role
    is_mixed: bool = False  # it has judges and also hooks without a role, which may rewrite
    # Each rewriter by itself; the same objects for the same kind of event, by which the executor finds its plans.
    turns: tuple[tuple[Hook, ...], ...] = ()
    is_sequential: bool = False  # all its hooks have turns

    @property
    def hooks(self) -> tuple[Hook, ...]:
        return (*(turn[0] for turn in self.turns), *self.others)


class Pick(Struct, frozen=True):
    """The hooks that apply to an event."""

    hooks: tuple[Hook, ...] = ()  # all of them, in execution order
    tiers: tuple[Tier, ...] = ()
    watchers: tuple[Hook, ...] = ()
    keeps_call: bool = False  # this is a tool call that a watcher writes to the ledger
    needs_check_per_event: bool = False  # a hook has conditions of its own, or must be marked when it has run
    # With only one tier: the rounds to run, by name, used until a hook has an effect.
    rounds: tuple[tuple[str, tuple[Hook, ...]], ...] = ()
