"""
Ask a model through a coding agent (claude, codex, gemini) that the user has installed and logged in to.

The program runs without hooks, sessions and MCP servers of its own. If the program starts Snell nevertheless, an
environment variable says that it is answering a model hook. Its own tools are off, also for an agent hook: they could
read outside the project, would show secrets, and their results would not be fenced. Snell runs the loop and its tools:
the program writes the calls that it wants as JSON, and is asked again with all earlier messages and their results.
"""

import json
import os
import re
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from snell.llm.messages import Message, ModelError, Question, Tool, ToolCall, Turn, json_objects
from snell.redact import redact
from snell.system.deadline import CancelledError, Deadline, DeadlineExceededError
from snell.system.files import FileError, read_capped
from snell.system.run_program import environment, run

# Set for a program that answers a model hook's question: its own model hooks must not ask another one.
INSIDE = "SNELL_INSIDE_MODEL_HOOK"
CHARACTERS_A_TOKEN = 4  # roughly; these programs do not report their usage

_MOST_CALLS = 20  # in one answer
_HOW = (
    "You have these tools, and no others work here. To use some, answer with nothing but one JSON object for each "
    'call, such as {"tool": "Read", "input": {"file_path": "README.md"}}; you will be asked again with what they give.'
)
# Features that read files, and others that a model hook does not need.
_CODEX_READS = ("shell_tool", "unified_exec", "view_image")
_CODEX_MORE = ("hooks", "apps", "plugins", "multi_agent", "goals", "tool_suggest")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST_CONFIG = 1_000_000


class Program(Struct, frozen=True):
    name: str
    # Returns its arguments, for a run in an empty folder and this environment.
    words: Callable[[Question, str, Mapping[str, str]], list[str]]
    trusts: Mapping[str, str] = {}  # variables that let it work in a folder that it does not know


def program_for(wanted: str, env: Mapping[str, str]) -> tuple[Program, str] | None:
    """Return the program that the settings name, else the first that is installed, and its path."""
    for program in PROGRAMS:
        name = os.path.basename(wanted) if wanted else program.name
        if name != program.name:
            continue
        path = shutil.which(wanted or program.name, path=env.get("PATH", os.defpath))
        if path:
            return program, os.path.abspath(path)
    return None


def ask_program(program: Program, path: str, question: Question, env: Mapping[str, str], deadline: Deadline) -> Turn:
    """Ask once; the output of the program is the answer."""
    # In an empty folder, because these programs read instructions of a project, which is what is being judged.
    with tempfile.TemporaryDirectory(prefix="snell-ask-") as folder:
        return _run_program(program, path, question, {**env, **program.trusts}, folder, deadline)


def _run_program(
    program: Program, path: str, question: Question, env: Mapping[str, str], folder: str, deadline: Deadline
) -> Turn:
    tools = "\n".join(
        f"- {tool.name}: {tool.description} Its input: {msgspec.json.encode(tool.schema).decode('utf-8')}"
        for tool in question.tools
    )
    parts = [question.system, *([f"{_HOW}\n{tools}"] if tools else [])]
    text = "\n\n".join([*parts, *(part for message in question.messages for part in _parts(message))])
    finished = run(
        [path, *program.words(question, folder, env)],
        stdin=text.encode("utf-8"),
        cwd=folder,
        env=environment(env, {INSIDE: "1"}),
        timeout=deadline.remaining(),
        cancel=deadline.cancel,
    )
    if finished.cancelled:
        raise CancelledError
    if finished.timed_out:
        raise DeadlineExceededError
    if finished.exit_code != 0:
        printed = (finished.stderr.strip() or finished.stdout.strip()).decode("utf-8", "replace")
        why = finished.start_error or redact(printed)[-300:] or f"exit code {finished.exit_code}"
        raise ModelError("crash", f"`{program.name}` failed: {why}")
    answer = finished.stdout.decode("utf-8", "replace").strip()
    calls = _calls_in(answer, question.tools)
    return Turn(answer, calls, len(text) // CHARACTERS_A_TOKEN, len(answer) // CHARACTERS_A_TOKEN)


def _calls_in(text: str, tools: tuple[Tool, ...]) -> tuple[ToolCall, ...]:
    """Return the calls that an answer asks for; none when it contains a verdict."""
    found = [each for _, each in json_objects(text, json.JSONDecoder()) if each is not None]
    if not tools or any("ok" in each for each in found):
        return ()
    wanted = [(name, each.get("input")) for each in found if isinstance(name := each.get("tool"), str)]
    return tuple(
        ToolCall(f"call-{number}", name, given if isinstance(given, dict) else {})
        for number, (name, given) in enumerate(wanted[:_MOST_CALLS], 1)
    )


def _parts(message: Message) -> Iterator[str]:
    if message.role == "assistant":
        yield f"You answered:\n{message.text}"
    elif message.text:
        yield message.text
    yield from (f"What {result.id} gives:\n{result.text}" for result in message.results)
    if message.results:
        yield "Use tools again, or give your answer."


def _claude(question: Question, folder: str, env: Mapping[str, str]) -> list[str]:
    quiet = ["--settings", '{"disableAllHooks": true}', "--setting-sources", "user", "--strict-mcp-config"]
    words = ["-p", "--output-format", "text", "--no-session-persistence", *quiet, "--tools", ""]
    return [*words, *_model(question)]


def _codex(question: Question, folder: str, env: Mapping[str, str]) -> list[str]:
    words = ["exec", "--skip-git-repo-check", "--sandbox", "read-only", "--color", "never"]
    words += ["-c", "approval_policy=never", "-c", "project_doc_max_bytes=0", "-c", 'web_search="disabled"']
    words += [word for name in (*_CODEX_MORE, *_CODEX_READS) for word in ("-c", f"features.{name}=false")]
    words += [word for name in _codex_servers(env) for word in ("-c", f"mcp_servers.{name}.enabled=false")]
    if question.tools:
        # A version that does not know these features could read any file; with these options it does not start.
        words += [word for name in _CODEX_READS for word in ("--disable", name)]
    return [*words, *_model(question), "-"]


def _model(question: Question) -> list[str]:
    return ["--model", question.model] if question.model else []


def _codex_servers(env: Mapping[str, str]) -> Iterator[str]:
    """Return the names of the user's MCP servers, each of which has to be turned off by its name."""
    folder = env.get("CODEX_HOME") or os.path.join(env.get("HOME") or os.path.expanduser("~"), ".codex")
    try:
        found = tomllib.loads(read_capped(Path(folder, "config.toml"), _LONGEST_CONFIG).decode("utf-8"))
    except (OSError, FileError, ValueError):  # codex reports a broken file itself
        return
    servers = found.get("mcp_servers")
    for name in servers if isinstance(servers, dict) else ():
        if not _PLAIN_NAME.fullmatch(name):
            raise ModelError(
                "launch", f"the MCP server `{name}` of codex cannot be left out of a model hook; rename it"
            )
        yield name


def _gemini(question: Question, folder: str, env: Mapping[str, str]) -> list[str]:
    words = ["--approval-mode", "default", "--extensions", "none", "--allowed-mcp-server-names", "none"]
    if question.tools:
        policy = Path(folder, "no-tools.toml")
        # The priority is above everything in the user's own settings.
        policy.write_text('[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 999\n', encoding="utf-8")
        words += ["--admin-policy", str(policy)]
    return [*words, *_model(question), "-p", "answer the question on stdin"]


PROGRAMS = (
    Program("claude", _claude),
    Program("codex", _codex),
    Program("gemini", _gemini, {"GEMINI_CLI_TRUST_WORKSPACE": "true"}),
)
