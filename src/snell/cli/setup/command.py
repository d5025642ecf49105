"""
Set up clients: find them, show the changes, ask, write, and print the next steps.

Only for a person at a terminal: a process that can change a client's hooks can disable its guards.
"""

import argparse
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from snell.cli.active_hooks import folder_context, needed_options
from snell.cli.confirmation import confirm, is_agent, require_person
from snell.cli.setup.diff_view import fold_change, render_change
from snell.cli.setup.embedding_model import choose_model, offer_model
from snell.cli.setup.introduction import confirm_with_preset, effective_preset, introduction, write_preset
from snell.cli.setup.memory_switch import ask_to_enable, disabling_file, file_for, is_answered, switch
from snell.cli.terminal import Colours, fit, near_home, print_json
from snell.model.errors import SetupError
from snell.model.installs import SCOPES, Install
from snell.settings.load import PRESETS  # noqa: F401 - commands.json names it
from snell.settings.locate import home_of
from snell.setup.file_changes import Change, install, plan_change, uninstall
from snell.setup.plan import Options, Site, check_scope, find_install, find_installed_clients, generate
from snell.setup.plugin_folder import plugin_files, write_plugin
from snell.setup.status import NOT_APPROVED, ClientState, mcp_problem, names_mcp, removal_of, state_of
from snell.system.paths import Places, places

_POLICY = {"setup_without_person": (True,)}  # what the policy of the machine has to say for set-up without a person


def run(args: argparse.Namespace) -> int:
    env = dict(os.environ)
    where, site = places(env), Site.here(env, _project(env))
    if args.plugin:
        return _plugin(args, where, env)
    chosen = [find_install(name, site.choices) for name in args.client]
    installs = list({each.name: each for each in chosen}.values()) or find_installed_clients(site)
    for each in chosen:
        check_scope(each, args.scope)
    if args.scope != "user" and os.path.realpath(site.project) == os.path.realpath(home_of(env)):
        advice = "change to a project, or use --scope user"
        raise SetupError(f"`{site.project}` is your home directory, not a project", advice=advice)
    if not installs:
        print("no client was found on this machine; `snell clients` lists the supported clients")
        # Only --memory takes effect, for clients that are installed later.
        is_look = any((args.print, args.check, args.json, args.uninstall))
        return 0 if args.memory is not None and not is_look and _set_memory(args, where, site) else 1
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


def _apply(args: argparse.Namespace, states: Sequence[ClientState], where: Places, site: Site) -> int:
    """Show the changes, ask, write them and print the next steps."""
    preset = args.preset or effective_preset(where, site.project, site.env)
    _show_all(args, states, [] if args.uninstall else introduction(where, site.project, site.env, preset))
    if not args.uninstall:
        _warn(args, states, site)
    if args.print:
        return int(_has_problems(states))
    has_changes = any(_is_changed(state) for state in states)
    if not (has_changes or args.uninstall or args.preset):
        return _report_unchanged(args, states, where, site)
    require_person(site.env, "changing a client's configuration", args.code, policy=_POLICY)
    chosen = _choose(args, preset) if has_changes else preset
    if chosen is None:
        print("nothing was changed")
        return 1
    _set_preset(args, where, site, chosen if chosen != preset else args.preset)
    touched: set[str] = set()
    are_written = [_write(args, state, where, touched) for state in states]
    is_settled = _set_memory(args, where, site, states)
    if not args.uninstall and not _has_pack("redact_output", where, site):
        file = near_home(file_for(args.scope, where, site.project))
        hides = f"`snell setup --preset strict` hides them, or `enabled = true` in `[pack.redact_output]` of `{file}`"
        print(fit(f"secrets: the model sees those in the results of tools. {hides}"))
    return 0 if all(are_written) and is_settled and not _has_problems(states) else 1


def _set_preset(args: argparse.Namespace, where: Places, site: Site, preset: str) -> None:
    if preset and not args.uninstall:
        write_preset(where, site.project, preset)


def _choose(args: argparse.Namespace, preset: str) -> str | None:
    """Ask whether the changes are to be written, and with which preset; None: not at all."""
    if args.yes:
        return preset
    if args.uninstall:
        return preset if confirm("Remove these entries?") else None
    question = "Write these changes?"
    return confirm_with_preset(question, preset) if not args.preset else preset if confirm(question) else None


def _has_pack(name: str, where: Places, site: Site) -> bool:
    hooks = folder_context(where, site.project, site.env).registry.hooks()
    return any(hook.id.startswith(f"{name}/") for hook in hooks)


def _report_unchanged(args: argparse.Namespace, states: Sequence[ClientState], where: Places, site: Site) -> int:
    """Set memory and print that no file of a client changes; return 0 if everything is as it should be."""
    is_settled = _set_memory(args, where, site, states)
    has_nothing = bool(args.client) and not any(state.changes for state in states)
    is_well = not has_nothing and not _has_problems(states) and not any(state.off for state in states)
    print("everything is installed and up to date" if is_well else "nothing was changed")
    return 0 if is_well and is_settled else 1


def _has_problems(states: Sequence[ClientState]) -> bool:
    return any(state.problem for state in states)


def _is_changed(state: ClientState) -> bool:
    return any(change.changes for change in state.changes)


def _warn(args: argparse.Namespace, states: Sequence[ClientState], site: Site) -> None:
    """Warn about entries that will not work everywhere."""
    if args.scope == "project" and not site.programs.is_on_path:
        print("note: `snell-hook` is not on PATH, so these files contain a path that only exists on this machine")
    if any(names_mcp(change.file) for state in states for change in state.changes) and (problem := mcp_problem()):
        print(f"warning: the MCP server in these files cannot start: {problem}")


def _set_memory(args: argparse.Namespace, where: Places, site: Site, states: Sequence[ClientState] = ()) -> bool:
    """Ask about memory if needed and write the answer; return whether that succeeded."""
    env, scope = site.env, args.scope
    project = None if scope == "user" else site.project
    if args.uninstall or (args.memory is None and is_answered(where, env, project)):
        return args.uninstall or offer_model(args, where, site)
    wanted = args.memory
    if wanted is None and not args.yes and not is_agent(env):
        wanted = ask_to_enable(scope, where, site.project, env)
        if wanted and states:  # they were planned without the MCP server
            args.embedding_model = choose_model(args, where, site)
            args.memory = args.yes = True
            options = _options(args, where, env)
            return not _apply(args, [state_of(each.install, options, site) for each in states], where, site)
    path = file_for(scope, where, site.project)
    if wanted is None:
        what = f"decisions and findings of sessions (without secrets, in `{near_home(where.state)}`)"
        print(fit(f"memory: off. To store {what}, run `snell setup --memory`"))
        return offer_model(args, where, site)
    require_person(env, "changing the memory setting", args.code, policy=_POLICY)
    try:
        switch(path, on=wanted)
    except SetupError as error:
        print(error)
        return False
    trust = " after you approve it with `snell trust`" if scope != "user" else ""
    print(f"memory: {'on' if wanted else 'off'}{trust}, set in `{near_home(path)}`")
    if wanted and not trust and (file := disabling_file(where, site.project, env)):
        print(f"memory: still off in `{site.project}`, because `{file}` disables it")
    return offer_model(args, where, site)


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
        print(fit(f"  next: {step}", 4))
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
        if gate := _gate(state):
            print(f"  {gate}")
        for name in state.other_hooks:
            print(f"  other hook program: {name}")
    current = ("yes", "nothing to install")
    return 0 if all(state.installed in current for state in states) else 1


_IN_WORDS = {
    "yes": "installed and up to date",
    "off": "installed and up to date, but disabled",
    "not approved": "installed and up to date, but not approved",
    "outdated": "installed, but out of date; run `snell setup {client}`",
    "no": "not installed; run `snell setup {client}`",
}


def _gate(state: ClientState) -> str:
    """Return what keeps the client from running the hooks, and what to do; empty if nothing does."""
    if state.off:
        return f"hooks are disabled in this client: {state.off}; change that, or no hook will run"
    if state.installed != "not approved":
        return ""
    return f"{NOT_APPROVED}; the approval is missing in {state.unapproved}; {'; '.join(state.install.after)}"


def _show_all(args: argparse.Namespace, states: Sequence[ClientState], first: Iterable[str]) -> None:
    """Print what Snell will do, and for each client what changes: a line for each file, or every line of it."""
    for line in first:
        print(line)
    is_folded = not (args.diff or args.print)
    for state in states:
        _show(state, is_folded=is_folded)
    if is_folded and any(map(_is_changed, states)):
        print("`--diff` shows every line\n")


def _changed_lines(state: ClientState, paint: Colours, *, is_folded: bool) -> Iterator[str]:
    for change in state.changes:
        yield from [fold_change(change)] if is_folded and change.changes else render_change(change, paint)


def _show(state: ClientState, *, is_folded: bool) -> None:
    paint = Colours.for_stdout()
    signs = ", ".join(map(near_home, (*state.found.programs, *state.found.folders))) or "not found on this machine"
    print(f"{paint.bold(state.install.title)}  {paint.dim(signs)}")
    if state.problem:
        print(f"  {paint.red('not changed')}: {state.problem}")
    for line in _changed_lines(state, paint, is_folded=is_folded):
        print(fit(f"  {line}", 6) if is_folded else f"  {line}")
    if state.changes and not _is_changed(state):
        print("  nothing to change")
    if gate := _gate(state):
        print(f"  {paint.red(gate)}")
    for remark in state.install.remarks if _is_changed(state) else ():
        print(fit(f"  note: {remark}", 4))
    if not state.changes and not state.problem:
        known = [scope for scope in SCOPES if scope in state.install.hooks]
        advice = f"its hooks are at --scope {' or '.join(known)}" if known else "; ".join(state.install.after)
        print(f"  nothing to write at this scope; {advice}")
    print()


def _json(args: argparse.Namespace, installs: Sequence[Install], site: Site) -> int:
    found = [
        generate(
            each,
            include_session_start=args.include_session_start,
            include_mcp_config=args.include_mcp is not False,
            scope=args.scope,
            site=site,
        )
        for each in installs
    ]
    data = found[0] if len(found) == 1 else found
    print_json(data, indent=2)
    return 0


def _plugin(args: argparse.Namespace, where: Places, env: dict[str, str]) -> int:
    if [find_install(name).name for name in args.client] not in ([], ["claude_code"]):
        raise SetupError("--plugin is only supported for Claude Code", advice="run it with `claude-code`")
    files = plugin_files(_options(args, where, env))
    if not args.print:
        require_person(env, "writing a plugin", args.code, policy=_POLICY)
        write_plugin(Path(args.plugin), files)
    for name in files:
        print(f"{'would write' if args.print else 'wrote'} {Path(args.plugin) / name}")
    print(f"next: claude --plugin-dir {args.plugin}")
    return 0


def _options(args: argparse.Namespace, where: Places, env: Mapping[str, str]) -> Options:
    options = Options(
        scope=args.scope,
        session_start=args.include_session_start,
        mcp=True if args.memory and args.include_mcp is None else args.include_mcp,
        rules=args.include_rules,
        status_line=not args.no_status_line,
        command=not args.no_command,
        fail_closed=args.fail_closed,
    )
    return needed_options(options, where, Path.cwd(), env)


def _project(env: dict[str, str]) -> Path:
    """Return the root of the repository, else the current folder."""
    here, home = Path.cwd(), home_of(env)
    folders = [folder for folder in (here, *here.parents) if (folder / ".git").exists() and folder != home]
    return folders[0] if folders else here
