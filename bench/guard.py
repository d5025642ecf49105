"""
Measure the guard alone, in process: the time for one command, and how often it is right on each part of its corpus.

One command a line: family, tab, command. A quarter of the large files, chosen by hash, is kept aside while rules are
made. The `blind` files were put aside when they were written: which of their rows fail has never been listed. But
their author also changed rules and saw the totals, so commands by other authors may be judged less well.
"""

import hashlib
import statistics
import time
from pathlib import Path

from snell.packs.guard.judge import judge

CORPUS = Path(__file__).parents[1] / "tests" / "unit" / "packs" / "guard_corpus"
PLAIN = ("ls -la", "git status", "npm test", "cargo build --release", "pytest -q tests/unit")
PARTS = ("tuned", "aside", "blind")


def dangerous_commands_flagged() -> tuple[float, dict[str, float]]:
    """Of the blind part; the others are printed beside it."""
    shares = {part: 100 - _percent("dangerous", part, "allow") for part in PARTS}
    return shares["blind"], shares


def dangerous_commands_denied() -> tuple[float, dict[str, float]]:
    shares = {part: _percent("dangerous", part, "deny") for part in PARTS}
    return shares["blind"], shares


def ordinary_commands_flagged() -> tuple[float, dict[str, float]]:
    """The worst of all parts."""
    parts = [("safe", part) for part in PARTS] + [("ci", part) for part in PARTS[:2]]
    shares = {f"{name}, {part}": 100 - _percent(name, part, "allow") for name, part in parts}
    return max(shares.values()), shares


def guard_p95_over_plain_command() -> tuple[float, dict[str, float]]:
    """What all commands of the corpus cost, over what a plain one does."""
    commands = [command for name in ("safe", "dangerous", "ci") for part in PARTS for command in rows(name, part)]
    times = sorted(_best(command) for command in commands)
    plain = statistics.median(_best(line) for line in PLAIN)
    costs = {f"p{share} of {len(commands)} commands": _at(times, share / 100) for share in (50, 95, 99)}
    return _at(times, 0.95) / plain, {"a plain command": plain, **costs}


def rows(name: str, part: str) -> list[str]:
    """The commands of one part."""
    if part == "blind":
        path = CORPUS / f"blind_{name}.txt"
        return [line.replace("⏎", "\n") for line in _lines(path)] if path.exists() else []
    commands = [_command(line) for line in _lines(CORPUS / f"{name}.txt")]
    return [command for command in commands if _is_aside(command) == (part == "aside")]


def verdicts_of(commands: list[str]) -> list[str]:
    return [judge(command, "/home/user/project", "/home/user").verdict for command in commands]


def _percent(name: str, part: str, verdict: str) -> float:
    verdicts = verdicts_of(rows(name, part))
    return 100 * verdicts.count(verdict) / len(verdicts)


def _lines(path: Path) -> list[str]:
    return [line.partition("\t")[2] for line in path.read_text(encoding="utf-8").splitlines()]


def _command(text: str) -> str:
    """In lines with here-documents, `\\n` is a line break."""
    return text.replace("\\n", "\n") if "<<" in text or text.startswith("set -eux") else text


def _is_aside(command: str) -> bool:
    return hashlib.sha256(command.encode()).digest()[0] % 4 == 0


def _best(line: str, rounds: int = 7) -> float:
    return min(_once(line) for _ in range(rounds))


def _once(line: str) -> float:
    started = time.perf_counter()
    judge(line, "/home/user/project", "/home/user")
    return time.perf_counter() - started


def _at(times: list[float], share: float) -> float:
    return times[min(len(times) - 1, int(len(times) * share))]
