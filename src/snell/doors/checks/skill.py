"""Which skills does a prompt ask for?"""

import argparse
import os
from typing import Any

from snell.doors.checks import text_in
from snell.model.errors import SnellError
from snell.packs.skills.folders import folders_for, skills_in
from snell.packs.skills.ranking import Ranked, ranked, wanted
from snell.runtime.builtin_packs import builtin_packs

EXAMPLE = "snell check skill 'make a PDF report'"
ROWS = "{id, prompt}"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="?", help="what a person would type")
    parser.add_argument("--folder", action="append", default=[], help="look at these folders of skills too")


def ask(row: dict[str, Any]) -> dict[str, Any]:
    found = _ranking(text_in(row, "prompt"), [])
    chosen = wanted(found, _most())
    ranking = [{"name": each.skill.name, "score": each.score, "because": list(each.because)} for each in found[:10]]
    return {"skills": [each.skill.name for each in chosen], "ranking": ranking}


def show(args: argparse.Namespace) -> int:
    if args.prompt is None:
        raise SnellError("give a prompt", advice=f"for example: {EXAMPLE}")
    found = _ranking(args.prompt, args.folder)
    chosen = wanted(found, _most())
    for each in found[:10]:
        mark = "*" if each in chosen else " "
        print(f"{mark} {each.score:5.2f}  {each.skill.name:<24} {'; '.join(each.because)}")
    print("those with * would come with the prompt" if chosen else "no skill fits this prompt")
    return 0


def _ranking(prompt: str, folders: list[str]) -> list[Ranked]:
    return ranked(prompt, skills_in(folders_for(os.path.expanduser("~"), os.getcwd(), folders)))


def _most() -> int:
    return int(builtin_packs()["skills"].options["most"])
