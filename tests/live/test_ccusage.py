"""`snell usage` counts the same tokens as ccusage, in the same transcripts of the real Claude Code."""

import json
import shutil
from pathlib import Path

import pytest

from tests.live.installed import NotHere, Package, install_package
from tests.live.wires import Said

# It fetches no prices with `--offline`; its program is in a package of its own for each system.
CCUSAGE = Package("ccusage", "20.0.24")
NAMES = {
    "inputTokens": "tokens_in",
    "outputTokens": "tokens_out",
    "cacheReadTokens": "tokens_cached",
    "cacheCreationTokens": "cache_written",
}


@pytest.fixture(scope="session")
def ccusage() -> Path:
    try:
        folder = install_package(CCUSAGE)
    except NotHere as reason:
        pytest.skip(f"ccusage: {reason}")
    if not any((folder / "node_modules" / "@ccusage").glob("*/bin/*")):
        pytest.skip("ccusage: npm installed no program of it for this system")
    return folder / "node_modules" / "ccusage" / "src" / "cli.js"


def test_tokens_are_those_that_ccusage_counts(claude, user, ccusage: Path):
    claude("echo one", "echo two", "exit 3", last=(Said("All of it is done."),))
    claude("echo three")
    _repeat_and_copy(user.home / ".claude" / "projects")
    ours = json.loads(user.snell("usage", "--client", "claude-code", "--json"))
    ran = user.run([shutil.which("node") or "node", str(ccusage), "claude", "session", "--json", "--offline"], {})
    assert ran.code == 0, ran
    theirs = json.loads(ran.out)["totals"]
    assert ours["total"]["tokens_in"] > 1_000
    for name, our_name in NAMES.items():
        assert ours["total"][our_name] == pytest.approx(theirs[name], rel=0.01), (ours["total"], theirs)


def _repeat_and_copy(folder: Path) -> None:
    """Add what clients do in long work: rows for each part of an answer, and a session that continues another."""
    path = min(folder.glob("*/*.jsonl"))
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    answers = [row for row in rows if row.get("type") == "assistant"]
    assert answers
    for number, row in enumerate(answers):
        row["requestId"] = f"req_{number}"
        row["message"] |= {"id": f"msg_{number}", "model": "claude-sonnet-4-5-20250929"}
        row["message"]["usage"] = {
            "input_tokens": 1_000 + number,
            "output_tokens": 1,
            "cache_read_input_tokens": 50_000 * number,
            "cache_creation_input_tokens": 300,
        }
    ended = [
        {**row, "message": {**row["message"], "usage": {**row["message"]["usage"], "output_tokens": 77}}}
        for row in answers
    ]
    path.write_text(_lines([*rows, *ended]), encoding="utf-8")
    copied = [{**row, "sessionId": "copy"} for row in ended]
    copy = path.with_name("00000000-0000-4000-8000-000000000000.jsonl")
    copy.write_text(_lines(copied), encoding="utf-8")


def _lines(rows: list[dict]) -> str:
    """As the client writes them, without spaces: ccusage looks for these bytes."""
    return "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
