"""The OpenAI Agents SDK with a scripted model."""

import asyncio
import json

import pytest

from tests.adapters.hooked_tool import HookedTool

agents = pytest.importorskip("agents", reason="openai-agents is not installed; `python3 dev.py adapters` brings it")
from agents.items import ModelResponse  # noqa: E402 - after it is known to be there
from agents.models.interface import Model  # noqa: E402 - same
from agents.usage import Usage  # noqa: E402 - same
from openai.types.responses import (  # noqa: E402 - same
    Response,
    ResponseApplyPatchToolCall,
    ResponseCompletedEvent,
    ResponseCustomToolCall,
    ResponseFunctionShellToolCall,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from openai.types.responses.response_output_item import LocalShellCall  # noqa: E402 - same

from snell import Deny, HookMatcher, Note, Rewrite, Runtime, ShellCall  # noqa: E402 - same
from snell.embed.adapters.openai_agents import with_hooks  # noqa: E402 - same
from snell.runtime.callback_hooks import hooks_from  # noqa: E402 - same


class Script(Model):
    """Calls the tool once with these arguments, then repeats what it was told."""

    def __init__(self, arguments="", tool="shout", items=()):
        called = {"arguments": arguments, "call_id": f"call of {tool}", "name": tool, "type": "function_call"}
        self.items = items or [ResponseFunctionToolCall(**called)]
        self.asked = 0

    async def get_response(self, system_instructions, input, *args, **kwargs):  # noqa: A002 - the library's name
        self.asked += 1
        if self.asked == 1:
            return ModelResponse(output=list(self.items), usage=Usage(), response_id=None)
        outputs = [str(each["output"]) for each in input if "output" in each]
        told = " | ".join(outputs[-len(self.items) :])
        text = ResponseOutputText(annotations=[], text=told, type="output_text")
        output = ResponseOutputMessage(id="m1", content=[text], role="assistant", status="completed", type="message")
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    async def stream_response(self, system_instructions, input, *args, **kwargs):  # noqa: A002 - the library's name
        said = await self.get_response(system_instructions, input)
        whole = {"id": "r1", "created_at": 0, "model": "m", "object": "response", "parallel_tool_calls": True}
        done = Response(**whole, output=said.output, tool_choice="auto", tools=[])
        yield ResponseCompletedEvent(response=done, sequence_number=0, type="response.completed")


def run(hooked_tool, text, prompt="go", tool=None, **options):
    agents.set_tracing_disabled(True)
    arguments = text if text.startswith(("{", "[")) else json.dumps({"text": text})
    tool = tool or agents.function_tool(hooked_tool.shout, failure_error_function=None)
    agent = agents.Agent(name="helper", tools=[tool], model=Script(arguments))
    return asyncio.run(agents.Runner.run(with_hooks(agent, hooked_tool.runtime, **options), prompt)).final_output


@pytest.mark.parametrize(
    ("text", "told", "shouted"),
    [
        ("hey", "HEY", ["hey"]),
        ("secret", "that is a secret", []),
        ("quiet", "HUSH", ["hush"]),
        ("noted", "NOTED\nthat was noted", ["noted"]),
        ("password", "***", ["password"]),
        ("ask", "may I?; there is no `approve` function to ask the user", []),
        ("[1]", "the arguments are not a JSON object, so the tool did not run", []),
    ],
)
def test_a_call_is_refused_rewritten_noted_and_its_output_replaced(text, told, shouted):
    hooked_tool = HookedTool()
    assert (run(hooked_tool, text), hooked_tool.shouted) == (told, shouted)


def test_a_person_may_be_asked():
    hooked_tool = HookedTool()
    assert run(hooked_tool, "ask", approve=lambda approval: approval.input == {"text": "ask"}) == "ASK"


def test_a_tool_that_fails_is_reported_and_fails_as_it_always_did():
    hooked_tool = HookedTool()
    with pytest.raises(agents.exceptions.UserError, match="too loud"):
        run(hooked_tool, "boom")
    assert hooked_tool.seen[-1] == ("PostToolUseFailure", "boom", "too loud")


def test_a_failure_that_the_library_tells_the_model_is_a_failure_for_hooks_too():
    hooked_tool = HookedTool()
    told = run(
        hooked_tool,
        "boom",
        tool=agents.function_tool(hooked_tool.shout, failure_error_function=lambda _, e: f"oh: {e}"),
    )
    assert (told, hooked_tool.seen[-1]) == (
        "oh: too loud\ntry it more quietly",
        ("PostToolUseFailure", "boom", "too loud"),
    )
    hooked_tool = HookedTool()
    assert "try it more quietly" in run(hooked_tool, "boom", tool=agents.function_tool(hooked_tool.shout))
    assert hooked_tool.seen[-1] == ("PostToolUseFailure", "boom", "too loud")


def test_what_a_hook_rewrote_is_validated_by_the_library():
    hooked_tool = HookedTool()
    with pytest.raises(agents.exceptions.ModelBehaviorError):
        run(hooked_tool, "wrong")
    assert hooked_tool.shouted == []


def test_a_hook_may_end_the_run():
    hooked_tool = HookedTool()
    with pytest.raises(agents.exceptions.ToolInputGuardrailTripwireTriggered) as ended:
        run(hooked_tool, "stop")
    assert (ended.value.output.output_info, hooked_tool.shouted) == ("enough shouting", [])


@pytest.mark.parametrize(("prompt", "why"), [("swear", "mind your language"), ("hi", "a hook changed the prompt")])
def test_a_prompt_that_is_refused_or_reworded_does_not_reach_the_model(prompt, why):
    hooked_tool = HookedTool()
    with pytest.raises(agents.exceptions.InputGuardrailTripwireTriggered) as refused:
        run(hooked_tool, "hey", prompt)
    assert why in refused.value.guardrail_result.output.output_info
    assert hooked_tool.shouted == []


def test_an_agent_may_have_the_hooks_of_two_runtimes():
    one, two = HookedTool(), HookedTool()
    tool = agents.function_tool(one.shout)
    agent = with_hooks(
        with_hooks(agents.Agent(name="helper", tools=[tool], model=Script('{"text": "hey"}')), one.runtime), two.runtime
    )
    assert asyncio.run(agents.Runner.run(agent, "go")).final_output == "HEY"
    assert one.seen == two.seen == [("UserPromptSubmit", "go"), ("PreToolUse", "hey"), ("PostToolUse", "hey", "HEY")]


def test_agents_that_are_handed_over_to_have_the_hooks_as_well():
    hooked_tool = HookedTool()
    one = agents.Agent(name="one", tools=[agents.function_tool(hooked_tool.shout)])
    two = agents.Agent(name="two", tools=[agents.function_tool(hooked_tool.shout)], handoffs=[one])
    one.handoffs = [two]
    other = with_hooks(two, hooked_tool.runtime)
    assert other.handoffs[0].handoffs[0] is other

    async def tools():
        return await other.handoffs[0].get_all_tools(agents.RunContextWrapper(None))

    (tool,) = asyncio.run(tools())
    assert asyncio.run(tool.on_invoke_tool(None, '{"text": "secret"}')) == "that is a secret"


@pytest.mark.parametrize("wrapped", [False, True], ids=["by the agent", "by a handoff of its own"])
def test_a_run_that_is_handed_over_goes_on_with_the_hooks(wrapped):
    agents.set_tracing_disabled(True)
    hooked_tool = HookedTool()
    tool = agents.function_tool(hooked_tool.shout)
    second = agents.Agent(name="second", tools=[tool], model=Script('{"text": "secret"}'))
    over = agents.handoff(second, tool_name_override="pass_on") if wrapped else second
    tool_name = "pass_on" if wrapped else "transfer_to_second"
    first = agents.Agent(name="first", handoffs=[over], model=Script("{}", tool_name))
    done = asyncio.run(agents.Runner.run(with_hooks(first, hooked_tool.runtime), "go"))
    assert (done.last_agent.name, done.final_output, hooked_tool.shouted) == ("second", "that is a secret", [])


def test_an_agent_that_is_used_as_a_tool_has_the_hooks_inside_and_around_it():
    agents.set_tracing_disabled(True)
    hooked_tool = HookedTool()
    hooked_tool.runtime.register(
        *hooks_from({"PreToolUse": [HookMatcher("ask_helper", [lambda event: hooked_tool.seen.append(event.tool)])]})
    )
    inner = agents.Agent(
        name="inner", tools=[agents.function_tool(hooked_tool.shout)], model=Script('{"text": "secret"}')
    )
    tool = with_hooks(inner, hooked_tool.runtime).as_tool("ask_helper", "asks")
    outer = agents.Agent(name="outer", tools=[tool], model=Script('{"input": "go"}', "ask_helper"))
    told = asyncio.run(agents.Runner.run(with_hooks(outer, hooked_tool.runtime), "begin")).final_output
    assert (told, hooked_tool.shouted) == ("that is a secret", [])
    assert hooked_tool.seen == [
        ("UserPromptSubmit", "begin"),
        "ask_helper",
        ("UserPromptSubmit", "go"),
        ("PreToolUse", "secret"),
    ]


@pytest.mark.parametrize("is_async", [False, True])
def test_calls_beside_each_other_in_a_run_that_streams_are_judged_each_by_itself(is_async):
    agents.set_tracing_disabled(True)
    hooked_tool = HookedTool()

    async def shout(text: str) -> str:
        await asyncio.sleep(0)
        return hooked_tool.shout(text)

    texts = ("hey", "secret", "quiet", "password")
    items = [
        ResponseFunctionToolCall(
            arguments=json.dumps({"text": text}), call_id=f"call of {text}", name="shout", type="function_call"
        )
        for text in texts
    ]
    tool = agents.function_tool(shout if is_async else hooked_tool.shout)
    agent = with_hooks(agents.Agent(name="helper", tools=[tool], model=Script(items=items)), hooked_tool.runtime)

    async def main():
        result = agents.Runner.run_streamed(agent, "go")
        async for _ in result.stream_events():
            pass
        return result.final_output

    assert asyncio.run(main()) == "HEY | that is a secret | HUSH | ***"
    assert sorted(hooked_tool.shouted) == ["hey", "hush", "password"]


@pytest.mark.parametrize(("on_failure", "told"), [(None, "HEY"), ("block", "guard `broken` could not run")])
def test_a_hook_that_raises_counts_by_its_policy_and_the_run_goes_on(on_failure, told):
    hooked_tool = HookedTool()

    def broken(event):
        raise ZeroDivisionError("by hand")

    hook = HookMatcher("shout", [broken], on_failure=on_failure)
    hooked_tool.runtime = Runtime.embed(hooks={"PreToolUse": [hook]})
    assert run(hooked_tool, "hey").startswith(told)


def test_a_run_that_is_cancelled_ends_its_tool_and_hooks_get_to_know_it():
    agents.set_tracing_disabled(True)
    ended, told = [], []

    async def slow() -> str:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    def failed(event):
        told.append(event.payload["is_interrupt"])

    runtime = Runtime.embed(hooks={"PostToolUseFailure": [HookMatcher("*", [failed])]})
    tool = agents.function_tool(slow)
    agent = with_hooks(agents.Agent(name="helper", tools=[tool], model=Script("{}", "slow")), runtime)

    async def main():
        task = asyncio.create_task(agents.Runner.run(agent, "go"))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    begun = asyncio.Event()
    asyncio.run(main())
    assert (ended, told) == ([True], [True])


def carried_out(tool, item, hooks):
    """What the model is told when it calls a tool that is no function."""
    agents.set_tracing_disabled(True)
    runtime = Runtime.embed(hooks=hooks)
    agent = with_hooks(agents.Agent(name="helper", tools=[tool], model=Script(items=[item])), runtime)
    return asyncio.run(agents.Runner.run(agent, "go")).final_output


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    ("commands", "ran", "told"),
    [
        (["ls", "pwd"], ["ls", "pwd"], "did ls did pwd"),
        (["ls", "rm -rf x"], None, "no deleting"),
        (["pytest"], ["make test"], "did make test"),
        (["git pull"], ["git pull"], "did git pull run the tests"),
    ],
)
def test_a_shell_that_is_run_here_is_judged_like_any_other(commands, ran, told, is_async):
    seen, done = [], []

    def execute(request):
        done.append(request.data.action.commands)
        outputs = [agents.ShellCommandOutput(stdout=f"did {each}") for each in request.data.action.commands]
        return agents.ShellResult(output=outputs)

    async def execute_later(request):
        return execute(request)

    def judge(call: ShellCall):
        if call.runs("rm"):
            return Deny("no deleting")
        return Rewrite(command="make test") if call.runs("pytest") else None

    def after(call: ShellCall, event):
        seen.append(event.tool_response)
        return Note("run the tests") if call.runs("git", "pull") else None

    hooks = {"PreToolUse": [HookMatcher("Bash", [judge])], "PostToolUse": [HookMatcher("shell", [after])]}
    action = {"commands": commands}
    item = ResponseFunctionShellToolCall(id="i", action=action, call_id="c", status="completed", type="shell_call")
    said = carried_out(agents.ShellTool(execute_later if is_async else execute), item, hooks)
    assert done == ([ran] if ran else [])
    assert [word for word in told.split() if word not in said] == []
    assert seen == (["\n".join(f"did {each}" for each in ran)] if ran else [])


@pytest.mark.parametrize(
    ("command", "ran"),
    [(["ls", "a b"], ["ls", "a b"]), (["rm", "x"], None), (["pytest"], ["/bin/sh", "-c", "make test"])],
)
def test_the_older_shell_is_judged_as_well(command, ran):
    done = []

    def judge(call: ShellCall):
        return Deny("no deleting") if call.runs("rm") else Rewrite(command="make test") if call.runs("pytest") else None

    def execute(request):
        done.append(request.data.action.command)
        return "done"

    action = {"command": command, "env": {}, "type": "exec"}
    item = LocalShellCall(id="i", action=action, call_id="c", status="completed", type="local_shell_call")
    said = carried_out(agents.LocalShellTool(execute), item, {"PreToolUse": [HookMatcher("Bash", [judge])]})
    assert (done, "no deleting" in said) == (([ran], False) if ran else ([], True))


@pytest.mark.parametrize(
    ("operation", "done", "told"),
    [
        ({"type": "create_file", "path": "a.py", "diff": "+x = 1"}, ("create_file", "a.py", "+x = 1"), "Completed"),
        ({"type": "create_file", "path": "a.py", "diff": "+x = 1\n+TOKEN = 2"}, None, "no tokens"),
        ({"type": "update_file", "path": "a.py", "diff": "@@\n-x = 1\n+TOKEN = 2"}, None, "no tokens"),
        ({"type": "update_file", "path": "a.py", "diff": "-x\n+y"}, ("update_file", "a.py", "-x\n+y"), "Completed"),
        ({"type": "delete_file", "path": "keep.py"}, None, "keep it"),
        ({"type": "delete_file", "path": "a.py"}, ("delete_file", "a.py", None), "Completed"),
        ({"type": "create_file", "path": "old.py", "diff": "+x"}, ("create_file", "new.py", "+x"), "Completed"),
        ({"type": "create_file", "path": "odd.py", "diff": "+x"}, None, "only `file_path` and `diff`"),
    ],
)
def test_a_patch_is_judged_as_what_it_writes_and_deletes(operation, done, told):
    applied = []

    class Editor:
        def create_file(self, operation):
            applied.append((operation.type, operation.path, operation.diff))

        update_file = delete_file = create_file

    def judge(event):
        given = event.tool_input
        if "TOKEN" in given.get("content", "") + given.get("new_string", ""):
            return Deny("no tokens")
        if (event.tool, given["file_path"]) == ("Delete", "keep.py"):
            return Deny("keep it")
        return {"old.py": Rewrite(file_path="new.py"), "odd.py": Rewrite(content="y")}.get(given["file_path"])

    item = ResponseApplyPatchToolCall(
        id="i", call_id="c", operation=operation, status="completed", type="apply_patch_call"
    )
    hooks = {"PreToolUse": [HookMatcher("apply_patch", [judge])]}
    said = carried_out(agents.ApplyPatchTool(Editor()), item, hooks)
    assert applied == ([done] if done else [])
    assert told in said or told == "Completed"


@pytest.mark.parametrize(("text", "ran", "told"), [("SELECT 1", ["SELECT 1"], "1 row"), ("DROP t", [], "no dropping")])
def test_a_tool_that_takes_free_text_is_judged(text, ran, told):
    done = []

    def query(_context, given):
        done.append(given)
        return "1 row"

    def judge(event):
        return Deny("no dropping") if "DROP" in event.tool_input["input"] else None

    item = ResponseCustomToolCall(call_id="c", input=text, name="sql", type="custom_tool_call")
    tool = agents.CustomTool(name="sql", description="", on_invoke_tool=query)
    assert (carried_out(tool, item, {"PreToolUse": [HookMatcher("sql", [judge])]}), done) == (told, ran)


def test_an_image_with_a_note_stays_an_image():
    hooked_tool = HookedTool()
    hooks = {"PostToolUse": [HookMatcher("*", [lambda event: Note(f"saw {event.tool_response['type']}")])]}
    hooked_tool.runtime = Runtime.embed(hooks=hooks)
    tool = agents.function_tool(
        lambda text: agents.ToolOutputImage(image_url="data:,"), name_override="shout", strict_mode=False
    )
    told = run(hooked_tool, "hey", tool=tool)
    assert ("input_image" in told, "saw image" in told) == (True, True)
