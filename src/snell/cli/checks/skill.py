"""Show which skills a prompt would load."""

import argparse
import os
from pathlib import Path
from typing import Any

from snell.cli.checks import text_in
from snell.model.errors import SnellError
from snell.packs.skills.ranking import Ranked, rank_skills, select_skills
from snell.packs.skills.skill_files import skills_in
from snell.packs.skills.skill_folders import folders_for
from snell.settings.builtin_packs import builtin_hooks, options_of
from snell.settings.load import load
from snell.settings.locate import project_at
from snell.system.paths import places

EXAMPLE = "snell check skill 'make a PDF report'"
ROWS = "{id, prompt}"
ANSWER = "{skills, ranking: [{name, score, because}]}"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="?", help="the user's prompt")
    parser.add_argument("--folder", action="append", default=[], help="also search this folder of skills")


def check_row(row: dict[str, Any]) -> dict[str, Any]:
    """Rank the skills for the prompt of one row."""
    return _as_data(*_ranking(text_in(row, "prompt"), [])[:2])


def check_arguments(args: argparse.Namespace) -> dict[str, Any]:
    """Rank the skills for the prompt on the command line."""
    return _as_data(*_ranking(_prompt_in(args), args.folder)[:2])


def _as_data(found: list[Ranked], chosen: list[Ranked]) -> dict[str, Any]:
    ranking = [{"name": each.skill.name, "score": each.score, "because": list(each.because)} for each in found[:10]]
    return {"skills": [each.skill.name for each in chosen], "ranking": ranking}


def print_result(args: argparse.Namespace) -> int:
    """Print the ranking, with a mark at each skill that would be added."""
    found, chosen, is_trusted = _ranking(_prompt_in(args), args.folder)
    for each in found[:10]:
        mark = "*" if each in chosen else " "
        print(f"{mark} {each.score:5.2f}  {each.skill.name:<24} {'; '.join(each.because)}")
    print("skills with * would be added to the prompt" if chosen else "no skill matches this prompt")
    if not is_trusted:
        print("this project is not trusted (`snell trust`), so its own skills were not searched")
    return 0


def _prompt_in(args: argparse.Namespace) -> str:
    if args.prompt is None:
        raise SnellError("no prompt was given", advice=f"for example: {EXAMPLE}")
    return str(args.prompt)


def _ranking(prompt: str, folders: list[str]) -> tuple[list[Ranked], list[Ranked], bool]:
    """Rank the skills for a prompt in this folder, with the user's settings, and the project's skills if trusted."""
    cwd = os.getcwd()
    loaded = load(places(os.environ), Path(cwd), os.environ)
    options = options_of("skills", builtin_hooks(loaded.value("pack") or {}, []))
    project = str(project_at(Path(cwd)).root) if loaded.is_trusted else ""
    more = [*folders, *(options.get("folders") or [])]
    known = skills_in(folders_for(os.path.expanduser("~"), project, more, os.environ, cwd))
    found = rank_skills(prompt, known, options.get("triggers"))
    return found, select_skills(found, int(options.get("most", 3))), loaded.is_trusted
