"""
Asking a model through a coding agent that the user has installed and logged in to.

It runs once, without hooks, sessions or servers of its own, with no tools or only such that read, and with a variable
in its environment by which a Snell that it calls all the same knows where it is.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping

from msgspec import Struct

from snell.kit.redact import redact
from snell.machine.model_talk import ModelError, Question, Turn
from snell.machine.patience import CancelledError, OutOfTimeError, Patience
from snell.machine.processes import environment, run
from snell.machine.surroundings import INSIDE

CHARACTERS_A_TOKEN = 4  # roughly; these programs do not say what they used


class Program(Struct, frozen=True):
    name: str
    words: Callable[[Question], list[str]]
    trusts: Mapping[str, str] = {}  # variables by which it works in a folder that it does not know


def program_for(wanted: str, env: Mapping[str, str]) -> tuple[Program, str] | None:
    """The program to ask, and where it is: the one the settings name, else the first that is installed."""
    for program in PROGRAMS:
        name = os.path.basename(wanted) if wanted else program.name
        if name != program.name:
            continue
        place = shutil.which(wanted or program.name, path=env.get("PATH", os.defpath))
        if place:
            return program, os.path.abspath(place)
    return None


def ask_program(
    program: Program, place: str, question: Question, env: Mapping[str, str], project_dir: str, patience: Patience
) -> Turn:
    """Ask once; the answer is what the program prints. Only an agent is asked inside of the project."""
    if not question.tools or not os.path.isdir(project_dir):
        # Elsewhere, because these programs read what a project wants to tell them, and here it is the one judged.
        with tempfile.TemporaryDirectory(prefix="snell-ask-") as folder:
            return _asked(program, place, question, {**env, **program.trusts}, folder, patience)
    return _asked(program, place, question, env, project_dir, patience)


def _asked(
    program: Program, place: str, question: Question, env: Mapping[str, str], folder: str, patience: Patience
) -> Turn:
    text = "\n\n".join((question.system, *(said.text for said in question.said)))
    finished = run(
        [place, *program.words(question)],
        stdin=text.encode("utf-8"),
        cwd=folder,
        env=environment(env, {INSIDE: "1"}),
        timeout=patience.left(),
        cancel=patience.cancel,
    )
    if finished.cancelled:
        raise CancelledError
    if finished.timed_out:
        raise OutOfTimeError
    if finished.exit_code != 0:
        printed = (finished.stderr.strip() or finished.stdout.strip()).decode("utf-8", "replace")
        said = finished.start_error or redact(printed[-300:])
        raise ModelError("crash", f"`{program.name}` failed: {said or f'exit code {finished.exit_code}'}")
    answer = finished.stdout.decode("utf-8", "replace").strip()
    return Turn(answer, (), len(text) // CHARACTERS_A_TOKEN, len(answer) // CHARACTERS_A_TOKEN)


def _claude(question: Question) -> list[str]:
    tools = ",".join(tool.name for tool in question.tools)
    quiet = ["--settings", '{"disableAllHooks": true}', "--setting-sources", "user", "--strict-mcp-config"]
    words = ["-p", "--output-format", "text", "--no-session-persistence", *quiet, "--tools", tools]
    return words + (["--model", question.model] if question.model else [])


def _codex(question: Question) -> list[str]:
    words = ["exec", "--skip-git-repo-check", "--sandbox", "read-only", "--color", "never"]
    words += ["-c", "features.hooks=false", "-c", "approval_policy=never", "-c", "project_doc_max_bytes=0"]
    return [*words, *(["--model", question.model] if question.model else []), "-"]


def _gemini(question: Question) -> list[str]:
    words = ["--approval-mode", "default", "--extensions", "none"]
    return [*words, *(["--model", question.model] if question.model else []), "-p", "answer the question on stdin"]


PROGRAMS = (
    Program("claude", _claude),
    Program("codex", _codex),
    Program("gemini", _gemini, {"GEMINI_CLI_TRUST_WORKSPACE": "true"}),
)
