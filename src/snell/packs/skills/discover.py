"""
Add the skill that a prompt asks for.

Why      A skill helps only if the model reads it.
What     Skills whose name, triggers or description match the prompt come with it: their documents if they fit, else
         their paths; each once a session. Sub-agents get the list and the files of `knowledge` when they start.
Instead  Call the skill by name, or set your own words in `[pack.skills.triggers]`.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from snell.llm.untrusted_text import fence_text
from snell.model.context import Context
from snell.model.effects import Note
from snell.model.events import Event, session_scope
from snell.packs.skills.ranking import OTHER_WORDS, rank_skills, select_skills
from snell.sdk.decorators import informs
from snell.sdk.subjects import Prompt, ShellCall
from snell.settings.skill_files import Skill, known_skills
from snell.system.files import text_or_nothing
from snell.system.lazy_regex import lazy_regex

LONGEST_DESCRIPTION, LONGEST_LISTED, MOST_LISTED = 100, 150, 40
FORMATS = {
    "pdf": r"\bpdf\b|\.pdf\b|pdftotext|pdftk|qpdf|pypdf",
    "docx": r"\.docx?\b|python-docx",
    "pptx": r"\.pptx?\b|python-pptx",
    "xlsx": r"\.xlsx?\b|\.xlsm\b|openpyxl",
}
_NAME_PARTS = lazy_regex(r"[\W_]+")
_ANY_FORMAT = lazy_regex("|".join(FORMATS.values()), re.IGNORECASE)
_IN_FORMATS = ("pdf", "doc", "ppt", "xls", "openpyxl")  # one of these is in all of them; quicker than the pattern
LONGEST_COMMAND, LARGEST_FILE = 20_000, 1_000_000


@informs("UserPromptSubmit", timeout=3)
def add_to_prompt(prompt: Prompt, event: Event, context: Context) -> Note | None:
    """Add the skills that a prompt asks for, each once a session."""
    if not prompt.text.strip():
        return None
    options = context.options
    found = rank_skills(prompt.text, _skills_for(context, event), options.get("triggers"))
    clear = {each.skill.path: each.skill for each in select_skills(found, int(options.get("most", 3)))}
    fresh = _not_given_yet(clear, "skills/given", event, context)
    return Note(_format_skills(fresh.values(), int(options.get("inject", 6000)))) if fresh else None


@informs("SubagentStart", timeout=3)
def list_for_subagent(event: Event, context: Context) -> Note | None:
    """List the skills for a sub-agent, and add the files that the user wants every sub-agent to know."""
    skills = [each for each in _skills_for(context, event) if not each.is_by_name][:MOST_LISTED]
    lines = [f"- {each.name}: {_cut(each.description, LONGEST_LISTED)} ({each.path})" for each in skills]
    listed = "Available skills; read the SKILL.md before you use one:\n" + "\n".join(lines) if lines else ""
    parts = [listed, *_knowledge(context.options.get("knowledge"), event.cwd, int(context.options.get("inject", 6000)))]
    return Note("\n\n".join(filter(None, parts))) if any(parts) else None


def _knowledge(paths: object, cwd: str, budget: int) -> Iterable[str]:
    """Yield the files of the user's list: their text as far as it fits, else their path."""
    for path in paths if isinstance(paths, list) else ():
        place = Path(cwd, os.path.expanduser(str(path)))
        text = text_or_nothing(place, LARGEST_FILE).strip()
        if 0 < len(text) <= budget:
            budget -= len(text)
            yield f"### {place}\n{text}"
        elif text:
            yield f"Read {place} first."


@informs("PreToolUse", kind="shell", when={"document_formats": True})
def remind_for_document(call: ShellCall, event: Event, context: Context) -> Note | None:
    """Remind of the skill for this kind of document."""
    small = call.command[:LONGEST_COMMAND].lower()
    if not any(map(small.__contains__, _IN_FORMATS)) or not _ANY_FORMAT.search(call.command, 0, LONGEST_COMMAND):
        return None
    command, skills = call.command[:LONGEST_COMMAND], _skills_for(context, event)
    formats = [name for name, pattern in FORMATS.items() if re.search(pattern, command, re.IGNORECASE)]
    fitting = {name: skill for name in formats if (skill := _skill_for(name, skills))}
    fresh = _not_given_yet(fitting, "skills/formats", event, context)
    lines = [f"There is a skill for {name} files; read {each.path} first." for name, each in fresh.items()]
    return Note("\n".join(lines)) if lines else None


def _not_given_yet(skills: dict[str, Skill], mark: str, event: Event, context: Context) -> dict[str, Skill]:
    """Return the skills whose keys were not given in this session, and note that they are given now."""
    kept = context.marks.get(session_scope(event), mark)
    before = kept if isinstance(kept, list) else []
    fresh = {key: skill for key, skill in skills.items() if key not in before}
    if fresh:
        context.marks.put(session_scope(event), mark, [*before, *fresh])
    return fresh


def _skill_for(name: str, skills: list[Skill]) -> Skill | None:
    """Return the skill with the format's name; else the first with a word for it in its name, such as `pdf-tools`."""
    words = {form for word in (name, *OTHER_WORDS.get(name, ())) for form in (word, f"{word}s")}
    named = [skill for skill in skills if not words.isdisjoint(_NAME_PARTS.split(skill.name.lower()))]
    return next((skill for skill in named if skill.name.lower() == name), named[0] if named else None)


def _skills_for(context: Context, event: Event) -> list[Skill]:
    return known_skills(context, event.cwd, more=context.options.get("folders"))


def _format_skills(skills: Iterable[Skill], budget: int) -> str:
    parts = []
    for skill in skills:
        if 0 < len(skill.text) <= budget:
            budget -= len(skill.text)
            parts.append(f"Skill `{skill.name}` ({skill.path}) is made for this:\n{fence_text(skill.text, 'skill')}")
        else:
            about = _cut(skill.description, LONGEST_DESCRIPTION)
            parts.append(f"Skill `{skill.name}` may help: {about}. Read {skill.path} first.")
    return "\n\n".join(parts)


def _cut(text: str, length: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 3].rstrip() + "..."
