"""Load and merge all settings for one working directory: hooks, switches, values and problems."""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from snell.model.context import HandlerSettings, McpServer, ModelSettings
from snell.model.hooks import Hook, Switches
from snell.settings.effective_values import ADDED_POLICY, effective_values, switches
from snell.settings.file_digests import FileDigests, FileStamp, watch_file
from snell.settings.locate import Located, SettingsFile, locate, project_at, with_imports
from snell.settings.parse import parse_file, read_file
from snell.settings.parse_types import Collected, PackSource, Parsed, ParseState, PythonSource, Value
from snell.settings.pause import Pause, current_pause, pause_file
from snell.settings.pins import Pins, pins_file, pins_of, read_pins
from snell.settings.plugins import folders_in, read_pack_folder
from snell.settings.unreadable_policy import failing_hooks
from snell.settings.value_tree import Problem
from snell.system.files import stamp_of
from snell.system.paths import POLICY_FILE, Places

PROFILES = Path(__file__).parent / "profiles"  # settings by the name of a profile; the first line describes it
PRESETS = ("observe", "balanced", "strict")  # the profiles that set-up offers
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
    trusts_mission: bool = False  # and its mission.json
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
    collected = Collected(files=_stamps(found, places))
    _load_policy(found, collected)
    _load_user(found, collected, {} if readable is None else readable)
    _load_packs(collected)
    _load_project(found, collected, places, cwd, env, digests or FileDigests())
    pause = _load_pause(collected, places)
    return Loaded(
        hooks=tuple(with_unique_ids(collected.hooks)),
        switches=_switches(found, collected, pause),
        problems=tuple(collected.problems),
        values=effective_values(collected.values),
        python=tuple(collected.python),
        packs=tuple(collected.packs),
        files=tuple(collected.files.values()),
        project_root=str(found.project.root) if found.project else collected.trusted_folder,
        is_trusted=collected.is_trusted,
        trusts_notes=collected.trusts_notes,
        trusts_mission=collected.trusts_mission,
        pause=pause,
    )


def _switches(found: Located, collected: Collected, pause: Pause | None) -> Switches:
    of_values = switches(collected.values)
    is_foreign = bool(found.project and found.project.has_content) and not collected.is_trusted
    only_policy = [value for value in effective_values(collected.values) if value.name == "untrusted_projects"]
    is_closed = is_foreign and only_policy[0].value == "policy"
    return replace(
        of_values,
        allow_managed_hooks_only=of_values.allow_managed_hooks_only or is_closed,
        paused=str(pause) if pause else "",
    )


def imported_clients(values: Iterable[Value]) -> frozenset[str]:
    """Return the clients whose own hook files are imported."""
    named = {name for value in values if value.name == "import_hooks" for name in value.value}
    claude = any(value.name == "import_claude" and value.value for value in values)
    return frozenset(named | {"claude-code"} if claude else named)


def _stamps(found: Located, places: Places) -> dict[str, FileStamp]:
    """Return the stamps of all files, from before they are read, so that a later change is noticed."""
    files = [*found.policy, *found.user, *(found.project.settings if found.project else ())]
    paths: list[Path] = [file.path for file in files]
    paths += [*found.looked_for, places.config / "hooks", *found.python, pins_file(places), pause_file(places)]
    if found.project:
        paths += [found.project.root / ".snell" / "hooks", *found.project.python]
    return {str(path): watch_file(path) for path in paths}


def _load_policy(found: Located, collected: Collected) -> None:
    has_own = any(os.path.lexists(file.path) for file in found.policy if not file.is_added)
    for file in found.policy:
        parsed = read_file(file, collected.extra_events)
        if file.is_added and has_own:
            values = tuple(replace(value, layer=ADDED_POLICY) for value in parsed.values)
            parsed = replace(parsed, values=values)
        collected.take(_with_profile(parsed))
        collected.hooks += failing_hooks(parsed.faults, str(file.path))


def _load_user(found: Located, collected: Collected, readable: dict[str, Parsed]) -> None:
    for file in found.user:
        parsed = _as_last_readable(read_file(file, collected.extra_events), file.path, readable, collected)
        collected.take(_without_hooks_after_error(_with_profile(parsed), collected.values))
        collected.hooks += failing_hooks(parsed.faults, str(file.path), file.layer)
    collected.python += [PythonSource(str(path), layer="user") for path in found.python]
    wanted = imported_clients(collected.values)
    for file in found.imported:
        if file.layer.partition(":")[0] in wanted:
            collected.watch(watch_file(path) for path in _with_folder(file))
            collected.take(read_file(file, collected.extra_events))


def _with_profile(parsed: Parsed) -> Parsed:
    """Return the content of a file, and the values of the profile that it names, over which all others win."""
    files = [PROFILES / f"{value.value}.toml" for value in parsed.values if value.name == "profile"]
    values = (value for file in files for value in parse_file(file, ParseState(str(file), "profile")).values)
    return replace(parsed, values=(*parsed.values, *values)) if files else parsed


def _without_hooks_after_error(parsed: Parsed, values: Iterable[Value]) -> Parsed:
    """With `after_error = "file"`, leave out all hooks of a file that has an entry which cannot be read."""
    is_wanted = any(value.name == "after_error" and value.value == "file" for value in (*values, *parsed.values))
    if not is_wanted or not parsed.faults or not parsed.declared:
        return parsed
    last = parsed.declared[-1].hook.source
    message = f"{len(parsed.declared)} other hooks of this file have no effect, because of `after_error`"
    return replace(parsed, declared=(), problems=(*parsed.problems, Problem(last.file, last.line, message)))


def _as_last_readable(parsed: Parsed, at: Path, readable: dict[str, Parsed], collected: Collected) -> Parsed:
    path = str(at)
    earlier = readable.get(path)
    if not any(fault.is_file for fault in parsed.faults):
        if earlier and _is_just_emptied(at):
            # Not settled, so that it is read again each time.
            collected.files[path] = replace(collected.files[path], is_settled=False)
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


def _load_packs(collected: Collected) -> None:
    """Load the folders in `packs` of policy and user; those of a project are loaded with the project."""
    for value in [value for value in collected.values if value.name == "packs"]:
        for folder in folders_in(value):
            pack = read_pack_folder(folder, value, collected.extra_events)
            collected.watch(pack.files)
            collected.packs += [pack.source] if pack.source else []
            for parsed in pack.parsed:
                collected.take(replace(parsed, values=()))


def _load_project(
    found: Located, collected: Collected, places: Places, cwd: Path, env: Mapping[str, str], digests: FileDigests
) -> None:
    pins, problem = read_pins(places)
    collected.problems += [problem] if problem else []
    if not found.project:
        _find_trusted_folder(found, collected, pins)
        return
    from snell.settings import project_trust  # slow to import, and not needed outside of projects

    project = with_imports(found.project, imported_clients(collected.values))
    collected.watch(watch_file(path) for file in project.settings if file.is_foreign for path in _with_folder(file))
    reader = project_trust.ItemReader(project, digests, env)
    if approved := pins_of(pins, project.root, project.identity):
        collected.is_trusted = True
        collected.trusts_notes, collected.trusts_mission = approved.has_notes, approved.has_mission
        project_trust.collect_approved(reader, approved, Path(os.path.realpath(cwd)), collected)
    else:
        project_trust.collect_unapproved(project, collected)


def _find_trusted_folder(found: Located, collected: Collected, pins: Pins) -> None:
    """Find a folder without settings whose notes, mission or skills the user trusts."""
    for folder in (path.parent for path in found.looked_for if str(path.parent) in pins.projects):
        project = project_at(folder)
        if approved := pins_of(pins, folder, project.identity):
            collected.is_trusted, collected.trusted_folder = True, str(folder)
            collected.trusts_notes, collected.trusts_mission = approved.has_notes, approved.has_mission
            return


def _load_pause(collected: Collected, places: Places) -> Pause | None:
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


def with_unique_ids(hooks: Iterable[Hook]) -> list[Hook]:
    """Sort hooks by execution order and make their ids unique, since marks (as for `once`) and traces go by them."""
    taken: set[str] = set()
    result = []
    for hook in sorted(hooks, key=lambda hook: hook.scope):
        names = chain([hook.id], (f"{hook.id}#{number}" for number in count(2)))
        own = next(name for name in names if name not in taken)
        taken.add(own)
        result.append(hook if own == hook.id else replace(hook, id=own))
    return result
