"""Follow what an earlier command chose: a plan (`plan -destroy -out=FILE`), or a context (`use-context prod`)."""

import itertools

from msgspec.structs import replace

from snell.packs.guard.known_values import EMPTY, UNKNOWN, Value
from snell.packs.guard.shell.shell_state import Call, Performer, ShellState, Walk, program_of

_DESTROYING = "destroying plan"


def note(walk: Walk, call: Call, scene: ShellState) -> None:
    """Note a plan that destroys (`plan -destroy -out=FILE`), and record `apply FILE` as a destruction."""
    args = [word.text for word in call.words[1:]]
    if "plan" in args and {"-destroy", "--destroy"} & set(args):
        named = [after for option, after in itertools.pairwise(args) if option.lstrip("-") == "out"]
        for name in (*named, *(arg.partition("=")[2] for arg in args if arg.lstrip("-").startswith("out="))):
            scene.write(name, Value(UNKNOWN, frozenset((_DESTROYING,))))
    elif "apply" in args and scene.files:
        plans = (scene.files.get(scene.absolute(arg)) for arg in args)
        if any(plan is not None and _DESTROYING in plan.labels for plan in plans):
            walk.record(call.with_words(call.words[0], "apply", "-destroy"), scene, EMPTY)


_USED = {
    ("config", "use-context"): ("kubectl", "oc", "k", "helm"),
    ("context", "use"): ("docker",),
    ("use",): ("firebase",),
    ("config", "set", "project"): ("gcloud",),
}
_VERBS = frozenset(words[0] for words in _USED)
_OPTIONS = {"firebase": "--project", "gcloud": "--project", "helm": "--kube-context"}


def use_context(walk: Walk, call: Call, scene: ShellState) -> Value | None:
    """Run the command with the context that the line chose before."""
    if not scene.files and (len(call.words) < 3 or call.words[1].text not in _VERBS):
        return None
    program, args = program_of(call.words[0].text), [word.text for word in call.words[1:]]
    for words, programs in _USED.items():
        if program in programs and args[: len(words)] == list(words) and len(args) > len(words):
            for name in programs:
                scene.write(f"/used-context/{name}", call.words[1 + len(words)])
            return None
    used = scene.files.get(f"/used-context/{program}")
    option = _OPTIONS.get(program, "--context")
    if used is None or option in args:
        return None
    return walk.call(replace(call, words=(*call.words, Value(option), used)), scene)


_WITH_CONTEXT = ("kubectl", "oc", "k", "helm", "docker", "firebase", "gcloud")
PERFORMERS: dict[str, Performer] = {
    **dict.fromkeys(("terraform", "tofu", "terragrunt"), note),
    **dict.fromkeys(_WITH_CONTEXT, use_context),
}
