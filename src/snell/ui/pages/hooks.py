"""Hooks and packs: what is active in a folder and from which file, and what is switched off and why."""

from pathlib import Path
from typing import Any

from snell.cli.active_hooks import active_hooks, as_row, folder_context, packs_of, why_inactive
from snell.cli.terminal import near_home
from snell.model.hooks import Hook
from snell.model.protocols import Transaction
from snell.settings.load import Loaded, load
from snell.settings.packs import FOLDER, MANIFEST, read_pack
from snell.ui.site import MissingError, Query, Site

RECENT = 1_000  # newest decisions whose folders are offered


def show(site: Site, query: Query) -> dict[str, Any]:
    folders = site.store.run(_folders)
    cwd = Path(query.get("folder", "").strip() or next(iter(folders), str(Path.home())))
    if not cwd.is_absolute() or not cwd.is_dir():
        raise MissingError(f"there is no folder `{cwd}`", advice="write the full path of a folder on this machine")
    loaded = load(site.where, cwd, site.env)
    context = folder_context(site.where, cwd, site.env)
    hooks = [_hook(hook, loaded) for hook in context.registry.hooks()]
    known = {str(each) for each in loaded.problems}
    switches = loaded.switches
    return {
        "folder": str(cwd),
        "settings_file": near_home(site.where.config / "snell.toml"),
        "folders": folders,
        "project": loaded.project_root,
        "is_trusted": loaded.is_trusted,
        "layers": _by_layer(hooks),
        "packs": _packs(packs_of(active_hooks(context, loaded))),
        "number": sum(not each["off"] for each in hooks),
        "problems": [*map(str, loaded.problems), *(each for each in context.problems if each not in known)],
        "values": [as_row(each) for each in loaded.values],
        "switches": {
            "disable_all_hooks": switches.disable_all_hooks or switches.policy_disables_all,
            "allow_managed_hooks_only": switches.allow_managed_hooks_only,
            "paused": bool(switches.paused),
            "only_observe": switches.only_observe,
        },
    }


def _folders(tx: Transaction) -> list[str]:
    sql = (
        "SELECT DISTINCT CASE WHEN json_valid(body) THEN json_extract(body, '$.cwd') END FROM traces"
        " WHERE seq > (SELECT COALESCE(MAX(seq), 0) FROM traces) - ?"
    )
    return sorted(str(cwd) for (cwd,) in tx.rows(sql, RECENT) if cwd)


def _hook(hook: Hook, loaded: Loaded) -> dict[str, Any]:
    source = str(hook.source)
    return {
        "id": hook.id,
        "event": hook.event,
        "role": hook.role or "undeclared",
        "matches": hook.matcher or ", ".join(hook.kinds),
        "handler": hook.handler.kind,
        "layer": hook.source.layer,
        "source": "" if source == hook.source.layer else source,
        "timeout": hook.time_limit,
        "on_failure": hook.failure_policy,
        "off": why_inactive(hook, loaded),
    }


def _by_layer(hooks: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for hook in hooks:
        found.setdefault(hook["layer"], []).append(hook)
    return found


def _packs(active: list[str]) -> list[dict[str, Any]]:
    """Return the built-in packs, and whether they are on here."""
    packs = [read_pack(path.parent) for path in sorted(FOLDER.glob(f"*/{MANIFEST}"))]
    return [{"name": each.name, "purpose": each.purpose, "is_on": each.name in active} for each in packs]
