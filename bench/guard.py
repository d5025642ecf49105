"""
The guard alone, in process: what judging one command costs, and how often it is right on each part of its corpus.

One command a line: family, tab, command. A quarter of the large files, chosen by hash, is kept aside while rules are
made. The `blind` files were put aside whole when they were written: no rule was made or changed by looking at a row.
"""

import hashlib
import statistics
import time
from pathlib import Path

from snell.packs.guard.judge import judge

CORPUS = Path(__file__).parents[1] / "tests" / "unit" / "packs" / "guard_corpus"
PLAIN = ("ls -la", "git status", "npm test", "cargo build --release", "pytest -q tests/unit")
PARTS = ("tuned", "aside", "blind")


def report() -> None:
    for name, part in (("dangerous", part) for part in PARTS):
        verdicts = verdicts_of(rows(name, part))
        shares = f"{1 - _share(verdicts, 'allow'):.1%} flagged, {_share(verdicts, 'deny'):.1%} denied"
        print(f"guard, {len(verdicts)} dangerous commands ({part}): {shares}")
    for name, part in ((name, part) for name in ("safe", "ci") for part in PARTS):
        verdicts = verdicts_of(rows(name, part))
        if verdicts:
            print(f"guard, {len(verdicts)} {name} commands ({part}): {1 - _share(verdicts, 'allow'):.1%} flagged")
    _report_cost()


def rows(name: str, part: str) -> list[str]:
    """The commands of one part."""
    if part == "blind":
        path = CORPUS / f"blind_{name}.txt"
        return [line.replace("⏎", "\n") for line in _lines(path)] if path.exists() else []
    commands = [_command(line) for line in _lines(CORPUS / f"{name}.txt")]
    return [command for command in commands if _is_aside(command) == (part == "aside")]


def verdicts_of(commands: list[str]) -> list[str]:
    return [judge(command, "/home/user/project", "/home/user").verdict for command in commands]


def _share(verdicts: list[str], verdict: str) -> float:
    return verdicts.count(verdict) / len(verdicts)


def _lines(path: Path) -> list[str]:
    return [line.partition("\t")[2] for line in path.read_text(encoding="utf-8").splitlines()]


def _command(text: str) -> str:
    """In lines with here-documents, `\\n` is a line break."""
    return text.replace("\\n", "\n") if "<<" in text or text.startswith("set -eux") else text


def _is_aside(command: str) -> bool:
    return hashlib.sha256(command.encode()).digest()[0] % 4 == 0


def _report_cost() -> None:
    commands = [command for name in ("safe", "dangerous", "ci") for part in PARTS for command in rows(name, part)]
    times = sorted(_best(command) for command in commands)
    plain = statistics.median(_best(line) for line in PLAIN)
    print(f"guard, a plain command: {plain * 1e6:.0f} us")
    shares = ", ".join(f"p{share} {_at(times, share / 100):.0f} us" for share in (50, 95, 99))
    print(f"guard, {len(commands)} commands: {shares}")


def _best(line: str, rounds: int = 7) -> float:
    return min(_once(line) for _ in range(rounds))


def _once(line: str) -> float:
    started = time.perf_counter()
    judge(line, "/home/user/project", "/home/user")
    return time.perf_counter() - started


def _at(times: list[float], share: float) -> float:
    return times[min(len(times) - 1, int(len(times) * share))] * 1e6


if __name__ == "__main__":
    report()
