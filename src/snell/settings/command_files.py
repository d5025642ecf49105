"""
Find the programs and local files that a command names in its text.

It finds rather too many files: a file that is pinned without need costs one more approval, but a script that is not
pinned could be replaced unnoticed. The files that a script sources, imports or runs are found by reading it.
"""

import glob
import itertools
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from msgspec import Struct

from snell.model.hooks import Handler
from snell.settings.handler_types import handler_module
from snell.settings.script_files import files_of_recipe, files_of_script
from snell.settings.target_texts import TargetText, not_read, target_texts

MOST_FILES = 200
MOST_WORDS = 2000
_LONGEST_CAREFULLY_SPLIT = 20_000
_TILDE = re.compile(r"(?<![^\s=:\"'])~(?=/)")
_SPACE = re.compile(r"[ \t\r\n]")
_ROOT_WORDS = re.compile(r"\$\(git rev-parse --show-toplevel\)|`git rev-parse --show-toplevel`")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)(?::?[-=+?][^}]*)?\}|([A-Za-z_][A-Za-z0-9_]*))")
_ENDS_COMMAND = re.compile(r"[;&|()\n]+")
_ASSIGNMENT = re.compile(r"-{0,2}[A-Za-z_][A-Za-z0-9_-]*=(.*)", re.DOTALL)
_ROUGH = re.compile(r"""[;&|()<>\n]+|[^ \t\r\n;&|()<>"']+""")
_SHEBANG = re.compile(rb"#![ \t]*([^\s]+)(?:[ \t]+([^\n]*))?")


class NamedFiles(Struct, frozen=True):
    programs: tuple[str, ...] = ()  # real paths of programs that run
    files: tuple[str, ...] = ()  # full paths of local files among the words
    relative: tuple[str, ...] = ()  # words that mean other files in another working directory
    is_too_much: bool = False  # more than Snell checks, so it cannot be approved
    unknown: tuple[str, ...] = ()  # what its scripts use and an approval does not cover
    targets: tuple[TargetText, ...] = ()  # of Makefiles and the like


def files_named_by(handler: Handler, root: Path, env: Mapping[str, str]) -> NamedFiles:
    """Return the programs and local files that decide what a handler does, seen from the project's root."""
    module = handler_module(handler.kind)
    return module.TYPE.files(handler, root, env) if module and module.TYPE.files else NamedFiles()


def files_of_command(
    command: str, root: Path, env: Mapping[str, str], args: Sequence[str] | None = None, plugin_root: str = ""
) -> NamedFiles:
    """Return the programs and local files that a command names; with `args`, `command` is one word."""
    variables = known_variables(root, env, plugin_root)
    all_words = _shell_words(command, variables) if args is None else _exec_words(command, args, variables)
    words = list(islice(all_words, MOST_WORDS + 1))
    if len(words) > MOST_WORDS:
        return NamedFiles(is_too_much=True)
    bases = _bases(words, root)
    files = dict.fromkeys(path for word in words for path in _files(word, bases))
    programs = dict.fromkeys(path for word in words if word.is_program for path in _program(word, root, env))
    files.update(dict.fromkeys(path for path in programs if Path(path).is_relative_to(root)))
    targets = target_texts(command, root) if args is None else target_texts(shlex.join([command, *args]), root)
    for each in targets:
        files.update(dict.fromkeys(files_of_recipe(each.text, [os.path.dirname(each.files[0]), str(root)])))
    unknown = (*_add_used_files(files, root), *dict.fromkeys(itertools.chain(*map(not_read, targets))))
    found = tuple(files)[:MOST_FILES]
    programs.update(dict.fromkeys(path for file in found for path in _interpreter(file, env)))
    relative = dict.fromkeys(text for word in words for text in word.texts if not os.path.isabs(text))
    return NamedFiles(tuple(programs), found, tuple(relative), len(files) > MOST_FILES, unknown, tuple(targets))


def with_used_files(path: str, root: Path) -> NamedFiles:
    """Return a script, and the local files that it uses."""
    files = {path: None}
    unknown = _add_used_files(files, root)
    return NamedFiles(files=tuple(files)[:MOST_FILES], is_too_much=len(files) > MOST_FILES, unknown=unknown)


def _add_used_files(files: dict[str, None], root: Path) -> tuple[str, ...]:
    """Add the files that these scripts source, import or run, and those that these use; return what is not found."""
    to_read, unknown = list(files), dict[str, None]()
    while to_read and len(files) <= MOST_FILES:
        used = files_of_script(to_read.pop(), root)
        new = [path for path in used.files if path not in files]
        files.update(dict.fromkeys(new))
        to_read += new
        unknown.update(dict.fromkeys(used.unknown))
    return tuple(unknown)


def known_variables(root: Path, env: Mapping[str, str], plugin_root: str = "") -> dict[str, str]:
    """Return the variables whose values are known before a hook runs."""
    known = {"CLAUDE_PROJECT_DIR": str(root), "PWD": str(root), "HOME": env.get("HOME") or os.path.expanduser("~")}
    return known | ({"CLAUDE_PLUGIN_ROOT": plugin_root} if plugin_root else {})


def expand_words(text: str, variables: Mapping[str, str]) -> list[str]:
    """Return the words of a text with the values of known variables."""
    return _split(_expand(text, variables))


def outside_files(named: NamedFiles, root: Path, cwd: Path) -> list[str]:
    """Return words that mean other files in this working directory than in the project's root."""
    if cwd == root:
        return []
    known = {os.path.realpath(path) for path in named.files}
    return [
        word
        for word in named.relative
        if os.path.isfile(path := os.path.join(cwd, word)) and os.path.realpath(path) not in known
    ]


class _Word(Struct, frozen=True):
    texts: tuple[str, ...]  # possible values of one word
    is_program: bool = False


def _exec_words(program: str, args: Sequence[str], variables: Mapping[str, str]) -> Iterator[_Word]:
    yield _Word(_possible_values(_expand(program, variables)), True)
    previous = ""
    for each in args:
        yield from _argument(_expand(each, variables), previous, variables)
        previous = each


def _shell_words(line: str, variables: Mapping[str, str]) -> Iterator[_Word]:
    is_program, previous = True, ""
    for text in _split(_expand(line, variables)):
        if _ENDS_COMMAND.fullmatch(text):
            is_program, previous = True, ""
        elif ">" in text and not text.strip("<>&|0123456789"):
            previous = ">"
        elif previous == ">":
            previous = ""  # an output file changes whenever the hook runs
        elif is_program and (found := _ASSIGNMENT.fullmatch(text)):
            yield _Word(_possible_values(found.group(1)))
        elif is_program:
            yield _Word(_possible_values(text) if "/" in text else (text,), True)
            is_program, previous = False, text
        else:
            yield from _argument(text, previous, variables)
            previous = text


def _argument(text: str, previous: str, variables: Mapping[str, str]) -> Iterator[_Word]:
    if previous == "-m":
        module = text.replace(".", "/")
        yield _Word(tuple(f"{module}{end}" for end in (".py", "/__init__.py", "/__main__.py")))
    elif _SPACE.search(text):
        yield _Word(_possible_values(text))
        # A word may contain a command, as in `sh -c '...'`; other words with spaces do no harm.
        yield from (_Word(word.texts) for word in _shell_words(text, variables))
    else:
        found = _ASSIGNMENT.fullmatch(text)
        yield _Word(_possible_values(found.group(1) if found else text))


def _split(line: str) -> list[str]:
    if len(line) > _LONGEST_CAREFULLY_SPLIT:
        return _ROUGH.findall(line)
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|()<>\n")
    lexer.whitespace = " \t\r"
    lexer.commenters = ""
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:
        return _ROUGH.findall(line)


def _expand(text: str, variables: Mapping[str, str]) -> str:
    text = _TILDE.sub(lambda _: variables["HOME"], _ROOT_WORDS.sub(lambda _: variables["PWD"], text))
    return _VARIABLE.sub(lambda found: variables.get(found.group(1) or found.group(2), found.group()), text)


def _possible_values(text: str) -> tuple[str, ...]:
    """Return the word itself, and its end after a variable or substitution with an unknown value."""
    tail = _VARIABLE.split(text)[-1].lstrip("/") if "$" in text else ""
    return tuple(each for each in (text, tail) if each)


def _bases(words: Sequence[_Word], root: Path) -> list[Path]:
    """Return the folders that a relative word may start from: the root, and folders named in the command."""
    texts = dict.fromkeys(text for word in words if not word.is_program for text in word.texts)
    folders = [root / text for text in list(texts)[:MOST_FILES] if _is_short(text) and os.path.isdir(root / text)]
    return [root, *folders[:8]]


def _files(word: _Word, bases: Sequence[Path]) -> Iterator[str]:
    for text in word.texts:
        if not _is_short(text) or (word.is_program and "/" not in text):
            continue
        for base in bases:
            path = os.path.join(base, text)
            if os.path.isfile(path):
                yield os.path.normpath(path)
            elif glob.has_magic(text):
                yield from _glob_files(text, base)


def _glob_files(pattern: str, base: Path) -> Iterator[str]:
    """Yield the files that match a pattern; with more than one wildcard part it could search a whole disk."""
    parts = pattern.split("/")
    if os.path.isabs(pattern) or ".." in parts or sum(map(glob.has_magic, parts)) > 1:
        return
    found = glob.iglob(os.path.join(glob.escape(str(base)), pattern))
    yield from sorted(each for each in islice(found, MOST_FILES + 1) if os.path.isfile(each))


def _program(word: _Word, root: Path, env: Mapping[str, str]) -> Iterator[str]:
    text = word.texts[0] if word.texts else ""
    if not text or not _is_short(text):
        return
    found = os.path.join(root, text) if "/" in text else shutil.which(text, path=env.get("PATH", os.defpath))
    if found and os.path.isfile(found):
        yield os.path.realpath(found)


def _interpreter(path: str, env: Mapping[str, str]) -> Iterator[str]:
    """Yield the interpreter in the first line of a script."""
    try:
        with open(path, "rb") as file:
            found = _SHEBANG.match(file.readline(256))
    except OSError:
        return
    if not found:
        return
    program = os.fsdecode(found.group(1))
    rest = os.fsdecode(found.group(2) or b"").split()
    names = [each for each in rest if not each.startswith("-") and "=" not in each]
    if os.path.basename(program) == "env" and names:
        program = shutil.which(names[0], path=env.get("PATH", os.defpath)) or program
    yield os.path.realpath(program)


def _is_short(text: str) -> bool:
    return len(text) < 1024 and "\0" not in text
