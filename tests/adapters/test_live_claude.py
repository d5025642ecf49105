"""The real Claude Code, started by claude-agent-sdk, with a scripted model on loopback: what hooks say takes effect."""

import asyncio

import pytest

from snell import Allow, Deny, HookMatcher, Note, Rewrite, Runtime
from snell.embed.adapters.claude_agent_sdk import hooks
from tests.model_server import Line, model

pytestmark = [pytest.mark.process, pytest.mark.live]
sdk = pytest.importorskip(
    "claude_agent_sdk", reason="claude-agent-sdk is not installed; `python3 dev.py adapters` brings it"
)


def test_a_call_is_refused_and_another_one_rewritten(tmp_path):
    seen = []

    def judge(event):
        command = event.tool_input["command"]
        seen.append((event.name, command))
        if command == "touch first":
            return Rewrite(command="touch second"), Allow()
        return Deny("not that one") if command == "touch refused" else Allow()

    def remind(event):
        seen.append((event.name, event.tool_input["command"]))
        return Note("well touched")

    wishes = iter(["touch refused", "touch first"])

    def says(asked):
        wish = next(wishes, None) if asked.get("tools") else None
        return Line(calls=(("Bash", {"command": wish}),)) if wish else Line("done")

    runtime = Runtime.embed(
        hooks={"PreToolUse": [HookMatcher("Bash", [judge])], "PostToolUse": [HookMatcher("Bash", [remind])]}
    )
    with model(says) as server:
        told = asyncio.run(spoken(server.url, runtime, tmp_path))
        last = str(server.asked[-1]["messages"])
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["second"]
    assert ("not that one" in last, "well touched" in last, told) == (True, True, "done")
    wished = [("PreToolUse", "touch refused"), ("PreToolUse", "touch first")]
    assert seen == [*wished, ("PostToolUse", "touch second")]


async def spoken(url, runtime, project):
    env = {
        "HOME": str(project / "home"),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    options = sdk.ClaudeAgentOptions(hooks=hooks(runtime), cwd=project, env=env, max_turns=4, setting_sources=[])
    async with asyncio.timeout(100):
        async with sdk.ClaudeSDKClient(options) as client:
            await client.query("touch the files")
            results = [each async for each in client.receive_response() if isinstance(each, sdk.ResultMessage)]
    return results[-1].result
