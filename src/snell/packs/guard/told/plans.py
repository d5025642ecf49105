"""Plans of Terraform: `plan -destroy -out=FILE` says what `apply FILE` does."""

import itertools

from snell.packs.guard.known_values import EMPTY, UNKNOWN, Value
from snell.packs.guard.shell.shell_state import Call, Performer, ShellState, Walk

_DESTROYING = "destroying plan"


def note(walk: Walk, call: Call, scene: ShellState) -> None:
    """`plan -destroy -out=FILE` and `apply FILE`: the plan says what is applied."""
    args = [word.text for word in call.words[1:]]
    if "plan" in args and {"-destroy", "--destroy"} & set(args):
        named = [after for option, after in itertools.pairwise(args) if option.lstrip("-") == "out"]
        for name in (*named, *(arg.partition("=")[2] for arg in args if arg.lstrip("-").startswith("out="))):
            scene.write(name, Value(UNKNOWN, frozenset((_DESTROYING,))))
    elif "apply" in args and scene.files:
        plans = (scene.files.get(scene.absolute(arg)) for arg in args)
        if any(plan is not None and _DESTROYING in plan.labels for plan in plans):
            walk.record(call.with_words(call.words[0], "apply", "-destroy"), scene, EMPTY)


PERFORMERS: dict[str, Performer] = dict.fromkeys(("terraform", "tofu", "terragrunt"), note)
