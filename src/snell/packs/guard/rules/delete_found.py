"""
Stop commands that delete whatever a search finds.

This covers `find -delete` and `find -exec rm` where the search may find anything. A search in temporary folders, or
for files that a build makes again (`*.pyc`, `__pycache__`, `node_modules`), is fine.
"""

from collections.abc import Iterator

from snell.packs.guard.path_classes import (
    BUILD,
    DATA_FOLDER,
    HOME,
    HOME_PART,
    PROJECT,
    PROJECT_ROOT,
    ROOT,
    SOURCES,
    SYSTEM,
    TEMP,
    TEMP_ROOT,
    Workspace,
    classify_path,
    is_leftover_name,
    is_rebuilt_name,
)
from snell.packs.guard.rule import SWEEPS, Finding, Rule, Trigger
from snell.packs.guard.shell.shell_state import Step
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="delete-found", family="files", instead="print the list first (`find ... -print`), then delete by name"
)

_REMOVERS = frozenset(("rm", "shred", "unlink", "rmdir", "srm", "truncate"))
_NAMES = lazy_regex(r"^-(?:i?name|i?path|i?wholename|i?regex)$")

TRIGGER = Trigger(traits=SWEEPS)


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    names = names_deleted(step)
    if names is None or (names and all(is_rebuilt_name(name) for name in names)):
        return
    for root in step.sweeps:
        place = classify_path(root, workspace)
        if place in (TEMP, BUILD) or (place == TEMP_ROOT and step.filtered):
            continue
        if "-empty" in step.args and place not in (ROOT, SYSTEM):
            continue  # what is empty is easily made again
        if place in (PROJECT, SOURCES, PROJECT_ROOT) and step.filtered and step.program not in ("rm", "find"):
            continue
        if place in (PROJECT, SOURCES, PROJECT_ROOT) and names and all(map(is_leftover_name, names)):
            continue
        is_part = step.filtered and place not in (ROOT, HOME)
        is_part = is_part and (place != HOME_PART or (bool(names) and all(map(is_leftover_name, names))))
        is_data = place == SYSTEM and DATA_FOLDER.match(f"{root}/") is not None
        is_part = is_part and not (is_data and names and not all(map(is_leftover_name, names)))
        verdict = RULE.ask if is_part else RULE.deny
        yield verdict(f"it deletes whatever a search of {place} finds")


def names_deleted(step: Step) -> list[str] | None:
    """Return the name patterns that a search deletes: empty for all, None for a search that deletes nothing."""
    if step.program in _REMOVERS:
        return [arg.rpartition("\ue000/")[2] for arg in step.args if "\ue000/" in arg]
    if step.program not in ("find", "gfind") or "-delete" not in _own_words(step.args):
        return None
    rest = (*step.args[2:], "")  # what is pruned is not deleted
    triples = zip(step.args, step.args[1:], rest, strict=False)
    return [word for before, word, after in triples if _NAMES.match(before) and after != "-prune"]


def _own_words(args: tuple[str, ...]) -> list[str]:
    """Return the words of `find` itself, without those of the commands that it runs."""
    words, inside = list[str](), False
    for arg in args:
        if arg in ("-exec", "-execdir", "-ok", "-okdir"):
            inside = True
        elif inside and arg in (";", "+"):
            inside = False
        elif not inside:
            words.append(arg)
    return words
