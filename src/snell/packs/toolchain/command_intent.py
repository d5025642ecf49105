"""Parse what a command asks for: `uv run pytest -k foo` is a Python command, its job is `test`, it selects `-k foo`."""

import re
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from snell.packs.toolchain.toolchains import table
from snell.system.lazy_regex import lazy_regex

MANAGERS = ("npm", "yarn", "pnpm", "bun")
SCRIPTS = {"test": "test", "t": "test", "tst": "test", "build": "build", "lint": "lint", "e2e": "e2e", "smoke": "smoke"}
SCRIPTS |= {"integration": "e2e", "test:e2e": "e2e", "test:integration": "e2e", "test:smoke": "smoke"}
RUNNERS = (("uv", "run"), ("poetry", "run"), ("pdm", "run"), ("python", "-m"), ("python3", "-m"))
NPX = (("npx",), ("pnpm", "exec"), ("pnpm", "dlx"), ("yarn", "dlx"), ("yarn",), ("bunx",), ())

# Cheaper than parsing the line: without one of these there is nothing to find in it.
_TOOLS = (
    "npm", "yarn", "pnpm", "bun", "npx", "pytest", "py.test", "go", "cargo", "tsc", "ruff", "playwright", "cypress",
    "deno", "hatch", "gradle", "mvn", "mix", "dotnet", "ctest", "cmake",
)  # fmt: skip
_WHOLE_TOOL = lazy_regex(rf"\b(?:{'|'.join(map(re.escape, (*_TOOLS, 'bunx', 'gradlew', 'mvnw')))})\b")

_VARIANT = lazy_regex(r"[:_.-]")  # `test:unit`, `build-docs`: a part of the job `test` or `build`
_JOB = lazy_regex(r"(?:\./)?(?:[\w-]+/)*(?:--?(?:tags=|test=)?)?(e2e|integration|smoke)(?:/|/\.\.\.)?")

PYTHON_TOOLS = ((("pytest",), "test"), (("py.test",), "test"), (("ruff", "check"), "lint"))
NODE_TOOLS = ((("tsc",), "build"), (("playwright", "test"), "e2e"), (("cypress", "run"), "e2e"))

# Arguments that mean "all of it", so that omitting them selects the same.
WHOLE = {"rust": ("--workspace", "--all"), "go": ("./...",), "python": (".",), "lint": (".",)}
NEUTRAL = ("-m", "-k", "--test", "-tags", "--tags", "./...", ".", "tests", "tests/", "--workspace", "--all")
INERT = ("--version", "--help", "-h", "-V", "help", "--collect-only", "--co", "--fixtures", "--list", "-c", "--watch")


class CommandIntent(Struct, frozen=True):
    """A recognised command. Word numbers are those of the command."""

    family: str
    action: str
    tool_at: int  # where the tool itself begins, after a runner such as `uv run`
    arguments_at: int
    arguments: tuple[str, ...]
    is_variant: bool = False  # a script such as `test:unit`, which is a part of the job
    job: str = ""  # of a test command whose only selection names it: `pytest tests/e2e`, `go test -tags=e2e ./...`

    @property
    def is_whole(self) -> bool:
        """Whether it asks for the complete job, without a selection."""
        neutral = (*WHOLE.get(self.family, ()), *WHOLE.get(self.action, ()))
        return not self.is_variant and all(each in neutral for each in self.arguments)


def may_have_tool(line: str) -> bool:
    """Tell whether a line may have a test, build or lint command."""
    small = line.lower()
    for tool in _TOOLS:  # a plain loop: for most lines this is all that this pack does
        if tool in small:
            return _WHOLE_TOOL.search(small) is not None
    return False


def command_intent(words: Sequence[str]) -> CommandIntent | None:
    """Return what these words ask for; None when it is no known job."""
    lowered = tuple(word.lower() for word in words[:4])
    found = _python(lowered) or _node(lowered) or _plain(lowered)
    if not found or any(each in INERT for each in words[found.arguments_at :]):
        return None  # with these it asks about the tool, or for something that differs from a complete run
    arguments = tuple(words[found.arguments_at :])
    return replace(found, arguments=arguments, job=_job_of(arguments) if found.action == "test" else "")


def _job_of(arguments: Sequence[str]) -> str:
    """Return the job that the arguments name, if they select nothing else."""
    selecting = [each for each in arguments if each not in NEUTRAL]
    named = _JOB.fullmatch(selecting[0].lower()) if len(selecting) == 1 else None
    return SCRIPTS[named[1]] if named else ""


def _plain(words: tuple[str, ...]) -> CommandIntent | None:
    for family, jobs in table().jobs.items():
        for start, action in jobs.items():
            lead = tuple(start.split()) if start.startswith(words[:1]) else ()
            if lead and words[: len(lead)] == lead:
                return CommandIntent(family, action, 0, len(lead), ())
    return None


def _python(words: tuple[str, ...]) -> CommandIntent | None:
    at = next((len(runner) for runner in RUNNERS if words[: len(runner)] == runner), 0)
    for tool, action in PYTHON_TOOLS:
        if words[at : at + len(tool)] == tool:
            return CommandIntent("python", action, at, at + len(tool), ())
    return None


def _node(words: tuple[str, ...]) -> CommandIntent | None:
    if words[:1] and words[0] in MANAGERS:
        at = 2 if words[1:2] in (("run",), ("run-script",)) else 1
        is_own_runner = words[:2] == ("bun", "test")  # not the script of that name
        # `yarn SCRIPT` and the like run a script; only `test` is a command of npm itself
        script = words[at] if words[at : at + 1] and not is_own_runner else ""
        whole = script if script in SCRIPTS else _VARIANT.split(script)[0]
        if whole in SCRIPTS:
            return CommandIntent("node", SCRIPTS[whole], 0, at + 1, (), is_variant=whole != script)
    for start in NPX:
        for tool, action in NODE_TOOLS:
            if words[: len(start) + len(tool)] == (*start, *tool):
                return CommandIntent("node", action, 0, len(start) + len(tool), ())
    return None
