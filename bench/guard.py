"""The guard alone, in process: what judging one command costs."""

import statistics
import time
from pathlib import Path

from snell.packs.guard.judge import judge

CORPUS = Path(__file__).parents[1] / "tests" / "unit" / "packs" / "guard_corpus"
PLAIN = ("ls -la", "git status", "npm test", "cargo build --release", "pytest -q tests/unit")


def report() -> None:
    lines = [line.partition("\t")[2] for name in ("safe", "dangerous", "ci") for line in _lines(name)]
    times = sorted(_best(line) for line in lines)
    plain = statistics.median(_best(line) for line in PLAIN)
    print(f"guard, a plain command: {plain * 1e6:.0f} us")
    shares = ", ".join(f"p{share} {_at(times, share / 100):.0f} us" for share in (50, 95, 99))
    print(f"guard, {len(lines)} commands: {shares}")


def _lines(name: str) -> list[str]:
    return (CORPUS / f"{name}.txt").read_text(encoding="utf-8").splitlines()


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
