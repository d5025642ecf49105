"""What could guard nothing is an error at once, and where the guards are gone nothing runs."""

import asyncio

import pytest

from snell import Deny, HookMatcher, Tool, ToolRunner
from snell.embed import Result
from snell.embed.runner import CLOSED

HI = {"text": "hi"}


@pytest.fixture(params=["plain", "async"])
def run(request):
    def call(runner, tool, tool_input):
        if request.param == "plain":
            return runner.run(tool, tool_input)
        return asyncio.run(runner.run_async(tool, tool_input))

    return call


@pytest.mark.parametrize(
    ("schema", "wrong"),
    [
        ({"properties": {"text": {"pattern": "("}}}, "regex"),
        ({"$ref": "#/nope"}, "nope"),
        ({"properties": {"text": {"maxLength": "5"}}}, "integer"),
        ({"type": "objekt"}, "objekt"),
        ({"$ref": "https://schemas.example/tool.json"}, "schemas.example"),
        ({"enum": [object()]}, "object"),
        ([], "it is list, not an object"),
    ],
)
def test_a_schema_that_would_check_nothing_is_an_error_when_the_tool_is_given(schema, wrong):
    with pytest.raises(ValueError, match="the schema of the tool `echo` cannot be used: ") as error:
        ToolRunner([Tool("echo", print, schema=schema)])
    assert wrong in str(error.value)


def test_a_closed_runner_runs_nothing_since_its_hooks_are_gone(run):
    ran: list[str] = []
    runner = ToolRunner([Tool("echo", ran.append, schema={})], hooks={"PreToolUse": [HookMatcher("*", [_no])]})
    with runner.subagent("helper") as child, child.subagent("helper's") as below:
        runner.close()
        results = [run(each, "echo", {"object": "hi"}) for each in (runner, child, below)]
        assert runner.submit("hi").refusal == asyncio.run(child.submit_async("hi")).refusal == CLOSED
    closed = Result(status="refused", tool="echo", input={"object": "hi"}, error=CLOSED)
    assert (results, ran) == ([closed] * 3, [])


def test_a_sub_agent_runs_nothing_after_its_block_and_its_parent_goes_on(run):
    runner = ToolRunner([Tool("echo", lambda text: text)])
    with runner.subagent("helper", hooks={"PreToolUse": [HookMatcher("*", [_no])]}) as child:
        within = run(child, "echo", HI)
    assert (within.error, run(child, "echo", HI).error, run(runner, "echo", HI).output) == ("no", CLOSED, "hi")


def test_a_call_that_has_begun_when_its_runner_is_closed_does_not_run(run):
    ran: list[str] = []
    runner = ToolRunner([Tool("echo", ran.append, schema={}, validate=lambda value: runner.close())])
    assert (run(runner, "echo", HI).error, ran) == (CLOSED, [])


def _no(event) -> Deny:
    return Deny("no")
