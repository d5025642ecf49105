"""Show which skills a prompt would load: `snell check skill`."""

import os
from collections.abc import Iterator
from pathlib import Path

from snell.model.context import Context
from snell.packs.skills.ranking import Ranked, rank_skills, select_skills
from snell.settings.check_rows import Row, options_of_pack, text_in
from snell.settings.load import load
from snell.settings.skill_files import known_skills
from snell.system.paths import places


def check_row(row: Row) -> Row:
    """Rank the skills for the prompt of one row."""
    found, chosen, _ = _ranking(row)
    ranking = [{"name": each.skill.name, "score": each.score, "because": list(each.because)} for each in found[:10]]
    return {"skills": [each.skill.name for each in chosen], "ranking": ranking}


def lines(row: Row, _answer: Row) -> Iterator[str]:
    """Yield the ranking, with a mark at each skill that would be added."""
    found, chosen, is_trusted = _ranking(row)
    for each in found[:10]:
        mark = "*" if each in chosen else " "
        yield f"{mark} {each.score:5.2f}  {each.skill.name:<24} {'; '.join(each.because)}"
    yield "skills with * would be added to the prompt" if chosen else "no skill matches this prompt"
    if not is_trusted:
        yield "this project is not trusted (`snell trust`), so its own skills were not searched"


def _ranking(row: Row) -> tuple[list[Ranked], list[Ranked], bool]:
    """Rank the skills for a prompt in this folder, with the user's settings, and the project's skills if trusted."""
    prompt = text_in(row, "prompt")
    loaded = load(places(os.environ), Path.cwd(), os.environ)
    options = options_of_pack("skills")
    context = Context(env=os.environ, project_dir=loaded.project_root, is_trusted=loaded.is_trusted)
    more = [*row.get("folder", ()), *(options.get("folders") or [])]
    found = rank_skills(prompt, known_skills(context, os.getcwd(), more=more), options.get("triggers"))
    return found, select_skills(found, int(options.get("most", 3))), loaded.is_trusted
