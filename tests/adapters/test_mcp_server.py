"""MCP servers of the protocol's own library, called by its own client in the same process."""

import asyncio

import pytest

from snell import Deny, HookMatcher, Rewrite, Runtime
from tests.adapters.hooked_tool import HookedTool

pytest.importorskip("mcp.server.mcpserver", reason="mcp 2 is not installed; `python3 dev.py adapters` brings it")
import mcp
import mcp.types as types
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

from snell.embed.adapters.mcp_server import with_hooks


def called(server, *calls):
    """What a client gets for calls that it makes beside each other."""

    async def main():
        async with mcp.Client(server) as client:
            return await asyncio.gather(*(client.call_tool(name, given) for name, given in calls))

    return asyncio.run(main())


def run(hooked_tool, text, **options):
    server = MCPServer("stage")
    server.tool()(hooked_tool.shout)
    (result,) = called(with_hooks(server, hooked_tool.runtime, **options), ("shout", {"text": text}))
    return [block.text for block in result.content], result.structured_content, result.is_error


@pytest.mark.parametrize(
    ("text", "told", "shouted"),
    [
        ("hey", (["HEY"], {"result": "HEY"}, False), ["hey"]),
        ("secret", (["that is a secret"], None, True), []),
        ("quiet", (["HUSH"], {"result": "HUSH"}, False), ["hush"]),
        ("noted", (["NOTED", "that was noted"], {"result": "NOTED"}, False), ["noted"]),
        ("password", (["***"], {"result": "***"}, False), ["password"]),
        ("ask", (["may I?; there is no `approve` function to ask the user"], None, True), []),
        ("stop", (["enough shouting"], None, True), []),
    ],
)
def test_a_call_is_refused_rewritten_noted_and_its_output_replaced(text, told, shouted):
    hooked_tool = HookedTool()
    assert (run(hooked_tool, text), hooked_tool.shouted) == (told, shouted)


def test_a_person_may_be_asked():
    assert run(HookedTool(), "ask", approve=lambda approval: True)[0] == ["ASK"]


def test_a_tool_that_fails_is_reported_and_fails_as_it_always_did():
    hooked_tool = HookedTool()
    text, _, is_error = run(hooked_tool, "boom")
    assert ("shout" in text[0], text[1], is_error) == (True, "try it more quietly", True)
    assert hooked_tool.seen[-1][:2] == ("PostToolUseFailure", "boom")


def test_what_a_hook_rewrote_is_validated_by_the_library():
    hooked_tool = HookedTool()
    assert (run(hooked_tool, "wrong")[2], hooked_tool.shouted) == (True, [])


def test_a_hook_knows_the_tool_as_a_coding_agent_would_call_it():
    hooked_tool = HookedTool()
    refuse = HookMatcher("mcp__stage__.*", [lambda event: Deny(f"{event.tool_name} is {event.tool}")])
    hooked_tool.runtime = Runtime.embed(hooks={"PreToolUse": [refuse]})
    assert run(hooked_tool, "hey")[0] == ["shout is mcp__stage__shout"]


def test_calls_beside_each_other_of_tools_that_wait_are_judged_each_by_itself():
    hooked_tool = HookedTool()
    server = MCPServer("stage")

    @server.tool()
    async def shout(text: str) -> str:
        await asyncio.sleep(0)
        return hooked_tool.shout(text)

    texts = ("hey", "secret", "quiet", "password")
    results = called(with_hooks(server, hooked_tool.runtime), *(("shout", {"text": text}) for text in texts))
    assert [each.content[0].text for each in results] == ["HEY", "that is a secret", "HUSH", "***"]
    assert sorted(hooked_tool.shouted) == ["hey", "hush", "password"]


@pytest.mark.parametrize(("on_failure", "told"), [(None, "HEY"), ("block", "guard `broken` could not run")])
def test_a_hook_that_raises_counts_by_its_policy(on_failure, told):
    def broken(event):
        raise ZeroDivisionError("by hand")

    hooked_tool = HookedTool()
    hooked_tool.runtime = Runtime.embed(hooks={"PreToolUse": [HookMatcher("shout", [broken], on_failure=on_failure)]})
    assert run(hooked_tool, "hey")[0][0].startswith(told)


def test_what_a_hook_takes_out_of_a_result_is_gone_from_its_other_form_too():
    server = MCPServer("stage")

    @server.tool()
    def whoami() -> dict[str, str]:
        return {"name": "ann", "token": "hunter2"}

    mask = HookMatcher("*", [lambda event: Rewrite(event.tool_response.replace("hunter2", "***"))])
    (result,) = called(with_hooks(server, Runtime.embed(hooks={"PostToolUse": [mask]})), ("whoami", {}))
    assert (result.structured_content, "hunter2" in str(result)) == ({"name": "ann", "token": "***"}, False)


def test_a_server_of_the_lower_level_has_hooks_as_well():
    hooked_tool = HookedTool()

    async def listed(context, params):
        schema = {"type": "object", "properties": {"text": {"type": "string"}}}
        return types.ListToolsResult(tools=[types.Tool(name="shout", input_schema=schema)])

    async def call(context, params):
        said = hooked_tool.shout(params.arguments["text"])
        return types.CallToolResult(content=[types.TextContent(type="text", text=said)])

    server = with_hooks(Server("low", on_list_tools=listed, on_call_tool=call), hooked_tool.runtime)
    results = called(server, *(("shout", {"text": text}) for text in ("hey", "secret", "quiet")))
    assert [(each.content[0].text, each.is_error) for each in results] == [
        ("HEY", False),
        ("that is a secret", True),
        ("HUSH", False),
    ]


def test_a_server_without_a_place_for_hooks_is_an_error():
    with pytest.raises(TypeError, match="has no middleware"):
        with_hooks(object(), Runtime.embed())


@pytest.mark.parametrize(
    ("output", "rewritten", "told"),
    [
        (42, "43", (["43"], {"result": 43}, False)),
        (42, "hidden", (["hidden"], None, True)),
        (42, {"a": 1}, (['{"a":1}'], None, True)),
        (["a", "b"], '["a","***"]', (['["a","***"]'], {"result": ["a", "***"]}, False)),
        ("42", "43", (["43"], {"result": "43"}, False)),
    ],
)
def test_what_no_longer_has_the_type_that_a_tool_declares_is_told_as_an_error(output, rewritten, told):
    def typed():
        return output

    typed.__annotations__["return"] = list[str] if isinstance(output, list) else type(output)
    server = MCPServer("stage")
    server.tool()(typed)
    runtime = Runtime.embed(hooks={"PostToolUse": [HookMatcher("*", [lambda event: Rewrite(rewritten)])]})
    (result,) = called(with_hooks(server, runtime), ("typed", {}))
    assert ([block.text for block in result.content], result.structured_content, result.is_error) == told
