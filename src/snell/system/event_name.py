"""Find the event name in a payload that may be broken. Standard library alone, since `snell-hook` uses it too."""

import re

from snell.system.lazy_regex import lazy_regex

EVENT_KEYS = ("hook_event_name", "hookEventName", "hook_event", "hookName", "agent_action_name")
LONGEST_LOOK = 1_000_000  # bytes

_TOKENS = lazy_regex(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)


def event_name_given(payload: bytes) -> str:
    """Return the event that a payload names at its top level, as it is written there; empty when it names several."""
    names = top_level_texts(payload, EVENT_KEYS)
    return names[0] if len(names) == 1 else ""


def top_level_texts(payload: bytes, keys: tuple[str, ...]) -> list[str]:
    """
    Return the texts under these keys in a payload that may be broken.

    Only those at the top level: the model may have written deeper ones.
    """
    wanted = {f'"{key}"'.encode() for key in keys}
    depth, key, texts = 0, b"", []
    for token in _TOKENS.finditer(payload[:LONGEST_LOOK]):
        word = token[0]
        if word in b"{[":
            depth += 1
        elif word in b"}]":
            depth -= 1
        elif depth == 1 and word[:1] == b'"':
            if key:
                texts.append(word[1:-1].decode("utf-8", "replace"))
            is_key = payload[token.end() : token.end() + 20].lstrip()[:1] == b":"
            if is_key and b"\\" in word:
                return []  # an escaped key: written to be overlooked
            key = word if is_key and not key and word in wanted else b""
    return texts
