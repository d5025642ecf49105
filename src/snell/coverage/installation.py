"""Since when Snell is set up in a client, for which folders, and what keeps it from being called now."""

import os
from collections.abc import Mapping

from msgspec import Struct

from snell.cli.active_hooks import needed_options
from snell.clients import canonical_event, client_named
from snell.model.errors import SnellError
from snell.model.installs import Install
from snell.model.protocols import Database
from snell.setup.apply_edits import registered_events
from snell.setup.client_choices import with_choices
from snell.setup.file_changes import Change, Record
from snell.setup.plan import Options, Site, expand_path
from snell.setup.status import ClientState, state_of
from snell.system.files import names_in, stat_or_none, struct_or_none
from snell.system.paths import Places

LARGEST_RECORD = 1_000_000


class SetUp(Struct, frozen=True):
    """Where Snell is set up in a client, and since when, in milliseconds since 1970; None: it is not."""

    everywhere: int | None = None
    folders: Mapping[str, int] = {}
    cause: str = ""  # what keeps the client from calling hooks now
    advice: str = ""
    events: frozenset[str] = frozenset()  # those that set-up registers

    def since(self, cwd: str) -> int | None:
        """Return since when hooks of a conversation in this folder should be called; None: never."""
        inside = [at for folder, at in self.folders.items() if f"{cwd}/".startswith(f"{folder}/")]
        known = [at for at in (self.everywhere, *inside) if at is not None]
        return min(known, default=None)


def find_set_up(client: str, site: Site, where: Places, database: Database) -> SetUp:
    """Return the state of set-up from its records, the client's files and the first decision."""
    install = with_choices(client_named(client).install, site.choices)
    first = _first_decision(database, client)
    everywhere, folders = _set_up_times(install, site, where, first)
    try:
        state = state_of(install, needed_options(Options(), where, site.project, site.env), site)
    except SnellError as error:
        return SetUp(everywhere, folders, str(error))
    if everywhere is None and state.installed in ("yes", "off", "not approved", "outdated"):
        everywhere = first
    cause, advice = _cause(client, state)
    return SetUp(everywhere, folders, cause, advice, _registered_by_set_up(client, state))


def _set_up_times(install: Install, site: Site, where: Places, first: int | None) -> tuple[int | None, dict[str, int]]:
    """Return when the client's hook files were written, for all folders and by folder."""
    everywhere: int | None = None
    folders: dict[str, int] = {}
    user = os.path.realpath(expand_path(install, install.hooks["user"], site)) if "user" in install.hooks else ""
    for name in names_in(where.state / "installs"):
        path = where.state / "installs" / name / "record.json"
        record, found = struct_or_none(path, Record, LARGEST_RECORD), stat_or_none(path)
        if record is None or found is None or install.name not in record.clients:
            continue
        at = min(int(found.st_mtime * 1000), first if first is not None else int(found.st_mtime * 1000))
        if record.path == user:
            everywhere = at
        for scope, place in install.hooks.items():
            if scope != "user" and not os.path.isabs(place) and record.path.endswith(f"/{place}"):
                folders[record.path.removesuffix(f"/{place}")] = at
    return everywhere, folders


def _first_decision(database: Database, client: str) -> int | None:
    sql = "SELECT MIN(at) FROM decisions WHERE client = ?"
    found = database.run(lambda tx: tx.rows(sql, client), only_reads=True)[0][0]
    return None if found is None else int(found)


def _cause(client: str, state: ClientState) -> tuple[str, str]:
    setup = f"run `snell setup {client.replace('_', '-')}`"
    if state.problem:
        return state.problem, "correct the file, then " + setup
    if state.off:
        return f"hooks are disabled: {state.off}", "change that setting"
    if state.unapproved:
        return f"the client's user has not approved the hooks: {state.unapproved}", "approve them in the client"
    missing = sorted({event for each in state.changes for event in _missing(each)})
    if missing:
        return f"not registered in the client's settings: {', '.join(missing)}", setup
    if state.installed in ("no", "outdated"):
        return "the client's settings are not as set-up writes them", setup
    return "", ""


def _missing(change: Change) -> set[str]:
    """Return the events that set-up would register, in a file that can be read."""
    return registered_events(change.after, change.file) - registered_events(change.before, change.file)


def _registered_by_set_up(client: str, state: ClientState) -> frozenset[str]:
    named = {event for each in state.changes for event in registered_events(each.after, each.file)}
    return frozenset(canonical_event(client_named(client), event) for event in named)
