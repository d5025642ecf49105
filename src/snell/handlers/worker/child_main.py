"""
The main program of the worker, in which the Python hooks of files run.

It reads one JSON line per request and answers in JSON lines: to `load`, the hooks that the file declares; to a run, one
line for each hook with effects or an error, and a last line. The number of the running hook is in shared memory. Files
are executed from the bytes that the parent checked, not read again. What a hook prints goes nowhere, so that it cannot
be mistaken for an answer; the beginning is sent with the hook's answer.
"""

import io
import json
import mmap
import os
import sys
import time
import types
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, BinaryIO

import snell.system.msgspec_import  # noqa: F401 - before any other module imports msgspec

# isort: split
import msgspec

from snell.model.effects import EFFECT_TYPES, Effect, Rewrite
from snell.model.errors import SnellError
from snell.model.events import Event
from snell.sdk import decorators
from snell.sdk.decorators import caller_for, declarations, declared_in
from snell.system.json_output import json_bytes

PlannedHook = tuple[str, Callable[[Event], Any] | None]
Address = tuple[str, str, str]  # path, digest, name of the function
Functions = dict[tuple[str, str], dict[str, Callable[[Event], Any]]]


class RunRequest(msgspec.Struct):
    plan: int  # the number of this set of hooks, for both sides
    number: int
    event: Event
    hooks: tuple[Address, ...] = ()  # only when the worker does not know the plan yet


_DECODE_REQUEST = msgspec.json.Decoder(RunRequest).decode
_ENCODE = msgspec.json.Encoder(enc_hook=str).encode
MOST_PRINTED = 2_000  # characters of what a hook prints that are kept
ALSO = "; also "  # between the errors of a file
UNNOTICEABLE = 1e-4  # seconds; a shorter run without effects has no outcome of its own
_NOT_LOADED = object()
_NUMBERS = [number.to_bytes(4, "little") for number in range(256)]


def main() -> None:
    requests, answers = _private_streams()
    os.register_at_fork(after_in_child=lambda: _leave(requests, answers))
    progress = mmap.mmap(int(sys.argv[1]), mmap.PAGESIZE)
    sys.stdout = prints = _Prints(os.fdopen(1, "wb", closefd=False), encoding="utf-8", errors="backslashreplace")
    loaded: Functions = {}
    plans: dict[int, list[PlannedHook]] = {}
    for line in requests:
        if line.startswith(b'{"load"'):
            _say(answers, _load(decode_line(line)["load"], loaded))
        else:
            request = _decode_request(line)
            if request.hooks:
                hooks = request.hooks
                plans[request.plan] = [(path, loaded.get((path, digest), {}).get(name)) for path, digest, name in hooks]
            prints.kept = ""  # of loading, or of a thread that a hook left behind
            _run(plans[request.plan], request, progress, answers, prints)


def _decode_request(line: bytes) -> RunRequest:
    try:
        return _DECODE_REQUEST(line)
    except msgspec.DecodeError:
        return msgspec.convert(decode_line(line), RunRequest)


def _private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep the pipes for the protocol, and give hooks an empty stdin and stderr for their prints."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return requests, answers


class _Prints(io.TextIOWrapper):
    """The standard output of hooks, which keeps the beginning of what is written."""

    kept = ""

    def write(self, text: str) -> int:
        self.kept += text[: MOST_PRINTED - len(self.kept)]
        return super().write(text)


def _leave(requests: BinaryIO, answers: BinaryIO) -> None:
    """Close the protocol's pipes in a process that a hook forked: it must not read requests or answer them."""
    for stream, mode in ((requests, os.O_RDONLY), (answers, os.O_WRONLY)):
        nothing = os.open(os.devnull, mode)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)


def _say(answers: BinaryIO, answer: Any) -> None:
    answers.write(json_bytes(answer) + b"\n")
    answers.flush()


def _load(request: dict[str, str], loaded: Functions) -> dict[str, Any]:
    path, digest, source = request["path"], request["digest"], request["source"]
    name = f"snell_hooks_{digest[:12]}"
    module = types.ModuleType(name)
    namespace = module.__dict__
    namespace["__file__"] = path
    errors: list[Any] = []
    functions: dict[str, Callable[..., Any]] = {}
    decorators.errors_of_file = errors
    try:
        sys.modules[name] = module  # dataclasses and type hints look their module up there
        exec(compile(source, path, "exec", dont_inherit=True), namespace)
        functions = {key: each for key, each in declared_in(namespace).items() if each.__module__ == name}
        loaded[path, digest] = {key: caller_for(function) for key, function in functions.items()}
    except SnellError as error:
        errors.append(error)
    except BaseException as error:  # noqa: BLE001 - a file that exits or raises must not take the worker down
        errors.append(_error_line(error, path))
    finally:
        decorators.errors_of_file = None
    if errors:
        return {"error": ALSO.join(map(str, errors))}
    return {"hooks": [_description(key, function) for key, function in functions.items()]}


def _description(name: str, function: Callable[..., Any]) -> dict[str, Any]:
    line = function.__code__.co_firstlineno if hasattr(function, "__code__") else 0
    return {"name": name, "line": line, "doc": _doc(function), "declared": list(declarations(function))}


def _doc(function: Callable[..., Any]) -> str:
    if not function.__doc__:
        return ""
    import inspect  # slow to import

    return inspect.cleandoc(function.__doc__)


def _run(plan: list[PlannedHook], request: RunRequest, progress: mmap.mmap, answers: BinaryIO, prints: _Prints) -> None:
    """
    Run hooks; answer at once for each one with effects or an error, and at the end with their times if one is long.

    Most hooks have no opinion, so the cost of each one is kept small.
    """
    clock, encoded = time.perf_counter, json_bytes
    event, number = request.event, request.number
    payload = event.payload
    original, times = encoded(payload), []
    is_same = _is_same
    now = clock()
    for index, (path, function) in enumerate(plan):
        start = now
        progress[0:4] = _NUMBERS[index] if index < 256 else index.to_bytes(4, "little")
        answer = None
        try:
            result = function(event) if function else _NOT_LOADED
            if result is not None:
                answer = _answer(result, path, event)
        except BaseException as error:  # noqa: BLE001 - a hook that exits or raises must not take the worker down
            answer = {"error": _error_line(error, path)}
        now = clock()
        times.append(now - start)
        if not is_same(payload, original):
            event = msgspec.structs.replace(event, payload=decode_line(original))  # for the next hooks
            payload = event.payload
            answer = {"error": f"{path}: it changed the event; return a Rewrite instead"}
        if prints.kept:
            answer, prints.kept = {**(answer or {}), "printed": prints.kept}, ""
        if answer is not None:
            _say(answers, {"hook": index, **answer, "seconds": times[-1], "number": number})
    is_long = max(times, default=0.0) >= UNNOTICEABLE
    _say(answers, {"done": times if is_long else [], "number": number})


def _is_same(payload: Any, original: bytes) -> bool:
    """Whether the payload is unchanged. It runs after every hook, so the usual case takes one call."""
    try:
        return _ENCODE(payload) == original
    except (ValueError, TypeError, OverflowError, RecursionError):
        return json_bytes(payload) == original


def _answer(result: Any, path: str, event: Event) -> dict[str, Any] | None:
    if result is _NOT_LOADED:
        return {"error": f"{path} has not been loaded"}
    if isinstance(result, Awaitable):
        result = _wait_for(result)
    if isinstance(result, str | Mapping):
        from snell.engine.hook_output import is_answer, outcome_of_answer  # slow to import, and most return effects

        outcome = outcome_of_answer(result, event) if is_answer(result) else None
        if outcome and outcome.failure and not outcome.effects:
            return {"error": f"{path}: {outcome.failure.message}"}
        result = outcome.effects if outcome else result
    effects = effects_as_data(result)
    return {"effects": msgspec.Raw(json_bytes(effects))} if effects else None


def _wait_for(result: Any) -> Any:
    import asyncio  # takes longer to import than everything else here, and most hooks are plain functions

    async def wait() -> Any:
        return await result

    return asyncio.run(wait())


def decode_line(line: bytes) -> Any:
    """Decode a line of the protocol; half a surrogate pair, which an embedding program may send, is kept."""
    try:
        return msgspec.json.decode(line)
    except msgspec.DecodeError:
        return json.loads(line)


def effects_as_data(result: Any) -> list[list[Any]]:
    given = result if isinstance(result, list | tuple) else () if result is None else (result,)
    return [_as_data(effect) for effect in given]


def effects_from_data(data: list[list[Any]]) -> tuple[Effect, ...]:
    """Return the effects that `effects_as_data` wrote."""
    return tuple(_from_data(name, fields) for name, fields in data)


_BY_NAME: dict[str, Callable[..., Effect]] = {each.__name__: each for each in EFFECT_TYPES}


def _as_data(effect: Any) -> list[Any]:
    if type(effect) not in EFFECT_TYPES:
        raise TypeError(
            f"returned {type(effect).__name__}, which is not an effect; return Deny(...), Note(...) or None"
        )
    if isinstance(effect, Rewrite):
        return ["Rewrite", {"value": effect.value, "fields": effect.fields, "because": effect.because}]
    return [type(effect).__name__, msgspec.structs.asdict(effect)]


def _from_data(name: str, fields: dict[str, Any]) -> Effect:
    if name == "Rewrite":
        return Rewrite(fields["value"], because=fields["because"], **fields["fields"])
    return _BY_NAME[name](**fields)


def _error_line(error: BaseException, path: str) -> str:
    """Return one line with the error and its line in the hook author's file."""
    import traceback  # slow to import, and for mistakes alone

    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    line = frames[-1].lineno if frames else getattr(error, "lineno", None)
    name = "" if isinstance(error, SnellError) else type(error).__name__
    text = ": ".join(part for part in (name, str(error)) if part)
    return f"{path}:{line}: {text}" if line else f"{path}: {text}"


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
