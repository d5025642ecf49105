"""Extract the text of a tool call that may be worth remembering: which tools, which fields, and how much of each."""

from collections.abc import Mapping
from typing import Any

import msgspec

from snell.redact.pattern_file import patterns_of
from snell.system.json_input import json_or_none

OWN_PREFIXES = ("mcp__snell__", "mcp__plugin_snell_")
PATTERNS = patterns_of("memory")
SKIPPED, OWN_TOOLS, _TEXTS = map(PATTERNS.words, ("tools_that_read", "own_tools", "result_fields"))
FIELD, OUTPUT, TOTAL = 5_000, 3_000, 10_000  # characters
LONGEST_WORD = 900  # longer than tokens are; a longer word is data


def is_skipped(tool: str) -> bool:
    """Whether to ignore a tool: those that only read, our own (their output is not new), and an empty name."""
    name = tool.removeprefix("mcp__unknown__")  # some clients do not name the server of a tool
    return not tool or tool in SKIPPED or tool.startswith(OWN_PREFIXES) or (name != tool and name in OWN_TOOLS)


def content_of(tool: str, given: Mapping[str, Any], response: Any) -> str:
    """Return the text of a tool call; empty for unknown tools and calls without the relevant fields."""
    if is_skipped(tool):
        return ""
    if edit := PATTERNS.tables["edits"].get(tool):
        return _cut(_edit(given, *edit), TOTAL)
    if tool in ("Bash", "PowerShell"):
        return _cut(_shell(given, response), TOTAL)
    if tool.startswith("mcp__"):
        text = _text(response)
        return _cut(f"Tool: {tool}\n{_cut(text, FIELD)}", TOTAL) if text.strip() else ""
    return ""


def _edit(given: Mapping[str, Any], label: str, path_field: str, text_field: str) -> str:
    path, text = given.get(path_field), given.get(text_field)
    if isinstance(text, list):
        text = "\n".join(str(each.get("new_string", "")) for each in text if isinstance(each, dict))
    if not isinstance(path, str) or not path or not isinstance(text, str) or not text.strip():
        return ""
    return f"{label}: {path[:500]}\n{_cut(text, FIELD)}"


def _shell(given: Mapping[str, Any], response: Any) -> str:
    command = given.get("command")
    if not isinstance(command, str) or not command.strip() or PATTERNS.own_command.search(command[:10_000]):
        return ""
    output = _output(response)
    return "\n".join(part for part in (f"Command: {_cut(command, OUTPUT)}", _cut(output, OUTPUT)) if part)


def _output(response: Any) -> str:
    if not isinstance(response, dict):
        return _text(response)
    parts = [response[name] for name in ("stdout", "stderr") if isinstance(response.get(name), str)]
    return "\n".join(part for part in parts if part.strip()) if parts else _text(response)


DEEPEST = 6


def _text(response: Any) -> str:
    """Return a response as text; JSON if it contains none."""
    found = _text_in(response, DEEPEST)
    if found:
        return found
    if response is None or isinstance(response, str):
        return response or ""
    try:
        return msgspec.json.encode(response).decode()
    except (TypeError, ValueError, RecursionError):
        return ""


def _text_in(response: Any, depth: int) -> str:
    """Return the text in a result of any client: plain, in blocks, under one of their names, or as JSON in a text."""
    if isinstance(response, str):
        return _unwrap(response, depth)
    if isinstance(response, list):
        return _blocks(response, depth - 1)
    if not isinstance(response, dict) or depth < 0:
        return ""
    return next((text for name in _TEXTS if name in response and (text := _text_in(response[name], depth - 1))), "")


def _blocks(blocks: list[Any], depth: int) -> str:
    """Join blocks, if all are texts or pictures: a list of anything else is data."""
    if not all(isinstance(block, str | dict) for block in blocks):
        return ""
    texts = [_text_in(block, depth) for block in blocks]
    pairs = zip(texts, blocks, strict=True)
    is_answer = all(text or (isinstance(block, dict) and block.get("type")) for text, block in pairs)
    return "\n".join(text for text in texts if text) if is_answer else ""


def _unwrap(text: str, depth: int) -> str:
    if depth > 0 and text[:1] == "{" and any(f'"{name}"' in text[:2_000] for name in _TEXTS):
        return _text_in(json_or_none(text), depth - 1) or text
    return text


def cut_at_word(text: str, most: int) -> str:
    """Return the beginning of a text without half a word at its end, unless that word is very long."""
    if len(text) <= most or text[most].isspace():
        return text[:most]
    parts = text[:most].rsplit(None, 1)
    is_short = len(parts) == 2 and len(parts[1]) <= LONGEST_WORD
    return text[: most - len(parts[1])] if is_short else text[:most]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{cut_at_word(text, most - 3)}..."
