"""All settings that count for one working directory, merged: hooks, switches, values, and what is wrong."""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from snell.model.hooks import Hook, PythonFile, Switches
from snell.settings.effective_values import ADDED_POLICY, effective, switches
from snell.settings.file_digests import FileDigests
from snell.settings.file_watch import FileStamp, stamp_of, watch_file
from snell.settings.locate import Located, SettingsFile, locate, project_at, with_imports
from snell.settings.parse_types import Parsed, PythonSource, Value
from snell.settings.pause import Pause, current_pause, pause_file
from snell.settings.pins import pins_file, pins_of, read_pins
from snell.settings.plugins import PackSource, folders_in, read_pack
from snell.settings.problems import Problem
from snell.settings.read_file import read_file
from snell.settings.unreadable_policy import stand_in_guard_hooks, stand_in_hooks
from snell.system.paths import POLICY_FILE, Places

HALF_WRITTEN = 2_000_000_000  # nanoseconds for which a file that was emptied may still be about to be written


class Loaded(Struct, frozen=True):
    hooks: tuple[Hook, ...] = ()  # in book order
    switches: Switches = Switches()
    problems: tuple[Problem, ...] = ()
    values: tuple[Value, ...] = ()  # every setting, and where it comes from
    python: tuple[PythonSource, ...] = ()
    packs: tuple[PackSource, ...] = ()
    files: tuple[FileStamp, ...] = ()
    project_root: str = ""
    is_trusted: bool = False  # did a person approve what this project brings?
    trusts_notes: bool = False  # and its LOCAL.md?
    pause: Pause | None = None

    def value(self, name: str) -> Any:
        """The value that holds for a setting."""
        return {value.name: value.value for value in self.values}[name]


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
    Read everything that counts here. Never raises for what a file says; see `problems`.

    `readable` keeps what each of the user's files said when it could last be read: one that is half written, or has a
    mistake in it, must not switch its owner's guards off.
    """
    found = locate(places, cwd, env, policy_files)
    gathering = _Gathering(files=_watched(found, places))
    _take_policy(found, gathering)
    _take_user(found, gathering, {} if readable is None else readable)
    _take_packs(gathering)
    _take_project(found, gathering, places, cwd, env, digests or FileDigests())
    pause = _take_pause(gathering, places)
    return Loaded(
        hooks=tuple(_with_own_ids(gathering.hooks)),
        switches=replace(switches(gathering.values), paused=str(pause) if pause else ""),
        problems=tuple(gathering.problems),
        values=effective(gathering.values),
        python=tuple(gathering.python),
        packs=tuple(gathering.packs),
        files=tuple(gathering.files.values()),
        project_root=str(found.project.root) if found.project else gathering.trusted_folder,
        is_trusted=gathering.is_trusted,
        trusts_notes=gathering.trusts_notes,
        pause=pause,
    )


def imports(values: Iterable[Value]) -> frozenset[str]:
    """The clients whose own hook files count here too."""
    named = {name for value in values if value.name == "import_hooks" for name in value.value}
    claude = any(value.name == "import_claude" and value.value for value in values)
    return frozenset(named | {"claude-code"} if claude else named)


class _Gathering(Struct):
    files: dict[str, FileStamp]
    hooks: list[Hook] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    python: list[PythonSource] = field(default_factory=list)
    packs: list[PackSource] = field(default_factory=list)
    is_trusted: bool = False
    trusts_notes: bool = False
    trusted_folder: str = ""  # a project without a `.snell` folder that a person approved

    @property
    def extra_events(self) -> frozenset[str]:
        return frozenset(name for value in self.values if value.name == "extra_events" for name in value.value)

    def take(self, parsed: Parsed) -> None:
        self.hooks += [each.hook for each in parsed.declared]
        # Those of a project are watched with its other files: they count only as they were approved.
        handlers = (each.hook.handler for each in parsed.declared)
        self.watch(watch_file(each.path) for each in handlers if isinstance(each, PythonFile))
        self.values += parsed.values
        self.problems += parsed.complaints

    def watch(self, files: Iterable[FileStamp]) -> None:
        for file in files:
            self.files.setdefault(file.path, file)


def _watched(found: Located, places: Places) -> dict[str, FileStamp]:
    """Stamps are taken before anything is read, so that a change in between is noticed later."""
    files = [*found.policy, *found.user, *(found.project.settings if found.project else ())]
    paths: list[Path] = [file.path for file in files]
    paths += [*found.looked_for, pins_file(places), pause_file(places)]
    if found.project:
        paths += [found.project.root / ".snell" / "hooks", *found.project.python]
    return {str(path): watch_file(path) for path in paths}


def _take_policy(found: Located, gathering: _Gathering) -> None:
    has_own = any(os.path.lexists(file.path) for file in found.policy if not file.is_added)
    for file in found.policy:
        parsed = read_file(file, gathering.extra_events)
        if file.is_added and has_own:
            values = tuple(replace(value, layer=ADDED_POLICY) for value in parsed.values)
            parsed = replace(parsed, values=values)
        gathering.take(parsed)
        gathering.hooks += stand_in_hooks(parsed.faults, str(file.path))


def _take_user(found: Located, gathering: _Gathering, readable: dict[str, Parsed]) -> None:
    for file in found.user:
        parsed = _as_last_readable(read_file(file, gathering.extra_events), file.path, readable, gathering)
        gathering.take(parsed)
        gathering.hooks += stand_in_guard_hooks(parsed.faults, str(file.path), file.layer)
    wanted = imports(gathering.values)
    for file in found.imported:
        if file.layer.partition(":")[0] in wanted:
            gathering.watch(watch_file(path) for path in _with_folder(file))
            gathering.take(read_file(file, gathering.extra_events))


def _as_last_readable(parsed: Parsed, at: Path, readable: dict[str, Parsed], gathering: _Gathering) -> Parsed:
    path = str(at)
    earlier = readable.get(path)
    if not any(fault.is_file for fault in parsed.faults):
        if earlier and _is_just_emptied(at):
            gathering.files[path] = replace(gathering.files[path], is_settled=False)  # looked at again each time
            return earlier
        readable[path] = parsed
        return parsed
    if earlier is None:
        return parsed
    advice = "mend it; what it said before counts until then"
    complaints = (replace(complaint, advice=advice) for complaint in parsed.complaints)
    return replace(earlier, complaints=tuple(complaints))


def _is_just_emptied(path: Path) -> bool:
    """Many programs empty a file before they write it; one that stays empty was meant to be."""
    stamp = stamp_of(path)
    return stamp is not None and stamp[2] == 0 and 0 <= time.time_ns() - stamp[0] < HALF_WRITTEN


def _take_packs(gathering: _Gathering) -> None:
    """Folders that the policy and the user name; a project's own are looked at with the project."""
    for value in [value for value in gathering.values if value.name == "packs"]:
        for folder in folders_in(value):
            pack = read_pack(folder, value, gathering.extra_events)
            gathering.watch(pack.files)
            gathering.packs += [pack.source] if pack.source else []
            for parsed in pack.parsed:
                gathering.take(replace(parsed, values=()))


def _take_project(
    found: Located, gathering: _Gathering, places: Places, cwd: Path, env: Mapping[str, str], digests: FileDigests
) -> None:
    if not found.project:
        _take_trusted_folder(found, gathering, places)
        return
    from snell.settings.project_trust import approved_content, unapproved_project
    from snell.settings.trust_items import ItemReader  # slow to import, and not needed outside of projects

    pins, problem = read_pins(places)
    gathering.problems += [problem] if problem else []
    project = with_imports(found.project, imports(gathering.values))
    gathering.watch(watch_file(path) for file in project.settings if file.is_foreign for path in _with_folder(file))
    workshop = ItemReader(project, digests, env)
    approved = pins_of(pins, project.root, project.identity)
    if approved:
        gathering.is_trusted = True
        gathering.trusts_notes = workshop.notes_item().digest in approved.approved
        brought = approved_content(workshop, approved, Path(os.path.realpath(cwd)), gathering.extra_events)
    else:
        brought = unapproved_project(workshop)
    gathering.hooks += brought.hooks
    gathering.values += brought.values
    gathering.python += brought.python
    gathering.problems += brought.complaints
    gathering.watch(brought.files)


def _take_trusted_folder(found: Located, gathering: _Gathering, places: Places) -> None:
    """A project that brings nothing but notes has no settings to read; a person may trust it all the same."""
    pins, problem = read_pins(places)
    gathering.problems += [problem] if problem else []
    for folder in (path.parent for path in found.looked_for):
        if str(folder) in pins.projects and pins_of(pins, folder, project_at(folder).identity):
            gathering.is_trusted, gathering.trusted_folder = True, str(folder)
            gathering.trusts_notes = True  # it is all that such a folder can be trusted with
            return


def _take_pause(gathering: _Gathering, places: Places) -> Pause | None:
    """Whoever asks about a decision should see at once that most hooks were silent."""
    pause = current_pause(places)
    if pause:
        message = f"{pause}: only policy hooks run"
        advice = "`snell pause --end` ends that"
        gathering.problems.append(Problem(str(pause_file(places)), 1, message, advice, "warning"))
    return pause


def _with_folder(file: SettingsFile) -> tuple[Path, ...]:
    """Where every file of a folder counts, the folder is watched too."""
    return (file.path, file.path.parent) if file.path.parent.name == "hooks" else (file.path,)


def _with_own_ids(hooks: list[Hook]) -> list[Hook]:
    """Book order, and no two hooks of one name: what `once` has used up is kept by name."""
    taken: set[str] = set()
    result = []
    for hook in sorted(hooks, key=lambda hook: hook.scope):
        names = chain([hook.id], (f"{hook.id}#{number}" for number in count(2)))
        own = next(name for name in names if name not in taken)
        taken.add(own)
        result.append(hook if own == hook.id else replace(hook, id=own))
    return result
