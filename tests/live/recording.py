"""What went on between a model and its agent, as text. What is in docs/recordings was written so."""

import os
import re
from typing import Any

from tests.live.client_user import ClientUser, Ran
from tests.live.wires import Said

AT_START = re.compile(
    r"SessionStart hook additional context: (.*?)(?=\n# Environment|\n</system-reminder>|\Z)", re.DOTALL
)
BESIDE = re.compile(r"\d+% of the context is used.*")
WINDOW_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Recording:
    def __init__(self, user: ClientUser) -> None:
        self._user = user
        self._lines = ["$ snell effort start parser implement", "$ snell run -- claude -p PROMPT --allowedTools Bash"]
        self._begun = ""  # the first words of the window that is going on
        self._known: set[str] = set()

    def turn(self, asked: dict[str, Any], said: Said) -> Said:
        """One turn: what is new to the model, and what it does."""
        told = "\n".join(texts_in(asked["messages"]))
        start = found[1].strip() if (found := AT_START.search(told)) else ""
        if start != self._begun:
            self._begun = start
            self._add("\n--- a window begins; the model is told", start, f"and asked: {_prompt(asked)}\n")
        for message in asked["messages"][1:]:
            parts = message["content"] if isinstance(message["content"], list) else [{"text": message["content"]}]
            self._add(*(line for part in parts for line in _news(part) if line not in self._known))
        if said.refusal:
            self._add(f"the model's server answers: {said.refusal}")
        self._add(*(f"model runs: {given.get('command')}" for _, given in said.calls))
        return said

    def keep(self, ran: Ran) -> None:
        """Add it to the file that SNELL_RECORDING names."""
        if not (path := os.environ.get("SNELL_RECORDING")):
            return
        table = self._user.snell("session", "list").replace("\r", "").strip()
        self._add("\n--- what `snell run` said", ran.err.strip(), "\n$ snell session list", table, "")
        text = "\n".join(self._lines).replace(str(self._user.project), "/project")
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{WINDOW_ID.sub(lambda found: found[0][:8] + '-' + '.' * 27, text)}\n")

    def _add(self, *lines: str) -> None:
        self._lines += lines
        self._known.update(lines)


def texts_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for each in inner for text in texts_in(each)]


def _prompt(asked: dict[str, Any]) -> str:
    return next(text for text in reversed(texts_in(asked["messages"][0]["content"])) if not text.startswith("<"))


def _news(part: dict[str, Any]) -> list[str]:
    if part.get("type") == "tool_result":
        return [f"    comes back: {' '.join(texts_in(part.get('content')))}"]
    return [f"    is told: {found}" for found in BESIDE.findall(str(part.get("text", "")))]
