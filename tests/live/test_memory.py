"""The real Claude Code remembers in one session, through the MCP server, and recalls in the next one."""

from tests.live.drivers import DRIVERS
from tests.live.wires import Said

CLAUDE = DRIVERS[0]
FACT = "We decided to keep all amounts as integer cents, because floats lost a penny in invoice_total.py"
TOOLS = ("mcp__snell__remember", "mcp__snell__recall")


def test_session_two_recalls_what_session_one_remembered(asked_for, user, model, client_folder):
    asked_for(CLAUDE.client)
    folder = client_folder(CLAUDE)
    env = CLAUDE.prepare(user, model.url)
    user.snell("setup", "claude-code", "--include-mcp", "--yes")

    def session(name: str, **given: object) -> str:
        """What the model was given after it called this tool."""
        model.begin([Said("Working.", ((name, given),))])
        ran = user.run([*CLAUDE.command(folder, user, "Please work."), *TOOLS], env)
        assert ran.code == 0, ran
        return model.sent[-1].body.decode()

    assert r"\"status\":\"stored\"" in session("mcp__snell__remember", content=FACT)
    assert FACT in session("mcp__snell__recall", query="how are amounts of money stored")
