"""What the scaffolder writes works at once, for every event, kind of tool and role."""

from pathlib import Path

import pytest

from snell import Runtime
from snell.model.catalogue import CATALOGUE, EventRow
from snell.model.errors import SnellError
from snell.model.tools import ALL_KINDS
from snell.sdk.decorators import declared_in
from snell.testing import cases_in, run_case
from snell.testing.scaffold import ROLES, NewHook, files_of_hook, fire_command, new_hook, write_new


def possible(event: str) -> list[NewHook]:
    """Every hook that can be asked for on an event."""
    kinds = ALL_KINDS if CATALOGUE[event].matches == "tool_name" else ("",)
    found = []
    for kind in kinds:
        for role in ROLES:
            try:
                found.append(new_hook("example", event, kind, role))
            except SnellError:
                assert role != "watches"
    return found


@pytest.mark.parametrize("event", CATALOGUE)
def test_every_scaffold_passes_its_own_cases(event, tmp_path):
    results = {}
    for hook in possible(event):
        folder = tmp_path / f"{hook.kind}-{hook.role}"
        write_new(files_of_hook(hook, folder))
        results[folder.name] = outcome_of(folder)
    assert results == {name: [(), ()] for name in results}


@pytest.mark.parametrize(
    "row",
    [
        EventRow("PreDeploy", "target", frozenset({"deny", "rewrite"}), "plan"),
        EventRow("PreDeploy", "", frozenset({"rewrite"}), "plan"),
        EventRow("PreDeploy", "tool_name", frozenset({"deny", "rewrite"}), "plan", subject="tool"),
        EventRow("PreDeploy", "", frozenset({"rewrite"}), "last_assistant_message", subject="turn"),
    ],
    ids=["event", "without matcher", "tool", "turn"],
)
def test_a_rewrite_of_a_field_without_an_example_works_too(row, tmp_path, monkeypatch):
    monkeypatch.setitem(CATALOGUE, "PreDeploy", row)
    write_new(files_of_hook(new_hook("example", "PreDeploy", role="rewrites"), tmp_path))
    assert outcome_of(tmp_path) == [(), ()]


def outcome_of(folder: Path) -> list[tuple[str, ...]]:
    source = (folder / "example.py").read_text(encoding="utf-8")
    assert max(map(len, source.splitlines())) <= 120
    namespace = {"__name__": "example"}
    exec(compile(source, str(folder / "example.py"), "exec"), namespace)
    runtime = Runtime.embed(*declared_in(namespace).values())
    results = [run_case(case, runtime) for case in cases_in(folder / "example.cases.toml")]
    runtime.close()
    return [result.differences for result in results]


def test_a_hook_says_what_it_does_under_four_headings(tmp_path):
    path = tmp_path / "no_force_push.py"
    write_new(files_of_hook(new_hook("no_force_push"), tmp_path))
    assert path.read_text(encoding="utf-8") == (
        '"""\n'
        "A working example; change it as you need.\n"
        "\n"
        "Does     Denies the command `example`.\n"
        "Why      It is a placeholder.\n"
        "Instead  Write what to do instead here.\n"
        "Escape   Remove this file, or rename it so that it begins with `_`.\n"
        '"""\n'
        "\n"
        "from snell import Deny, ShellCall, judges\n"
        "\n"
        "\n"
        '@judges("PreToolUse", kind="shell")\n'
        "def no_force_push(call: ShellCall) -> Deny | None:\n"
        '    if call.runs("example"):\n'
        "        return Deny(\n"
        '            "no_force_push: the command `example` is a placeholder",\n'
        '            instead="write what to do instead here",\n'
        "        )\n"
        "    return None\n"
    )


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (("x",), "snell fire PreToolUse --command 'example --now'"),
        (
            ("x", "PostToolUse", "skill"),
            """snell fire PostToolUse --tool Skill --input '{"skill": "deploy"}' --set tool_response=...""",
        ),
        (("x", "UserPromptSubmit"), "snell fire UserPromptSubmit --prompt 'my password is 1234'"),
        (("x", "Stop"), "snell fire Stop --set 'last_assistant_message=done, but TODO: tests'"),
    ],
)
def test_the_way_to_fire_the_event_is_shown(arguments, command):
    assert fire_command(new_hook(*arguments)) == command


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no-push",), "`no-push` cannot be the name of a function; did you mean `no_push`?"),
        (("../x",), "`../x` cannot be the name of a function; did you mean `x`?"),
        (("_x",), "`_x` cannot be the name of a function; did you mean `x`?"),
        (
            ("class",),
            "`class` cannot be the name of a function; use letters, digits and `_`, starting with a letter",
        ),
        (("",), "`` cannot be the name of a function; use letters, digits and `_`, starting with a letter"),
        (("x", "PreTool"), "unknown event `PreTool`; did you mean `PreToolUse`?"),
        (("x", "PreToolUse", "shel"), "unknown tool kind `shel`; did you mean `shell`?"),
        (("x", "Stop", "shell"), "Stop has no tool, so it has no `--kind`; leave it out"),
        (("x", "PreToolUse", "", "judge"), "unknown role `judge`; did you mean `judges`?"),
        (
            ("x", "SessionEnd", "", "judges"),
            "SessionEnd does not support the role `judges`; use --role informs or watches",
        ),
    ],
)
def test_what_cannot_be_asked_for_is_explained(arguments, message):
    with pytest.raises(SnellError) as caught:
        new_hook(*arguments)
    assert str(caught.value) == message


def test_an_event_without_a_judge_gets_the_first_role_that_it_has():
    assert [new_hook("x", event).role for event in ("Stop", "SessionStart", "MessageDisplay", "StopFailure")] == [
        "judges",
        "informs",
        "rewrites",
        "watches",
    ]


def test_nothing_is_overwritten_and_nothing_is_half_written(tmp_path):
    files = files_of_hook(new_hook("x"), tmp_path)
    (tmp_path / "x.cases.toml").write_text("mine", encoding="utf-8")
    with pytest.raises(SnellError) as caught:
        write_new(files)
    assert str(caught.value) == f"`{tmp_path}/x.cases.toml` already exists; choose another name, or remove it first"
    assert [path.name for path in tmp_path.iterdir()] == ["x.cases.toml"]
