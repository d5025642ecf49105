"""Options that a program takes from variables: `TF_CLI_ARGS=-destroy`, `PIP_INDEX_URL=...`."""

from functools import lru_cache

from msgspec.structs import replace

from snell.packs.guard.known_names import names
from snell.packs.guard.known_values import Value
from snell.packs.guard.shell.shell_state import Call, Performer, ShellState, Walk, program_of
from snell.shell.programs import program_row


def perform(walk: Walk, call: Call, scene: ShellState) -> Value | None:
    """Run the command with the options of its variables; None where there are none, or where it has them."""
    known = scene.exported.union([name for name, _value in call.env])
    entries = [each for each in _entries(program_of(call.words[0].text)) if each.partition("=")[0] in known]
    if not entries:
        return None
    given, words = dict(call.env), {word.text for word in call.words}
    added = list[str]()
    for entry in entries:
        name, has_option, option = entry.partition("=")
        values = scene.variables.get(name)
        value = given.get(name) or (values[0].text if values else "")
        verb = name.rpartition("_")[2]
        if value and (not verb.islower() or verb in words or has_option):
            added += [option, value] if has_option else value.split()
    if words.issuperset(added):
        return None
    return walk.call(replace(call, words=(*call.words, *map(Value, added))), scene)


@lru_cache(maxsize=64)
def _entries(program: str) -> tuple[str, ...]:
    return tuple(sorted(program_row(program).options_from))


PERFORMERS: dict[str, Performer] = dict.fromkeys(names("programs_with_options_in_variables"), perform)
