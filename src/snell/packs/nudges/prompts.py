"""
Point at the command or agent for the job.

Why      A team has commands and agents for its usual jobs; people type what they want, not the command's name.
What     The first keyword of a route that is used as a request adds one line for the model: `Invoke @improve.`
         A negated keyword, or one that is only mentioned (`the build is red`), has no effect.
Instead  Use other words, put the keyword in backticks, or change `[pack.nudges.routes]`.
"""

from collections.abc import Mapping
from typing import Any

from snell.model.context import Context
from snell.model.effects import Note, Tell
from snell.packs.nudges.routes import DOCUMENTS, asks_for_commit, is_meta, route_of
from snell.sdk.decorators import informs
from snell.sdk.subjects import Prompt

DOCUMENT_RULES = (
    "Names of documents: in the project's root in capitals (README.md, CHANGELOG.md), inside folders in lower case; "
    "never a lower-case document in the root."
)
COMMIT_RULES = (
    "For a commit: add files by name, never everything at once; make a new commit, never amend; no co-author line; "
    "a pre-commit hook may reformat files, then add them again and retry, twice at most; write the message as "
    "`[section] What changed`; use the commit skill if there is one."
)
LONGEST = 10_000  # characters; the request comes before a longer pasted text


@informs("UserPromptSubmit", timeout=3)
def name_command(prompt: Prompt, context: Context) -> list[Note | Tell] | None:
    """Name the command or agent that is made for what was asked."""
    parts = parts_for(prompt.text, context.options)
    text = "\n\n".join(parts)
    return [Note(text), Tell(text)] if parts else None


def parts_for(prompt: str, options: Mapping[str, Any]) -> list[str]:
    prompt = prompt[:LONGEST]
    if not prompt.strip() or is_meta(prompt):
        return []
    parts = [DOCUMENT_RULES] if options.get("documentation", True) and DOCUMENTS.search(prompt) else []
    if _asks_for_commit(prompt, options):
        return [*parts, COMMIT_RULES]
    keyword = keyword_for(prompt, options)
    return [*parts, f"Invoke {_routes(options)[keyword]}."] if keyword else parts


def keyword_for(prompt: str, options: Mapping[str, Any]) -> str:
    """Return the keyword of the route that a prompt takes; empty for none."""
    prompt = prompt[:LONGEST]
    if _asks_for_commit(prompt, options):
        return ""
    look_alikes = str(options.get("look_alikes", "")).split()
    return route_of(prompt, _routes(options), options.get("matching", "careful"), look_alikes)


def _routes(options: Mapping[str, Any]) -> dict[str, str]:
    return {str(word).lower(): str(target) for word, target in options.get("routes", {}).items() if target}


def _asks_for_commit(prompt: str, options: Mapping[str, Any]) -> bool:
    return bool(options.get("commits", True)) and asks_for_commit(prompt)
