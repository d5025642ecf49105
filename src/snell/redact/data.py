"""JSON-like data without its secrets: by what a value looks like, by the name it has, by the file it comes from."""

import os
from collections.abc import Callable
from typing import Any

from snell.redact.secret_names import is_secret_name, kind_of_name, strength_of, words_in
from snell.redact.value_shape import is_blank

_SECRET_FILES = words_in(
    ".env .npmrc .netrc _netrc .pgpass .pypirc .git-credentials .htpasswd .vault-token credentials credentials.json "
    "id_rsa id_ed25519 id_ecdsa id_dsa .dockercfg kubeconfig .s3cfg .boto secrets.yml secrets.yaml secrets.json"
)
_SECRET_ENDINGS = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".env", ".ppk", ".asc")
_PATH_KEYS = frozenset({"file_path", "filePath", "path", "notebook_path", "type"})

Text = Callable[[str], str]


def without_secrets(value: Any, text: Text) -> Any:
    """The same shape, each text as `text` leaves it."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return _dict(value, text)
    if isinstance(value, list | tuple):
        return [without_secrets(each, text) for each in value]
    return value


def _dict(value: dict[Any, Any], text: Text) -> dict[Any, Any]:
    if _is_of_a_secret_file(value):
        return {key: each if key in _PATH_KEYS else _emptied(each) for key, each in value.items()}
    done = {}
    for key, each in value.items():
        name = text(key) if isinstance(key, str) else key
        done[name] = _named(key, each, text) if isinstance(key, str) else without_secrets(each, text)
    return done


def _named(key: str, value: Any, text: Text) -> Any:
    if is_secret_name(key):
        return _blank(value, kind_of_name(key), text)
    if isinstance(value, str) and strength_of(key):
        return _as_written(key, value, text)
    return without_secrets(value, text)


def _as_written(key: str, value: str, text: Text) -> str:
    """A name such as `auth` says too little; together with its value it is judged as a line of text would be."""
    front = f'{key}="'
    done = text(f'{front}{value}"') if '"' not in value and "\n" not in value else ""
    return done[len(front) : -1] if done.startswith(front) and done.endswith('"') else text(value)


def _emptied(value: Any) -> Any:
    if isinstance(value, str):
        return "[redacted:secret-file]" if value else value
    if isinstance(value, dict):
        return {key: _emptied(each) for key, each in value.items()}
    return [_emptied(each) for each in value] if isinstance(value, list | tuple) else value


def _blank(value: Any, kind: str, text: Text) -> Any:
    """Everything inside is secret, whatever it looks like; numbers and flags of that name are settings."""
    if isinstance(value, str):
        return text(value) if is_blank(value) else f"[redacted:{kind}]"
    if isinstance(value, dict):
        return {key: _blank(each, kind, text) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_blank(each, kind, text) for each in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"[redacted:{kind}]" if is_number and kind == "password" else value


def _is_of_a_secret_file(value: dict[Any, Any]) -> bool:
    path = value.get("file_path")
    if not isinstance(path, str):
        path = value.get("filePath")
    if not isinstance(path, str):
        return False
    name = os.path.basename(path).lower()
    return name in _SECRET_FILES or name.endswith(_SECRET_ENDINGS) or name.startswith(".env.")
