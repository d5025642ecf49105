"""The files that a program writes, as far as its own words tell; redirections are not its words."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from snell.shell.arguments import Arguments, arguments_of
from snell.shell.programs import program_row
from snell.system.lazy_regex import lazy_regex

_PATCHERS = frozenset(("apply_patch", "applypatch", "patch"))  # what they write is in the text that they are given
_NOWHERE = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"))
# `s/a/b/w file` and, where a command may begin, `w file`; the same with `e`, which runs something.
_SED_S = lazy_regex(r"s([^\w\s])(?:\\.|(?!\1)[^\\])*\1(?:\\.|(?!\1)[^\\])*\1([gpIiMm0-9e]*)(?:w[ \t]*([^\n]+))?")
_SED_COMMAND = lazy_regex(r"(?:^|[;{}\n])\s*(?:(?:\d+|\$|/(?:\\.|[^/\\])*/I?)[,~+!\s]*)*([wWe])(?:[ \t]+([^\n]+)|\s*$)")
_AWK_WRITES = lazy_regex(r"print[^\n;}>|]*>{1,2}\s*\"([^\"]+)\"")
_AWK_RUNS = lazy_regex(r"\bsystem\s*\(|print[^\n;}]*[>|]|\"\s*\|\s*getline")
_LONGEST_SCRIPT = 4_000  # of awk or sed; a longer one is taken to change something
_FIND_WRITES = ("-fprint", "-fprint0", "-fprintf", "-fls")
_URL = lazy_regex(r"\w+://|[\w.-]+\.\w+/|localhost[:/]|127\.0\.0\.1")


@lru_cache(maxsize=64)  # the guard asks, and the ledger after it
def written_files(program: str, words: tuple[str, ...]) -> list[str]:
    """Return the files whose content the program replaces or extends, as they are named."""
    if not writes_files(program):
        return []
    row, finder = program_row(program), _FINDERS.get(program)
    given = arguments_of(program, words)
    named = given.values(*row.writes_by) if row.writes_by else ()
    found = [*_operands(row.writes, given), *named, *(finder(given) if finder else ())]
    return list(dict.fromkeys(filter(is_file, found)))


@lru_cache(maxsize=1024)
def writes_files(program: str) -> bool:
    """Tell whether there are words with which the program writes files."""
    row = program_row(program)
    return bool(row.writes or row.writes_by) or program in _FINDERS or program in _PATCHERS


def touched_files(program: str, words: Sequence[str]) -> list[str]:
    """Return the files that the program creates, deletes, or gives other attributes, without writing to them."""
    row = program_row(program)
    return list(filter(is_file, _operands(row.touches, arguments_of(program, words)))) if row.touches else []


def is_file(path: str) -> bool:
    """Tell whether an output is a file: not a stream, and not the null device."""
    return bool(path) and path != "-" and path not in _NOWHERE and not path.startswith("/dev/fd/")


def _operands(which: str, given: Arguments) -> Sequence[str]:
    """Return the operands that a row of the table means."""
    if which == "last":
        folder = given.value("-t", "--target-directory")
        return [folder] if folder else given.operands[-1:] if given.operands[1:] else ()
    first, last = {"all": (0, None), "rest": (1, None), "second": (1, 2), "end": (-1, None)}.get(which, (0, 0))
    return given.operands[first:last]


def runs_something(program: str, given: Arguments) -> bool:
    """Tell whether a script of sed or awk may run programs, or write to a file whose name only run time knows."""
    scripts = _scripts(given)
    if any(len(script) == _LONGEST_SCRIPT for script in scripts) or (not scripts and given.has("-f", "--file")):
        return True
    if not program.endswith("sed"):
        return any(_AWK_RUNS.search(script) for script in scripts)
    letters = [found[1] for script in scripts for found in _SED_S.findall(script)]
    return any("e" in each for each in letters) or any(
        found[0] == "e" for script in scripts for found in _SED_COMMAND.findall(_SED_S.sub("", script))
    )


def _scripts(given: Arguments) -> list[str]:
    """Return what sed or awk are told to do, where the line says it."""
    named = given.values("-e", "--expression")
    scripts = named or ([] if given.has("-f", "--file") else given.operands[:1])
    return [script[:_LONGEST_SCRIPT] for script in scripts]


def _by_sed(given: Arguments) -> list[str]:
    in_place = any(name == "-i" or name.startswith(("-i", "--in-place")) for name, _ in given.options)
    has_script = given.has("-e", "-f", "--expression", "--file")
    operands = given.operands if has_script else given.operands[1:]
    scripts = [script for script in _scripts(given) if "w" in script or "W" in script]
    by_change = [found[2] for script in scripts for found in _SED_S.findall(script)]
    by_command = [found for script in scripts for found in _SED_COMMAND.findall(_SED_S.sub("", script))]
    return [*(operands if in_place else ()), *by_change, *(name for letter, name in by_command if letter != "e")]


def _by_perl(given: Arguments) -> list[str]:
    files = given.operands if given.has("-e", "-E") else given.operands[1:]
    return list(files) if any(name.startswith("-i") for name, _ in given.options) else []


def _by_yq(given: Arguments) -> list[str]:
    return list(given.operands[1:] or given.operands) if given.has("-i", "--inplace", "--in-place") else []


def _by_awk(given: Arguments) -> list[str]:
    in_place = given.operands[1:] if "inplace" in given.values("-i", "--include") else ()
    return [*in_place, *(name for script in _scripts(given) for name in _AWK_WRITES.findall(script))]


def _by_curl(given: Arguments) -> list[str]:
    named = [name for name in given.values("-o", "--output") if is_file(name)]
    if not named and given.has("-O", "--remote-name", "--remote-name-all"):
        named = [_name_in(url) for url in given.operands]
    beside = given.values("-D", "--dump-header", "-c", "--cookie-jar", "--trace", "--trace-ascii", "--etag-save")
    return [*(_in_folder(name, given.value("--output-dir")) for name in named), *beside]


def _by_wget(given: Arguments) -> list[str]:
    named = given.values("-O", "--output-document")
    if named or given.has("--spider"):
        return named
    return [_in_folder(_name_in(url), given.value("-P", "--directory-prefix")) for url in given.operands]


def _by_aria2c(given: Arguments) -> list[str]:
    named = given.values("-o", "--out") or [_name_in(url) for url in filter(_URL.match, given.operands)]
    return [_in_folder(name, given.value("-d", "--dir")) for name in named]


def _in_folder(name: str, folder: str) -> str:
    return f"{folder}/{name}" if folder else name


def _name_in(url: str) -> str:
    return url.split("?", maxsplit=1)[0].rstrip("/").rpartition("/")[2] or "index.html"


def _by_tar(given: Arguments) -> list[str]:
    if given.has("-x", "--extract", "--get"):
        return [] if given.has("-O", "--to-stdout") else [given.value("-C", "--directory") or "."]
    packs = given.has("-c", "-r", "-u", "-A", "--create", "--append", "--update", "--delete", "--concatenate")
    return [given.value("-f", "--file")] if packs else []


def _by_cpio(given: Arguments) -> list[str]:
    return given.values("-D", "--directory") if given.has("-i", "-r", "--extract") else []


def _by_seven_zip(given: Arguments) -> list[str]:
    return [word[2:] for word in given.words if word.startswith("-o") and given.words[0] in ("x", "e")]


def _by_python(given: Arguments) -> list[str]:
    is_archive = given.words[:2] in (("-m", "zipfile"), ("-m", "tarfile"))
    return list(given.words[-1:]) if is_archive and {"-e", "--extract"} & set(given.words) else []


def _by_find(given: Arguments) -> list[str]:
    return [after for word, after in zip(given.words, given.words[1:], strict=False) if word in _FIND_WRITES]


def _by_ruff(given: Arguments) -> list[str]:
    formats = given.operands[:1] == ("format",) and not given.has("--check", "--diff")
    return list(given.operands[1:]) if formats or given.has("--fix", "--fix-only", "--add-noqa") else []


def _by_git(given: Arguments) -> list[str]:
    verb, rest = (*given.operands, "")[0], given.operands[1:]
    if given.has("--output"):
        return given.values("--output")
    if verb == "clone" and rest:
        return [rest[1] if len(rest) > 1 else _name_in(rest[0]).removesuffix(".git")]
    if verb == "init":
        return list(rest[:1]) or ["."]
    return list(rest[1:2]) if (verb, *rest[:1]) == ("worktree", "add") else []


_FINDERS: dict[str, Callable[[Arguments], list[str]]] = {
    **dict.fromkeys(("sed", "gsed"), _by_sed),
    **dict.fromkeys(("perl", "ruby"), _by_perl),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _by_awk),
    **dict.fromkeys(("wget", "wget2"), _by_wget),
    **dict.fromkeys(("tar", "bsdtar", "gtar"), _by_tar),
    **dict.fromkeys(("cpio", "pax"), _by_cpio),
    **dict.fromkeys(("7z", "7za", "7zz"), _by_seven_zip),
    **dict.fromkeys(("python", "python3"), _by_python),
    "yq": _by_yq,
    "curl": _by_curl,
    "aria2c": _by_aria2c,
    "fetch": lambda given: given.values("-o") or [_name_in(url) for url in filter(_URL.match, given.operands)],
    "unzip": lambda given: [] if given.has("-l", "-t", "-v", "-p", "-Z", "-z") else [given.value("-d") or "."],
    "dd": lambda given: [word[3:] for word in given.words if word.startswith("of=")],
    "find": _by_find,
    "ruff": _by_ruff,
    "git": _by_git,
}
