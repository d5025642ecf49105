"""Redact JSON-like data: by what a value looks like, by its name, by the file it comes from."""

import os
from collections.abc import Callable, Sequence
from typing import Any

from snell.redact.pattern_file import PATTERNS
from snell.redact.secret_names import is_secret_name, kind_of_name, strength_of
from snell.redact.value_shape import is_blank

_SECRET_FILES, _SECRET_ENDINGS = map(PATTERNS.words, ("secret_files", "secret_endings"))
_SHORTEST = 7  # `pwd=abc`
_PATH_KEYS = frozenset({"file_path", "filePath", "path", "notebook_path", "type"})

Text = Callable[[str], str]


def without_secrets(value: Any, text: Text, *, whole_files: bool = True) -> Any:
    """Return the same structure with each text as `text` returns it; `whole_files`: nothing of a file of secrets."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        if whole_files and _is_secret_file(value):
            return {key: each if key in _PATH_KEYS else _redact_all(each) for key, each in value.items()}
        done = {}
        for key, each in value.items():
            name = text(key) if isinstance(key, str) else key
            done[name] = _redact_named(key, each, text, whole_files)
        return done
    if isinstance(value, list | tuple):
        if _is_bytes(value):
            after = text(before := bytes(value).decode("utf-8", "replace"))
            return value if after == before else list(after.encode())
        return [without_secrets(each, text, whole_files=whole_files) for each in value]
    return value


def _is_bytes(value: Sequence[Any]) -> bool:
    """Whether it is text as a list of its bytes, which is how some clients report the output of a command."""
    return len(value) >= _SHORTEST and all(type(each) is int and 0 <= each < 256 for each in value)


def _redact_named(key: Any, value: Any, text: Text, whole_files: bool) -> Any:
    if not isinstance(key, str):
        return without_secrets(value, text, whole_files=whole_files)
    if is_secret_name(key):
        return _redact_kind(value, kind_of_name(key), text)
    if isinstance(value, str) and strength_of(key):
        # A vague name such as `auth` is judged together with its value, as a line of text would be.
        front = f'{key}="'
        done = text(f'{front}{value}"') if '"' not in value and "\n" not in value else ""
        return done[len(front) : -1] if done.startswith(front) and done.endswith('"') else text(value)
    return without_secrets(value, text, whole_files=whole_files)


def _redact_all(value: Any) -> Any:
    if isinstance(value, str):
        return "[redacted:secret-file]" if value else value
    if isinstance(value, dict):
        return {key: _redact_all(each) for key, each in value.items()}
    return [_redact_all(each) for each in value] if isinstance(value, list | tuple) else value


def _redact_kind(value: Any, kind: str, text: Text) -> Any:
    """Replace every text inside but blank ones; under the name of a password also numbers, but never a flag."""
    if isinstance(value, str):
        return text(value) if is_blank(value) else f"[redacted:{kind}]"
    if isinstance(value, dict):
        return {key: _redact_kind(each, kind, text) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_redact_kind(each, kind, text) for each in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"[redacted:{kind}]" if is_number and kind == "password" else value


def _is_secret_file(value: dict[Any, Any]) -> bool:
    paths = [each for each in map(value.get, ("file_path", "filePath")) if isinstance(each, str)]
    name = os.path.basename(paths[0]).lower() if paths else ""
    return name in _SECRET_FILES or name.endswith(_SECRET_ENDINGS) or name.startswith(".env.")
