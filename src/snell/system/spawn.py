"""Start a process in a session of its own, or return in one sentence why that fails."""

import errno
import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence

LONGEST_ARGUMENT = 131_072  # on Linux


def spawn(argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> "subprocess.Popen[bytes] | str":
    """Start `argv` with three pipes; returns a string if that fails: what is wrong and what to do. Raises nothing."""
    if not argv or not argv[0]:
        return "the command is empty: name a program to run"
    try:
        return subprocess.Popen(
            list(argv), cwd=cwd, env=dict(env), bufsize=0, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    except OSError as error:
        return (
            _directory_problem(cwd)
            or _SYSTEM_PROBLEMS.get(error.errno or 0)
            or _length_problem(error, argv, env)
            or _program_problem(error, argv[0], cwd, env)
        )
    except ValueError as error:
        shown = printable(argv[0])
        return f"`{shown}` cannot be started: its arguments or environment contain what no process can get ({error})"


def printable(text: str) -> str:
    """Return the text as it can be shown on one line of a terminal."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def _directory_problem(cwd: str) -> str | None:
    shown = printable(cwd)
    if not os.path.lexists(cwd):
        return f"the working directory `{shown}` does not exist: create it or choose another"
    if not os.path.isdir(cwd):
        return f"the working directory `{shown}` is not a directory: choose another"
    if not os.access(cwd, os.X_OK):
        return f"the working directory `{shown}` cannot be entered: check its permissions"
    return None


_NO_ROOM = "the system has no room for another process: end some, or raise the limit (`ulimit -u`)"
_TOO_MANY_FILES = "too many files are open: close some, or raise the limit (`ulimit -n`)"
_SYSTEM_PROBLEMS = dict.fromkeys((errno.EAGAIN, errno.ENOMEM), _NO_ROOM)
_SYSTEM_PROBLEMS |= dict.fromkeys((errno.EMFILE, errno.ENFILE), _TOO_MANY_FILES)


def _length_problem(error: OSError, argv: Sequence[str], env: Mapping[str, str]) -> str | None:
    # If a directory on PATH cannot be entered, we get that error, whatever the real one was.
    longest = max(len(os.fsencode(text)) for text in (*argv, *env.values()))
    if error.errno == errno.E2BIG or longest >= LONGEST_ARGUMENT:
        return "the arguments or environment are too long for a process: pass large data on standard input"
    return None


def _program_problem(error: OSError, program: str, cwd: str, env: Mapping[str, str]) -> str:
    shown = printable(program)
    path = _find_program(program, cwd, env)
    if path is None and "/" not in program:
        return f"`{shown}` was not found on PATH: install it, or give its full path"
    if path is None:
        return f"`{shown}` does not exist: check the path"
    if os.path.isdir(path):
        return f"`{shown}` is a directory: name a program in it"
    match error.errno:
        case errno.EACCES if not os.access(path, os.X_OK):
            return f"`{shown}` is not executable: run `chmod +x {shlex.quote(printable(path))}`"
        case errno.EACCES | errno.ENOENT | errno.ENOTDIR | errno.ELOOP:
            return _interpreter_problem(shown, path)
        case errno.ENOEXEC:
            return f"`{shown}` is no program for this machine: a script begins with a line such as `#!/bin/sh`"
        case errno.ETXTBSY:
            return f"`{shown}` is being written to: try again when that is done"
        case _:
            return f"`{shown}` cannot be started: {error.strerror}"


def _interpreter_problem(shown: str, path: str) -> str:
    interpreter = _interpreter(path)
    if interpreter is None:
        return f"`{shown}` cannot be started on this machine: check what system it was built for"
    if interpreter.endswith("\r"):
        return f"`{shown}` has Windows line ends, so its interpreter is not found: save it with Unix line ends"
    return f"`{shown}` asks for the interpreter `{printable(interpreter)}`, which does not run: correct its first line"


def _interpreter(path: str) -> str | None:
    if not os.path.isfile(path):
        return None  # opening a named pipe would wait for a writer
    try:
        with open(path, "rb") as script:
            first = script.readline(512).removesuffix(b"\n")
    except OSError:
        return None
    if not first.startswith(b"#!"):
        return None
    words = first[2:].lstrip(b" \t").replace(b"\t", b" ").split(b" ")
    return words[0].decode("utf-8", "replace")


def _find_program(program: str, cwd: str, env: Mapping[str, str]) -> str | None:
    """Return the file that `program` names, executable or not."""
    if "/" in program:
        path = os.path.join(cwd, program)
        return path if os.path.lexists(path) else None
    candidates = (os.path.join(cwd, folder, program) for folder in os.get_exec_path(env))
    return next((path for path in candidates if os.path.isfile(path)), None)
