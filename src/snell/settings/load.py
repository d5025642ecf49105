"""Load and merge all settings for one working directory: hooks, switches, values and problems."""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from snell.model.context import HandlerSettings, McpServer, ModelSettings
from snell.model.hooks import Hook, PythonFile, Switches
from snell.settings.effective_values import ADDED_POLICY, effective_values, switches
from snell.settings.file_digests import FileDigests
from snell.settings.file_watch import FileStamp, stamp_of, watch_file
from snell.settings.locate import Located, SettingsFile, locate, project_at, with_imports
from snell.settings.parse_types import Parsed, PythonSource, Value
from snell.settings.pause import Pause, current_pause, pause_file
from snell.settings.pins import pins_file, pins_of, read_pins
from snell.settings.plugins import PackSource, folders_in, read_pack_folder
from snell.settings.problems import Problem
from snell.settings.read_file import read_file
from snell.settings.unreadable_policy import failing_hooks, failing_hooks_of_layer
from snell.system.paths import POLICY_FILE, Places

HALF_WRITTEN = 2_000_000_000  # nanoseconds for which an empty file may be about to be written


class Loaded(Struct, frozen=True):
    """The settings for one working directory."""

    hooks: tuple[Hook, ...] = ()  # in execution order
    switches: Switches = Switches()
    problems: tuple[Problem, ...] = ()
    values: tuple[Value, ...] = ()  # every setting and its origin
    python: tuple[PythonSource, ...] = ()
    packs: tuple[PackSource, ...] = ()
    files: tuple[FileStamp, ...] = ()
    project_root: str = ""
    is_trusted: bool = False  # the user approved something of this project
    trusts_notes: bool = False  # the user approved its LOCAL.md
    pause: Pause | None = None

    def value(self, name: str) -> Any:
        """Return the effective value of a setting."""
        return {value.name: value.value for value in self.values}[name]

    def handler_settings(self, places: Places) -> HandlerSettings:
        """Return the settings of handlers: the model to ask, hosts that webhooks may call, MCP servers."""
        values = {value.name: value.value for value in self.values}
        servers = values.get("mcp_servers") or {}
        return HandlerSettings(
            model=ModelSettings(**(values.get("model") or {})),
            webhook_hosts=tuple(values.get("webhook_hosts") or ()),
            mcp_servers={name: McpServer(**server) for name, server in servers.items()},
            config=str(places.config),
            state=str(places.state),
        )


def load(
    places: Places,
    cwd: Path,
    env: Mapping[str, str],
    *,
    policy_files: Sequence[Path] = (POLICY_FILE,),
    digests: FileDigests | None = None,
    readable: dict[str, Parsed] | None = None,
) -> Loaded:
    """
    Load all settings for a working directory. Never raises for the content of a file; see `problems`.

    `readable` keeps the last readable content of each user file: a file that is half written, or has a mistake, must
    not disable the user's guards.
    """
    found = locate(places, cwd, env, policy_files)
    collected = _Collected(files=_stamps(found, places))
    _load_policy(found, collected)
    _load_user(found, collected, {} if readable is None else readable)
    _load_packs(collected)
    _load_project(found, collected, places, cwd, env, digests or FileDigests())
    pause = _load_pause(collected, places)
    return Loaded(
        hooks=tuple(_with_unique_ids(collected.hooks)),
        switches=replace(switches(collected.values), paused=str(pause) if pause else ""),
        problems=tuple(collected.problems),
        values=effective_values(collected.values),
        python=tuple(collected.python),
        packs=tuple(collected.packs),
        files=tuple(collected.files.values()),
        project_root=str(found.project.root) if found.project else collected.trusted_folder,
        is_trusted=collected.is_trusted,
        trusts_notes=collected.trusts_notes,
        pause=pause,
    )


def imported_clients(values: Iterable[Value]) -> frozenset[str]:
    """Return the clients whose own hook files are imported."""
    named = {name for value in values if value.name == "import_hooks" for name in value.value}
    claude = any(value.name == "import_claude" and value.value for value in values)
    return frozenset(named | {"claude-code"} if claude else named)


class _Collected(Struct):
    files: dict[str, FileStamp]
    hooks: list[Hook] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    python: list[PythonSource] = field(default_factory=list)
    packs: list[PackSource] = field(default_factory=list)
    is_trusted: bool = False
    trusts_notes: bool = False
    trusted_folder: str = ""  # a project without a `.snell` folder that the user approved

    @property
    def extra_events(self) -> frozenset[str]:
        return frozenset(name for value in self.values if value.name == "extra_events" for name in value.value)

    def take(self, parsed: Parsed) -> None:
        self.hooks += [each.hook for each in parsed.declared]
        # Files of a project are watched with its other files, because their digests were approved.
        handlers = (each.hook.handler for each in parsed.declared)
        self.watch(watch_file(each.path) for each in handlers if isinstance(each, PythonFile))
        self.values += parsed.values
        self.problems += parsed.problems

    def watch(self, files: Iterable[FileStamp]) -> None:
        for file in files:
            self.files.setdefault(file.path, file)


def _stamps(found: Located, places: Places) -> dict[str, FileStamp]:
    """Return the stamps of all files, from before they are read, so that a later change is noticed."""
    files = [*found.policy, *found.user, *(found.project.settings if found.project else ())]
    paths: list[Path] = [file.path for file in files]
    paths += [*found.looked_for, pins_file(places), pause_file(places)]
    if found.project:
        paths += [found.project.root / ".snell" / "hooks", *found.project.python]
    return {str(path): watch_file(path) for path in paths}


def _load_policy(found: Located, collected: _Collected) -> None:
    has_own = any(os.path.lexists(file.path) for file in found.policy if not file.is_added)
    for file in found.policy:
        parsed = read_file(file, collected.extra_events)
        if file.is_added and has_own:
            values = tuple(replace(value, layer=ADDED_POLICY) for value in parsed.values)
            parsed = replace(parsed, values=values)
        collected.take(parsed)
        collected.hooks += failing_hooks(parsed.faults, str(file.path))


def _load_user(found: Located, collected: _Collected, readable: dict[str, Parsed]) -> None:
    for file in found.user:
        parsed = _as_last_readable(read_file(file, collected.extra_events), file.path, readable, collected)
        collected.take(parsed)
        collected.hooks += failing_hooks_of_layer(parsed.faults, str(file.path), file.layer)
    wanted = imported_clients(collected.values)
    for file in found.imported:
        if file.layer.partition(":")[0] in wanted:
            collected.watch(watch_file(path) for path in _with_folder(file))
            collected.take(read_file(file, collected.extra_events))


def _as_last_readable(parsed: Parsed, at: Path, readable: dict[str, Parsed], collected: _Collected) -> Parsed:
    path = str(at)
    earlier = readable.get(path)
    if not any(fault.is_file for fault in parsed.faults):
        if earlier and _is_just_emptied(at):
            collected.files[path] = replace(
                collected.files[path], is_settled=False
            )  # so that it is read again each time
            return earlier
        readable[path] = parsed
        return parsed
    if earlier is None:
        return parsed
    advice = "correct it; its last readable content is used until then"
    problems = (replace(problem, advice=advice) for problem in parsed.problems)
    return replace(earlier, problems=tuple(problems))


def _is_just_emptied(path: Path) -> bool:
    """Whether a file was emptied a moment ago: many programs empty a file before they write it."""
    stamp = stamp_of(path)
    return stamp is not None and stamp[2] == 0 and 0 <= time.time_ns() - stamp[0] < HALF_WRITTEN


def _load_packs(collected: _Collected) -> None:
    """Load the folders in `packs` of policy and user; those of a project are loaded with the project."""
    for value in [value for value in collected.values if value.name == "packs"]:
        for folder in folders_in(value):
            pack = read_pack_folder(folder, value, collected.extra_events)
            collected.watch(pack.files)
            collected.packs += [pack.source] if pack.source else []
            for parsed in pack.parsed:
                collected.take(replace(parsed, values=()))


def _load_project(
    found: Located, collected: _Collected, places: Places, cwd: Path, env: Mapping[str, str], digests: FileDigests
) -> None:
    if not found.project:
        _load_trusted_folder(found, collected, places)
        return
    from snell.settings.project_trust import approved_content, unapproved_project
    from snell.settings.trust_items import ItemReader  # slow to import, and not needed outside of projects

    pins, problem = read_pins(places)
    collected.problems += [problem] if problem else []
    project = with_imports(found.project, imported_clients(collected.values))
    collected.watch(watch_file(path) for file in project.settings if file.is_foreign for path in _with_folder(file))
    item_reader = ItemReader(project, digests, env)
    approved = pins_of(pins, project.root, project.identity)
    if approved:
        collected.is_trusted = True
        collected.trusts_notes = item_reader.notes_item().digest in approved.approved
        content = approved_content(item_reader, approved, Path(os.path.realpath(cwd)), collected.extra_events)
    else:
        content = unapproved_project(item_reader)
    collected.hooks += content.hooks
    collected.values += content.values
    collected.python += content.python
    collected.problems += content.problems
    collected.watch(content.files)


def _load_trusted_folder(found: Located, collected: _Collected, places: Places) -> None:
    """Find a folder without settings whose notes the user trusts."""
    pins, problem = read_pins(places)
    collected.problems += [problem] if problem else []
    for folder in (path.parent for path in found.looked_for):
        if str(folder) in pins.projects and pins_of(pins, folder, project_at(folder).identity):
            collected.is_trusted, collected.trusted_folder = True, str(folder)
            collected.trusts_notes = True  # such a folder has nothing else to approve
            return


def _load_pause(collected: _Collected, places: Places) -> Pause | None:
    """Report an active pause as a problem, so that each explanation of a decision shows it."""
    pause = current_pause(places)
    if pause:
        message = f"{pause}: only policy hooks run"
        advice = "end the pause with `snell pause --end`"
        collected.problems.append(Problem(str(pause_file(places)), 1, message, advice, "warning"))
    return pause


def _with_folder(file: SettingsFile) -> tuple[Path, ...]:
    """Return the file, and its folder when all files of the folder are read."""
    return (file.path, file.path.parent) if file.path.parent.name == "hooks" else (file.path,)


def _with_unique_ids(hooks: list[Hook]) -> list[Hook]:
    """Sort hooks by execution order and make their ids unique, since `once` is recorded by id."""
    taken: set[str] = set()
    result = []
    for hook in sorted(hooks, key=lambda hook: hook.scope):
        names = chain([hook.id], (f"{hook.id}#{number}" for number in count(2)))
        own = next(name for name in names if name not in taken)
        taken.add(own)
        result.append(hook if own == hook.id else replace(hook, id=own))
    return result
