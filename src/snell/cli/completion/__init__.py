"""
Print a shell completion script, which calls `snell completion words` for the words that may come next.

They come from the commands' parsers and from stored data.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from snell.cli.call_operation import call_operation
from snell.cli.main import COMMANDS, parser_of
from snell.model.errors import SnellError

Candidates = Iterable[tuple[str, str]]  # each word with a description of one line


def run(args: argparse.Namespace) -> int:
    if args.what != "words":
        sys.stdout.write(Path(__file__).with_name(f"completion.{args.what}").read_text(encoding="utf-8"))
        return 0
    words = args.line[1:] if args.line[:1] == ["--"] else args.line
    for word, text in candidates(words or [""]):
        print(f"{word}\t{text}")
    return 0


def candidates(words: Sequence[str]) -> list[tuple[str, str]]:
    """Return the words that could replace the last one, which may be empty."""
    *before, begun = words
    found = _at(before, begun) if before else [*COMMANDS.items(), ("--help", "show all commands")]
    plain = ((word, " ".join(text.split())) for word, text in found)
    return [(word, text) for word, text in plain if word.startswith(begun) and not set(word) & set("\n\t")]


def _at(before: Sequence[str], begun: str) -> Candidates:
    name, *rest = before
    if name not in COMMANDS:
        return []
    state = _LineState(name, parser_of(name))
    for word in rest:
        state.read_word(word)
    return state.candidates(begun)


class _LineState:
    """How much of a command's arguments the words before the cursor have used."""

    def __init__(self, command: str, parser: argparse.ArgumentParser) -> None:
        self._command = command
        self._enter(parser)

    def _enter(self, parser: argparse.ArgumentParser) -> None:
        self._options = {name: each for each in parser._actions for name in each.option_strings}
        self._positionals = [each for each in parser._actions if not each.option_strings]
        self._waiting: argparse.Action | None = None  # an option that wants a value
        self._is_over = False  # the rest belongs to another program

    def read_word(self, word: str) -> None:
        if self._waiting:
            self._waiting = None
        elif word == "--":
            self._is_over = True
        elif word.startswith("-") and len(word) > 1:
            option = self._options.get(word)
            self._waiting = option if option and option.nargs != 0 else None
        elif self._positionals:
            self._take(self._positionals[0], word)

    def _take(self, action: argparse.Action, word: str) -> None:
        if isinstance(action, argparse._SubParsersAction):
            if word in action.choices:
                self._enter(action.choices[word])
        elif action.nargs not in ("*", "+", argparse.REMAINDER):
            self._positionals.pop(0)

    def candidates(self, begun: str) -> Candidates:
        if self._is_over:
            return []
        if self._waiting:
            return self._values(self._waiting)
        if begun.startswith("-"):
            shown = {name: each.help for name, each in self._options.items() if each.help != argparse.SUPPRESS}
            return [(name, text or "") for name, text in shown.items() if name.startswith("--")]
        return self._values(self._positionals[0]) if self._positionals else []

    def _values(self, action: argparse.Action) -> Candidates:
        if isinstance(action, argparse._SubParsersAction):
            return [(each.dest, each.help or "") for each in action._choices_actions]
        if action.choices:
            return [(str(each), "") for each in action.choices]
        known = _KNOWN.get((self._command, action.dest))
        try:
            return list(known()) if known else []
        except SnellError:
            return []  # an error message would disturb the line that the user is typing


def _efforts() -> Candidates:
    for each in reversed(call_operation("db.effort.list")):
        yield str(each["id"]), f"{each['skill']}, no {each['ordinal']}, {each['lifecycle']}, {each['taskId']}"


def _sessions() -> Candidates:
    for each in reversed(call_operation("db.session.list")):
        yield str(each["id"]), f"effort {each['effortId']}, {each['endReason'] or 'open'}"


def _tasks() -> Candidates:
    return ((each["dirPath"], f"{each['title'] or ''} ({each['state']})") for each in call_operation("db.task.list"))


def _task_names() -> Candidates:
    return ((each["title"] or each["dirPath"], each["dirPath"]) for each in call_operation("db.task.list"))


def _skills() -> Candidates:
    names = dict.fromkeys(each["skill"] for each in call_operation("db.effort.list"))
    listed = {each["name"]: str(each.get("description") or "") for each in call_operation("agent.skills.list")}
    return [*listed.items(), *((name, "used before") for name in names if name not in listed)]


def _phases() -> Candidates:
    effort = call_operation("commands.where")["effort"]
    declared = effort["metadata"].get("phases") if effort else None
    for each in declared or ():
        if isinstance(each, Mapping) and each.get("label"):
            yield str(each["label"]), str(each.get("name") or "")


def _agents() -> Candidates:
    return ((each["id"], f"{each['status']} {each['label'] or ''}") for each in call_operation("db.agents.list"))


# Arguments that name stored data: (command, argument) -> the function that lists it.
_KNOWN: Mapping[tuple[str, str], Callable[[], Any]] = {
    ("task", "path"): _tasks,
    ("effort", "task_name"): _task_names,
    ("effort", "skill"): _skills,
    ("effort", "id_"): _efforts,
    ("effort", "effort_id"): _efforts,
    ("session", "id_"): _sessions,
    ("session", "session_id"): _sessions,
    ("session", "effort_id"): _efforts,
    ("phase", "phase"): _phases,
    ("phase", "effort"): _efforts,
    ("agent", "id_"): _agents,
    ("agent", "parent"): _agents,
    ("run", "agent"): _agents,
}
