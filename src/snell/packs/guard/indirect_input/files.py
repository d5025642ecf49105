"""
Programs that run what a file says, in a language of their own: build tools, interpreters, task runners.

A file that this line or this session wrote is read roughly: shell commands in it, lists of words that start a program,
and names of folders next to a word that deletes.
"""

import itertools
import re
from collections.abc import Iterator

from msgspec.structs import replace

from snell.model.tool_names import name_set
from snell.packs.guard.known_names import names, pattern
from snell.packs.guard.known_values import UNKNOWN
from snell.packs.guard.shell import program_code
from snell.packs.guard.shell.build_recipes import recipe_line_as_shell
from snell.packs.guard.shell.shell_state import Call, Performer, ShellState, Walk, program_of
from snell.shell.build_targets import BUILD_FILES
from snell.system.lazy_regex import lazy_regex

_RUN_FILES = names("programs_that_run_files")
MOST_FILES, MOST_PARTS, LONGEST_TEXT = 6, 20, 20_000

_CHECKS = name_set("fmt format vet lint check validate doc docs tool test")
_EDITORS = name_set("vi vim nvim ex emacs gdb lldb")
_CODE_OPTION = lazy_regex(r"-[eE]|-c|-x|--?(?:eval|execute|exec|toolexec|config|expr|script-code|run)|-ex")
_CODE_ARGUMENT = lazy_regex(r"(?:--?(?:eval|execute|exec|toolexec|config|expr)|\w+\+?)=.*[ (]")
_BUILD_FILE = pattern("files_of_build_tools")
_ARGUMENT = lazy_regex(r"(?:--?[\w-]+=|-[A-Za-z](?=[./]))?(.+)", re.DOTALL)


def follow_files(walk: Walk, call: Call, scene: ShellState) -> None:
    """Walk through the code and the files that a program is told to run, and files that it finds by their names."""
    args = [word.text for word in call.words[1:]]
    if not scene.files and call.stdin is None and " " not in "".join(args):
        return
    given = args[: args.index("--")] if "--" in args else args
    code = [after for option, after in itertools.pairwise(given) if _CODE_OPTION.fullmatch(option)]
    code += [arg.partition("=")[2] for arg in given if _CODE_ARGUMENT.match(arg)]
    if _CHECKS.isdisjoint(given[:2]) and program_of(call.words[0].text) not in BUILD_FILES:
        code += dict.fromkeys(_texts(call, scene, given))
    for text in code[:MOST_FILES]:
        follow_roughly(walk, call, scene, text)


def _texts(call: Call, scene: ShellState, args: list[str]) -> Iterator[str]:
    if program_of(call.words[0].text) in _EDITORS:  # what they open is run only behind an option
        args = [after for option, after in itertools.pairwise(args) if option.startswith("-")]
    named = [found[1] for arg in args if (found := _ARGUMENT.fullmatch(arg))]
    paths = [scene.absolute(name) for name in named]
    lead = f"{scene.cwd}/"
    paths += [path for path in scene.files if path.startswith(lead) and _BUILD_FILE.fullmatch(path[len(lead) :])]
    values = [value for path in paths if (value := scene.files.get(path)) is not None]
    if call.stdin is not None and "-" in named:
        values.append(call.stdin)
    yield from (value.text for value in values if value.text.strip(UNKNOWN))


_COMMAND, _DELETES = pattern("commands_in_any_code"), pattern("deletes_in_any_code")
_HOME, _PLACE = pattern("home_in_any_code"), pattern("places_in_any_code")
_WORDS = pattern("words_of_a_command_in_any_code")
_QUOTED = lazy_regex(r"\"([^\"]*)\"|'([^']*)'")


def follow_roughly(walk: Walk, call: Call, scene: ShellState, text: str) -> None:
    """Walk through what the text does, in any language."""
    plain = replace(call, stdin=None, writes=(), appends=(), reads=(), env=())
    text = _HOME.sub(scene.home, text[:LONGEST_TEXT])
    text = re.sub(rf"({re.escape(scene.home)})[\"')]*\s*(?:\+\+?|\.\.?|<>|\^|,)\s*[\"'](?=/)", r"\1", text)
    for found in list(_COMMAND.finditer(text))[:MOST_PARTS]:
        quote = text[found.start() - 1 : found.start()]
        line = found[0].partition(quote)[0] if quote in ("'", '"', "`") else found[0]
        walk.line(recipe_line_as_shell(line.rstrip("\"'`)}]>;, ")), scene.fork())
    for found in list(_WORDS.finditer(text))[:MOST_PARTS]:
        words = [double or single for double, single in _QUOTED.findall(found[0])]
        walk.line(" ".join(words), scene.fork())
    for found in list(_DELETES.finditer(text))[:MOST_PARTS]:
        for place in _PLACE.findall(found[0])[:MOST_PARTS]:
            walk.call(plain.with_words("rm", "-rf", place), scene.fork())
    program_code.follow(walk, plain, scene, "code", text)


PERFORMERS: dict[str, Performer] = dict.fromkeys(_RUN_FILES, follow_files)
