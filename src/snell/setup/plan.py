"""
Find the clients on this machine, and plan the files that set-up writes for each.

Nothing here writes files; `file_changes` does. `generate` returns the complete set-up of one client as data.
"""

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from snell.clients import canonical_event, client_named, client_names
from snell.model.catalogue import row_of
from snell.model.errors import ClientError, SetupError
from snell.model.installs import SCOPES, FileEdit, Install, SetupScope, TextBlock, WrappedCommand
from snell.model.protocols import tier_of
from snell.settings.load import load
from snell.settings.snell_commands import is_fail_closed
from snell.setup.apply_edits import insert_edits, is_snell_file
from snell.setup.client_choices import Choices, abilities, choices_in, with_choices
from snell.setup.config_formats import Programs, command_file, hook_files, mcp_file
from snell.system.files import FileError, bytes_or_none, read_capped
from snell.system.paths import home_directory, places

LONGEST_FILE = 32 * 1024 * 1024  # some clients keep their history in the same file as their settings
_VERSION = re.compile(r"\d+(?:\.\d+)+")
# One text for all clients: several of them read the same file.
RULES_FILE = Path(__file__).with_name("rules.md")


class Options(Struct, frozen=True, kw_only=True):
    """What the user can choose. None: the default for the client."""

    scope: SetupScope = "user"
    session_start: bool = True
    mcp: bool | None = None
    rules: bool | None = None
    status_line: bool = True
    command: bool = False  # `/harness`
    wanted: frozenset[str] = frozenset()  # Snell's names of the events that active hooks are for
    rewakes: tuple[str, ...] = ()  # events whose hooks may wake the agent later
    fail_closed: bool = False  # set-up never switches it off; only uninstalling does


class Site(Struct, frozen=True):
    """The machine and the project that are set up."""

    home: Path
    project: Path
    programs: Programs
    env: Mapping[str, str] = field(default_factory=dict)
    choices: Choices = field(default_factory=Choices)

    @classmethod
    def here(cls, env: Mapping[str, str], project: Path) -> "Site":
        """Return this machine. Raises SetupError if `snell-hook` is not installed."""
        home, programs = home_directory(env), our_programs(env)
        return cls(home, project, programs, env, choices_in(load(places(env), project, env).values))


class FoundClient(Struct, frozen=True):
    """The programs and folders that show that a client is on this machine."""

    programs: tuple[str, ...] = ()  # paths; several if several versions are installed
    folders: tuple[str, ...] = ()

    @property
    def is_here(self) -> bool:
        return bool(self.programs or self.folders)


def find_install(name: object, choices: Choices = Choices()) -> Install:  # noqa: B008 - frozen
    """Return the set-up of a client by its name or alias. Raises ClientError; callers pass what users typed."""
    if not isinstance(name, str) or not name.strip():
        known = ", ".join(client_names()).replace("_", "-")
        raise ClientError(f"`{name}` is not a client's name", advice=f"known clients: {known}")
    return with_choices(client_named(choices.client_for(name)).install, choices)


def generate(
    client: str | Install,
    *,
    include_session_start: bool = True,
    include_mcp_config: bool = True,
    scope: SetupScope = "user",
    site: Site | None = None,
) -> dict[str, Any]:
    """Return the complete set-up of a client, by its name or alias, as data; nothing is written."""
    site = site or Site.here(os.environ, Path.cwd())
    install = client if isinstance(client, Install) else find_install(client, site.choices)
    if scope not in SCOPES:
        raise SetupError(f"unknown scope `{scope}`", advice=f"use one of {', '.join(SCOPES)}")
    files = plan(install, Options(scope=scope, session_start=include_session_start, mcp=include_mcp_config), site)
    form, can = install.form, abilities(install)
    return {
        "client": install.name.replace("_", "-"),
        "paths": {file.purpose: file.path for file in reversed(files)},
        "capabilities": {
            **msgspec.to_builtins(can),
            "tier": tier_of(can),
            "hook_format": form.name if form else "none",
        },
        "hooks": build_hooks(install, site, include_session_start=include_session_start, scope=scope),
        "mcp_config": build_mcp_config(install, site, scope=scope) if include_mcp_config else None,
        "instructions": build_instructions(install),
    }


def build_hooks(install: Install, site: Site, *, include_session_start: bool = True, scope: SetupScope = "user") -> Any:
    """
    Return the hooks as the client's file would hold them; None for a client without hooks.

    Several files, and files that are not data, are returned as contents by path.
    """
    options = Options(scope=scope, session_start=include_session_start, status_line=False)
    files = _hook_files(install, options, site) if install.form else []
    contents = {file.path: _content(insert_edits(None, file)) for file in files}
    only = next(iter(contents.values()), None) if len(contents) < 2 else contents
    return contents if isinstance(only, str) else only


def _content(data: bytes) -> Any:
    """Return JSON and TOML as data, anything else as text."""
    for decode in (msgspec.json.decode, msgspec.toml.decode):
        with suppress(msgspec.DecodeError):
            return decode(data)
    return data.decode()


def build_mcp_config(install: Install, site: Site, *, scope: SetupScope = "user") -> Any:
    """Return the entry of Snell's MCP server, nested as in the client's file; None for a client without MCP."""
    file = planned_mcp(install, scope, site)
    if file is None:
        return None
    edit: Any = file.edits[0]
    value = edit.value
    for name in reversed(edit.at):
        value = {name: value}
    return value


def build_instructions(install: Install) -> str:
    """Return the rules text, and below it what the user has to do after set-up."""
    steps = "".join(f"\n- {step}" for step in (*install.after, *install.remarks))
    rules = RULES_FILE.read_text(encoding="utf-8").strip()
    return f"{rules}\n\nAfter set-up:\n{steps}" if steps else rules


def plan(install: Install, options: Options, site: Site) -> list[FileEdit]:
    """Return the edits of every file that set-up changes for this client, one entry for each file."""
    files = _hook_files(install, options, site) if install.form else []
    wants_mcp = options.mcp if options.mcp is not None else not install.form
    if wants_mcp and (file := planned_mcp(install, options.scope, site)):
        files.append(file)
    wants_rules = options.rules if options.rules is not None else not install.form
    if wants_rules and (path := _path_at(install, install.rules, options.scope, site)):
        files.append(FileEdit(path, "markdown", (TextBlock(RULES_FILE.read_text(encoding="utf-8")),), "rules"))
    if options.status_line and (path := _path_at(install, install.status_line, options.scope, site)):
        files.append(FileEdit(path, install.format, _status_line(site.programs), "status line"))
    command = _path_at(install, install.command, options.scope, site) if options.command else ""
    if command and not _is_foreign(Path(command)):
        files.append(command_file(install, command))
    return _join_by_path(files)


def _is_foreign(path: Path) -> bool:
    """Return whether a file that Snell did not write is here, such as the user's own command of this name."""
    data = bytes_or_none(path, LONGEST_FILE)
    return path.exists() if data is None else not is_snell_file(data)


def planned_mcp(install: Install, scope: SetupScope, site: Site) -> FileEdit | None:
    """Return the edit that adds Snell's MCP server; None if the client has no MCP file at this scope."""
    path = _path_at(install, install.mcp, scope, site)
    return mcp_file(install, path, _programs(scope, site)) if path else None


def find_client(install: Install, site: Site) -> FoundClient:
    """Look for the client's programs on PATH, and for its folders."""
    path = site.env.get("PATH", "")
    programs = [
        os.path.join(folder, name)
        for name in install.programs
        for folder in path.split(os.pathsep)
        if folder and shutil.which(name, path=folder)
    ]
    real = {os.path.realpath(program): program for program in reversed(programs)}
    folders = [expand_path(install, folder, site) for folder in install.folders]
    return FoundClient(tuple(sorted(real.values())), tuple(folder for folder in folders if os.path.exists(folder)))


def find_installed_clients(site: Site) -> list[Install]:
    """Return the clients on this machine."""
    installs = [with_choices(client_named(name).install, site.choices) for name in client_names()]
    return [install for install in installs if find_client(install, site).is_here]


def our_programs(env: Mapping[str, str]) -> Programs:
    """Return `snell-hook` and `snell`: those of this Python's environment, else those on PATH."""
    beside = Path(sys.executable).parent
    is_windows = sys.platform == "win32"
    places = [str(beside), env.get("PATH", "")]
    shim, snell = (
        next((found for path in places if (found := shutil.which(name, path=path))), "")
        for name in ("snell-hook", "snell")
    )
    if not shim:
        advice = "install Snell again, and run the `snell` of that installation"
        raise SetupError(f"`snell-hook` is neither in `{beside}` nor on PATH", advice=advice)
    on_path = bool(shutil.which("snell-hook", path=env.get("PATH", "")))
    return Programs(os.path.abspath(shim), os.path.abspath(snell or beside / "snell"), is_windows, on_path)


def check_scope(install: Install, scope: SetupScope) -> None:
    """Raise SetupError if set-up has nothing to write for this client at this scope."""
    places = (install.hooks, install.mcp, install.rules)
    if not any(scope in each for each in places):
        known = sorted({each for place in places for each in place})
        advice = f"use --scope {' or '.join(known)}" if known else "; ".join(install.after)
        raise SetupError(f"{install.title} has no {scope} configuration that set-up can write", advice=advice)


def _hook_files(install: Install, options: Options, site: Site) -> list[FileEdit]:
    path = _path_at(install, install.hooks, options.scope, site)
    if not path:
        return []
    events = planned_events(install, options, installed_version(find_client(install, site).programs))
    programs = _programs(options.scope, site)
    if options.fail_closed or any(_is_closed(file) for file in hook_files(install, path, events, programs)):
        programs = replace(programs, fails_closed=True)
    return hook_files(install, path, events, programs, options.rewakes)


def planned_events(install: Install, options: Options, version: tuple[int, ...] = ()) -> list[str]:
    """
    Return the events to register: all that this version of the client knows, so that a new hook counts at once.

    Some events are sent for every line on the screen, or change what the client does: they wait for a hook that wants
    them.
    """
    client, left_out = client_named(install.name), () if options.session_start else install.session_start
    known = [event for event in install.events if not version or numbers_in(install.since.get(event, "")) <= version]
    wanted = {"", *options.wanted}
    return [
        event
        for event in known
        if event not in left_out and row_of(canonical_event(client, event)).registered_for in wanted
    ]


def installed_version(programs: Sequence[str]) -> tuple[int, ...]:
    """Return the newest version of these programs, without running them; empty if their files do not show it."""
    return max((_version_at(Path(os.path.realpath(program))) for program in programs), default=())


def numbers_in(version: str) -> tuple[int, ...]:
    """Return the numbers of a version; empty if the text is none."""
    found = _VERSION.match(version)
    return tuple(int(each) for each in found[0].split(".")) if found else ()


def _version_at(program: Path) -> tuple[int, ...]:
    """Read the version of an npm package from its `package.json`, and others from a file name such as `2.1.325`."""
    for folder in program.parents[:3]:
        with suppress(OSError, FileError, msgspec.DecodeError):
            package = msgspec.json.decode(read_capped(folder / "package.json", LONGEST_FILE), type=dict[str, Any])
            return numbers_in(str(package.get("version")))
    return numbers_in(program.name)


def _programs(scope: SetupScope, site: Site) -> Programs:
    """Return the programs for this scope: in a project's files, which are committed, by name if it is on PATH here."""
    is_by_name = scope == "project" and site.programs.is_on_path
    return replace(site.programs, shim="snell-hook") if is_by_name else site.programs


def _is_closed(file: FileEdit) -> bool:
    """Return whether this file was set up with --fail-closed: a later set-up must not loosen that."""
    return is_fail_closed(bytes_or_none(Path(file.path), LONGEST_FILE) or b"")


def _status_line(programs: Programs) -> tuple[WrappedCommand, ...]:
    line, line_test = programs.display("statusline")
    files, files_test = programs.display("suggest-files")
    return (
        WrappedCommand(("statusLine",), line, test=line_test),
        WrappedCommand(("fileSuggestion",), files, only_existing=True, test=files_test),
    )


def _join_by_path(files: Sequence[FileEdit]) -> list[FileEdit]:
    """Return one entry for each file, so that several edits of one file are one write."""
    by_path: dict[str, FileEdit] = {}
    for file in files:
        old = by_path.get(file.path)
        if old is None:
            by_path[file.path] = file
        else:
            purpose = f"{old.purpose}, {file.purpose}"
            by_path[file.path] = msgspec.structs.replace(old, edits=(*old.edits, *file.edits), purpose=purpose)
    return list(by_path.values())


def _path_at(install: Install, places: Mapping[str, str], scope: SetupScope, site: Site) -> str:
    found = places.get(scope)
    return expand_path(install, found, site) if found else ""


def expand_path(install: Install, path: str, site: Site) -> str:
    """Return a path of a client's table as it is on this machine."""
    moved = site.env.get(install.base_variable, "") if install.base_variable else ""
    if moved and not os.path.isabs(moved):
        advice = "set it to an absolute path"
        raise SetupError(f"{install.base_variable} is `{moved}`, which is not an absolute path", advice=advice)
    if moved and path == "~/.claude.json":
        return os.path.join(moved, ".claude.json")  # with the variable, it is inside the folder
    path = path.replace("{base}", moved or install.base)
    config = site.env.get("XDG_CONFIG_HOME", "")
    if path.startswith("~/.config/") and os.path.isabs(config):  # these clients follow this variable
        return os.path.join(config, path.removeprefix("~/.config/"))
    if path.startswith("~/"):
        return str(site.home / path[2:])
    return path if os.path.isabs(path) else str(site.project / path)
