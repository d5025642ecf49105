"""
Command hooks: a program that gets the event as JSON on stdin and answers by exit code and output.

Exit 0: stdout is the answer. Exit 2: refuse, with stderr as the reason. Any other code is a failure, unless stdout
holds a JSON answer, which counts on every exit code. `exit_code_mode = "strict"` makes every other code a refusal.
"""

import os
import re
import shlex
import tempfile
from collections.abc import Sequence
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from snell.clients.emulation import emulation_for
from snell.engine.hook_output import after_async, is_async, is_json, outcome_of
from snell.engine.match import fits_only_as_shell
from snell.handlers.event_json import as_bash_call, event_object
from snell.model.catalogue import NEVER_BLOCKED_BY_FAILURE
from snell.model.context import Context
from snell.model.decision import Failure, Outcome
from snell.model.effects import Ask, Deny, Env
from snell.model.events import Event, Payload
from snell.model.hooks import ASYNC_TIMEOUT, LONGEST_TIMEOUT, Command, Hook
from snell.model.protocols import ClientEmulation, Said
from snell.system.json_output import json_bytes
from snell.system.run_program import Finished, Running, environment, finish_in_background
from snell.system.run_program import run as run_process


def run(hook: Hook, event: Event, context: Context) -> Outcome:
    """Run one command hook."""
    command = hook.handler
    assert isinstance(command, Command)
    emulation = emulation_for(command.written_for) if command.written_for else None
    if emulation is None:
        payload = event_object(event)
        is_bash = "shell" in event.kinds and fits_only_as_shell(hook, event)
        return _run(hook, event, context, _Asking(as_bash_call(payload) if is_bash else payload))
    payloads = emulation.payloads_for(event, context.project_dir)
    wanted = [each for each in payloads if emulation.is_wanted(command.their_matcher, event, each)]
    if not wanted:
        return Outcome(remarks=(f"left out: this is nothing for a hook of {command.written_for}",))
    return _together([_run(hook, event, context, _Asking(each, emulation)) for each in wanted])


class _Asking(Struct, frozen=True):
    """What a program is given, and whose words those are: nobody's in particular, or another client's."""

    payload: Payload
    emulation: ClientEmulation | None = None


def _together(outcomes: Sequence[Outcome]) -> Outcome:
    """What a program said about each of several files."""
    if len(outcomes) == 1:
        return outcomes[0]
    return Outcome(
        effects=tuple(effect for each in outcomes for effect in each.effects),
        failure=next((each.failure for each in outcomes if each.failure), None),
        seconds=sum(each.seconds for each in outcomes),
        remarks=tuple(remark for each in outcomes for remark in each.remarks),
    )


def _run(hook: Hook, event: Event, context: Context, asking: _Asking) -> Outcome:
    command, emulation = hook.handler, asking.emulation
    assert isinstance(command, Command)
    directory = _directory(emulation.folder(hook) if emulation else "", event, context)
    env_file = _env_file() if "env" in event.row.can else ""
    asked = _Asked()
    try:
        finished = run_process(
            _argv(command, context),
            stdin=json_bytes(asking.payload) + b"\n" if command.pass_context else b"",
            cwd=directory,
            env=environment(context.env, _variables(command, event, context, env_file, emulation)),
            timeout=hook.time_limit,
            cancel=context.cancel,
            watch_stdout=asked.watch if emulation is None and _may_go_async(hook) else None,
            hand_over=lambda running: _keep(running, asked.seconds, hook, event, context),
        )
        outcome = _outcome(hook, event, finished, asking, directory)
        return _with_env(outcome, env_file)
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


def _directory(folder: str, event: Event, context: Context) -> str:
    """The session's directory; where that is gone, the project's or the user's own, as the client does."""
    choices = (folder, event.cwd, context.project_dir, os.path.expanduser("~"), "/")
    return next(each for each in choices if each and os.path.isdir(each))


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


def _outcome(hook: Hook, event: Event, finished: Finished, asking: _Asking, cwd: str) -> Outcome:
    failure = _failure(finished, hook.time_limit)
    if failure:
        if hook.exit_code_mode == "strict" and failure.kind == "launch":
            return Outcome(effects=(Deny(failure.message),), failure=failure, seconds=finished.seconds)
        return Outcome(failure=failure, seconds=finished.seconds)
    if finished.went_async:
        return Outcome(seconds=finished.seconds, remarks=("went on in the background",), is_pending=True)
    command = hook.handler
    assert isinstance(command, Command)
    outcome = _in_its_words(finished, event, asking, cwd) if command.parse_result else None
    if outcome is None:
        outcome = _by_exit_code(hook, event, finished, _answer(finished, event, command), cwd)
    return replace(outcome, seconds=finished.seconds)


def _in_its_words(finished: Finished, event: Event, asking: _Asking, cwd: str) -> Outcome | None:
    """The answer as the client reads it that the program was written for; None: as anybody's."""
    stdout, stderr = (stream.decode("utf-8", "replace") for stream in (finished.stdout, finished.stderr))
    if asking.emulation is None or _script_is_missing(stderr.strip(), Outcome(), cwd):
        return None
    said = Said(stdout, stderr, finished.exit_code)
    return asking.emulation.answer(event, asking.payload, said)


def _answer(finished: Finished, event: Event, command: Command) -> Outcome:
    stdout = finished.stdout.decode("utf-8", "replace")
    if not command.parse_result:
        return Outcome()
    if is_async(stdout) is not None:
        stdout = after_async(stdout)  # it was waited for all the same
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
    said = finished.stderr.decode("utf-8", "replace").strip()
    denies = any(isinstance(effect, Deny) for effect in answer.effects)
    if code == 0 or (denies and answer.failure is None):
        return answer
    if code == 2 and not _script_is_missing(said, answer, cwd):
        reason = Deny(said or "the hook refused without giving a reason")
        return replace(answer, effects=(*answer.effects, reason), failure=None)
    failure = Failure("crash", _ended(finished, said))
    if hook.exit_code_mode == "strict" and event.name not in NEVER_BLOCKED_BY_FAILURE:
        return Outcome(effects=(Deny(said or failure.message),), failure=failure)
    if finished.signal:
        strict = tuple(effect for effect in answer.effects if isinstance(effect, Deny | Ask))
        return replace(answer, effects=strict, failure=failure)
    if answer.effects and hook.failure_policy == "allow":
        return replace(answer, remarks=(*answer.remarks, f"{_ended(finished, said)}; its JSON answer counts"))
    return replace(answer, failure=answer.failure or failure)


def _ended(finished: Finished, said: str) -> str:
    how = f"exit code {finished.exit_code}" if finished.exit_code is not None else f"signal {finished.signal}"
    first = said.splitlines()[0] if said else ""
    return f"{how}: {first[:300]}" if first else how


# An interpreter that cannot find its script also exits with 2. That is a broken hook, not a refusal.
_NO_SCRIPT = re.compile(
    r"(?:\S*python[\d.]*: can't open file '(?P<python>.+)': \[Errno 2\]"
    r"|\S*sh: \d+: cannot open (?P<sh>.+): No such file)"
)


def _script_is_missing(said: str, answer: Outcome, cwd: str) -> bool:
    found = _NO_SCRIPT.match(said)
    if not found or answer.effects or "\n" in said:
        return False
    return not os.path.exists(os.path.join(cwd, found["python"] or found["sh"]))


def _may_go_async(hook: Hook) -> bool:
    waits = hook.force_sync or hook.event == "SessionStart" or hook.failure_policy == "block"
    return not waits


class _Asked:
    """Watches for `{"async": true}`, and remembers for how long the hook wants to go on."""

    seconds = ASYNC_TIMEOUT

    def watch(self, stdout: bytes) -> bool:
        asked = is_async(stdout.decode("utf-8", "replace"))
        self.seconds = min(asked or ASYNC_TIMEOUT, LONGEST_TIMEOUT)
        return asked is not None


def _keep(running: Running, seconds: float, hook: Hook, event: Event, context: Context) -> None:
    def done(finished: Finished) -> None:
        context.late(hook, event, _late_outcome(hook, event, finished, seconds))

    finish_in_background(running, seconds, done, context.begin(hook, event))


def _late_outcome(hook: Hook, event: Event, finished: Finished, limit: float) -> Outcome:
    failure = _failure(finished, limit)
    if failure:
        return Outcome(failure=failure, seconds=finished.seconds)
    answer = outcome_of(after_async(finished.stdout.decode("utf-8", "replace")), event)
    return replace(_by_exit_code(hook, event, finished, answer, event.cwd), seconds=finished.seconds)


def _env_file() -> str:
    descriptor, path = tempfile.mkstemp(prefix="snell-env-")
    os.close(descriptor)
    return path


def _with_env(outcome: Outcome, path: str) -> Outcome:
    variables = _exports(path) if path else {}
    return replace(outcome, effects=(*outcome.effects, Env(variables))) if variables else outcome


def _exports(path: str) -> dict[str, str]:
    """`KEY=VALUE` and `export KEY=VALUE` lines, quotes taken off."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read(256_000).splitlines()
    except OSError:
        return {}
    found: dict[str, str] = {}
    for line in lines:
        name, equals, value = line.strip().removeprefix("export ").strip().partition("=")
        if equals and name.isidentifier():
            found[name] = _unquoted(value)
    return found


def _unquoted(value: str) -> str:
    try:
        words = shlex.split(value, posix=True)
    except ValueError:
        return value
    return words[0] if len(words) == 1 else value
