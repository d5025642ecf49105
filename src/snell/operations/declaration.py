"""
Declare an operation: a typed function with its name, arguments, result and permission.

    @operation("memory.recall", tool="recall", verb="recall", gives=Recalled)
    def recall(call: Call, query: Words, limit: Limit = 5) -> Answer:
        \"\"\"Search the memories by words and by meaning.\"\"\"

Remote calls, MCP tools, the command line, its help and the reference pages are rendered from this. The first parameter
is `call` (the runtime and its caller) or `tx` (then the operation is one transaction). `cwd`, `agent_id` and
`client_session_id` are the caller's own unless the call names others.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct

from snell.model.catalogue import did_you_mean
from snell.model.events import Event
from snell.model.protocols import Database, Transaction
from snell.system.json_input import json_type_name
from snell.work.errors import WorkError, invalid
from snell.work.rows import camel

if TYPE_CHECKING:
    from snell.runtime.app import Runtime
    from snell.work.skill_files import LoadedSkill

Arguments = Mapping[str, Any]
Answer = dict[str, Any]
Env = Mapping[str, str]
# What a call may do: read, add or change something that can be undone, or delete something for good.
Permission = Literal["reads", "writes", "destroys"]

IN_USE = ("work", "in_use")  # the mark without which hooks do not look for tasks
SYNC_SECONDS = 3.0  # that a user at a terminal waits for a shared server
OF_CALLER = ("cwd", "agent_id", "client_session_id")
SUPPLIED = "read_skill"  # a parameter that no caller names: how a transaction reads the file of a skill
# Topics whose arguments are named like their rows.
CAMEL_CASE = ("agent", "commands", "db", "effort", "session", "task")
TYPE_WORDS = {"array": json_type_name([])} | {each.__name__: json_type_name(each()) for each in (int, float, str, bool)}


class Call(Struct, frozen=True):
    """The runtime that an operation works on, and who calls it."""

    runtime: "Runtime"
    env: Env
    is_agent: bool = False  # it came through MCP: an agent has fewer rights than a person

    @property
    def cwd(self) -> str:
        return self.env.get("CWD", "")

    @property
    def agent_id(self) -> str:
        return self.env.get("AGENT_ID", "")

    @property
    def client_session_id(self) -> str | None:
        """The client session that the operation is called from, if it runs under `snell run`."""
        run = self.env.get("SNELL_SUPERVISOR")
        known = self.runtime.store.get(f"supervisor:{run}", "session") if run else None
        id_ = known.get("id") if isinstance(known, dict) else None
        return id_ if isinstance(id_, str) and id_ else None

    def read_skill(self, name: str, cwd: str) -> "LoadedSkill":
        """Read a skill of the user's, or of the project in this directory if it is trusted."""
        from snell.work.skill_files import read_skill

        return read_skill(name, cwd, self.runtime.context_for(Event(name="Stop", payload={"cwd": cwd})))

    @property
    def database(self) -> Database:
        if self.runtime.database is None:
            raise WorkError("COMMAND_ERROR", "this runtime has no database")
        return self.runtime.database


class Parameter(Struct, frozen=True):
    """One argument of an operation, as help and pages show it."""

    name: str
    type: Any  # without `Annotated` and `None`
    default: Any
    is_required: bool
    help: str = ""
    cli: Mapping[str, Any] = {}  # how the command line takes it, see `about`

    @property
    def choices(self) -> Sequence[Any]:
        return get_args(self.type) if get_origin(self.type) is Literal else self.cli.get("choices", ())


def about(
    text: str,
    *,
    option: str = "",
    word: bool = False,
    rest: bool = False,
    stdin: str = "",
    choices: Sequence[str] = (),
    **limits: Any,
) -> Meta:
    """
    Describe an argument, for `Annotated`.

    On the command line it is `option` (default: its name). With `word` it is a word without an option, with `rest` all
    words that are left. `stdin` says what is read from standard input if it is `-` or missing.
    """
    cli = {"option": option, "word": word or rest, "rest": rest, "stdin": stdin, "choices": choices}
    return Meta(description=text, extra=cli, **limits)


class Operation:
    def __init__(
        self,
        name: str,
        run: Callable[..., Any],
        *,
        permission: Permission = "reads",
        gives: Any = None,
        tool: str | bool = "",
        verb: str | bool = "",
        person: bool = False,
        slow: bool = False,
        sync: Literal["", "around", "after"] = "",
        is_open: bool = False,
        describes: Mapping[str, Meta] | None = None,
        says: str = "",
    ) -> None:
        self.name, self.run, self.permission = name, run, permission
        self.gives = gives or inspect.signature(run).return_annotation
        # Its name among the MCP tools; True: the last word of its own; empty: agents do not get it.
        self.tool = name.rpartition(".")[2] if tool is True else tool or ""
        # Its name on the command line, such as `effort start`; True: like its own.
        self.verb = name.replace(".", " ").replace("_", "-") if verb is True else verb or ""
        self.needs_person = person  # `snell` refuses it in the shell of an agent
        self.is_slow = slow  # it runs in a thread, so that no event waits for it
        self.sync = sync  # with a shared server: before and after it, or after it
        self.is_open = is_open  # its arguments are a payload, which it checks itself
        self.in_transaction = next(iter(inspect.signature(run).parameters), "") == "tx"
        self._describes = describes or {}  # arguments of a function that does not describe them itself
        self.says = inspect.getdoc(run) or says
        self.is_async = inspect.iscoroutinefunction(run)

    @property
    def summary(self) -> str:
        return self.says.split("\n\n")[0].replace("\n", " ")

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        return tuple(_parameter(each, self._describes.get(each.name)) for each in self._own)

    @cached_property
    def _own(self) -> list[inspect.Parameter]:
        own = list(inspect.signature(self.run).parameters.values())[1:]
        return [each for each in own if each.name != SUPPLIED]

    @cached_property
    def takes(self) -> type[Struct]:
        """The struct that arguments are checked with, and that the schema of the MCP tool is made of."""
        fields = [
            (each.name, each.annotation) if each.default is each.empty else (each.name, each.annotation, each.default)
            for each in self._own
        ]
        renamed = {each.name: self.spell(each.name) for each in self._own}
        return msgspec.defstruct(self.name, fields, kw_only=True, rename=renamed, omit_defaults=True)

    def invoke(self, runtime: "Runtime", arguments: Arguments, env: Env, *, is_agent: bool = False) -> Any:
        """Check the arguments and run the operation; the result of a slow one is awaited if an event loop runs."""
        call = Call(runtime, env, is_agent)
        if self.is_open:
            return self.run(call, arguments)
        given = self.check(arguments, call)
        must_sync = runtime.team and (self.sync or (self.in_transaction and not runtime.team.has_connected))
        if not (self.is_slow or must_sync):
            return self._answer(call, given)
        import asyncio  # slow to import, and few calls need it

        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return self._answer_in_sync(call, given)
        return loop.run_in_executor(None, self._answer_in_sync, call, given)

    def check(self, arguments: Arguments, call: Call) -> dict[str, Any]:
        """Return the checked arguments; null is the same as leaving one out. Raises WorkError (VALIDATION_ERROR)."""
        given = {self.spell(name): value for name, value in arguments.items() if value is not None}
        names = [self.spell(each.name) for each in self.parameters]
        usual = {self.spell(name): getattr(call, name) for name in OF_CALLER}  # every operation accepts these
        if issues := [_unknown(name, names) for name in given if name not in names and name not in usual]:
            raise invalid(*issues)
        wanted = {name: value for name, value in {**usual, **given}.items() if name in names}
        try:
            checked = msgspec.convert(wanted, self.takes, strict=not call.is_agent)
        except msgspec.ValidationError as error:
            raise invalid(issue_in(str(error))) from None
        return {name: getattr(checked, name) for name in checked.__struct_fields__}

    def spell(self, name: str) -> str:
        """Return the name of an argument as callers know it; both spellings are accepted for camelCase ones."""
        name = name.rstrip("_")  # as in `id_`, whose plain name is a function of Python
        return camel(name) if self.name.partition(".")[0] in CAMEL_CASE else name

    def _answer_in_sync(self, call: Call, given: dict[str, Any]) -> Any:
        team = call.runtime.team
        if team and (self.sync == "around" or (self.in_transaction and not team.has_connected)):
            team.catch_up(SYNC_SECONDS)
        answer = self._answer(call, given)
        if team and self.sync:
            team.catch_up(SYNC_SECONDS)
        if team and self.sync == "around":
            # The server may have given the effort another ordinal.
            from snell.work import efforts

            effort = answer.get("effort", answer)
            effort.update(call.database.run(lambda tx: efforts.get(tx, effort["id"])))
        return answer

    def _answer(self, call: Call, given: dict[str, Any]) -> Any:
        if not self.in_transaction:
            return self.run(call, **given)
        supplied = {SUPPLIED: call.read_skill} if SUPPLIED in inspect.signature(self.run).parameters else {}
        answer = call.database.run(lambda tx: self._answer_in_project(tx, {**given, **supplied}))
        call.runtime.store.put(*IN_USE, True)
        if call.runtime.team:
            call.runtime.team.notify_change()
        return answer

    def _answer_in_project(self, tx: Transaction, given: dict[str, Any]) -> Any:
        if isinstance(given.get("cwd"), str):
            from snell.memory.project_identity import shared_name
            from snell.work import shared_names

            shared_names.adopt_checkout(tx, given["cwd"], shared_name)
        return self.run(tx, **given)


def operation(name: str, **declared: Any) -> Callable[[Callable[..., Any]], Operation]:
    """Declare the decorated function as an operation; the arguments are those of `Operation`."""
    return lambda run: Operation(name, run, **declared)


def issue_in(message: str) -> str:
    """Rewrite a message of msgspec as `path: message`, with words for types."""
    problem, _, path = message.partition(" - at `$")
    plain = re.sub("`([a-z]+)`", lambda found: TYPE_WORDS.get(found[1], found[0]), problem[:1].lower() + problem[1:])
    if path:
        return f"{path.rstrip('`').lstrip('.')}: {plain}"
    _, quote, rest = problem.partition("field `")
    return f"{rest.rstrip('`')}: is missing" if quote else plain


def _unknown(name: str, names: list[str]) -> str:
    known = ", ".join(f"`{each}`" for each in names) or "no arguments"
    return f"{name[:80]}: unknown argument; {did_you_mean(name, names, f'it takes {known}')}"


def _parameter(each: inspect.Parameter, meta: Meta | None) -> Parameter:
    annotation = _without_none(each.annotation)
    described = next((known for known in (meta, *getattr(annotation, "__metadata__", ())) if known), Meta())
    plain = get_args(annotation)[0] if hasattr(annotation, "__metadata__") else annotation
    is_required = each.default is each.empty
    return Parameter(
        name=each.name,
        type=_without_none(plain),
        default=None if is_required else each.default,
        is_required=is_required,
        help=described.description or "",
        cli=described.extra or {},
    )


def _without_none(annotation: Any) -> Any:
    if get_origin(annotation) not in (Union, UnionType):
        return annotation
    return next(kind for kind in get_args(annotation) if kind is not type(None))


def operations_in(module: Any) -> Iterator[Operation]:
    """Yield the operations of a topic's module: those of its table OPERATIONS, and those declared one by one."""
    yield from getattr(module, "OPERATIONS", ())
    yield from (each for each in vars(module).values() if isinstance(each, Operation))
