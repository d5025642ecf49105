"""
What keeps a client from running Snell's hooks: a setting that disables hooks, or the missing approval of its user.

Approvals are only read: to write one would take away the review that the client asks its user for.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from snell.model.catalogue import CATALOGUE
from snell.model.events import value_at
from snell.model.installs import Install, SetupScope, Switch
from snell.settings.snell_commands import runs_shim
from snell.setup.client_mcp_servers import file_values
from snell.setup.plan import Site, expand_path


def disabled_hooks(install: Install, site: Site) -> str:
    """Return the setting that disables hooks in this client, and its file; empty if no known one does."""
    return next((found for switch in install.switches if (found := _disabling_setting(switch, install, site))), "")


def _disabling_setting(switch: Switch, install: Install, site: Site) -> str:
    """Return the setting if it is off in the first file that has it: the client reads them in the same order."""
    for path in _files_of(switch, install, site):
        found = value_at(file_values(path, path.suffix[1:]), switch.at)
        if found is None:
            continue
        is_off = switch.off in found if isinstance(found, list) else found == switch.off
        return f"`{'.'.join(switch.at)}` in `{path}`" if is_off else ""
    return ""


def _files_of(switch: Switch, install: Install, site: Site) -> Iterator[Path]:
    for name in switch.files:
        path = Path(expand_path(install, name, site))
        yield from sorted(path.parent.glob(path.name), reverse=True) if "*" in path.name else (path,)


def missing_approval(install: Install, scope: SetupScope, site: Site) -> str:
    """Return the file in which the approval of these hooks is missing; empty if the client runs them."""
    approval, path = install.approval, install.hooks.get(scope, "")
    if approval is None or scope not in approval.scopes or not path:
        return ""
    is_lifted = any(site.env.get(name) == value for name, value in approval.lifted_by.items())
    if is_lifted or (approval.switch and _disabling_setting(approval.switch, install, site)):
        return ""
    file = Path(expand_path(install, approval.file, site))
    hooks = Path(expand_path(install, path, site))
    is_given = _READERS[approval.form](file_values(file, file.suffix[1:]), hooks, site.project, scope)
    place = "" if approval.form == "hook digests" else f" for `{site.project}`"
    return "" if is_given else f"`{file}`{place}"


def _has_hook_digests(values: Any, hooks: Path, project: Path, scope: SetupScope) -> bool:
    """Return whether Codex has the digest of each of Snell's hooks, and trusts the project that has them."""
    state = value_at(values, ("hooks", "state"))
    places = {str(hooks), os.path.realpath(hooks)}
    is_approved = all(
        any(value_at(state, (f"{place}:{at}", "trusted_hash")) == digest for place in places)
        for at, digest in hook_digests(value_at(file_values(hooks, "json"), ("hooks",)))
    )
    is_trusted = value_at(values, ("projects", str(project), "trust_level")) == "trusted"
    return is_approved and (is_trusted or scope == "user")


def hook_digests(lists: Any) -> Iterator[tuple[str, str]]:
    """Yield the place of each of Snell's hooks, `event:group:number`, and its digest as Codex 0.166 computes it."""
    for event, groups in lists.items() if isinstance(lists, Mapping) else ():
        label = "".join(f"_{each.lower()}" if each.isupper() else each for each in event)[1:]
        for at, group in enumerate(groups if isinstance(groups, list) else ()):
            hooks = group.get("hooks") if isinstance(group, Mapping) else None
            for number, hook in enumerate(hooks if isinstance(hooks, list) else ()):
                if isinstance(hook, Mapping) and runs_shim(hook):
                    yield f"{label}:{at}:{number}", _digest(label, event, group, hook)


def _digest(label: str, event: str, group: Mapping[str, Any], hook: Mapping[str, Any]) -> str:
    seconds = hook["timeout"] if isinstance(hook.get("timeout"), int) else 600
    seconds = min(3, seconds) if event == "SessionEnd" else seconds
    entry = {"type": "command", "command": hook.get("command"), "timeout": seconds, "async": hook.get("async", False)}
    whole: dict[str, Any] = {"event_name": label, "hooks": [entry]}
    if group.get("matcher") is not None and event in CATALOGUE and CATALOGUE[event].matches:
        whole["matcher"] = group["matcher"]
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _is_trusted_by_word(values: Any, _hooks: Path, project: Path, _scope: SetupScope) -> bool:
    """Return whether Gemini CLI trusts this folder: a word for a path, or for the folder above it."""
    rules = values.items() if isinstance(values, Mapping) else ()
    above = [(path, os.path.dirname(path), True) for path, word in rules if word == "TRUST_PARENT"]
    same = [(path, path, word == "TRUST_FOLDER") for path, word in rules if word != "TRUST_PARENT"]
    return _is_trusted([*above, *same], project)


def _is_trusted_in_table(values: Any, _hooks: Path, project: Path, _scope: SetupScope) -> bool:
    """Return whether Grok trusts this folder: a table for a path."""
    folders = value_at(values, ("folders",))
    rows = folders.items() if isinstance(folders, Mapping) else ()
    return _is_trusted([(path, path, value_at(row, ("trusted",)) is True) for path, row in rows], project)


def _is_trusted(rules: Iterable[tuple[str, str, bool]], project: Path) -> bool:
    """Return what the rule with the longest path says, of those whose folder contains the project."""
    real = Path(os.path.realpath(project))
    found = [
        (len(path), is_trusted)
        for path, folder, is_trusted in rules
        if folder and real.is_relative_to(os.path.realpath(os.path.expanduser(folder)))
    ]
    return max(found, default=(0, False))[1]


_READERS: Mapping[str, Callable[[Any, Path, Path, SetupScope], bool]] = {
    "hook digests": _has_hook_digests,
    "folder words": _is_trusted_by_word,
    "folder tables": _is_trusted_in_table,
}
