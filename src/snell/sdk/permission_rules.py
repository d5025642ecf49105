"""
Permission rules as conditions: `Bash(git push *)`, `Edit(src/**)`, `WebFetch(domain:example.com)`, `mcp__server`.

A condition decides whether a hook runs at all, so in doubt it holds: a command that cannot be parsed, or that runs
something which is only known at run time, matches every pattern. But text that is no rule never holds, and `parse_rule`
reports what is wrong with it.

In the parentheses:
    Bash        a command; `*` is any sequence of characters, and a final ` *` or `:*` also stands for nothing.
                Each command of the line is compared by itself, without its assignments and wrappers. A pattern that
                names more than the program also holds on any line with a `$( )` in it.
    Edit, Read  a path, see `path_matches`; Edit is for everything that changes files, Read for everything that reads.
    WebFetch    `domain:` and a host name, in which `*` is allowed.
    Task, Agent, Skill    a name.
    other tools           a value of the input.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from snell.model.command_lines import command_line
from snell.model.tools import names_of
from snell.sdk.wildcards import path_matches, text_matches
from snell.shell.reader import CommandLine, read
from snell.system.lazy_regex import lazy_regex

LONGEST_RULE = 1000

_RULE = lazy_regex(r"\s*([^\s()]*)\s*(\((.*)\))?\s*", re.DOTALL)
_TOOL_NAME = lazy_regex(r"[A-Za-z0-9_*.:/\-]+")
_ANYTHING = ("*", "**", ":*")
_DOMAIN = "domain:"

# With a pattern, these rules are about a kind of tool, not one tool.
_FAMILIES = {"Bash": ("shell",), "Edit": ("edit", "write"), "Read": ("read", "search")}

_PATH_FIELDS = ("file_path", "notebook_path", "path", "filePath", "target_file", "paths", "files")
_AGENT_FIELDS = ("subagent_type", "agent_type", "agent_name")
_SKILL_FIELDS = ("skill", "name", "command")


class Rule(Struct, frozen=True):
    tool: str
    pattern: str = ""  # empty: whatever the input is


def holds(
    rule: str, tools: Iterable[str], tool_input: Mapping[str, Any], kind: str, *, cwd: str = "", home: str = ""
) -> bool:
    """
    Return whether the rule holds for this tool call.

    Args:
        tools: every name of the tool.
        cwd: the folder that relative paths and patterns start from; without it they may start anywhere.
    """
    try:
        parsed = parse_rule(rule)
    except ValueError:
        return False
    names = names_of(*tools)
    if not _names_tool(parsed, names, kind):
        return False
    if not parsed.pattern or parsed.pattern in _ANYTHING:
        return True
    return _MATCHERS.get(parsed.tool, _value_matches())(parsed.pattern, tool_input, cwd, home)


def parse_rule(text: str) -> Rule:
    """Return the rule in a text. Raises ValueError when it is none."""
    if len(text) > LONGEST_RULE:
        raise ValueError(f"the rule has {len(text)} characters; keep it under {LONGEST_RULE}")
    found = _RULE.fullmatch(text)
    if not found:
        raise ValueError(f"`{text}` is no rule; write a tool and a pattern in parentheses, as in `Bash(git push *)`")
    rule = Rule(found[1], (found[3] or "").strip())
    wrong = _rule_error(rule, has_pattern=found[2] is not None)
    if wrong:
        raise ValueError(f"`{text}` is no rule: {wrong}")
    return rule


def _rule_error(rule: Rule, *, has_pattern: bool) -> str:
    if not _TOOL_NAME.fullmatch(rule.tool):
        return "it names no tool; start with one, as in `Bash(git push *)`"
    if has_pattern and not rule.pattern:
        return f"its parentheses are empty; write `{rule.tool}` alone for every call"
    if has_pattern and rule.tool.startswith("mcp__"):
        return f"tools of MCP servers take no pattern; write `{rule.tool}` alone"
    if rule.tool == "Bash" and ":*" in rule.pattern[:-2]:
        return "`:*` is only allowed at the end; use `*` elsewhere"
    if rule.tool == "WebFetch" and has_pattern and not _names_domain(rule.pattern):
        return "it names no domain; write `WebFetch(domain:example.com)`"
    return ""


def _names_domain(pattern: str) -> bool:
    return pattern in _ANYTHING or bool(pattern.removeprefix(_DOMAIN).strip() and pattern.startswith(_DOMAIN))


def _names_tool(rule: Rule, names: Iterable[str], kind: str) -> bool:
    if any(text_matches(rule.tool, name) or _is_on_server(rule.tool, name) for name in names):
        return True
    # PowerShell is a shell, but not one whose commands a Bash pattern describes.
    return bool(rule.pattern) and kind in _FAMILIES.get(rule.tool, ()) and "PowerShell" not in names


def _is_on_server(tool: str, name: str) -> bool:
    return tool.startswith("mcp__") and "__" not in tool[5:] and name.startswith(f"{tool}__")


_Matcher = Callable[[str, Mapping[str, Any], str, str], bool]


def _command_matches(pattern: str, tool_input: Mapping[str, Any], _cwd: str, _home: str) -> bool:
    text = command_line("Bash", tool_input)
    reading = read(text) if text or isinstance(tool_input.get("command"), str) else None
    if reading is None or not reading.understood or reading.dynamic:
        return True
    if reading.substitutes and " " in _without_tail(pattern):
        return True
    return any(_describes(pattern, rendered) for rendered in _command_forms(reading))


def _without_tail(pattern: str) -> str:
    """Return the pattern without a final wildcard that may stand for nothing."""
    return pattern.removesuffix(":*").removesuffix(" *").strip()


def _describes(pattern: str, command: str) -> bool:
    start = _without_tail(pattern)
    if start == pattern:
        return text_matches(pattern, command)
    return text_matches(start, command) or text_matches(f"{start} *", command)


def _command_forms(reading: CommandLine) -> Iterator[str]:
    """Yield every form of the commands of a line that a pattern may be written for."""
    yield reading.line.strip()
    for command in reading.commands:
        yield _one_line(command.text)
        for layer in command.layers:
            if layer.words:
                yield _one_line(layer.text[layer.spans[0][0] :])
                yield " ".join(layer.words)
                yield " ".join((layer.program, *layer.arguments))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _path_matches(pattern: str, tool_input: Mapping[str, Any], cwd: str, home: str) -> bool:
    paths = list(_texts(tool_input, _PATH_FIELDS))
    # A search without a path is a search in the working folder; an edit without one may be anywhere.
    paths = paths or ([cwd or "."] if "pattern" in tool_input else [])
    return not paths or any(path_matches(pattern, path, cwd=cwd, home=home) for path in paths)


def _texts(tool_input: Mapping[str, Any], fields: Iterable[str]) -> Iterator[str]:
    for field in fields:
        value = tool_input.get(field)
        values = value if isinstance(value, list) else [value]
        yield from (text for text in values if isinstance(text, str) and text)


def _domain_matches(pattern: str, tool_input: Mapping[str, Any], _cwd: str, _home: str) -> bool:
    url = tool_input.get("url")
    host = _host(url) if isinstance(url, str) else None
    return host is None or text_matches(pattern.removeprefix(_DOMAIN).strip().lower().rstrip("."), host)


def _host(url: str) -> str | None:
    from urllib.parse import urlsplit  # slow to import, and few rules name a host

    try:
        host = urlsplit(url if "//" in url else f"//{url}").hostname
    except ValueError:
        return None
    return host.rstrip(".") if host else None


def _value_matches(fields: tuple[str, ...] = ()) -> _Matcher:
    """Return a matcher for one of these fields, or for any."""

    def matches(pattern: str, tool_input: Mapping[str, Any], _cwd: str, _home: str) -> bool:
        return any(text_matches(pattern, text) for text in _texts(tool_input, fields or tool_input))

    return matches


_MATCHERS: dict[str, _Matcher] = {
    "Bash": _command_matches,
    **dict.fromkeys(("Edit", "MultiEdit", "NotebookEdit", "Write", "Read", "Grep", "Glob", "LS"), _path_matches),
    "WebFetch": _domain_matches,
    **dict.fromkeys(("Task", "Agent"), _value_matches(_AGENT_FIELDS)),
    "Skill": _value_matches(_SKILL_FIELDS),
}
