"""
Setting clients up: who is here, what would be written, and whether it is.

Nothing here writes; `install_files` does, and only for a person at a terminal. The library's way in is `generate`,
which describes one client's whole set-up as data.
"""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from snell.clients import ALIASES, CLIENTS, client_named
from snell.clients.installs import install_names, install_of
from snell.model.errors import ClientError, SetupError
from snell.model.installs import SCOPES, Block, FileEdit, Install, SetupScope, Wrapped
from snell.model.protocols import Capabilities
from snell.settings.snell_commands import is_fail_closed
from snell.setup.apply_edits import put_in
from snell.setup.config_formats import Programs, hook_files, mcp_file, with_rewakes
from snell.setup.rules_text import RULES
from snell.system.files import FileError, read_capped
from snell.system.paths import home_directory

LONGEST_FILE = 32 * 1024 * 1024  # some clients keep their whole history beside their settings
WORKTREE_EVENTS = ("WorktreeCreate", "WorktreeRemove")


class Options(Struct, frozen=True, kw_only=True):
    """What a person can choose. None = as fits the client."""

    scope: SetupScope = "user"
    session_start: bool = True
    mcp: bool | None = None
    rules: bool | None = None
    status_line: bool = True
    worktrees: bool = False  # does a hook make them?
    rewakes: tuple[str, ...] = ()  # the events on which a hook may wake the agent later
    fail_closed: bool = False  # kept, too, by what was set up so before


class Site(Struct, frozen=True):
    """The machine that is set up."""

    home: Path
    project: Path
    programs: Programs
    env: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def here(cls, env: Mapping[str, str], project: Path) -> "Site":
        return cls(home_directory(env), project, our_programs(env), env)


class Found(Struct, frozen=True):
    """What shows that a client is on this machine."""

    programs: tuple[str, ...] = ()  # by path; several versions give several
    folders: tuple[str, ...] = ()

    @property
    def is_here(self) -> bool:
        return bool(self.programs or self.folders)


def find_install(name: object) -> Install:
    """The set-up of a client by its name or alias, whatever its case, blanks and dashes; callers come from outside."""
    if not isinstance(name, str) or not name.strip():
        raise ClientError(f"`{name}` is no client's name", advice=f"known are {', '.join(known_clients())}")
    folded = _folded(name)
    known = {_folded(alias): client for alias, client in ALIASES.items()}
    return install_of(known.get(folded, folded))


def capabilities_of(install: Install) -> Capabilities:
    """What the client can do with our answers; one without an adapter has no hooks."""
    return (
        client_named(install.name).CAPABILITIES if install.name in CLIENTS else Capabilities(hooks=bool(install.form))
    )


def generate(
    client: str,
    *,
    include_session_start: bool = True,
    include_mcp_config: bool = True,
    scope: SetupScope = "user",
    site: Site | None = None,
) -> dict[str, Any]:
    """One client's whole set-up as data, by its name or alias; nothing is written."""
    install, site = find_install(client), site or Site.here(os.environ, Path.cwd())
    if scope not in SCOPES:
        raise SetupError(f"there is no scope `{scope}`", advice=f"it is one of {', '.join(SCOPES)}")
    files = plan(install, Options(scope=scope, session_start=include_session_start, mcp=include_mcp_config), site)
    return {
        "client": install.name.replace("_", "-"),
        "paths": {file.purpose: file.path for file in reversed(files)},
        "capabilities": msgspec.to_builtins(capabilities_of(install)) | {"hook_format": install.form or "none"},
        "hooks": build_hooks(install, site, include_session_start=include_session_start, scope=scope),
        "mcp_config": build_mcp_config(install, site, scope=scope) if include_mcp_config else None,
        "instructions": build_instructions(install),
    }


def build_hooks(install: Install, site: Site, *, include_session_start: bool = True, scope: SetupScope = "user") -> Any:
    """
    The hooks alone, as the client's file would hold them; None for a client without hooks. What is more than one file,
    or a program, comes as contents by path.
    """
    options = Options(scope=scope, session_start=include_session_start, status_line=False)
    files = _hook_files(install, options, site) if install.form else []
    contents = {file.path: _content(put_in(None, file)) for file in files}
    only = next(iter(contents.values()), None) if len(contents) < 2 else contents
    return contents if isinstance(only, str) else only


def _content(data: bytes) -> Any:
    """A file as data where it is data, else its text."""
    for decode in (msgspec.json.decode, msgspec.toml.decode):
        with suppress(msgspec.DecodeError):
            return decode(data)
    return data.decode()


def build_mcp_config(install: Install, site: Site, *, scope: SetupScope = "user") -> Any:
    """The entry of our MCP server alone, nested as the client wants it; None for a client that has no MCP."""
    path = _place(install, install.mcp, scope, site)
    if not path:
        return None
    edit: Any = mcp_file(install, path, _programs(scope, site)).edits[0]
    value = edit.value
    for name in reversed(edit.at):
        value = {name: value}
    return value


def build_instructions(install: Install) -> str:
    """The rules text, and below it what a person has to do."""
    steps = "".join(f"\n- {step}" for step in (*install.after, *install.remarks))
    return f"{RULES.strip()}\n\nAfter set-up:\n{steps}" if steps else RULES.strip()


def plan(install: Install, options: Options, site: Site) -> list[FileEdit]:
    """Every file that setting this client up touches, one entry each."""
    files = _hook_files(install, options, site) if install.form else []
    wants_mcp = options.mcp if options.mcp is not None else not install.form
    if wants_mcp and (file := planned_mcp(install, options.scope, site)):
        files.append(file)
    wants_rules = options.rules if options.rules is not None else not install.form
    if wants_rules and (path := _place(install, install.rules, options.scope, site)):
        files.append(FileEdit(path, "markdown", (Block(RULES),), "rules"))
    if options.status_line and (path := _place(install, install.status_line, options.scope, site)):
        files.append(FileEdit(path, install.format, _status_line(site.programs), "status line"))
    return _joined(files)


def planned_mcp(install: Install, scope: SetupScope, site: Site) -> FileEdit | None:
    """The file in which this client looks for MCP servers, with ours; None where it has none at this scope."""
    path = _place(install, install.mcp, scope, site)
    return mcp_file(install, path, _programs(scope, site)) if path else None


def find(install: Install, site: Site) -> Found:
    """Look for the client's programs on PATH and for its folders."""
    path = site.env.get("PATH", "")
    programs = [
        os.path.join(folder, name)
        for name in install.programs
        for folder in path.split(os.pathsep)
        if folder and shutil.which(name, path=folder)
    ]
    real = {os.path.realpath(program): program for program in reversed(programs)}
    folders = [expand_path(install, folder, site) for folder in install.folders]
    return Found(tuple(sorted(real.values())), tuple(folder for folder in folders if os.path.exists(folder)))


def find_installed_clients(site: Site) -> list[Install]:
    """The clients on this machine."""
    installs = [install_of(name) for name in install_names()]
    return [install for install in installs if find(install, site).is_here]


def our_programs(env: Mapping[str, str]) -> Programs:
    """`snell-hook` and `snell`: those that came with this Python, else those on PATH."""
    beside = Path(sys.executable).parent
    is_windows = sys.platform == "win32"
    places = [str(beside), env.get("PATH", "")]
    shim, snell = (
        next((found for path in places if (found := shutil.which(name, path=path))), "")
        for name in ("snell-hook", "snell")
    )
    if not shim:
        advice = "install Snell with pip, and run its own `snell`"
        raise SetupError("`snell-hook` is neither beside this Python nor on PATH", advice=advice)
    on_path = bool(shutil.which("snell-hook", path=env.get("PATH", "")))
    return Programs(os.path.abspath(shim), os.path.abspath(snell or beside / "snell"), is_windows, on_path)


def check_scope(install: Install, scope: SetupScope) -> None:
    """Raises SetupError where this client has nothing at this scope."""
    places = (install.hooks, install.mcp, install.rules)
    if not any(scope in each for each in places):
        known = sorted({each for place in places for each in place})
        advice = f"use --scope {' or '.join(known)}" if known else "; ".join(install.after)
        raise SetupError(f"{install.title} has no {scope} configuration that set-up could write", advice=advice)


def known_clients() -> Sequence[str]:
    """The names that `snell setup` takes."""
    return [name.replace("_", "-") for name in install_names()]


def _folded(name: str) -> str:
    return "_".join(name.lower().replace("-", " ").replace("_", " ").split())


def _hook_files(install: Install, options: Options, site: Site) -> list[FileEdit]:
    path = _place(install, install.hooks, options.scope, site)
    if not path:
        return []
    left_out = () if options.session_start else install.session_start
    events = [event for event in install.events if event not in left_out]
    if options.worktrees and install.name == "claude_code":
        events += WORKTREE_EVENTS
    programs = _programs(options.scope, site)
    if options.fail_closed or any(_is_closed(file) for file in hook_files(install, path, events, programs)):
        programs = replace(programs, fails_closed=True)
    files = hook_files(install, path, events, programs)
    return with_rewakes(install, files, [event for event in events if event in options.rewakes], programs)


def _programs(scope: SetupScope, site: Site) -> Programs:
    """A project's files are committed, and where Snell is on this machine is nothing to others."""
    return site.programs.for_shared_file() if scope == "project" else site.programs


def _is_closed(file: FileEdit) -> bool:
    """Was it set up to refuse what cannot be checked? Setting up again must not loosen that."""
    try:
        return is_fail_closed(read_capped(Path(file.path), LONGEST_FILE))
    except (OSError, FileError):
        return False


def _status_line(programs: Programs) -> tuple[Wrapped, ...]:
    line, line_test = programs.display("statusline")
    files, files_test = programs.display("suggest-files")
    return (
        Wrapped(("statusLine",), line, test=line_test),
        Wrapped(("fileSuggestion",), files, only_existing=True, test=files_test),
    )


def _joined(files: Sequence[FileEdit]) -> list[FileEdit]:
    """One entry per file: two edits of one file are one write."""
    by_path: dict[str, FileEdit] = {}
    for file in files:
        old = by_path.get(file.path)
        if old is None:
            by_path[file.path] = file
        else:
            purpose = f"{old.purpose}, {file.purpose}"
            by_path[file.path] = msgspec.structs.replace(old, edits=(*old.edits, *file.edits), purpose=purpose)
    return list(by_path.values())


def _place(install: Install, places: Mapping[str, str], scope: SetupScope, site: Site) -> str:
    found = places.get(scope)
    return expand_path(install, found, site) if found else ""


def expand_path(install: Install, path: str, site: Site) -> str:
    """A path of a client's, as it is on this machine."""
    moved = site.env.get(install.base_variable, "") if install.base_variable else ""
    if moved and not os.path.isabs(moved):
        raise SetupError(f"{install.base_variable} is `{moved}`, which is not an absolute path", advice="give it whole")
    if moved and path == "~/.claude.json":
        return os.path.join(moved, ".claude.json")  # this one moves into the folder
    path = path.replace("{base}", moved or install.base)
    config = site.env.get("XDG_CONFIG_HOME", "")
    if path.startswith("~/.config/") and os.path.isabs(config):  # where else these clients look, they look there
        return os.path.join(config, path.removeprefix("~/.config/"))
    if path.startswith("~/"):
        return str(site.home / path[2:])
    return path if os.path.isabs(path) else str(site.project / path)


__all__ = [
    "ClientError",
    "Options",
    "Site",
    "build_hooks",
    "build_instructions",
    "build_mcp_config",
    "capabilities_of",
    "expand_path",
    "find",
    "find_install",
    "find_installed_clients",
    "generate",
    "plan",
]
