"""What tools other than the shell do, as the steps and the commands that the rules know."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from snell.model.command_folders import folders_of
from snell.model.command_lines import CommandField, command_fields
from snell.model.tool_names import has_code, names, only_looks, plain_name, runs_other_code
from snell.packs.guard.judge import Judgement, judge, judge_steps, strictest
from snell.packs.guard.mcp_tools import commands_of, findings_of, moves, of_notebook, removes
from snell.packs.guard.not_shell_text import is_for_shell, without_misread
from snell.packs.guard.patch_files import text_by_file
from snell.packs.guard.sensitive_files import is_program, runs_by_itself
from snell.packs.guard.shell.known_values import Value
from snell.packs.guard.shell.shell_state import Step
from snell.packs.guard.snell_paths import NOWHERE, SnellPaths
from snell.sdk.subjects import EditCall, ReadCall, SearchCall, ToolCall, WebCall, WriteCall
from snell.system.lazy_regex import lazy_regex

MOST_TEXTS = 40
_PATH_KEYS = names(
    "path filepath file filename uri source src destination target paths filepaths files pathinproject relativepath "
    "absolutepath fullpath targetfile targetpath destinationpath sourcepath notebookpath"
)
_URL_KEYS = names("url uri href urls link endpoint")
_CODE_KEYS = names("code python_code source_code python javascript js_code program snippet")
_SQL_KEYS = names("sql query statement statements queries sql_query command text")
_WRITING = lazy_regex(
    r"write|edit|create|delete|remove|move|update|append|patch|rename|save|put|replace|copy|insert|overwrite"
)
_NOTEBOOK = lazy_regex(r"jupyter|notebook|cell|kernel|ipython|colab", re.IGNORECASE)
_BROWSER = lazy_regex(r"browser|puppeteer|playwright|chrome|selenium|evaluate|devtools", re.IGNORECASE)
_DATABASE = lazy_regex(
    r"sql|quer|postgres|mysql|sqlite|database|\bdb|maria|duckdb|bigquery|snowflake|clickhouse|supabase"
)
_STATEMENT = lazy_regex(r"\s*(?:drop|truncate|delete|update|alter)\s", re.IGNORECASE)


def judge_call(call: ToolCall, cwd: str, home: str, project: str, own: SnellPaths = NOWHERE) -> Judgement:
    """What a tool other than the shell does, what a tool of an MCP server is told, and any command line in an input."""
    lines = [
        _judge_place(call, place, folder, home, project or (cwd if folder != cwd else ""), own)
        for place in _command_places(call)
        for folder in folders_of(call.input, cwd, home)
    ]
    if call.kind == "mcp":
        return _mcp(call, lines, cwd, home, project, own)
    found = judge_steps(tuple(_steps(call, cwd, home)), cwd, home, project, own)
    starts = [text for path, text in written_by(call, cwd, home).items() if runs_by_itself(path) or is_program(path)]
    more = [*lines, *(judge(text.text, cwd, home, project, own=own) for text in starts)]
    return strictest([found, *more]) if more else found


def carries_line(call: ToolCall) -> bool:
    """The input of a tool other than a shell holds a command line."""
    return bool(_command_places(call))


def _command_places(call: ToolCall) -> list[CommandField]:
    is_page, is_other = _BROWSER.search(call.tool), runs_other_code(call.tool)
    return [
        place
        for place in command_fields(call.tool, call.input, anywhere=True)
        # A script for a page is judged as a program.
        if not (is_page and place.path[-1:] == ("script",)) and not (is_other and place.is_code)
    ]


def _judge_place(call: ToolCall, place: CommandField, cwd: str, home: str, project: str, own: SnellPaths) -> Judgement:
    """One field with a command line, in every way that a tool may read it."""
    texts = dict.fromkeys((place.line, *place.also))
    found = strictest([judge(text, cwd, home, project, own=own) for text in texts])
    return found if is_for_shell(call.tool) and not has_code(place.line) else without_misread(found)


def written_by(call: ToolCall, cwd: str, home: str) -> dict[str, Value]:
    """The files that the call leaves, with the text that it is known to put there."""
    if isinstance(call, WriteCall):
        return {_full(call.path, cwd, home): Value(call.content)} if call.path else {}
    if isinstance(call, EditCall):
        found = {_full(path, cwd, home): Value(text) for path, text in _patched_by(call).items()}
        return found or ({_full(call.path, cwd, home): Value(_new_text(call))} if call.path else {})
    given = dict(_texts(call.input))
    path = next((given[key] for key in ("path", "file_path", "filepath", "filename", "file") if key in given), "")
    text = next((given[key] for key in ("content", "contents", "text", "data") if key in given), "")
    is_write = call.kind == "mcp" and _WRITING.search(_method(call)) is not None
    return {_full(path, cwd, home): Value(text)} if is_write and path and text else {}


_TELLS = lazy_regex(
    r"(?:^|_)(?:post|send|publish|upload|share|email|mail|tweet|gist|comment|reply|message|webhook|notify|submit|"
    r"create_(?:issue|pull_request|page|ticket|discussion)|push_files|http_request)(?:_|$)"
)
_LONG_PART = lazy_regex(r"/(?=[^/]*\d)(?=[^/]*[A-Za-z])[\w+=%~-]{24,}(?:/|$)")  # more than the name of a page


def tells_others(call: ToolCall) -> bool:
    """An address with a query, a message, an upload: what the call says leaves this machine."""
    if isinstance(call, WebCall):
        return _carries(call.url)
    addresses = (text for key, text in _texts(call.input) if key in _URL_KEYS)
    return call.kind == "mcp" and (_TELLS.search(_method(call)) is not None or any(map(_carries, addresses)))


def _carries(url: str) -> bool:
    return url.startswith("http") and ("?" in url or _LONG_PART.search(url) is not None)


def _new_text(call: EditCall) -> str:
    edits = call.input.get("edits")
    parts = [edit.get("new_string") for edit in edits if isinstance(edit, Mapping)] if isinstance(edits, list) else []
    return "\n".join([call.new, *(part for part in parts if isinstance(part, str))])


def _method(call: ToolCall) -> str:
    return call.tool.rpartition("__")[2].lower()


def path_of(call: ToolCall, cwd: str, home: str) -> str:
    """The file that a client's own tool is about."""
    return _full(call.path, cwd, home) if isinstance(call, ReadCall) and call.path else ""


def _steps(call: ToolCall, cwd: str, home: str) -> Iterator[Step]:
    if isinstance(call, ReadCall):
        yield _reads(_full(call.path, cwd, home), cwd)
    elif isinstance(call, EditCall | WriteCall):
        for path in dict.fromkeys((call.path, *_named_in(call.input), *_patched_by(call))):
            yield _writes(_full(path, cwd, home), cwd)
    elif isinstance(call, WebCall):
        local = call.url.startswith("file://")
        yield _reads(call.url.removeprefix("file://"), cwd) if local else _fetches(call.url, cwd)
    elif isinstance(call, SearchCall) and call.tool not in ("Glob", "LS"):
        for name in (call.path, call.input.get("glob")):
            if isinstance(name, str) and name:
                yield _reads(_full(name, cwd, home), cwd)
        yield _runs(("rg", call.pattern, _full(call.path or ".", cwd, home)), cwd)


def _patched_by(call: ToolCall) -> dict[str, str]:
    """The files that patches in the input name, whatever the field is called; clients differ in that."""
    texts = [text for key, text in _texts(call.input) if not key.startswith("old")] if call.kind == "edit" else []
    return {path: added for text in texts for path, added in text_by_file(text).items()}


def _named_in(given: Mapping[str, Any]) -> list[str]:
    """The files that the input names, also those of the single edits in it."""
    return [text.removeprefix("file://") for key, text in _texts(given) if _is_path(key) and not _is_source(key)]


def _is_path(key: str) -> bool:
    return plain_name(key) in _PATH_KEYS


def _is_source(key: str) -> bool:
    return key.startswith(("source", "src"))


def _mcp(call: ToolCall, lines: list[Judgement], cwd: str, home: str, project: str, own: SnellPaths) -> Judgement:
    found = [*lines, *(Judgement(finding.verdict, (finding,)) for finding in findings_of(call))]
    steps = [_runs(words, cwd) for words in commands_of(call)]
    writes = _WRITING.search(_method(call)) is not None
    for key, text in _texts(call.input):
        if key in _SQL_KEYS and _DATABASE.search(call.tool.lower()) and _STATEMENT.match(text):
            steps.append(Step("psql", (Value("psql"), Value("-c"), Value(text)), cwd, args=("-c", text)))
        elif key in ("source", "code", "cell") and _NOTEBOOK.search(call.tool):
            shell, code = of_notebook(text)
            found.extend(
                (judge(shell, cwd, home, project, own=own), judge(_as_program(call, code), cwd, home, project, own=own))
            )
        elif (key in _CODE_KEYS and not only_looks(call.tool)) or (key == "script" and _BROWSER.search(call.tool)):
            found.append(judge(_as_program(call, text), cwd, home, project, own=own))
        elif key in _URL_KEYS and not text.startswith("file://"):
            steps.append(_fetches(text, cwd))
        elif _is_path(key) or key in _URL_KEYS:
            path = _full(text.removeprefix("file://"), cwd, home)
            if removes(call) and key not in ("destination", "target"):
                steps.append(_runs(("rm", "-rf", path), cwd))
            elif moves(call) and _is_source(key):
                steps.append(_runs(("mv", path, str(call.input.get("destination") or call.input.get("target"))), cwd))
            steps.append(_writes(path, cwd) if writes and not _is_source(key) else _reads(path, cwd))
    return strictest([*found, judge_steps(tuple(steps), cwd, home, project, own)])


def _as_program(call: ToolCall, code: str) -> str:
    named = f"{call.tool} {call.input.get('language', '')} {call.input.get('runtime', '')}".lower()
    if re.search(r"\b(?:bash|shell|sh|zsh)\b|shell", named):
        return code
    is_script = _BROWSER.search(named) or re.search(r"javascript|typescript|node|deno|\bjs\b|\bts\b", named)
    return f"{'node -e' if is_script else 'python3 -c'} {shlex.quote(code)}"


def _texts(given: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    if isinstance(given, str):
        yield key.lower(), given
    elif isinstance(given, Mapping) and depth < 6:
        for name, value in list(given.items())[:MOST_TEXTS]:
            yield from _texts(value, str(name), depth + 1)
    elif isinstance(given, list | tuple) and depth < 6:
        for value in given[:MOST_TEXTS]:
            yield from _texts(value, key, depth + 1)


def _runs(words: tuple[str, ...], cwd: str) -> Step:
    return Step(words[0], tuple(map(Value, words)), cwd, args=words[1:])


def _fetches(url: str, cwd: str) -> Step:
    return Step("curl", (Value("curl"), Value(url)), cwd, args=(url,))


def _full(path: str, cwd: str, home: str) -> str:
    if path == "~" or path.startswith("~/"):
        return home + path[1:]
    return path if path.startswith("/") else f"{cwd}/{path}"


def _reads(path: str, cwd: str) -> Step:
    return Step("cat", (Value("cat"), Value(path)), cwd, args=(path,))


def _writes(path: str, cwd: str) -> Step:
    return Step(":", (Value(":"),), cwd, writes=(path,))
