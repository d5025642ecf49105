"""Judge tools other than the shell: translate what they do into steps and commands for the rules."""

import re
import shlex
from collections.abc import Iterator, Mapping

from snell.model.call_contents import CallContents, Program, contents_of, rows_of, verbs_of
from snell.model.command_folders import folders_of
from snell.model.command_lines import CommandField, command_fields
from snell.model.tool_names import has_code, is_powershell, runs_other_code, words_of
from snell.packs.guard.edited_text import edited_text
from snell.packs.guard.judge import Judgement, judge, judge_steps, merge_judgements, strictest_verdict
from snell.packs.guard.known_names import names, pattern
from snell.packs.guard.known_values import Value
from snell.packs.guard.mcp_tools import applied_manifests, check_tool, equivalent_commands, split_notebook_cell
from snell.packs.guard.not_shell_text import drop_misread, is_shell_tool
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import Finding
from snell.packs.guard.rules import RULES, UNREADABLE
from snell.packs.guard.sensitive_files import is_startup_file, is_system_program, is_workflow
from snell.packs.guard.shell.shell_state import Step
from snell.redact import find
from snell.sdk.subjects import ReadCall, SearchCall, ToolCall
from snell.system.lazy_regex import lazy_regex

_CHANGES_DATA = lazy_regex(r"(?is)\b(?:drop|truncate|delete|update|alter|grant|exec(?:ute)?|program|outfile)\s")
_SENDING = pattern("tools_that_send")
_LONG_PART = lazy_regex(r"/(?=[^/]*\d)(?=[^/]*[A-Za-z])[\w+=%~-]{24,}(?:/|$)")  # a value, not the name of a page
_REMOTE = lazy_regex(r"github|gitlab|gitea|forgejo|bitbucket", re.IGNORECASE)
MOST_SENT, LONGEST_SENT = 50, 20_000


def judge_call(call: ToolCall, workspace: Workspace) -> Judgement:
    """Judge the files, addresses, code and SQL that a tool is given, and any command line in its input."""
    contents = contents_of(call.tool, call.input)
    lines = [
        _judge_place(call, place, folder, workspace)
        for place in _command_places(call)
        for folder in folders_of(call.input, workspace.cwd, workspace.home)
    ]
    found = list(check_tool(call)) if call.kind == "mcp" else []
    found += [*_check_sent_secret(call, contents), *_check_pushed_workflow(call, contents)]
    if not contents.is_complete:
        found.append(UNREADABLE.ask(f"the input of `{call.tool}` is too large to look at all of it"))
    steps = judge_steps(tuple(_steps(call, contents, workspace)), workspace)
    texts = [text for program in contents.programs for text in _command_lines(program)]
    texts += [f"kubectl apply -f - <<< {shlex.quote(text)}" for text in applied_manifests(call)]
    written = _text_by_path(contents, workspace)
    texts += [text for path, text in written.items() if is_startup_file(path) or is_system_program(path)]
    by_tool = Judgement(strictest_verdict(tuple(found)), tuple(found))
    by_text = [_judge_text(text, workspace) for text in texts]
    return merge_judgements([by_tool, steps, *lines, *by_text])


def _check_sent_secret(call: ToolCall, contents: CallContents) -> list[Finding]:
    """Find secrets in what a call sends: in the query of an address, or in a message that others read."""
    is_message = call.kind == "mcp" and _SENDING.search(call.tool.rpartition("__")[2].lower()) is not None
    texts = [url for url in contents.urls if _carries_data(url)]
    texts += [text for row, _above in rows_of(call.input) for _key, text in row] if is_message else []
    kinds = [each.kind for text in texts[:MOST_SENT] for each in find(text[:LONGEST_SENT])]
    return [RULES["send-secret"].deny(f"`{call.tool}` is given a secret to send ({kinds[0]})")] if kinds else []


def _check_pushed_workflow(call: ToolCall, contents: CallContents) -> list[Finding]:
    """Ask about a workflow that is pushed at once: it runs without a review."""
    if call.kind != "mcp" or not _REMOTE.search(call.tool):
        return []
    why = f"`{call.tool}` changes `{{}}`, which a server runs with its secrets"
    return [RULES["startup"].ask(why.format(path)) for path in contents.writes if is_workflow(path)]


def is_understood(call: ToolCall) -> bool:
    """Tell whether the guard recognises anything in the input of a tool that no table knows."""
    return bool(_command_places(call)) or contents_of(call.tool, call.input) != CallContents()


def only_reads(tool: str) -> bool:
    """Tell whether a tool is one of a client's own without effects outside of it, or has a name that says it reads."""
    words = set(words_of(tool.rpartition("__")[2]))
    return tool in _CLIENT_TOOLS or (bool(words & _READING) and not words & _CHANGING)


_READING = names("reading_words")
_CHANGING = names("changing_words")
_CLIENT_TOOLS = names("client_tools")


def has_command_line(call: ToolCall) -> bool:
    """Tell whether the input of a tool other than a shell holds a command line."""
    return bool(_command_places(call))


def written_text(call: ToolCall, workspace: Workspace) -> dict[str, Value]:
    """Return the files that the call writes, with the text that it is known to write."""
    contents = contents_of(call.tool, call.input)
    is_own = call.kind in ("write", "edit")
    return {path: Value(text) for path, text in _text_by_path(contents, workspace).items() if text or is_own}


def sends_data(call: ToolCall) -> bool:
    """Tell whether data of the call leaves this machine: an address with a query, a message, an upload."""
    if any(map(_carries_data, contents_of(call.tool, call.input).urls)):
        return True
    return call.kind == "mcp" and _SENDING.search(call.tool.rpartition("__")[2].lower()) is not None


def read_path(call: ToolCall, workspace: Workspace) -> str:
    """Return the file that a client's own tool reads; empty for other tools."""
    return _full(call.path, workspace) if isinstance(call, ReadCall) and call.path else ""


def _command_places(call: ToolCall) -> list[CommandField]:
    is_page, is_other = verbs_of(call.tool).is_page, runs_other_code(call.tool)
    return [
        place
        for place in command_fields(call.tool, call.input, anywhere=True)
        # A script for a page is judged as a program.
        if not (is_page and place.path[-1:] == ("script",)) and not (is_other and place.is_code)
    ]


def _judge_place(call: ToolCall, place: CommandField, folder: str, workspace: Workspace) -> Judgement:
    """Judge one field with a command line, in every way that a tool may read it."""
    texts = dict.fromkeys((place.line, *place.also))
    if has_code(place.line):  # typed into a program that may be an interpreter
        texts |= dict.fromkeys(f"{runner} {shlex.quote(place.line)}" for runner in ("python3 -c", "node -e"))
    where, is_own = (folder, workspace.home, workspace.project), is_powershell(call.tool)
    paths = workspace.snell_paths
    found = merge_judgements([judge(text, *where, snell_paths=paths, is_powershell=is_own) for text in texts])
    return found if is_shell_tool(call.tool) and not has_code(place.line) else drop_misread(found)


def _judge_text(text: str, workspace: Workspace) -> Judgement:
    return judge(text, workspace.cwd, workspace.home, workspace.project, snell_paths=workspace.snell_paths)


def _carries_data(url: str) -> bool:
    return url.startswith("http") and ("?" in url or _LONG_PART.search(url) is not None)


def _steps(call: ToolCall, contents: CallContents, workspace: Workspace) -> Iterator[Step]:
    cwd = workspace.cwd
    for path in contents.reads:
        yield _run_step(("cat", _full(path, workspace)), cwd)
    for path in contents.writes:
        text = edited_text(_full(path, workspace), path, contents)
        is_edit = bool(contents.replacements) or call.kind == "edit"
        yield _write_step(_full(path, workspace), cwd, text if text or is_edit else None)
    for path in contents.deletes:
        yield _write_step(_full(path, workspace), cwd)
        if call.kind == "mcp" or call.tool != "Delete":  # the client's own tool deletes one file
            yield _run_step(("rm", "-rf", _full(path, workspace)), cwd)
    for source, target in contents.moves:
        yield _run_step(("mv", _full(source, workspace), target), cwd)
        yield _run_step(("cat", _full(source, workspace)), cwd)
    yield from (_run_step(("curl", url), cwd) for url in contents.urls)
    yield from (_run_step(("psql", "-c", text), cwd) for text in contents.statements if _CHANGES_DATA.search(text))
    if call.kind in ("mcp", "other"):
        yield from (_run_step(words, cwd) for words in equivalent_commands(call))
    if isinstance(call, SearchCall):
        yield from _search_steps(call, workspace)


def _search_steps(call: SearchCall, workspace: Workspace) -> Iterator[Step]:
    if call.tool not in ("Glob", "LS"):
        if isinstance(names := call.input.get("glob"), str) and names:
            yield _run_step(("cat", _full(names, workspace)), workspace.cwd)
        yield _run_step(("rg", call.pattern, _full(call.path or ".", workspace)), workspace.cwd)


def _command_lines(program: Program) -> list[str]:
    """Return the command lines that run a program."""
    if program.language in ("notebook", "python"):  # a tool for Python may have a notebook's kernel
        shell, code = split_notebook_cell(program.code)
        return [shell, f"python3 -c {shlex.quote(code)}"]
    if program.language == "shell":
        return [program.code]
    return [f"{_RUNNERS[program.language]} {shlex.quote(program.code)}"]


_RUNNERS = {"javascript": "node -e", "groovy": "groovy -e", "applescript": "osascript -e"}


def _text_by_path(contents: CallContents, workspace: Workspace) -> Mapping[str, str]:
    return {_full(path, workspace): text for path, text in contents.writes.items()}


def _full(path: str, workspace: Workspace) -> str:
    if path == "~" or path.startswith("~/"):
        return workspace.home + path[1:]
    return path if path.startswith("/") else f"{workspace.cwd}/{path}"


def _run_step(words: tuple[str, ...], cwd: str) -> Step:
    return Step(words[0], tuple(map(Value, words)), cwd, args=words[1:])


def _write_step(path: str, cwd: str, text: str | None = None) -> Step:
    """Return a step that writes a text to a file; without a text, one that empties or deletes it."""
    return Step(":", (Value(":"),), cwd, None if text is None else Value(text), writes=(path,))
