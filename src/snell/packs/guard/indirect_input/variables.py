"""Variables with code, or with files of code, that every program of a language runs: `NODE_OPTIONS`, `PERL5DB`."""

from msgspec.structs import replace

from snell.packs.guard.indirect_input.files import follow_roughly
from snell.packs.guard.known_names import names
from snell.packs.guard.known_values import UNKNOWN, Value
from snell.packs.guard.shell import program_code
from snell.packs.guard.shell.embedded_commands import FOLLOWERS
from snell.packs.guard.shell.shell_state import Call, Performer, ShellState, Walk
from snell.system.lazy_regex import lazy_regex

_LANGUAGES = {"NODE_OPTIONS": "node", "PERL5OPT": "perl", "PERL5DB": "perl", "RUBYOPT": "ruby", "LUA_INIT": "lua"}
_CODE_VARIABLES = frozenset(("PERL5DB", "LUA_INIT", "VIMINIT", "EXINIT", "GOFLAGS", "MAKEFLAGS", "GNUMAKEFLAGS"))
_LOADERS = names("loader_options")
_PATH = lazy_regex(r"(?:--?[\w-]+=|-[rMI]|@)?(.+)")


def follow(walk: Walk, call: Call, scene: ShellState, name: str, value: str) -> None:
    """Walk through the code that a variable makes every program of a language run."""
    language = _LANGUAGES.get(name, "python" if name.startswith("PYTHON") else "code")
    call = replace(call, env=(), stdin=None)
    if name in _CODE_VARIABLES:
        follow_roughly(walk, call, scene, value)
    elif name in _LOADERS:
        for found in map(_PATH.fullmatch, value.split()):
            path = found[1] if found else ""
            ends = ("", ".js", ".rb", ".pm")
            known = next((known for end in ends if (known := scene.files.get(scene.absolute(f"{path}{end}")))), None)
            if known is not None:
                program_code.follow(walk, call, scene, language, known.text)
        _, is_code, code = value.partition("data:text/javascript")
        code = code.partition(",")[2] if is_code else value.partition("-M")[2].partition(";")[2]
        if code:
            from urllib.parse import unquote  # slow to import

            walk.record(call, scene, Value(UNKNOWN), code=Value(UNKNOWN))
            program_code.follow(walk, call, scene, language, unquote(code))


def _follow_exports(walk: Walk, call: Call, scene: ShellState) -> None:
    for name, equals, value in (word.text.partition("=") for word in call.words[1:]):
        if equals:
            follow(walk, call, scene, name, value)


FOLLOWERS.append(follow)
PERFORMERS: dict[str, Performer] = dict.fromkeys(("export", "declare", "typeset"), _follow_exports)
