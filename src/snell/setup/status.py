"""Report the state of each client: found, installed, up to date, and what set-up would change."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from snell.clients import canonical_event, client_named, client_names
from snell.model.catalogue import CATALOGUE, row_of
from snell.model.errors import SnellError
from snell.model.hooks import Hook
from snell.model.installs import SCOPES, FileEdit, Install, SetupScope
from snell.model.protocols import tier_of
from snell.settings.load import Loaded
from snell.setup.apply_edits import registered_events, remove_edits
from snell.setup.client_choices import abilities, with_choices
from snell.setup.client_gates import disabled_hooks, missing_approval
from snell.setup.config_formats import MCP_PURPOSE
from snell.setup.file_changes import Change, find_other_hooks, plan_change, plan_removal
from snell.setup.plan import FoundClient, Options, Site, find_client, installed_version, numbers_in, plan, planned_mcp
from snell.system.optional_packages import install_advice, is_installed, missing_message
from snell.system.paths import Places

NOT_APPROVED = "not approved: the client skips these hooks"
Check = tuple[str, str, str]  # status (`ok`, `warn`, `fail`), detail and advice
Installed = Literal["yes", "off", "not approved", "outdated", "no", "nothing to install", "cannot tell"]


class ClientState(Struct, frozen=True):
    """The state of one client at one scope."""

    install: Install
    found: FoundClient
    changes: tuple[Change, ...] = ()
    other_hooks: tuple[str, ...] = ()  # in the same files, not Snell's
    problem: str = ""
    off: str = ""  # the setting that keeps the client from running hooks
    unapproved: str = ""  # the file in which the client's own approval of the hooks is missing
    registered: frozenset[str] = frozenset()  # events whose lists name Snell; empty where the file has no lists

    @property
    def installed(self) -> Installed:
        if self.problem:
            return "cannot tell"
        if not self.changes:
            return "nothing to install"
        if not any(change.changes for change in self.changes):
            return "off" if self.off else "not approved" if self.unapproved else "yes"
        return "outdated" if any(_holds_snell(change) for change in self.changes) else "no"


def state_of(install: Install, options: Options, site: Site) -> ClientState:
    """Return what is installed and what set-up would change; `problem` says why a file cannot be edited."""
    found = find_client(install, site)
    try:
        files = plan(install, options, site)
        changes = tuple(plan_change(file) for file in files)
        others = tuple(name for file in files if "hooks" in file.purpose for name in find_other_hooks(file))
    except SnellError as error:
        return ClientState(install, found, problem=str(error))
    registered = frozenset(event for each in changes for event in registered_events(each.before, each.file))
    kept = {row_of(canonical_event(client_named(install.name), each)).registered_for for each in registered}
    kept -= {"", "WorktreeCreate"}  # without a hook that one keeps the client from making any worktree
    if options.scope == "user" and kept - options.wanted:  # a hook of another folder may be for them
        return state_of(install, replace(options, wanted=options.wanted | kept), site)
    off, unapproved = disabled_hooks(install, site), missing_approval(install, options.scope, site)
    return ClientState(install, found, changes, others, off=off, unapproved=unapproved, registered=registered)


def removal_of(
    install: Install, options: Options, site: Site, where: Places, leaving: Collection[str] = ()
) -> ClientState:
    """
    Return what removing everything of Snell from this client's files would change.

    `leaving` are the other clients from which Snell is removed, too: they may share a file.
    """
    found = find_client(install, site)
    parts = dict.fromkeys(("session_start", "mcp", "rules", "status_line", "command"), True)
    everything = replace(options, wanted=frozenset(CATALOGUE), **parts)
    try:
        files = plan(client_named(install.name).install, everything, site)  # also what was written before a choice
        changes = tuple(plan_removal(file, {install.name, *leaving}, where.state) for file in files)
    except SnellError as error:
        return ClientState(install, found, problem=str(error))
    return ClientState(install, found, changes)


def client_rows(env: Mapping[str, str], project: Path, options: Options) -> list[dict[str, Any]]:
    """Return the table of clients as data."""
    site = Site.here(env, project)
    return [
        _row(state_of(with_choices(client_named(name).install, site.choices), options, site)) for name in client_names()
    ]


def client_checks(
    env: Mapping[str, str], project: Path, loaded: Loaded | None = None, hooks: Collection[Hook] = ()
) -> list[tuple[str, str, str, str]]:
    """Return name, status (`ok`, `warn`, `fail`), detail and advice for every client on this machine."""
    try:
        site = Site.here(env, project)
    except SnellError as error:
        return [("clients", "fail", str(error), "")]
    options = with_needed_options(Options(), loaded or Loaded(), hooks)
    rows: list[tuple[str, str, str, str]] = []
    for name in client_names():
        install = with_choices(client_named(name).install, site.choices)
        if find_client(install, site).is_here:
            state = state_of(install, options, site)
            found = [*_checks(state), *_event_checks(state, hooks), *_project_checks(install, options, site)]
            found += [*_mcp_checks(install, site), *_result_checks(install, hooks)]
            rows += [(f"client: {name.replace('_', '-')}", *check) for check in found]
    if site.programs.is_windows:
        detail = "on Windows, set-up writes the configuration, but hooks do not run yet"
        rows.append(("clients: windows", "warn", detail, "use WSL"))
    return rows


def _result_checks(install: Install, hooks: Collection[Hook]) -> list[Check]:
    """Name a client that gives its model the secrets in results although `redact_output` is on."""
    is_wanted = any(hook.id.startswith("redact_output/") for hook in hooks)
    if not is_wanted or client_named(install.name).capabilities.output:
        return []
    detail = f"{install.title} cannot replace results of tools, so its model is given the secrets in them"
    advice = 'set `preset = "strict"` under `[pack.guard]`, so that files of secrets are not read at all'
    return [("warn", f"{detail}, with a note not to repeat them", advice)]


def with_needed_options(options: Options, loaded: Loaded, hooks: Collection[Hook]) -> Options:
    """
    Return the options with what the active hooks need: their events, and calls that wake the agent later.

    Memory needs the MCP server: at the start of a session the model is told to recall with it.
    """
    return replace(
        options,
        mcp=True if options.mcp is None and remember_settings(loaded).get("enabled") is True else options.mcp,
        command=options.command and any(hook.id.startswith("harness/") for hook in hooks),
        wanted=frozenset(hook.event for hook in hooks),
        rewakes=tuple(sorted({hook.event for hook in hooks if hook.rewakes})),
    )


def remember_settings(loaded: Loaded) -> Mapping[str, object]:
    """Return the table `[pack.remember]` of the settings."""
    packs = next((each.value for each in loaded.values if each.name == "pack"), None) or {}
    found = packs.get("remember", {})
    return found if isinstance(found, Mapping) else {}


def is_memory_on(loaded: Loaded) -> bool:
    """Return whether sessions are captured with these settings."""
    settings = remember_settings(loaded)
    return settings.get("enabled") is True and settings.get("capture", True) is True


def mcp_problem() -> str:
    """Return why Snell's MCP server cannot start, and what to do; empty if it can."""
    return "" if is_installed("mcp") else f"{missing_message('mcp')}; {install_advice('mcp')}"


def names_mcp(file: FileEdit) -> bool:
    """Return whether set-up writes the MCP server into this file."""
    return MCP_PURPOSE in file.purpose


def _holds_snell(change: Change) -> bool:
    return change.before is not None and remove_edits(change.before, change.file) != change.before


def _row(state: ClientState) -> dict[str, Any]:
    can, install = abilities(state.install), state.install
    return {
        "client": install.name.replace("_", "-"),
        "title": install.title,
        "tier": tier_of(can),
        "found": state.found.is_here,
        "programs": list(state.found.programs),
        "folders": list(state.found.folders),
        "block": can.hooks and can.deny,
        "rewrite": can.hooks and can.rewrite,
        "inject": can.hooks and can.note,
        "stop": can.hooks and can.stop,
        "mcp": can.mcp,
        "rules": can.rules,
        "installed": state.installed,
        "off": state.off,
        "not_approved": state.unapproved,
        "problem": state.problem,
    }


def _checks(state: ClientState) -> list[Check]:
    install, dashed = state.install, state.install.name.replace("_", "-")
    if state.problem:
        return [("fail", state.problem, f"then `snell setup {dashed}`")]
    rows = [_installed_check(state, dashed)]
    if len(state.found.programs) > 1:
        seen = ", ".join(state.found.programs)
        rows.append(("warn", f"several versions on PATH: {seen}", "your shell runs the first one"))
    elif not state.found.programs and install.programs:
        seen = ", ".join(state.found.folders)
        rows.append(("warn", f"{seen} exists, but its program is not on PATH", "finish installing it"))
    if state.other_hooks:
        rows.append(("ok", f"other hooks beside Snell's: {len(state.other_hooks)}", ""))
    if missing := _missing_abilities(install):
        rows.append(("ok", f"cannot {missing}", ""))
    return rows


def _project_checks(install: Install, options: Options, site: Site) -> list[Check]:
    """Warn of hooks in the project's own file that the client skips; at user scope another check says so."""
    state = state_of(install, replace(options, scope="project", status_line=False, mcp=False, rules=False), site)
    if not state.unapproved or not any(_holds_snell(change) for change in state.changes):
        return []
    detail = f"hooks of this project are {NOT_APPROVED}; the approval is missing in {state.unapproved}"
    return [("warn", detail, "; ".join(install.after))]


def _event_checks(state: ClientState, hooks: Collection[Hook]) -> list[Check]:
    """Name the hooks for events that this client could report, and does not: they never run there."""
    install, client = state.install, client_named(state.install.name)
    own = {canonical_event(client, event): event for event in install.events}
    if not state.registered:
        return []
    missing: dict[str, list[str]] = {}
    for hook in hooks:
        if hook.event in own and own[hook.event] not in state.registered:
            missing.setdefault(own[hook.event], []).append(f"`{hook.id}`")
    dashed, version = install.name.replace("_", "-"), installed_version(state.found.programs)
    rows = []
    for event, names in missing.items():
        since = install.since.get(event, "")
        is_old = version and numbers_in(since) > version
        advice = f"update it to {since} or newer, then `snell setup {dashed}`" if is_old else f"`snell setup {dashed}`"
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        rows.append(("warn", f"{event} is not registered, so {shown} never runs there", advice))
    return rows


def _mcp_checks(install: Install, site: Site) -> list[Check]:
    if not mcp_problem() or not any(_holds_mcp_server(install, scope, site) for scope in SCOPES):
        return []
    detail = f"is configured to start Snell's MCP server, which cannot start: {missing_message('mcp')}"
    return [("warn", detail, install_advice("mcp"))]


def _holds_mcp_server(install: Install, scope: SetupScope, site: Site) -> bool:
    file = planned_mcp(install, scope, site)
    try:
        return file is not None and _holds_snell(plan_change(file))
    except SnellError:
        return False  # another check reports a file that cannot be edited


def _installed_check(state: ClientState, dashed: str) -> Check:
    after = "; ".join(state.install.after)
    off = f"installed, but the client does not run hooks: {state.off} disables them"
    unapproved = f"installed, but {NOT_APPROVED}; the approval is missing in {state.unapproved}"
    details = {
        "yes": ("ok", "installed and up to date", ""),
        "off": ("warn", off, "change that setting"),
        "not approved": ("warn", unapproved, after),
        "outdated": ("warn", "installed, but out of date", f"`snell setup {dashed}`"),
        "no": ("warn", "found, but not set up", f"`snell setup {dashed}`"),
        "nothing to install": ("ok", "nothing to install at user scope", after),
    }
    return details[state.installed]


def _missing_abilities(install: Install) -> str:
    can = abilities(install)
    if not can.hooks:
        return "run hooks; Snell reaches it by MCP and a rules file only"
    missing = ", ".join(text for name, text in _ABILITIES.items() if not getattr(can, name))
    return f"{missing}; Snell gives the nearest stricter answer instead" if missing else ""


_ABILITIES = {
    "deny": "refuse a call",
    "ask": "ask about a call",
    "rewrite": "change a call",
    "note": "give the model text",
    "stop": "keep the agent from stopping",
    "prompt_block": "refuse a prompt",
}
