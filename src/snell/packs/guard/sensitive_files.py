"""Recognise, by name only, files that hold secrets, files of Snell, and files that run automatically."""

import fnmatch
import re
from functools import lru_cache

from snell.packs.guard.known_names import names, pattern
from snell.system.lazy_regex import lazy_regex

LONGEST_PATTERN = 1_000  # matching time grows with the square of the length

_TEMPLATE = pattern("template")
_ENV_FILE = pattern("env_file")
_KEY_FILE = pattern("key_file")
_PUBLIC = pattern("public")
_SECRET_NAMES = names("secret_names") | {"login data"}
_PASSWORD_LIST = pattern("password_list")
_SECRET_PATHS = pattern("secret_paths")
_SYSTEM_SECRETS = pattern("system_secrets")
_SSH_NO_SECRET = names("ssh_no_secret")
_SECRET_FOLDERS = names("secret_folders")

_SNELL_FILES = pattern("snell_files")
PIPX_FOLDER = "pipx/venvs/snell"
_SNELL_CODE = pattern("snell_code")
_CLIENT_HOOKS = pattern("client_hooks")
_STARTUP_FILE = pattern("startup_file")
_WORKFLOW = pattern("workflow")
_PRIVATE = pattern("private")


def is_workflow(path: str) -> bool:
    """Tell whether a build server runs what the file says as soon as it is pushed."""
    return _WORKFLOW.search(path) is not None


@lru_cache(maxsize=4096)
def secret_name(path: str, home: str = "") -> str:
    """Return the path, with `~` for home, if the file holds secrets; else an empty text."""
    name = path.rstrip("/").rpartition("/")[2]
    at_home = bool(home) and path == f"{home}/{name}"
    if not name or not (_holds_secret(path, name.lower()) or (at_home and name in (".npmrc", ".yarnrc.yml"))):
        return ""
    return "~" + path[len(home) :] if home and path.startswith(home + "/") else path


def is_private(path: str) -> bool:
    """Tell whether the file is private: fine to read here, not to send."""
    return _PRIVATE.search(path) is not None


def is_secret_folder(path: str) -> bool:
    """Tell whether a folder of this name is likely to hold only secrets."""
    return path.rstrip("/").rpartition("/")[2].lower() in _SECRET_FOLDERS


def is_snell_file(path: str) -> bool:
    """Tell whether the path is, or as a pattern matches, Snell's settings, trust, state or program."""
    if "snell" in path and _SNELL_FILES.search(path):
        return True
    return (
        "*" in path
        and ("/.s" in path or path[:2] == ".s")
        and len(path) < LONGEST_PATTERN
        and any("*" in part and part[:2] == ".s" and matches(".snell", part) for part in path.split("/"))
    )


def is_snell_code(path: str) -> bool:
    """Tell whether the path belongs to an installed Snell."""
    return "snell" in path and _SNELL_CODE.search(path) is not None


def is_startup_file(path: str) -> bool:
    """Tell whether the content of the file runs automatically later."""
    return _STARTUP_FILE.search(path) is not None


# Commands that `ssh` runs automatically.
PROXY = lazy_regex(r"(?:ProxyCommand|LocalCommand|KnownHostsCommand|exec)[ =]+\"?([^\n]+)")


def is_system_program(path: str) -> bool:
    """Tell whether the file is in a `bin` folder outside a project."""
    return (path.startswith(("/usr/", "/bin/", "/opt/")) and "/bin/" in path) or "/.local/bin/" in path


def is_client_hook_file(path: str) -> bool:
    """Tell whether the file configures the hooks of a client."""
    return ("/." in path or path.startswith(".")) and _CLIENT_HOOKS.search(path) is not None


def _holds_secret(path: str, name: str) -> bool:
    if _SYSTEM_SECRETS.search(path):
        return True
    folder = path[: len(path) - len(name)]
    if "/.ssh/" in path or folder.rstrip("/").endswith(".ssh") or name == ".ssh":
        return not (name in _SSH_NO_SECRET or name.endswith(".pub") or name.startswith("known_hosts"))
    if _TEMPLATE.search(name):
        return False
    if name in _SECRET_NAMES or _SECRET_PATHS.search(path) or (".env" in name and _ENV_FILE.search(name)):
        return True
    if name in (".npmrc", ".yarnrc.yml"):
        in_home = re.fullmatch(r"/(?:home|Users)/[^/]+/", folder)
        return in_home is not None or folder.rstrip("/").endswith(("~", "/root"))
    if _KEY_FILE.search(name):
        return not _PUBLIC.search(name)
    is_pattern = len(path) < LONGEST_PATTERN and any(mark in path for mark in "*?[")
    return _PASSWORD_LIST.search(name) is not None or (is_pattern and _finds_secret(path.lower()))


_WELL_KNOWN = tuple(known.split("/") for known in names("well_known"))


def matches(name: str, pattern: str) -> bool:
    """Tell whether a pattern matches; most do not by the longest letters in them, and compiling one takes long."""
    return _longest_letters(pattern) in name and fnmatch.fnmatchcase(name, pattern)


def _longest_letters(pattern: str) -> str:
    """Return the longest part of a pattern that stands for itself."""
    return max(_LETTERS.findall(_BRACKETS.sub("*", pattern)), key=len, default="")


_BRACKETS, _LETTERS = lazy_regex(r"\[[!\]]*[^\]]*\]"), lazy_regex(r"[^*?\[\]]+")


def _finds_secret(pattern: str) -> bool:
    """Tell whether the pattern matches a well-known secret and has some letters of its name."""
    parts = pattern.split("/")
    named = _longest_letters(parts[-1])
    for known in _WELL_KNOWN:
        if named not in known[-1]:  # nearly always
            continue
        tail = parts[-len(known) :]
        letters = sum(char not in "*?[]" for part in tail for char in part)
        if letters < 2 or len(tail) < len(known) or not any(mark in part for part in tail for mark in "*?["):
            continue
        if all(matches(a, b) and (a[0] != "." or b[0] in ".[") for a, b in zip(known, tail, strict=True)):
            return True
    return False
