"""FastMCP servers, called by a real client in the same process."""

import asyncio

import pytest

from snell import Deny, HookMatcher, Rewrite, Runtime
from tests.adapters.hooked_tool import HookedTool

fastmcp = pytest.importorskip("fastmcp", reason="fastmcp is not installed; `python3 dev.py adapters` brings it")

from snell.embed.adapters.fastmcp import middleware  # noqa: E402 - after it is known to be there


def call(runtime, function, name, arguments, **options):
    server = fastmcp.FastMCP("stage", middleware=[middleware(runtime, **options)])
    server.tool(function)

    async def main():
        async with fastmcp.Client(server) as client:
            return await client.call_tool(name, arguments, raise_on_error=False)

    return asyncio.run(main())


def run(hooked_tool, text, **options):
    result = call(hooked_tool.runtime, hooked_tool.shout, "shout", {"text": text}, **options)
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
    assert ("too loud\ntry it more quietly" in text[0], is_error) == (True, True)
    assert hooked_tool.seen[-1][:2] == ("PostToolUseFailure", "boom")


def test_what_a_hook_rewrote_is_validated_by_the_library():
    hooked_tool = HookedTool()
    assert (run(hooked_tool, "wrong")[2], hooked_tool.shouted) == (True, [])


def test_a_hook_knows_the_tool_as_a_coding_agent_would_call_it():
    def refuse(event):
        return Deny(f"{event.tool_name} is {event.tool}")

    hooked_tool = HookedTool()
    hooked_tool.runtime = Runtime.embed(hooks={"PreToolUse": [HookMatcher("mcp__stage__.*", [refuse])]})
    assert run(hooked_tool, "hey")[0] == ["shout is mcp__stage__shout"]


def test_what_a_hook_takes_out_of_a_result_is_gone_from_its_other_form_too():
    def whoami() -> dict:
        return {"name": "ann", "token": "hunter2"}

    def mask(event):
        return Rewrite(event.tool_response.replace("hunter2", "***"))

    runtime = Runtime.embed(hooks={"PostToolUse": [HookMatcher("*", [mask])]})
    result = call(runtime, whoami, "whoami", {})
    assert result.structured_content == {"name": "ann", "token": "***"}
    assert "hunter2" not in str(result)


@pytest.mark.parametrize(
    ("output", "rewritten", "told"),
    [
        (42, "43", (["43"], {"result": 43}, False)),
        (42, 43, (["43"], {"result": 43}, False)),
        (42, "hidden", (["hidden"], None, True)),
        (42, {"a": 1}, (['{"a":1}'], None, True)),
        (["a", "b"], '["a","***"]', (['["a","***"]'], {"result": ["a", "***"]}, False)),
        (["a", "b"], "hidden", (["hidden"], None, True)),
        ("42", "43", (["43"], {"result": "43"}, False)),
        ({"a": 1}, {}, (["{}"], {}, False)),
        ({"a": 1}, "hidden", (["hidden"], None, True)),
    ],
)
def test_what_no_longer_has_the_type_that_a_tool_declares_is_told_as_an_error(output, rewritten, told):
    def typed():
        return output

    typed.__annotations__["return"] = list[str] if isinstance(output, list) else type(output)
    runtime = Runtime.embed(hooks={"PostToolUse": [HookMatcher("*", [lambda event: Rewrite(rewritten)])]})
    result = call(runtime, typed, "typed", {})
    assert ([block.text for block in result.content], result.structured_content, result.is_error) == told


def test_calls_beside_each_other_of_tools_that_wait_are_judged_each_by_itself():
    hooked_tool = HookedTool()
    server = fastmcp.FastMCP("stage", middleware=[middleware(hooked_tool.runtime)])

    @server.tool
    async def shout(text: str) -> str:
        await asyncio.sleep(0)
        return hooked_tool.shout(text)

    async def main():
        texts = ("hey", "secret", "quiet", "password")
        async with fastmcp.Client(server) as client:
            calls = (client.call_tool("shout", {"text": text}, raise_on_error=False) for text in texts)
            return [each.content[0].text for each in await asyncio.gather(*calls)]

    assert asyncio.run(main()) == ["HEY", "that is a secret", "HUSH", "***"]
    assert sorted(hooked_tool.shouted) == ["hey", "hush", "password"]


@pytest.mark.parametrize(("on_failure", "told"), [(None, "HEY"), ("block", "guard `broken` could not run")])
def test_a_hook_that_raises_counts_by_its_policy(on_failure, told):
    def broken(event):
        raise ZeroDivisionError("by hand")

    hooked_tool = HookedTool()
    hooked_tool.runtime = Runtime.embed(hooks={"PreToolUse": [HookMatcher("shout", [broken], on_failure=on_failure)]})
    assert run(hooked_tool, "hey")[0][0].startswith(told)
