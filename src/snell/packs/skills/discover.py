"""
Add the skill that a prompt asks for.

Why      A skill helps only if the model reads it.
What     Skills whose name, triggers or description match the prompt come with it: their documents if they fit, else
         their paths; each once a session. Sub-agents get the list when they start.
Instead  Call the skill by name, or set your own words in `[pack.skills.triggers]`.
"""

import os
import re

from snell.model.context import Context
from snell.model.effects import Note
from snell.model.events import Event
from snell.packs.skills.ranking import Ranked, rank_skills, select_skills
from snell.packs.skills.skill_files import Skill, skills_in
from snell.packs.skills.skill_folders import folders_for
from snell.sdk.decorators import informs
from snell.sdk.subjects import Prompt, ShellCall
from snell.system.lazy_regex import lazy_regex

GIVEN = "skills/given"
LONGEST_DESCRIPTION, LONGEST_LISTED, MOST_LISTED = 100, 150, 40
FORMATS = {
    "pdf": r"\bpdf\b|\.pdf\b|pdftotext|pdftk|qpdf|pypdf",
    "docx": r"\.docx?\b|python-docx",
    "pptx": r"\.pptx?\b|python-pptx",
    "xlsx": r"\.xlsx?\b|\.xlsm\b|openpyxl",
}
# Other words for a format in the names of skills.
OTHER_WORDS = {
    "pdf": ("pdfs",),
    "docx": ("doc", "word"),
    "pptx": ("ppt", "powerpoint", "slides"),
    "xlsx": ("xls", "excel", "spreadsheet", "spreadsheets"),
}
_NAME_PARTS = lazy_regex(r"[\W_]+")
_ANY_FORMAT = lazy_regex("|".join(FORMATS.values()), re.IGNORECASE)
LONGEST_COMMAND = 20_000


@informs("UserPromptSubmit", timeout=3)
def with_a_prompt(prompt: Prompt, event: Event, context: Context) -> Note | None:
    """Add the skills that a prompt asks for, each once a session."""
    if not prompt.text.strip():
        return None
    options = context.options
    found = rank_skills(prompt.text, known_skills(context, event), options.get("triggers"))
    scope = f"session:{event.session_id}"
    given = context.marks.get(scope, GIVEN)
    before = given if isinstance(given, list) else []
    fresh = [each for each in select_skills(found, int(options.get("most", 3))) if each.skill.path not in before]
    if not fresh:
        return None
    context.marks.put(scope, GIVEN, [*before, *(each.skill.path for each in fresh)])
    return Note(_format_skills(fresh, int(options.get("inject", 6000))))


@informs("SubagentStart", timeout=3)
def with_a_subagent(event: Event, context: Context) -> Note | None:
    """List the skills for a sub-agent."""
    skills = [each for each in known_skills(context, event) if not each.is_by_name][:MOST_LISTED]
    lines = [f"- {each.name}: {_cut(each.description, LONGEST_LISTED)} ({each.path})" for each in skills]
    return Note("Available skills; read the SKILL.md before you use one:\n" + "\n".join(lines)) if lines else None


@informs("PreToolUse", kind="shell", when={"document_formats": True})
def with_a_document(call: ShellCall, event: Event, context: Context) -> Note | None:
    """Remind of the skill for this kind of document."""
    if not _ANY_FORMAT.search(call.command, 0, LONGEST_COMMAND):
        return None
    formats = [
        name for name, pattern in FORMATS.items() if re.search(pattern, call.command[:LONGEST_COMMAND], re.IGNORECASE)
    ]
    scope, mark = f"session:{event.session_id}", "skills/formats"
    reminded = context.marks.get(scope, mark)
    before = reminded if isinstance(reminded, list) else []
    skills = known_skills(context, event)
    fitting = {name: skill for name in formats if name not in before and (skill := _skill_for(name, skills))}
    if not fitting:
        return None
    context.marks.put(scope, mark, [*before, *fitting])
    return Note(
        "\n".join(f"There is a skill for {name} files; read {each.path} first." for name, each in fitting.items())
    )


def _skill_for(name: str, skills: list[Skill]) -> Skill | None:
    """Return the skill with the format's name; else the first with a word for it in its name, such as `pdf-tools`."""
    words = {name, *OTHER_WORDS.get(name, ())}
    named = [skill for skill in skills if not words.isdisjoint(_NAME_PARTS.split(skill.name.lower()))]
    return next((skill for skill in named if skill.name.lower() == name), named[0] if named else None)


def known_skills(context: Context, event: Event) -> list[Skill]:
    """Return the user's skills, and the project's if it is trusted."""
    home = context.env.get("HOME") or os.path.expanduser("~")
    project = context.project_dir if context.is_trusted else ""
    return skills_in(folders_for(home, project, context.options.get("folders"), context.env, event.cwd))


def _format_skills(found: list[Ranked], budget: int) -> str:
    parts = []
    for each in found:
        skill = each.skill
        if 0 < len(skill.text) <= budget:
            budget -= len(skill.text)
            parts.append(f"Skill `{skill.name}` ({skill.path}) is made for this:\n\n{skill.text}")
        else:
            about = _cut(skill.description, LONGEST_DESCRIPTION)
            parts.append(f"Skill `{skill.name}` may help: {about}. Read {skill.path} first.")
    return "\n\n".join(parts)


def _cut(text: str, length: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 3].rstrip() + "..."
