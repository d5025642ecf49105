"""Judge tools other than the shell: translate what they do into steps and commands for the rules."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from snell.model.command_folders import folders_of
from snell.model.command_lines import CommandField, command_fields
from snell.model.tool_names import has_code, name_set, only_reads_text, plain_name, runs_other_code
from snell.packs.guard.judge import Judgement, judge, judge_steps, merge_judgements
from snell.packs.guard.known_values import Value
from snell.packs.guard.mcp_tools import check_tool, equivalent_commands, moves_files, removes_files, split_notebook_cell
from snell.packs.guard.not_shell_text import drop_misread, is_shell_tool
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.sensitive_files import is_startup_file, is_system_program
from snell.packs.guard.shell.program_files import text_by_file
from snell.packs.guard.shell.shell_state import Step
from snell.sdk.subjects import EditCall, ReadCall, SearchCall, ToolCall, WebCall, WriteCall
from snell.system.lazy_regex import lazy_regex

MOST_TEXTS = 40
_PATH_KEYS = name_set(
    "path filepath file filename uri source src destination target paths filepaths files pathinproject relativepath "
    "absolutepath fullpath targetfile targetpath destinationpath sourcepath notebookpath"
)
_URL_KEYS = name_set("url uri href urls link endpoint")
_CODE_KEYS = name_set("code python_code source_code python javascript js_code program snippet")
_SQL_KEYS = name_set("sql query statement statements queries sql_query command text")
_WRITING = lazy_regex(
    r"write|edit|create|delete|remove|move|update|append|patch|rename|save|put|replace|copy|insert|overwrite"
)
_NOTEBOOK = lazy_regex(r"jupyter|notebook|cell|kernel|ipython|colab", re.IGNORECASE)
_BROWSER = lazy_regex(r"browser|puppeteer|playwright|chrome|selenium|evaluate|devtools", re.IGNORECASE)
_DATABASE = lazy_regex(
    r"sql|quer|postgres|mysql|sqlite|database|\bdb|maria|duckdb|bigquery|snowflake|clickhouse|supabase"
)
_STATEMENT = lazy_regex(r"\s*(?:drop|truncate|delete|update|alter)\s", re.IGNORECASE)
_SENDING = lazy_regex(
    r"(?:^|_)(?:post|send|publish|upload|share|email|mail|tweet|gist|comment|reply|message|webhook|notify|submit|"
    r"create_(?:issue|pull_request|page|ticket|discussion)|push_files|http_request)(?:_|$)"
)
_LONG_PART = lazy_regex(r"/(?=[^/]*\d)(?=[^/]*[A-Za-z])[\w+=%~-]{24,}(?:/|$)")  # a value, not the name of a page


def judge_call(call: ToolCall, workspace: Workspace) -> Judgement:
    """Judge the files, addresses, code and SQL that a tool is given, and any command line in its input."""
    lines = [
        _judge_place(call, place, folder, workspace)
        for place in _command_places(call)
        for folder in folders_of(call.input, workspace.cwd, workspace.home)
    ]
    if call.kind == "mcp":
        return merge_judgements([*lines, _judge_mcp(call, workspace)])
    steps = judge_steps(tuple(_steps(call, workspace)), workspace)
    written = written_text(call, workspace).items()
    scripts = [text.text for path, text in written if is_startup_file(path) or is_system_program(path)]
    return merge_judgements([steps, *lines, *(_judge_text(text, workspace) for text in scripts)])


def has_command_line(call: ToolCall) -> bool:
    """Tell whether the input of a tool other than a shell holds a command line."""
    return bool(_command_places(call))


def written_text(call: ToolCall, workspace: Workspace) -> dict[str, Value]:
    """Return the files that the call writes, with the text that it is known to write."""
    if isinstance(call, WriteCall):
        return {_full(call.path, workspace): Value(call.content)} if call.path else {}
    if isinstance(call, EditCall):
        found = {_full(path, workspace): Value(text) for path, text in _patched_files(call).items()}
        return found or ({_full(call.path, workspace): Value(_new_text(call))} if call.path else {})
    given = dict(_texts(call.input))
    path = next((given[key] for key in ("path", "file_path", "filepath", "filename", "file") if key in given), "")
    text = next((given[key] for key in ("content", "contents", "text", "data") if key in given), "")
    is_write = call.kind == "mcp" and _WRITING.search(_method(call)) is not None
    return {_full(path, workspace): Value(text)} if is_write and path and text else {}


def sends_data(call: ToolCall) -> bool:
    """Tell whether data of the call leaves this machine: an address with a query, a message, an upload."""
    if isinstance(call, WebCall):
        return _carries_data(call.url)
    addresses = (text for key, text in _texts(call.input) if key in _URL_KEYS)
    return call.kind == "mcp" and (_SENDING.search(_method(call)) is not None or any(map(_carries_data, addresses)))


def read_path(call: ToolCall, workspace: Workspace) -> str:
    """Return the file that a client's own tool reads; empty for other tools."""
    return _full(call.path, workspace) if isinstance(call, ReadCall) and call.path else ""


def _command_places(call: ToolCall) -> list[CommandField]:
    is_page, is_other = _BROWSER.search(call.tool), runs_other_code(call.tool)
    return [
        place
        for place in command_fields(call.tool, call.input, anywhere=True)
        # A script for a page is judged as a program.
        if not (is_page and place.path[-1:] == ("script",)) and not (is_other and place.is_code)
    ]


def _judge_place(call: ToolCall, place: CommandField, folder: str, workspace: Workspace) -> Judgement:
    """Judge one field with a command line, in every way that a tool may read it."""
    texts = dict.fromkeys((place.line, *place.also))
    found = merge_judgements([_judge_text(text, workspace, folder) for text in texts])
    return found if is_shell_tool(call.tool) and not has_code(place.line) else drop_misread(found)


def _judge_text(text: str, workspace: Workspace, folder: str = "") -> Judgement:
    return judge(text, folder or workspace.cwd, workspace.home, workspace.project, snell_paths=workspace.snell_paths)


def _carries_data(url: str) -> bool:
    return url.startswith("http") and ("?" in url or _LONG_PART.search(url) is not None)


def _new_text(call: EditCall) -> str:
    edits = call.input.get("edits")
    parts = [edit.get("new_string") for edit in edits if isinstance(edit, Mapping)] if isinstance(edits, list) else []
    return "\n".join([call.new, *(part for part in parts if isinstance(part, str))])


def _method(call: ToolCall) -> str:
    return call.tool.rpartition("__")[2].lower()


def _steps(call: ToolCall, workspace: Workspace) -> Iterator[Step]:
    cwd = workspace.cwd
    if isinstance(call, ReadCall):
        yield _read_step(_full(call.path, workspace), cwd)
    elif isinstance(call, EditCall | WriteCall):
        for path in dict.fromkeys((call.path, *_named_files(call.input), *_patched_files(call))):
            yield _write_step(_full(path, workspace), cwd)
    elif isinstance(call, WebCall):
        local = call.url.startswith("file://")
        yield _read_step(call.url.removeprefix("file://"), cwd) if local else _fetch_step(call.url, cwd)
    elif isinstance(call, SearchCall) and call.tool not in ("Glob", "LS"):
        for name in (call.path, call.input.get("glob")):
            if isinstance(name, str) and name:
                yield _read_step(_full(name, workspace), cwd)
        yield _run_step(("rg", call.pattern, _full(call.path or ".", workspace)), cwd)


def _patched_files(call: ToolCall) -> dict[str, str]:
    """Return the files that patches in the input name; clients give the field different names."""
    texts = [text for key, text in _texts(call.input) if not key.startswith("old")] if call.kind == "edit" else []
    return {path: added for text in texts for path, added in text_by_file(text).items()}


def _named_files(given: Mapping[str, Any]) -> list[str]:
    """Return the files that the input names, also those of the single edits in it."""
    return [text.removeprefix("file://") for key, text in _texts(given) if _is_path(key) and not _is_source(key)]


def _is_path(key: str) -> bool:
    return plain_name(key) in _PATH_KEYS


def _is_source(key: str) -> bool:
    return key.startswith(("source", "src"))


def _judge_mcp(call: ToolCall, workspace: Workspace) -> Judgement:
    found = [Judgement(finding.verdict, (finding,)) for finding in check_tool(call)]
    steps = [_run_step(words, workspace.cwd) for words in equivalent_commands(call)]
    for key, text in _texts(call.input):
        programs = _programs(call, key, text)
        found.extend(_judge_text(program, workspace) for program in programs)
        if not programs:
            steps.extend(_field_steps(call, key, text, workspace))
    return merge_judgements([*found, judge_steps(tuple(steps), workspace)])


def _programs(call: ToolCall, key: str, text: str) -> list[str]:
    """Return the code in a field, as command lines that run it."""
    if key in ("source", "code", "cell") and _NOTEBOOK.search(call.tool):
        shell, code = split_notebook_cell(text)
        return [shell, _as_program(call, code)]
    is_code = (key in _CODE_KEYS and not only_reads_text(call.tool)) or (key == "script" and _BROWSER.search(call.tool))
    return [_as_program(call, text)] if is_code else []


def _field_steps(call: ToolCall, key: str, text: str, workspace: Workspace) -> Iterator[Step]:
    if key in _SQL_KEYS and _DATABASE.search(call.tool.lower()) and _STATEMENT.match(text):
        yield _run_step(("psql", "-c", text), workspace.cwd)
    elif key in _URL_KEYS and not text.startswith("file://"):
        yield _fetch_step(text, workspace.cwd)
    elif _is_path(key) or key in _URL_KEYS:
        yield from _path_steps(call, key, _full(text.removeprefix("file://"), workspace), workspace.cwd)


def _path_steps(call: ToolCall, key: str, path: str, cwd: str) -> Iterator[Step]:
    if removes_files(call) and key not in ("destination", "target"):
        yield _run_step(("rm", "-rf", path), cwd)
    elif moves_files(call) and _is_source(key):
        yield _run_step(("mv", path, str(call.input.get("destination") or call.input.get("target"))), cwd)
    writes = _WRITING.search(_method(call)) is not None and not _is_source(key)
    yield _write_step(path, cwd) if writes else _read_step(path, cwd)


def _as_program(call: ToolCall, code: str) -> str:
    named = f"{call.tool} {call.input.get('language', '')} {call.input.get('runtime', '')}".lower()
    if re.search(r"\b(?:bash|shell|sh|zsh)\b|shell", named):
        return code
    is_script = _BROWSER.search(named) or re.search(r"javascript|typescript|node|deno|\bjs\b|\bts\b", named)
    return f"{'node -e' if is_script else 'python3 -c'} {shlex.quote(code)}"


def _texts(given: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Return every text of an input with the name of its field, in lower case."""
    if isinstance(given, str):
        yield key.lower(), given
    elif isinstance(given, Mapping) and depth < 6:
        for name, value in list(given.items())[:MOST_TEXTS]:
            yield from _texts(value, str(name), depth + 1)
    elif isinstance(given, list | tuple) and depth < 6:
        for value in given[:MOST_TEXTS]:
            yield from _texts(value, key, depth + 1)


def _full(path: str, workspace: Workspace) -> str:
    if path == "~" or path.startswith("~/"):
        return workspace.home + path[1:]
    return path if path.startswith("/") else f"{workspace.cwd}/{path}"


def _run_step(words: tuple[str, ...], cwd: str) -> Step:
    return Step(words[0], tuple(map(Value, words)), cwd, args=words[1:])


def _fetch_step(url: str, cwd: str) -> Step:
    return _run_step(("curl", url), cwd)


def _read_step(path: str, cwd: str) -> Step:
    return _run_step(("cat", path), cwd)


def _write_step(path: str, cwd: str) -> Step:
    return Step(":", (Value(":"),), cwd, writes=(path,))
