"""
Let a model analyse the report.

Why      Figures show what happened, but not what to conclude from it.
What     After a report is written, the model of `[model]` adds the patterns that it finds, with the evidence for each.
Instead  `patterns = "off"`, which is the default.
"""

from pathlib import Path

from snell.llm.client import answer_in_pack
from snell.llm.messages import Message, ModelError, Question
from snell.llm.untrusted_text import RULES, fence
from snell.model.context import Context
from snell.model.events import Event
from snell.packs.learn.report import QUESTIONS, WRITTEN
from snell.redact import redact
from snell.sdk.decorators import watches
from snell.system.files import FileError, read_capped

LIMIT = 60.0  # seconds for the model; no reply waits for it
LARGEST = 40_000
LONGEST = 8_000
_SYSTEM = (
    f"You read the report of one session of a coding agent and look for patterns worth keeping. {RULES} "
    "Answer in Markdown: at most eight list items, each a pattern, what in the report speaks for it, and what to do "
    "about it. Say only what the report shows; if it shows nothing, say so in one line."
)


@watches("PreCompact", "SessionEnd", when={"patterns": "model"}, timeout=LIMIT, waits=True)
def add_patterns(event: Event, context: Context) -> None:
    """Add the patterns that a model finds in the report."""
    path = context.marks.get(WRITTEN, event.session_id)
    if not isinstance(path, str):
        return
    context.marks.drop(WRITTEN, event.session_id)
    try:
        report = read_capped(Path(path), LARGEST, follow_links=False).decode("utf-8", "replace")
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"\n## Patterns\n\n{_patterns(report, event)}\n")
    except (OSError, FileError):
        return  # the report was removed


def _patterns(report: str, event: Event) -> str:
    questions = "\n".join(f"- {each}" for each in QUESTIONS)
    text = f"{fence(report, 'the report')}\n\n{questions}"
    try:
        answer = answer_in_pack(Question(_SYSTEM, (Message("user", text),)), event, LIMIT)
    except ModelError as error:
        return f"No model has analysed this: {error}."
    found = redact(answer.strip())[:LONGEST]
    return f"Written by a model from the report above; check it.\n\n{found or 'The answer was empty.'}"
