"""Rewriters for tests, and a short form of who ran on what."""

from typing import Any

from snell.model.decision import Decision
from snell.model.effects import Rewrite

INPUT = {"command": "ls"}


def becomes(command: str) -> Rewrite:
    return Rewrite({"command": command})


def adds(word: str) -> Any:
    """A function that appends a word to the command it sees."""
    return lambda on: becomes(f"{on.tool_input['command']} {word}")


def passes(decision: Decision) -> list[tuple[str, list[str], Any]]:
    return [(each.name, [hook.id for hook in each.hooks], each.event.rewritable) for each in decision.rounds]
