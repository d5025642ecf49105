"""
Command hooks: a program that gets the event as JSON on stdin and answers by exit code and output.

Exit 0: stdout is the answer. Exit 2: deny, with stderr as the reason. Any other code is a failure, unless stdout
holds a JSON answer, which is used with every exit code. With `exit_code_mode = "strict"` every other code denies.
"""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from snell.clients.emulation import emulation_for
from snell.engine.hook_output import after_async, async_seconds, is_json, outcome_of
from snell.engine.match import fits_only_as_shell
from snell.handlers.event_json import as_bash_call, event_object
from snell.model.catalogue import NEVER_BLOCKED_BY_FAILURE
from snell.model.context import Context
from snell.model.decision import Failure, Outcome
from snell.model.effects import Ask, Deny, Env
from snell.model.errors import TrustError
from snell.model.events import Event, Payload
from snell.model.hooks import ASYNC_TIMEOUT, DEFAULT_TIMEOUT, LONGEST_TIMEOUT, ApprovedFiles, Handler, Hook
from snell.model.protocols import ClientEmulation, ProgramOutput
from snell.redact import redact
from snell.settings.client_hook_files import can_emulate
from snell.settings.handler_types import HandlerEntry, HandlerType
from snell.settings.schema import Key
from snell.settings.value_tree import InvalidValueError
from snell.system.json_output import json_bytes
from snell.system.run_program import Finished, Running, environment, finish_in_background
from snell.system.run_program import run as run_process

if TYPE_CHECKING:
    from snell.settings.command_files import NamedFiles


class Command(Handler, frozen=True):
    """A program, run by the shell, or directly when it has `args`."""

    kind: ClassVar[str] = "command"
    compared_by: ClassVar[tuple[str, ...]] = (
        *("command", "args", "plugin_root", "pass_context", "parse_result", "written_for", "their_matcher"),
    )

    command: str
    args: tuple[str, ...] | None = None
    pass_context: bool = True
    parse_result: bool = True
    plugin_root: str = ""
    written_for: str = ""  # another client's event, such as `cursor:stop`: that client's format for input and answer
    their_matcher: str = ""  # the matcher in that client's settings
    approved: ApprovedFiles | None = None  # of a project's hook

    @property
    def short_name(self) -> str:
        return os.path.basename(next(iter(self.command.split()), ""))


def _parse(entry: HandlerEntry) -> Handler:
    written_for = entry.values.get("written_for", "")
    if written_for and not can_emulate(written_for):
        advice = "write CLIENT:EVENT in that client's own spelling, such as cursor:beforeShellExecution"
        line = entry.line_of("written_for")
        raise InvalidValueError(f"`{written_for[:80]}` is not an event of another client", line, advice)
    return replace(TYPE.build(entry), plugin_root=entry.state.plugin_root)


def _files(handler: Command, root: Path, env: Mapping[str, str]) -> "NamedFiles":
    from snell.settings.command_files import files_of_command  # slow to import

    return files_of_command(handler.command, root, env, handler.args, handler.plugin_root)


TYPE = HandlerType(
    name="command",
    help="a program, run by the shell, or directly when it has `args`",
    settings=Command,
    keys=(
        Key("command", "text", "the command line, or the program when there are `args`", is_required=True),
        Key("args", "texts", "arguments; with them no shell is started"),
        Key("pass_context", "flag", "give the event on stdin; off by default in a `shell` table", default=True),
        Key("parse_result", "flag", "read stdout as an answer; off by default in a `shell` table", default=True),
        Key(
            "written_for",
            "text",
            "another client's event, such as `cursor:beforeShellExecution`: the program gets the input of that"
            " client, and answers in its format",
            default="",
        ),
        Key("their_matcher", "text", "with `written_for`: a matcher in that client's own terms", default=""),
        Key("shell", "any", "", ignored="commands run in the system's shell"),
    ),
    default_timeout=DEFAULT_TIMEOUT,
    recommended_timeout=60.0,
    aliases=("shell",),
    identified_by=("command",),
    defaults_by_name={
        "command": {"pass_context": True, "parse_result": True},
        "shell": {"pass_context": False, "parse_result": False},
    },
    parse=_parse,
    files=_files,
)


def run(hook: Hook, event: Event, context: Context) -> Outcome:
    command = hook.handler
    assert isinstance(command, Command)
    emulation = emulation_for(command.written_for) if command.written_for else None
    if emulation is None:
        payload = event_object(event)
        is_bash = "shell" in event.kinds and fits_only_as_shell(hook, event)
        return _run(hook, event, context, _Input(as_bash_call(payload) if is_bash else payload))
    payloads = emulation.payloads_for(event, context.project_dir)
    wanted = [each for each in payloads if emulation.is_wanted(command.their_matcher, event, each)]
    if not wanted:
        return Outcome(remarks=(f"skipped: {command.written_for} hooks do not run for this event",))
    return _combine([_run(hook, event, context, _Input(each, emulation)) for each in wanted])


class _Input(Struct, frozen=True):
    """The data for a program's stdin, and the client whose format it has, if it is another client's."""

    payload: Payload
    emulation: ClientEmulation | None = None


def _combine(outcomes: Sequence[Outcome]) -> Outcome:
    """Merge the outcomes of a program that ran once for each of several files."""
    if len(outcomes) == 1:
        return outcomes[0]
    return Outcome(
        effects=tuple(effect for each in outcomes for effect in each.effects),
        failure=next((each.failure for each in outcomes if each.failure), None),
        seconds=sum(each.seconds for each in outcomes),
        remarks=tuple(remark for each in outcomes for remark in each.remarks),
    )


def _run(hook: Hook, event: Event, context: Context, given: _Input) -> Outcome:
    command, emulation = hook.handler, given.emulation
    assert isinstance(command, Command)
    folder = emulation.folder(hook) if emulation else ""
    # If the session's directory is gone, the project's or the home directory, as Claude Code does.
    choices = (folder, event.cwd, context.project_dir, os.path.expanduser("~"), "/")
    directory = next(each for each in choices if each and os.path.isdir(each))
    env_file = _make_env_file() if "env" in event.row.can else ""
    must_wait = hook.force_sync or hook.event == "SessionStart" or hook.failure_policy == "block"
    async_watch = _AsyncWatch()
    try:
        words, copied = _argv(command, context), None
        if command.approved and context.state:
            from snell.settings.approved_copies import command_with_copies  # slow to import

            copied = command_with_copies(words, command.approved, context.state, directory, command.plugin_root)
        finished = run_process(
            copied.words if copied else words,
            stdin=json_bytes(given.payload) + b"\n" if command.pass_context else b"",
            cwd=directory,
            env=environment(context.env, _variables(command, event, context, env_file, emulation)),
            timeout=hook.time_limit,
            cancel=context.cancel,
            watch_stdout=None if emulation or must_wait else async_watch.watch,
            hand_over=lambda running: _continue(running, async_watch.seconds, hook, event, context),
        )
        if copied:
            copied.collect_new_files()
        outcome = _outcome(hook, event, finished, given, directory)
        variables = _read_exports(env_file) if env_file else {}
        return replace(outcome, effects=(*outcome.effects, Env(variables))) if variables else outcome
    except TrustError as error:  # an approved file was replaced since the settings were loaded
        return Outcome(failure=Failure("launch", f"did not run: {error}"))
    finally:
        if env_file:
            with suppress(OSError):
                os.unlink(env_file)


def _argv(command: Command, context: Context) -> list[str]:
    if command.args is None:
        return ["/bin/sh", "-c", command.command]
    known = {"${CLAUDE_PROJECT_DIR}": context.project_dir, "${CLAUDE_PLUGIN_ROOT}": command.plugin_root}
    words = [command.command, *command.args]
    for name, value in known.items():
        words = [word.replace(name, value) for word in words]
    return words


def _variables(
    command: Command, event: Event, context: Context, env_file: str, emulation: ClientEmulation | None
) -> dict[str, str]:
    given = {
        "HOOK_EVENT": event.name,
        "HOOK_TOOL_NAME": event.tool,
        "HOOK_SESSION_ID": event.session_id,
        "CLAUDE_PROJECT_DIR": context.project_dir or event.cwd,
        "CLAUDE_PLUGIN_ROOT": command.plugin_root,
        "CLAUDE_ENV_FILE": env_file,
        **(emulation.variables(event, context.project_dir) if emulation else {}),
    }
    return {name: value.replace("\0", "") for name, value in given.items() if value}


def _outcome(hook: Hook, event: Event, finished: Finished, given: _Input, cwd: str) -> Outcome:
    failure = _failure(finished, hook.time_limit)
    if failure:
        if hook.exit_code_mode == "strict" and failure.kind == "launch":
            return Outcome(effects=(Deny(failure.message),), failure=failure, seconds=finished.seconds)
        return Outcome(failure=failure, seconds=finished.seconds)
    if finished.went_async:
        return Outcome(seconds=finished.seconds, remarks=("continues in the background",), is_pending=True)
    command = hook.handler
    assert isinstance(command, Command)
    outcome = _emulated_outcome(finished, event, given, cwd) if command.parse_result else None
    if outcome is None:
        outcome = _by_exit_code(hook, event, finished, _answer(finished, event, command), cwd)
    return replace(outcome, seconds=finished.seconds)


def _emulated_outcome(finished: Finished, event: Event, given: _Input, cwd: str) -> Outcome | None:
    """Read the answer as the emulated client does; None when it has to be read in the usual way."""
    stdout, stderr = (stream.decode("utf-8", "replace") for stream in (finished.stdout, finished.stderr))
    if given.emulation is None or _script_is_missing(stderr.strip(), Outcome(), cwd):
        return None
    return given.emulation.answer(event, given.payload, ProgramOutput(stdout, stderr, finished.exit_code))


def _answer(finished: Finished, event: Event, command: Command) -> Outcome:
    stdout = finished.stdout.decode("utf-8", "replace")
    if not command.parse_result:
        return Outcome()
    if async_seconds(stdout) is not None:
        stdout = after_async(stdout)  # the hook asked to run async, but was waited for
    ended_well = finished.exit_code in (0, 2)
    return outcome_of(stdout, event) if ended_well or is_json(stdout) else Outcome()


def _failure(finished: Finished, limit: float) -> Failure | None:
    if finished.start_error:
        return Failure("launch", finished.start_error)
    if finished.timed_out:
        return Failure("timeout", f"did not finish within {limit:g} s and was ended")
    if finished.cancelled:
        return Failure("cancelled", "was cancelled")
    if finished.truncated:
        return Failure("output", "printed more than Snell reads (1 MB)")
    return None


def _by_exit_code(hook: Hook, event: Event, finished: Finished, answer: Outcome, cwd: str) -> Outcome:
    code = finished.exit_code
    stderr = finished.stderr.decode("utf-8", "replace").strip()
    denies = any(isinstance(effect, Deny) for effect in answer.effects)
    if code == 0 or (denies and answer.failure is None):
        return answer
    if code == 2 and not _script_is_missing(stderr, answer, cwd):
        reason = Deny(stderr or "the hook refused without giving a reason")
        return replace(answer, effects=(*answer.effects, reason), failure=None)
    failure = Failure("crash", _exit_text(finished, stderr))
    if hook.exit_code_mode == "strict" and event.name not in NEVER_BLOCKED_BY_FAILURE:
        return Outcome(effects=(Deny(stderr or failure.message),), failure=failure)
    if finished.signal:
        strict = tuple(effect for effect in answer.effects if isinstance(effect, Deny | Ask))
        return replace(answer, effects=strict, failure=failure)
    if answer.effects and hook.failure_policy == "allow":
        return replace(answer, remarks=(*answer.remarks, f"{_exit_text(finished, stderr)}; its JSON answer is used"))
    return replace(answer, failure=answer.failure or failure)


def _exit_text(finished: Finished, stderr: str) -> str:
    how = f"exit code {finished.exit_code}" if finished.exit_code is not None else f"signal {finished.signal}"
    first = stderr.splitlines()[0] if stderr else ""
    return f"{how}: {redact(first)[:300]}" if first else how  # redacted first: half a secret is not recognised


# An interpreter that does not find its script also exits with 2. That is a broken hook, not a denial.
_NO_SCRIPT = re.compile(
    r"(?:\S*python[\d.]*: can't open file '(?P<python>.+)': \[Errno 2\]"
    r"|\S*sh: \d+: cannot open (?P<sh>.+): No such file)"
)


def _script_is_missing(stderr: str, answer: Outcome, cwd: str) -> bool:
    found = _NO_SCRIPT.match(stderr)
    if not found or answer.effects or "\n" in stderr:
        return False
    return not os.path.exists(os.path.join(cwd, found["python"] or found["sh"]))


class _AsyncWatch:
    """Watches stdout for `{"async": true}`, and keeps the time limit that the hook asks for."""

    seconds = ASYNC_TIMEOUT

    def watch(self, stdout: bytes) -> bool:
        asked = async_seconds(stdout.decode("utf-8", "replace"))
        self.seconds = min(asked or ASYNC_TIMEOUT, LONGEST_TIMEOUT)
        return asked is not None


def _continue(running: Running, seconds: float, hook: Hook, event: Event, context: Context) -> None:
    def report(finished: Finished) -> None:
        context.late(hook, event, _late_outcome(hook, event, finished, seconds))

    finish_in_background(running, seconds, report, context.begin(hook, event))


def _late_outcome(hook: Hook, event: Event, finished: Finished, limit: float) -> Outcome:
    failure = _failure(finished, limit)
    if failure:
        return Outcome(failure=failure, seconds=finished.seconds)
    answer = outcome_of(after_async(finished.stdout.decode("utf-8", "replace")), event)
    return replace(_by_exit_code(hook, event, finished, answer, event.cwd), seconds=finished.seconds)


def _make_env_file() -> str:
    import tempfile  # slow to import

    descriptor, path = tempfile.mkstemp(prefix="snell-env-")
    os.close(descriptor)
    return path


def _read_exports(path: str) -> dict[str, str]:
    """Read lines of the form `KEY=VALUE` and `export KEY=VALUE`, without the quotes of values."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read(256_000).splitlines()
    except OSError:
        return {}
    pairs = (line.strip().removeprefix("export ").strip().partition("=") for line in lines)
    return {name: _strip_quotes(value) for name, equals, value in pairs if equals and name.isidentifier()}


def _strip_quotes(value: str) -> str:
    try:
        words = shlex.split(value, posix=True)
    except ValueError:
        return value
    return words[0] if len(words) == 1 else value
