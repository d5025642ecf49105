"""Programs that are written in the line or in the session, then compiled and run."""

import itertools
import posixpath
import re

from snell.packs.guard.known_values import SOURCE, UNKNOWN, Value
from snell.packs.guard.shell import program_code
from snell.packs.guard.shell.shell_state import Call, Performer, ShellState, Walk, program_of

_LANGUAGES = {
    "go": r"\.go$",
    "c": r"\.(?:c|cc|cpp|cxx|m|zig|nim|cr|d)$",
    "rust": r"\.rs$",
    "java": r"\.(?:java|kts?|scala|swift|dart|groovy|cs|fsx?)$",
}
_RUNS = {"go": ("run",), "zig": ("run",), "crystal": ("run",), "nim": ("r",), "dart": ("run",), "cargo": ("script",)}
_RUNNERS = ("java", "swift", "kotlin", "scala", "tcc", "dotnet-script", "rust-script", "groovy", "runghc", "crystal")
_COMPILERS = ("gcc", "cc", "clang", "g++", "c++", "clang++", "rustc", "tcc", "zig", "nim", "crystal", "ldc2", "swiftc")


def _compile(walk: Walk, call: Call, scene: ShellState) -> Value | None:
    """Follow a source whose text is known, if it is run; else keep its text with the program made of it."""
    program = program_of(call.words[0].text)
    args = [word.text for word in call.words[1:]]
    sources = _sources(args, call, scene)
    for source, content in sources:
        language = next((name for name, end in _LANGUAGES.items() if re.search(end, source)), "c")
        if program in _RUNNERS or set(args[:2]) & set(_RUNS.get(program, ())):
            program_code.follow(walk, call, scene, language, content.text)
        if program in _COMPILERS or args[:1] == ["build"]:
            scene.write(_output_name(program, args, source), content.with_labels(f"{SOURCE} {language}"))
    if not sources:
        return None
    printed = Value(UNKNOWN, frozenset((f"output {program}",)))
    walk.record(call, scene, printed)
    return printed


def _sources(args: list[str], call: Call, scene: ShellState) -> list[tuple[str, Value]]:
    named = [(arg, scene.content(arg)) for arg in args if re.search(r"\.\w+$", arg)] if scene.files else []
    known = [(arg, content) for arg, content in named if content is not None and content.text]
    if not known and call.stdin is not None and call.stdin.is_known and {"-", "/dev/stdin"} & set(args):
        ends = {"go": "x.go", "rustc": "x.rs"}
        return [(ends.get(program_of(call.words[0].text), "x.c"), call.stdin)]
    return known


def _output_name(program: str, args: list[str], source: str) -> str:
    named = next((after for arg, after in itertools.pairwise(args) if arg == "-o"), "")
    plain = posixpath.basename(source).rpartition(".")[0]
    return named or ("a.out" if program in ("gcc", "cc", "clang", "g++", "c++", "clang++", "tcc") else plain)


PERFORMERS: dict[str, Performer] = dict.fromkeys((*_RUNS, *_RUNNERS, *_COMPILERS), _compile)
for _name in ("cargo", "groovy"):  # the first is known by its rules alone, the second reads its code itself
    del PERFORMERS[_name]
