"""
Set up clients: find them, show the changes, ask, write, and print the next steps.

Only for a person at a terminal: a process that can change a client's hooks can disable its guards.
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from snell.cli.colours import Colours
from snell.cli.confirmation import confirm, is_agent, require_terminal_nearby
from snell.cli.diff_view import render_change
from snell.cli.memory_switch import ask_to_enable, disabling_file, file_for, is_answered, switch
from snell.model.errors import SetupError
from snell.model.installs import SCOPES, Install
from snell.settings.locate import home_of
from snell.setup.file_changes import Change, install, plan_change, uninstall
from snell.setup.plan import Options, Site, check_scope, find_install, find_installed_clients, generate
from snell.setup.plugin_folder import plugin_files, write_plugin
from snell.setup.status import ClientState, mcp_problem, names_mcp, removal_of, state_of, with_needed_options
from snell.system.paths import Places, places

EXAMPLE = "snell setup claude-code"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("client", nargs="*", help="the clients (default: all that are found on this machine)")
    parser.add_argument("--scope", choices=SCOPES, default="user", help="which configuration (default: user)")
    parser.add_argument("--print", action="store_true", help="only show the changes, write nothing")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--check", action="store_true", help="check whether it is installed and up to date (exit code 0 or 1)"
    )
    what.add_argument("--uninstall", action="store_true", help="remove everything Snell installed")
    what.add_argument("--plugin", metavar="DIR", help="write a Claude Code plugin into this folder instead")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--include-session-start", action="store_true", default=True, help=argparse.SUPPRESS)
    parser.add_argument(
        "--no-session-start",
        action="store_false",
        dest="include_session_start",
        help="do not install a hook for the start of sessions",
    )
    parser.add_argument(
        "--include-mcp",
        action=argparse.BooleanOptionalAction,
        help="also configure Snell's MCP server (default: only for clients without hooks)",
    )
    parser.add_argument(
        "--include-rules",
        action=argparse.BooleanOptionalAction,
        help="also write rules for the model (default: only for clients without hooks)",
    )
    parser.add_argument(
        "--memory",
        action=argparse.BooleanOptionalAction,
        help="enable or disable memory (default: ask; without a terminal: off)",
    )
    parser.add_argument("--no-status-line", action="store_true", help="do not change status line and file suggestion")
    parser.add_argument(
        "--fail-closed",
        action="store_true",
        help="deny tool calls that cannot be checked, even if Snell is missing; stays set until --uninstall",
    )
    parser.add_argument("--json", action="store_true", help="print the configuration as JSON")


def run(args: argparse.Namespace) -> int:
    env = dict(os.environ)
    where, site = places(env), Site.here(env, _project(env))
    if args.plugin:
        return _plugin(args, where, env)
    chosen = [find_install(name) for name in args.client]
    installs = list({each.name: each for each in chosen}.values()) or find_installed_clients(site)
    for each in chosen:
        check_scope(each, args.scope)
    if args.scope != "user" and os.path.realpath(site.project) == os.path.realpath(home_of(env)):
        advice = "change to a project, or use --scope user"
        raise SetupError(f"`{site.project}` is your home directory, not a project", advice=advice)
    if not installs:
        return _without_clients(args, where, site)
    options = _options(args, where, env)
    if args.json:
        return _json(args, installs, site)
    if args.uninstall:
        names = [each.name for each in installs]
        states = [removal_of(each, options, site, where, names) for each in installs]
    else:
        states = [state_of(each, options, site) for each in installs]
    if args.check:
        return _check(states)
    return _apply(args, states, where, site)


def _without_clients(args: argparse.Namespace, where: Places, site: Site) -> int:
    """Handle a machine without clients: only --memory takes effect, for clients that are installed later."""
    print("no client was found on this machine; `snell clients` lists the supported clients")
    is_look = args.print or args.check or args.json or args.uninstall
    return 0 if args.memory is not None and not is_look and _set_memory(args, where, site) else 1


def _apply(args: argparse.Namespace, states: Sequence[ClientState], where: Places, site: Site) -> int:
    """Show the changes, ask, write them and print the next steps."""
    env = site.env
    for state in states:
        _show(state)
    if not args.uninstall:
        _warn(args, states, site)
    wanted = [state for state in states if any(change.changes for change in state.changes)]
    has_problems = any(state.problem for state in states)
    if args.print:
        return 1 if has_problems else 0
    if not wanted and not args.uninstall:
        is_settled = _set_memory(args, where, site)
        has_nothing = bool(args.client) and not any(state.changes for state in states)
        is_well = not has_problems and not has_nothing and not any(state.off for state in states)
        print("everything is installed and up to date" if is_well else "nothing was changed")
        return 0 if is_well and is_settled else 1
    require_terminal_nearby(env, "changing a client's configuration")
    if wanted and not args.yes and not confirm("Remove these entries?" if args.uninstall else "Write these changes?"):
        print("nothing was changed")
        return 1
    touched: set[str] = set()
    failed = [state for state in states if not _write(args, state, where, touched)]
    is_settled = _set_memory(args, where, site)
    return 1 if has_problems or failed or not is_settled else 0


def _warn(args: argparse.Namespace, states: Sequence[ClientState], site: Site) -> None:
    """Warn about entries that will not work everywhere."""
    if args.scope == "project" and not site.programs.is_on_path:
        print("note: `snell-hook` is not on PATH, so these files contain a path that only exists on this machine")
    if any(names_mcp(change.file) for state in states for change in state.changes) and (problem := mcp_problem()):
        print(f"warning: the MCP server in these files cannot start: {problem}")


def _set_memory(args: argparse.Namespace, where: Places, site: Site) -> bool:
    """Ask about memory if needed and write the answer; return whether that succeeded."""
    env, scope = site.env, args.scope
    project = None if scope == "user" else site.project
    if args.uninstall or (args.memory is None and is_answered(where, env, project)):
        return True
    wanted = args.memory
    if wanted is None and not args.yes and not is_agent(env):
        wanted = ask_to_enable(scope, where, site.project, env)
    path = file_for(scope, where, site.project)
    if wanted is None:
        print(
            f"memory: off. To store decisions and findings of sessions (without secrets, in `{where.state}`), run"
            f" `snell setup --memory`, or set `enabled = true` under `[pack.remember]` in `{path}`"
        )
        return True
    require_terminal_nearby(env, "changing the memory setting")
    try:
        switch(path, on=wanted)
    except SetupError as error:
        print(error)
        return False
    trust = " after you approve it with `snell trust`" if scope != "user" else ""
    print(f"memory: {'on' if wanted else 'off'}{trust}, set in `{path}`")
    if wanted and not trust and (file := disabling_file(where, site.project, env)):
        print(f"memory: still off in `{site.project}`, because `{file}` disables it")
    return True


def _write(args: argparse.Namespace, state: ClientState, where: Places, touched: set[str]) -> bool:
    """Write one client's files; return False on an error, so that the other clients are still written."""
    if state.problem:
        return True
    try:
        for change in state.changes:
            _write_file(args, change, state.install.name, where, touched)
    except SetupError as error:
        print(f"{state.install.title}: not changed: {error}")
        return False
    print(f"{state.install.title}: {'removed' if args.uninstall else 'installed'}")
    for step in () if args.uninstall else state.install.after:
        print(f"  next: {step}")
    return True


def _write_file(args: argparse.Namespace, change: Change, client: str, where: Places, touched: set[str]) -> None:
    if args.uninstall:
        uninstall(change, client, where.state)
        return
    # Clients share files: plan again if this run has already written the file for another client.
    path = os.path.realpath(change.file.path)
    install(plan_change(change.file) if path in touched else change, client, where.state)
    touched.add(path)


def _check(states: Sequence[ClientState]) -> int:
    for state in states:
        words = _IN_WORDS.get(state.installed, state.installed)
        print(f"{state.install.title}: {words.format(client=state.install.name.replace('_', '-'))}")
        if state.problem:
            print(f"  {state.problem}")
        for change in state.changes:
            if change.changes:
                print(f"  {change.file.path}: {change.file.purpose} missing or out of date")
        if state.off:
            print(f"  hooks are disabled in this client: {state.off}")
        for name in state.other_hooks:
            print(f"  other hook program: {name}")
    current = ("yes", "nothing to install")
    return 0 if all(state.installed in current for state in states) else 1


_IN_WORDS = {
    "yes": "installed and up to date",
    "off": "installed and up to date, but disabled",
    "outdated": "installed, but out of date; run `snell setup {client}`",
    "no": "not installed; run `snell setup {client}`",
}


def _show(state: ClientState) -> None:
    paint = Colours.for_stdout()
    signs = ", ".join((*state.found.programs, *state.found.folders)) or "not found on this machine"
    print(f"{paint.bold(state.install.title)}  {paint.dim(signs)}")
    if state.problem:
        print(f"  {paint.red('not changed')}: {state.problem}")
    for change in state.changes:
        for line in render_change(change, paint):
            print(f"  {line}")
    if state.changes and not any(change.changes for change in state.changes):
        print("  nothing to change")
    if state.off:
        print(f"  {paint.red('hooks are disabled in this client')}: {state.off}; change that, or no hook will run")
    for remark in state.install.remarks if any(change.changes for change in state.changes) else ():
        print(f"  note: {remark}")
    if not state.changes and not state.problem:
        known = [scope for scope in SCOPES if scope in state.install.hooks]
        advice = f"its hooks are at --scope {' or '.join(known)}" if known else "; ".join(state.install.after)
        print(f"  nothing to write at this scope; {advice}")
    print()


def _json(args: argparse.Namespace, installs: Sequence[Install], site: Site) -> int:
    found = [
        generate(
            each.name,
            include_session_start=args.include_session_start,
            include_mcp_config=args.include_mcp is not False,
            scope=args.scope,
            site=site,
        )
        for each in installs
    ]
    data = found[0] if len(found) == 1 else found
    print(msgspec.json.format(msgspec.json.encode(data), indent=2).decode())
    return 0


def _plugin(args: argparse.Namespace, where: Places, env: dict[str, str]) -> int:
    if [find_install(name).name for name in args.client] not in ([], ["claude_code"]):
        raise SetupError("--plugin is only supported for Claude Code", advice="run it with `claude-code`")
    files = plugin_files(_options(args, where, env))
    if not args.print:
        require_terminal_nearby(env, "writing a plugin")
        write_plugin(Path(args.plugin), files)
    for name in files:
        print(f"{'would write' if args.print else 'wrote'} {Path(args.plugin) / name}")
    print(f"next: claude --plugin-dir {args.plugin}")
    return 0


def _options(args: argparse.Namespace, where: Places, env: dict[str, str]) -> Options:
    options = Options(
        scope=args.scope,
        session_start=args.include_session_start,
        mcp=args.include_mcp,
        rules=args.include_rules,
        status_line=not args.no_status_line,
        fail_closed=args.fail_closed,
    )
    return with_needed_options(options, where, Path.cwd(), env)


def _project(env: dict[str, str]) -> Path:
    """Return the root of the repository, else the current folder."""
    here, home = Path.cwd(), home_of(env)
    folders = [folder for folder in (here, *here.parents) if (folder / ".git").exists() and folder != home]
    return folders[0] if folders else here
