"""
Finds what the input of a tool call names and holds: files, texts, addresses, SQL and programs.

A path and a text are a write, a path alone is a read, unless the tool's name says otherwise. Keys are recognised in any
spelling and at any depth, and by the tool's schema where that is known. `command_lines` finds the command lines; kinds
of tools, typed calls and the guard use both.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from msgspec import Struct, field

from snell.model.command_words import value_of_json
from snell.model.sql_text import LONGEST_SQL, sql_readings
from snell.model.tool_names import name_set, only_reads_text, plain_name, runs_other_code, words_of

MOST_OBJECTS, MOST_TEXTS = 2_000, 10_000
DEEPEST = 200  # a payload has 100 levels, and JSON text in it more
MOST_PATCH_LINES = 20_000
_PATHS = name_set(
    "absolutepath attachment attachments destination destinationpath file filename filepath filepaths files from"
    " frompath fullpath newpath inputfile inputpath localfile localpath notebookpath oldpath path"
    " pathinproject paths relativepath source sourcepath src target targetfile targetpath topath uri"
)
_SOURCES = name_set("attachment attachments from frompath oldpath source sourcepath src")
_TARGETS = name_set("destination destinationpath newpath target targetpath topath")
_TEXTS = name_set(
    "base64 blob body bytes content contents data diff filecontent filecontents filetext newcontent newsource newstr"
    " newstring newtext patch replace replacement text"
)
_OLD_TEXTS = name_set("oldcontent oldstr oldstring oldtext search")
_CHANGES = frozenset(("diff", "patch"))  # texts that say how a file changes
_PATCHES = name_set("diff input newstring patch patchtext text")
_URLS = name_set("endpoint href link uri url urls")
_QUERIES = frozenset(("q", "query", "queries"))
_STATEMENTS = name_set("sql sqlquery sqlquerys sqlstatement sqlstatements statement statements")
_PROGRAMS = name_set("applescript code codesnippet javascript jscode program python pythoncode snippet sourcecode")
_PAGE_PROGRAMS = name_set("expression function script")
_NOTEBOOK_PROGRAMS = name_set("cell cellsource code newsource source")
_LANGUAGES = name_set("kernel lang language runtime")

_WRITES = name_set("append copy create edit insert move overwrite patch push put rename replace save update write str")
_DELETES = name_set("delete destroy erase nuke purge remove rm rmdir trash unlink wipe")
_DATABASES = name_set(
    "bigquery clickhouse cockroach cypher d1 database databricks db duckdb maria mariadb mssql mysql neo4j neon oracle"
    " planetscale postgres postgresql queries query redshift snowflake sql sqlite supabase timescale trino"
)
_NOTEBOOKS = name_set("cell colab ipython jupyter kernel notebook")
_PAGES = name_set("browser chrome devtools evaluate playwright puppeteer selenium")
_CHANGING_STATEMENT = (
    r"\s*(?:insert\s+into|update\s+\S+\s+set|delete\s+from|truncate\s+table"
    r"|(?:drop|alter)\s+(?:table|database|schema))\b"
)
_STATEMENT = (
    r"\s*(?:/\*!\d*\s*\w+|(?:begin|declare|do|explain)\s+\S+|exec(?:ute)?\s+\w+|copy\s+\S+|match\s*\(.*\bdelete|call\s+\w+|with\s+\w+\s+as"
    r"|select\b.*\bfrom|select\s+\w+|insert\s+into|update\s+\S+\s+set|delete\s+from|merge\s+into|truncate\s+\S+|grant\s+\S+"
    r"|(?:create|drop|alter)\s+(?:\w+\s+){0,3}?(?:table|index|view|database|schema|function|user|role|keyspace|type|owned))\b"
)
_PATCHED_FILE = r"(?:\*\*\* (?:Add File|Update File|Delete File|Move to): |\+\+\+ (?:b/)?)(\S.*)"
_ADDRESS = r"\s*(?:https?|ftps?|wss?|gopher|ldaps?|smb)://"


class Program(Struct, frozen=True):
    """Code in a language other than a shell's; `notebook` cells may hold lines for a shell too."""

    language: str
    code: str


class CallContents(Struct, frozen=True):
    """What a call names and holds."""

    reads: tuple[str, ...] = ()
    writes: Mapping[str, str] = {}  # path -> the new text, as far as it is known
    deletes: tuple[str, ...] = ()
    moves: tuple[tuple[str, str], ...] = ()
    urls: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()  # SQL, without comments
    programs: tuple[Program, ...] = ()
    replacements: tuple[tuple[str, str], ...] = ()  # of an edit: old text and new text, as far as they are named
    replaces_text: bool = False  # it names an old text or is a patch, so that it edits a file
    is_complete: bool = True  # False: the input has more objects, texts or SQL than is looked at

    @property
    def old_text(self) -> str:
        """Return what an edit replaces, as far as it is named."""
        return "\n".join(old for old, _new in self.replacements)

    @property
    def kind(self) -> str:
        """Return the kind of tool that takes such an input; empty if nothing in it is recognised."""
        if self.writes or self.deletes or self.moves:
            return "edit" if self.replaces_text or self.deletes or self.moves else "write"
        return "read" if self.reads else "web" if self.urls else "database" if self.statements else ""


class ToolVerbs(Struct, frozen=True):
    """What the name of a tool says about the fields of its input."""

    writes: bool
    deletes: bool
    moves: bool
    only_reads: bool
    is_database: bool
    is_notebook: bool
    is_page: bool


class _Found(Struct):
    reads: dict[str, None] = field(default_factory=dict)
    writes: dict[str, str] = field(default_factory=dict)
    deletes: dict[str, None] = field(default_factory=dict)
    moves: dict[tuple[str, str], None] = field(default_factory=dict)
    urls: dict[str, None] = field(default_factory=dict)
    statements: dict[str, None] = field(default_factory=dict)
    programs: dict[Program, None] = field(default_factory=dict)
    replacements: list[tuple[str, str]] = field(default_factory=list)
    replaces_text: bool = False
    is_complete: bool = True


_LISTS = ("reads", "deletes", "moves", "urls", "statements", "programs", "replacements")
Row = list[tuple[str, str]]  # the texts of one object, with their keys in plain form


def contents_of(tool: str, given: Any) -> CallContents:
    """Return what the input of a call names and holds."""
    found, objects, texts = _Found(), 0, 0
    verbs = verbs_of(tool)
    for row, path in rows_of(given):
        objects += 1
        if objects > MOST_OBJECTS or texts > MOST_TEXTS:
            break
        texts += len(row)
        found.is_complete &= path is not None
        _add_files(found, row, path or "", verbs)
        found.urls.update((text, None) for key, text in row if key in _URLS and re.match(_ADDRESS, text, re.IGNORECASE))
        _add_statements(found, row, verbs)
        _add_programs(found, row, tool, verbs)
    lists: dict[str, Any] = {name: tuple(getattr(found, name)) for name in _LISTS}
    is_complete = found.is_complete and objects <= MOST_OBJECTS and texts <= MOST_TEXTS
    return CallContents(**lists, writes=found.writes, replaces_text=found.replaces_text, is_complete=is_complete)


@lru_cache(maxsize=1024)
def verbs_of(tool: str) -> ToolVerbs:
    """Return what the name of a tool says; for a tool of an MCP server the server's name counts where it can."""
    everything, own = set(words_of(tool)), set(words_of(tool.rpartition("__")[2]))
    return ToolVerbs(
        writes=bool(own & _WRITES),
        deletes=bool(own & _DELETES),
        moves=bool(own & {"move", "rename"}),
        only_reads=only_reads_text(tool),
        is_database=bool(everything & _DATABASES),
        is_notebook=bool(everything & _NOTEBOOKS),
        is_page=bool(everything & _PAGES),
    )


def with_known_keys(given: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an input under keys that are known here, where a tool's schema describes an unknown key as one of them."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return given
    roles = {key: _role_of(properties[key]) for key in given if isinstance(properties.get(key), Mapping)}
    taken = set(map(plain_name, given))
    renamed = {role: given[key] for key, role in roles.items() if role and plain_name(key) not in _KNOWN}
    return {**given, **{role: value for role, value in renamed.items() if role not in taken}}


def _role_of(described: Mapping[str, Any]) -> str:
    if described.get("format") in ("uri", "url"):
        return "url"
    about = f"{described.get('title', '')} {described.get('description', '')}"
    return next((role for role, words in _DESCRIBED.items() if re.search(words, about, re.IGNORECASE)), "")


_KNOWN = _PATHS | _URLS | _STATEMENTS | _TEXTS
_DESCRIBED = {
    "command": r"\b(?:shell|bash|terminal|powershell) (?:command|script)|command[- ]line|commands? to (?:run|execute)",
    "sql": r"\bsql\b",
    "path": r"\bfile ?path\b|\bpath (?:to|of)\b|\b(?:file|folder|directory) to (?:read|open|write|edit|delete)",
    "url": r"\burls?\b",
}


def rows_of(given: Any) -> Iterator[tuple[Row, str | None]]:
    """Yield the texts of every object of an input, and the path that one above it names; None where it is too deep."""
    waiting: list[tuple[Any, str, int]] = [(given, "", 0)]
    while waiting:
        value, path, depth = waiting.pop()
        if depth > DEEPEST:
            yield [], None
        elif isinstance(value, list):
            inner = ({"": each} if isinstance(each, list) else each for each in reversed(value))
            waiting.extend((each, path, depth + 1) for each in inner if isinstance(each, dict))
        elif isinstance(value, dict):
            row = list(islice(_texts_of(value), MOST_TEXTS + 1))
            path = next((text for key, text in row if key in _PATHS and key not in _SOURCES), path)
            yield row, path
            values = (_inner(each) for each in reversed(list(value.values())))
            waiting.extend((each, path, depth + 1) for each in values if each is not None)


def _texts_of(value: dict[Any, Any]) -> Iterator[tuple[str, str]]:
    for key, each in value.items():
        name = plain_name(key) if isinstance(key, str) else ""
        if isinstance(each, str):
            yield name, each
        elif isinstance(each, list):
            yield from ((name, text) for text in each if isinstance(text, str))


def _inner(value: Any) -> Any:
    """Return an object or a list that may hold more fields, also from JSON text; else None."""
    inner = value_of_json(value) if isinstance(value, str) else value
    return inner if isinstance(inner, dict | list) else None


def _add_files(found: _Found, row: Row, above: str, verbs: ToolVerbs) -> None:
    patches = [] if verbs.only_reads else _texts_under(row, _PATCHES)
    patched = {path: added for text in patches for path, added in patched_text(text).items()}
    text = "\n".join(_texts_under(row, _TEXTS))
    old = _texts_under(row, _OLD_TEXTS)
    is_edit = bool(text) and bool(old or _texts_under(row, _CHANGES))
    found.replacements += [(each, text) for each in old] if is_edit else []
    found.replaces_text |= bool(patched) or is_edit
    found.writes.update(patched)
    paths = [(key, path) for key, text in row if (path := _path_under(key, text)) is not None]
    target = next((path for key, path in paths if key in _TARGETS), "")
    for key, path in paths:
        if path:
            _add_file(found, key, path, target, text, verbs)
    if not paths and above and text and (above in found.writes or is_edit):
        found.writes[above] = "\n".join(filter(None, (found.writes.pop(above, ""), text)))
        found.reads.pop(above, None)


def patched_text(text: str) -> dict[str, str]:
    """Return the text that a patch adds to each file, for both usual forms; a text that is no patch names no file."""
    if "*** " not in text and "+++ " not in text:
        return {}
    added, path = dict[str, list[str]](), ""
    for line in text.split("\n", MOST_PATCH_LINES)[:MOST_PATCH_LINES]:
        if named := re.match(_PATCHED_FILE, line):
            path = named[1].partition("\t")[0].rstrip()
            added.setdefault(path, [])
        elif path and line.startswith("+"):
            added[path].append(line[1:])
    return {path: "\n".join(lines) for path, lines in added.items() if path != "/dev/null"}


def _texts_under(row: Row, keys: frozenset[str]) -> list[str]:
    return [text for key, text in row if key in keys]


def _path_under(key: str, text: str) -> str | None:
    """Return the path in a field; None for a field without one, empty for the address of another machine."""
    is_path = key in _PATHS or key.endswith(("path", "paths"))
    if not is_path and not (key in _URLS and text.lstrip().lower().startswith("file:")):
        return None
    path = re.sub(r"^\s*file:(?://(?:localhost)?)?", "", text, flags=re.IGNORECASE)
    return "" if "://" in path[:40] or "\n" in path else path


def _add_file(found: _Found, key: str, path: str, target: str, text: str, verbs: ToolVerbs) -> None:
    if verbs.deletes and key not in _TARGETS:
        found.deletes[path] = None
    elif verbs.moves and target and key not in _TARGETS:
        found.moves[path, target] = None
    elif (verbs.writes or (text and not verbs.only_reads)) and key not in _SOURCES:
        found.writes[path] = text
    else:
        found.reads[path] = None


def _add_statements(found: _Found, row: Row, verbs: ToolVerbs) -> None:
    for key, text in row:
        pattern = _statement_in(key, verbs)
        for plain in sql_readings(text) if pattern else ():
            parts = plain.split(";")
            if any(re.match(pattern, each, re.IGNORECASE | re.DOTALL) for each in parts):
                found.statements[plain] = None
            elif any(map(str.strip, parts)):
                continue
            found.is_complete &= len(text) <= LONGEST_SQL


def _statement_in(key: str, verbs: ToolVerbs) -> str:
    """Return the pattern of what counts as SQL under a key; empty if nothing does."""
    if key.startswith("sql"):
        return r"\s*\w"
    if key in _STATEMENTS or verbs.is_database:
        return _STATEMENT
    return _CHANGING_STATEMENT if key in _QUERIES and not verbs.only_reads else ""


def _add_programs(found: _Found, row: Row, tool: str, verbs: ToolVerbs) -> None:
    if verbs.only_reads or ("celltype", "markdown") in row:
        return
    keys = _PROGRAMS | (_PAGE_PROGRAMS if verbs.is_page else frozenset())
    keys |= _NOTEBOOK_PROGRAMS if verbs.is_notebook else frozenset()
    keys |= {"script"} if runs_other_code(tool) else frozenset()
    for key, code in row:
        if key in keys:
            found.programs[Program(_language(tool, row, verbs), code)] = None


def _language(tool: str, row: Row, verbs: ToolVerbs) -> str:
    if verbs.is_notebook:
        return "notebook"
    named = set(words_of(" ".join((tool, *(text for key, text in row if key in _LANGUAGES)))))
    if named & {"bash", "shell", "sh", "zsh"}:
        return "shell"
    if named & {"applescript", "osascript", "jxa"}:
        return "applescript"
    if "groovy" in named:
        return "groovy"
    is_script = verbs.is_page or named & {"javascript", "typescript", "node", "deno", "js", "ts"}
    return "javascript" if is_script else "python"
