"""The promise loop, a sub-agent's artefacts, and what is kept of its answers."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from snell.clients import client_named
from snell.model.context import Context
from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.operations import call_for
from snell.packs.harness.promise import Loop, continuation, loop_of, save_loop
from snell.packs.harness.subagents import task_key
from snell.runtime.app import Runtime
from snell.settings.packs import pack_hooks
from tests.helpers import event


@pytest.fixture
def runtime(tmp_path: Path) -> Any:
    with Runtime.embed(*pack_hooks("harness")) as made:
        yield made


def stopped(runtime: Runtime, said: str, cwd: Any = "/", **fields: Any) -> Decision:
    decision = runtime.fire("Stop", session_id="s", cwd=str(cwd), last_assistant_message=said, **fields)
    assert decision.failures == ()
    return decision


def begin(runtime: Runtime, most: int = 3, **more: Any) -> None:
    save_loop("s", Loop("DONE", "tidy up", most, **more), runtime.store)


@pytest.mark.proves("S3-05", "S3-64", "S3-65", "S3-66")
def test_the_agent_is_sent_back_until_it_says_the_promise_or_the_rounds_are_used_up(runtime: Runtime):
    begin(runtime)
    sent = [stopped(runtime, "I think that is all").verdict for _ in range(3)]
    assert sent == [Verdict.DENY] * 3
    last = stopped(runtime, "really all")
    assert (last.verdict, [each.text for each in last.tells]) == (
        Verdict.NO_OPINION,
        ["the loop stops: 3 iterations are used up, and the agent did not write `DONE`"],
    )
    assert loop_of("s", runtime.store) is None
    begin(runtime)
    stopped(runtime, "not yet")
    kept = stopped(runtime, "now it is DONE.")
    assert (kept.verdict, kept.tells[0].text) == (
        Verdict.NO_OPINION,
        "the promise is kept after 1 more iterations: the loop has ended",
    )


@pytest.mark.proves("S3-67", "S3-68", "S3-63")
def test_without_a_promise_or_without_words_a_stop_is_a_stop(runtime: Runtime):
    assert stopped(runtime, "all").verdict is Verdict.NO_OPINION
    begin(runtime)
    assert [stopped(runtime, said).verdict for said in ("", "  \n")] == [Verdict.NO_OPINION] * 2
    assert runtime.fire("Stop", session_id="other", last_assistant_message="x").verdict is Verdict.NO_OPINION


@pytest.mark.proves("S3-74")
def test_a_persons_loop_has_its_own_maximum_and_a_clients_cap_is_said(runtime: Runtime):
    begin(runtime, most=20)
    assert [stopped(runtime, "no").verdict for _ in range(20)] == [Verdict.DENY] * 20
    begin(runtime, most=20)
    assert [at_claude(runtime).verdict for _ in range(8)] == [Verdict.DENY] * 8
    capped = at_claude(runtime)
    assert (capped.verdict, capped.tells[0].text) == (
        Verdict.NO_OPINION,
        (
            "this client ends a turn after hooks have prevented 8 stops in a row, and the agent did not write"
            " `DONE`: send a prompt to go on, or use `snell run`"
        ),
    )
    for its_count_begins_anew in ({"name": "UserPromptSubmit", "prompt": "go on"}, {"name": "PostToolUse"}):
        save_loop("s", Loop("DONE", "", 20, in_a_row=8), runtime.store)
        runtime.fire(**{"session_id": "s", "tool_name": "Read", **its_count_begins_anew})
        assert at_claude(runtime).verdict is Verdict.DENY


@pytest.mark.parametrize(("cap", "verdict"), [("0", Verdict.DENY), ("9", Verdict.DENY), ("2", Verdict.NO_OPINION)])
def test_a_client_may_be_told_to_have_another_cap(runtime: Runtime, cap: str, verdict: Verdict):
    runtime.contexts.base = replace(runtime.contexts.base, env={"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": cap})
    begin(runtime, most=20, in_a_row=8)
    assert at_claude(runtime).verdict is verdict


@pytest.mark.proves("S3-74")
def test_under_snell_run_a_loop_goes_on_in_the_next_window(runtime: Runtime):
    runtime.contexts.base = replace(runtime.contexts.base, env={"SNELL_SUPERVISOR": "sup"})
    runtime.store.put("supervisor:sup", "session", {"id": "s"})
    begin(runtime, most=20, iteration=8, in_a_row=8)
    capped = at_claude(runtime)
    assert (capped.verdict, "continues the loop in a new window" in capped.tells[0].text) == (
        Verdict.NO_OPINION,
        True,
    )
    wanted = call_for("run.poll", runtime)({"run": "sup"}, {})["restart"]
    assert (wanted["reason"], "Iteration 9/20" in wanted["prompt"]) == ("loop", True)
    runtime.fire("SessionEnd", session_id="s")
    started = runtime.fire("SessionStart", session_id="next", source="startup")
    assert "The objective: tidy up" in started.notes[0].text
    assert (loop_of("s", runtime.store), loop_of("next", runtime.store)) == (None, Loop("DONE", "tidy up", 20, 9))


def at_claude(runtime: Runtime) -> Decision:
    fields = {"hook_event_name": "Stop", "session_id": "s", "cwd": "/", "last_assistant_message": "no"}
    return runtime.decide(client_named("claude-code").decode(json.dumps(fields).encode()))


@pytest.mark.proves("S3-70", "S3-71")
def test_the_agent_is_told_its_round_its_objective_and_what_the_mission_says(tmp_path: Path):
    (tmp_path / "mission.json").write_text('{"status": "RUNNING"}', encoding="utf-8")
    (tmp_path / "mission_progress.txt").write_text("half done", encoding="utf-8")
    told = continuation(Loop("DONE", "tidy up", 5, 2), str(tmp_path), Context(trusts_mission=True))
    for part in ("Iteration 2/5", "The objective: tidy up", "do not start over", "DONE", '"RUNNING"', "half done"):
        assert part in told


@pytest.mark.proves("S3-72")
def test_a_mission_that_is_being_planned_waits_for_a_person(runtime: Runtime, tmp_path: Path):
    (tmp_path / "mission.json").write_text('{"status": "PLANNING"}', encoding="utf-8")
    begin(runtime)
    waiting = stopped(runtime, "here is the plan", tmp_path)
    assert (waiting.verdict, "approve" in waiting.tells[0].text) == (Verdict.NO_OPINION, True)
    (tmp_path / "mission.json").write_text("{broken", encoding="utf-8")
    assert stopped(runtime, "here is the plan", tmp_path).verdict is Verdict.DENY


# What Copilot sends when its user types `/harness write the report`, with the skill that set-up wrote.
AS_A_SKILL = """The user explicitly invoked the "/harness" skill. Follow its instructions now.

<skill-context name="harness">
Base directory for this skill: /home/me/.copilot/skills/harness

/harness write the report

</skill-context>"""
# What Droid sends when its user types it in a session at a terminal.
IN_A_TAG = "<system-notification>\n/harness write the report\n</system-notification>"


@pytest.mark.parametrize("prompt", ["/harness write the report", "$harness  write the report\n", AS_A_SKILL, IN_A_TAG])
def test_a_prompt_may_start_a_loop(runtime: Runtime, prompt: str):
    decision = runtime.fire("UserPromptSubmit", session_id="s", prompt=prompt)
    assert loop_of("s", runtime.store) == Loop("TASK_COMPLETE", "write the report", 10)
    assert "write the report" in decision.notes[0].text


@pytest.mark.parametrize(
    "prompt",
    [
        *("/harness", "$harnessed it", "see /harness here"),
        *(each.replace(" write the report", " ") for each in (AS_A_SKILL, IN_A_TAG)),
    ],
)
def test_a_prompt_without_an_objective_starts_no_loop(runtime: Runtime, prompt: str):
    runtime.fire("UserPromptSubmit", session_id="s", prompt=prompt)
    assert loop_of("s", runtime.store) is None


@pytest.mark.proves("S3-70")
def test_a_loop_without_an_objective_has_the_next_prompt_for_one(runtime: Runtime):
    save_loop("s", Loop("DONE", "", 3), runtime.store)
    for prompt in ("  ", "mend the parser", "and the lexer"):
        runtime.fire("UserPromptSubmit", session_id="s", prompt=prompt)
    assert "The objective: mend the parser\n" in stopped(runtime, "that is all").reasons[0].text


@pytest.mark.parametrize(
    "rows",
    [
        [
            {"type": "assistant", "message": {"content": [{"type": "text", "text": "all DONE"}]}},
            {"type": "user", "message": {"content": "thanks"}},
        ],
        [
            {"type": "assistant.message", "data": {"messageId": "1", "content": "all DONE", "toolRequests": []}},
            {"type": "assistant.turn_end", "data": {"turnId": "0"}},
            {"type": "system.message", "data": {"role": "system", "content": "You are an agent."}},
        ],
    ],
    ids=["claude", "copilot"],
)
def test_last_words_come_from_the_transcript_where_the_client_does_not_tell(
    runtime: Runtime, tmp_path: Path, rows: list[dict[str, Any]]
):
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows) + '\n{"type": "assistant", "mess', encoding="utf-8")
    begin(runtime)
    decision = stopped(runtime, "", transcript_path=str(path))
    assert "the promise is kept" in decision.tells[0].text


def test_a_client_that_shows_the_last_message_one_stop_late_is_sent_back_meanwhile(runtime: Runtime, tmp_path: Path):
    path = tmp_path / "events.jsonl"
    late = event("Stop", session_id="s", transcript_path=str(path))
    begin(runtime)

    def stop() -> Verdict:
        return runtime.decide(replace(late, client="copilot")).verdict

    verdicts = [stop(), stop()]
    path.write_text(json.dumps({"type": "assistant.message", "data": {"content": "DONE"}}) + "\n", encoding="utf-8")
    assert ([*verdicts, stop()], loop_of("s", runtime.store)) == (
        [Verdict.DENY, Verdict.DENY, Verdict.NO_OPINION],
        None,
    )


def sub_stopped(runtime: Runtime, cwd: Path, agent: str = "a") -> Decision:
    decision = runtime.fire("SubagentStop", session_id="s", cwd=str(cwd), agent_id=agent)
    assert decision.failures == ()
    return decision


def sent(runtime: Runtime, cwd: Path, agent: str, prompt: str) -> None:
    common = {"session_id": "s", "cwd": str(cwd)}
    asked = {"prompt": prompt, "subagent_type": "scout"}
    runtime.fire("PreToolUse", **common, tool_name="Task", tool_input=asked, tool_use_id=f"t-{agent}")
    runtime.fire("SubagentStart", **common, agent_id=agent, agent_type="scout")


@pytest.mark.parametrize(
    ("prompt", "verdict"),
    [
        ("find where the settings are read, and report back", Verdict.NO_OPINION),
        ("how many tests are there? write nothing", Verdict.NO_OPINION),
        ("look into it and write a short report", Verdict.DENY),
        ("save what you find to notes/found.md", Verdict.DENY),
        ("collect sources in search_results", Verdict.DENY),
    ],
)
def test_a_subagent_that_was_not_asked_for_files_is_not_sent_back(
    runtime: Runtime, tmp_path: Path, prompt: str, verdict: Verdict
):
    if "search_results" not in prompt:  # a folder that the prompt names is expected also where it is missing
        (tmp_path / "work_products").mkdir()
    sent(runtime, tmp_path, "a", prompt)
    assert sub_stopped(runtime, tmp_path).verdict is verdict


def test_what_was_there_before_a_subagent_began_is_not_its_work(runtime: Runtime, tmp_path: Path):
    (tmp_path / "work_products").mkdir()
    old = tmp_path / "work_products/old.html"
    old.write_text("<p>", encoding="utf-8")
    os.utime(old, (1_000_000_000, 1_000_000_000))
    sent(runtime, tmp_path, "a", "write the report")
    sent(runtime, tmp_path, "b", "write the report")
    refused = sub_stopped(runtime, tmp_path)
    assert (refused.verdict, "`work_products/**/*.html`" in refused.reasons[0].text) == (Verdict.DENY, True)
    assert sub_stopped(runtime, tmp_path).verdict is Verdict.NO_OPINION  # once is enough
    (tmp_path / "work_products/new.html").write_text("<p>", encoding="utf-8")
    assert sub_stopped(runtime, tmp_path, "b").verdict is Verdict.NO_OPINION


def test_without_a_start_of_its_own_the_session_is_when_a_subagent_began(runtime: Runtime, tmp_path: Path):
    runtime.fire("SessionStart", session_id="s", cwd=str(tmp_path), source="startup")
    (tmp_path / "work_products").mkdir()
    old = tmp_path / "work_products/old.html"
    old.write_text("<p>", encoding="utf-8")
    os.utime(old, (1_000_000_000, 1_000_000_000))
    assert sub_stopped(runtime, tmp_path).verdict is Verdict.DENY


def test_a_clients_own_sub_agent_was_sent_for_nothing(runtime: Runtime, tmp_path: Path):
    (tmp_path / "search_results").mkdir()
    compacting = {"session_id": "s", "cwd": str(tmp_path), "agent_id": "a", "agent_type": ""}
    assert runtime.fire("SubagentStop", **compacting).verdict is Verdict.NO_OPINION
    assert runtime.fire("SubagentStop", **{**compacting, "agent_type": "explore"}).verdict is Verdict.DENY


@pytest.mark.proves("S3-03", "S3-56", "S3-57", "S3-58", "S3-59")
def test_a_subagent_is_sent_back_for_what_it_should_bring(runtime: Runtime, tmp_path: Path):
    assert sub_stopped(runtime, tmp_path).verdict is Verdict.NO_OPINION  # nothing is expected here
    (tmp_path / "search_results").mkdir()
    nothing = sub_stopped(runtime, tmp_path)
    (tmp_path / "search_results/a.md").write_text("data", encoding="utf-8")
    (tmp_path / "search_results/b.md").write_text("data", encoding="utf-8")
    data = sub_stopped(runtime, tmp_path, "b")
    (tmp_path / "work_products").mkdir()
    (tmp_path / "work_products/report.html").write_text("<p>", encoding="utf-8")
    report = sub_stopped(runtime, tmp_path, "c")
    assert (nothing.verdict, nothing.reasons[0].text) == (
        Verdict.DENY,
        "no file was written; none since you started fits `work_products/**/*.html` or `search_results/**/*.md`",
    )
    assert (data.verdict, data.reasons[0].text) == (
        Verdict.DENY,
        "there are 2 files of data and no report; none fits `work_products/**/*.html`",
    )
    assert report.verdict is Verdict.NO_OPINION
    told = runtime.fire("PostToolUse", session_id="s", cwd=str(tmp_path), tool_name="Task", tool_input={"prompt": "x"})
    assert told.notes[0].text.startswith("The report exists: work_products/report.html. Next: 1.")


@pytest.mark.proves("S3-60")
def test_what_should_be_there_is_a_setting(tmp_path: Path):
    (tmp_path / "out").mkdir()
    options = {"report": ["out/*.csv", "../outside/*", "/etc/*"], "data": []}
    with Runtime.embed(*pack_hooks("harness", options)) as runtime:
        assert sub_stopped(runtime, tmp_path).verdict is Verdict.DENY
        (tmp_path / "out/a.csv").write_text("1", encoding="utf-8")
        assert sub_stopped(runtime, tmp_path).verdict is Verdict.NO_OPINION


@pytest.mark.parametrize(
    ("pattern", "made"), [("report.md", "report.md"), ("**/*.html", "deep/er/a.html"), ("out*/*.csv", "out1/a.csv")]
)
def test_a_pattern_that_names_no_folder_is_asked_for_everywhere(tmp_path: Path, pattern: str, made: str):
    with Runtime.embed(*pack_hooks("harness", {"report": [pattern], "data": []})) as runtime:
        assert sub_stopped(runtime, tmp_path).verdict is Verdict.DENY
        (tmp_path / made).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / made).write_text("done", encoding="utf-8")
        assert sub_stopped(runtime, tmp_path).verdict is Verdict.NO_OPINION


def test_another_projects_answer_is_not_used(tmp_path: Path):
    asked = {"prompt": "run the tests", "subagent_type": "x"}
    with Runtime.embed(
        *pack_hooks("harness", {"keep_subagent_output": True, "reuse_subagent_output": True})
    ) as runtime:
        runtime.contexts.base = replace(runtime.contexts.base, state=tmp_path)
        call = {"session_id": "s", "tool_name": "Task", "tool_input": asked}
        runtime.fire("PostToolUse", **call, cwd="/one", tool_response="3 fail")
        runtime.executor.close()
        again = [runtime.fire("PreToolUse", **call, cwd=cwd).verdict for cwd in ("/one", "/other")]
    assert again == [Verdict.DENY, Verdict.NO_OPINION]


@pytest.mark.proves("S3-61", "S3-62")
def test_a_subagents_answer_is_kept_and_not_asked_for_twice(tmp_path: Path):
    options = {"keep_subagent_output": True, "reuse_subagent_output": True}
    asked = {"prompt": "find it", "subagent_type": "x"}
    with Runtime.embed(*pack_hooks("harness", options)) as runtime:
        runtime.contexts.base = replace(runtime.contexts.base, state=tmp_path)
        first = runtime.fire("PreToolUse", session_id="s", tool_name="Task", tool_input=asked)
        answer = {"content": [{"type": "text", "text": "it is here " * 1000}]}
        runtime.fire("PostToolUse", session_id="s", tool_name="Task", tool_input=asked, tool_response=answer)
        runtime.executor.later(lambda: None).result()
        runtime.executor.close()
        again = runtime.fire("PreToolUse", session_id="s", tool_name="Task", tool_input=dict(reversed(asked.items())))
    folder = tmp_path / "subagents" / task_key(asked)
    assert (first.verdict, again.verdict) == (Verdict.NO_OPINION, Verdict.DENY)
    assert json.loads((folder / "subagent_output.json").read_text(encoding="utf-8"))["output"] == answer
    assert len((folder / "summary.md").read_text(encoding="utf-8")) == 4000


@pytest.mark.proves("S3-73")
@pytest.mark.parametrize(("tokens", "told"), [(180_001, 1), (180_000, 0), ("many", 0), (None, 0)])
def test_a_context_that_is_nearly_full_is_handed_over_once(runtime: Runtime, tokens: Any, told: int):
    runtime.store.put("session:s", "context_usage", {"tokens": tokens})
    fired = [runtime.fire("UserPromptSubmit", session_id="s", prompt="x") for _ in range(2)]
    assert [len(each.notes) for each in fired] == [told, 0]
