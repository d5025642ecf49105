"""What of a command is left when its agent is started anew."""

import pytest

from snell.system.supervisor import without_resuming

SCRIPT = "echo ran; exit 3"


@pytest.mark.parametrize(
    ("command", "fresh"),
    [
        (["claude", "--resume", "abc", "-p", "go"], ["claude", "-p", "go"]),
        (["/opt/bin/claude", "-r", "-p", "go"], ["/opt/bin/claude", "-p", "go"]),
        (["claude", "--resume=abc", "--model", "opus"], ["claude", "--model", "opus"]),
        (["claude", "-c", "--", "-c"], ["claude", "--", "-c"]),
        (["codex", "resume", "abc", "-c", "model=o3"], ["codex", "-c", "model=o3"]),
        (["codex", "-c", "model=o3", "resume", "--last"], ["codex", "-c", "model=o3"]),
        (["opencode", "-s", "abc", "-c"], ["opencode"]),
        (["gemini", "-c"], ["gemini", "-c"]),
        (["my-agent", "--resume", "abc", "-r", "-c", "resume"], ["my-agent", "-r", "-c", "resume"]),
        (["sh", "-c", SCRIPT], ["sh", "-c", SCRIPT]),
        (["sh", "-c", SCRIPT, "resume"], ["sh", "-c", SCRIPT, "resume"]),
        (["python3", "-c", "x", "--", "--resume"], ["python3", "-c", "x", "--", "--resume"]),
    ],
)
def test_only_what_names_an_old_conversation_is_left_out(command: list[str], fresh: list[str]):
    assert without_resuming(command) == fresh
