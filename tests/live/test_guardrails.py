"""In the first of the clients: calls that are mended, done once, and work that is finished."""

import json
import sys
from pathlib import Path
from uuid import uuid4

from tests.live.drivers import DRIVERS
from tests.live.wires import Said

CLAUDE = DRIVERS[0]
MAIL_SERVER = Path(__file__).parents[1] / "mcp_mail.py"
MAIL = "mcp__mail__send_email"
LETTER = {"to": "a@example.com", "subject": "hello", "body": "Dear A."}

TOOL_INPUTS = """
[pack.tool_inputs.tools.Bash]
required = ["command", "timeout"]
example = { command = "EXAMPLE-OF-A-GOOD-CALL", timeout = 1000 }
"""
DURABLE = """
[pack.ledger]
mode = "durable"
"""


def test_a_call_that_lacks_what_its_tool_needs_is_refused_with_an_example_and_then_made_well(user, claude):
    user.configure(TOOL_INPUTS)
    mended = Said("Again.", (("Bash", {"command": "touch good.txt", "timeout": 1000}),))
    assert "EXAMPLE-OF-A-GOOD-CALL" in claude("touch made.txt", last=(mended,))
    assert [path.name for path in user.project.glob("*.txt")] == ["good.txt"]


def test_a_call_that_failed_for_its_shape_is_made_well_after_the_nudge(user, claude):
    user.configure(
        """
        [pack.tool_inputs.tools.send_email]
        example = { to = "a@example.com", subject = "EXAMPLE-OF-A-GOOD-CALL", body = "text" }
        """
    )
    outbox = user.folder / "outbox"
    server = {"mail": {"command": sys.executable, "args": [str(MAIL_SERVER), str(outbox)]}}
    lacking = {name: LETTER[name] for name in ("to", "subject")}
    shown = claude(
        last=tuple(Said("Sending.", ((MAIL, letter),)) for letter in (lacking, LETTER)),
        more=("--allowedTools", MAIL, "--mcp-config", json.dumps({"mcpServers": server})),
    )
    assert "did not have the right form" in shown
    assert "EXAMPLE-OF-A-GOOD-CALL" in shown
    assert outbox.read_text(encoding="utf-8").splitlines() == ["a@example.com: hello"]


def test_a_letter_that_was_sent_is_not_sent_again(user, claude):
    user.configure(DURABLE)
    outbox = user.folder / "outbox"
    server = {"mail": {"command": sys.executable, "args": [str(MAIL_SERVER), str(outbox)]}}
    other = {**LETTER, "subject": "another"}
    shown = claude(
        last=tuple(Said("Sending.", ((MAIL, letter),)) for letter in (LETTER, LETTER, other)),
        more=("--allowedTools", MAIL, "--mcp-config", json.dumps({"mcpServers": server})),
    )
    assert outbox.read_text(encoding="utf-8").splitlines() == ["a@example.com: hello", "a@example.com: another"]
    brought = shown.partition("so it is not done twice. Its result: ")[2]
    assert "SENT-AS-1" in brought[:100]


def test_a_sub_agent_without_its_report_is_sent_back_for_it(user, claude):
    sent = {"description": "research", "prompt": "Write the report.", "subagent_type": "general-purpose"}
    data = CLAUDE.shell("mkdir -p search_results && echo found > search_results/one.md")
    report = CLAUDE.shell("mkdir -p work_products && echo '<p>done</p>' > work_products/report.html")
    shown = claude(
        last=(
            Said("Sending for it.", (("Agent", {**sent, "run_in_background": False}),)),
            Said("Searching.", (data,)),
            Said("I am done."),
            Said("Writing.", (report,)),
            Said("REPORT-IS-WRITTEN"),
        )
    )
    assert "there are 1 files of data and no report" in shown
    assert (user.project / "work_products/report.html").exists()
    assert "The report exists: work_products/report.html" in shown


def test_an_agent_is_sent_back_until_its_promise_is_kept(user, claude):
    session = str(uuid4())
    user.snell("loop", "start", "--promise", "TASK_COMPLETE", "--objective", "SHARPEN-THE-PENCIL", "--session", session)
    shown = claude(
        last=(Said("I am done."), Said("Working.", (CLAUDE.shell("touch sharp.txt"),)), Said("TASK_COMPLETE")),
        more=("--session-id", session),
    )
    assert "SHARPEN-THE-PENCIL" in shown
    assert (user.project / "sharp.txt").exists()
