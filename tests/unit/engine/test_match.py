"""Matcher text to predicate: the client's published rule, one addition, and patterns that are meant to hurt."""

import time
from contextlib import suppress

import pytest
import regex

from snell.engine.match import LONGEST_PATTERN, compile_matcher, guess_type, targets, value_targets
from snell.model.catalogue import CATALOGUE
from snell.model.errors import PatternError
from tests.helpers import call, event

TOOL = CATALOGUE["PreToolUse"]


def fits(pattern: str | None, name: str, kind: str | None = None, on: str = "PreToolUse") -> bool:
    row = CATALOGUE[on]
    predicate = compile_matcher(pattern, kind, row)
    return predicate is None or any(map(predicate, value_targets(row, name)))


@pytest.mark.proves("S1-27", "S0-09")
@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("Bash", ["Bash"], ["bash", "BASH", "BashOutput", "MyBash", "Ba"]),
        ("mcp__lab__echo", ["mcp__lab__echo"], ["mcp__lab__echo2", "mcp__lab"]),
        ("mcp__lab", [], ["mcp__lab__echo"]),
        ("lab", [], ["mcp__lab__echo"]),
        ("echo", [], ["mcp__lab__echo"]),
        ("Ba", [], ["Bash"]),
        ("my-tool", ["my-tool"], ["my_tool", "my"]),
    ],
)
def test_a_plain_name_fits_that_whole_name_only(pattern: str, fitting: list[str], others: list[str]) -> None:
    assert [name for name in fitting + others if fits(pattern, name)] == fitting


@pytest.mark.proves("S1-28")
@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("Bash*", ["Bash", "BashOutput"], ["Bas", "MyBash", "bash"]),
        ("mcp__lab__*", ["mcp__lab__echo", "mcp__lab__"], ["mcp__lab_", "a_mcp__lab__echo"]),
        ("my-*", ["my-tool", "my-"], ["my"]),
    ],
)
def test_a_trailing_star_is_a_prefix(pattern: str, fitting: list[str], others: list[str]) -> None:
    assert [name for name in fitting + others if fits(pattern, name)] == fitting


@pytest.mark.proves("S1-29")
@pytest.mark.parametrize(
    "pattern",
    ["Bash|Edit", "Edit, Bash", " Bash ", "Bash,", "|Bash", "Edit||Bash", " , Bash |", "Edit|Write,Bash"],
)
def test_a_list_fits_each_of_its_names(pattern: str) -> None:
    assert [name for name in ("Bash", "Bas", "BashOutput", "bash") if fits(pattern, name)] == ["Bash"]


@pytest.mark.parametrize("pattern", [",", "|", " ", " , | "])
def test_a_list_without_names_fits_nothing(pattern: str) -> None:
    assert not fits(pattern, "Bash")


def test_a_name_with_a_space_inside_is_one_name() -> None:
    assert (fits("Bash Edit", "Bash"), fits("Bash Edit", "Bash Edit")) == (False, True)


@pytest.mark.proves("S1-30")
@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("^Ba", ["Bash", "BashOutput"], ["MyBash"]),
        ("B.*", ["Bash", "MyBash"], ["bash"]),
        ("ash$", ["Bash", "MyBash"], ["BashOutput"]),
        (".*", ["Bash", "anything"], []),
        ("Edit|B.*", ["Bash", "Edit", "MultiEdit"], ["Read", "bash", "edit"]),
        ("mcp__lab__.*", ["mcp__lab__echo", "x_mcp__lab__echo"], ["mcp__other__echo"]),
        ("mcp__.*", ["mcp__lab__echo"], ["Bash"]),
        ("^(Read|Write)$", ["Read", "Write"], ["ReadAll", "Rewrite"]),
        ("plugin:agent", ["plugin:agent", "my plugin:agent"], ["plugin"]),
        (r"\d", ["Tool1"], ["Tool", "Tool٣"]),
        (r"^\w+$", ["Tool"], ["Tööl"]),
        ("Bash*|Edit", ["Bash", "Bas", "Edit"], ["Read"]),
    ],
)
def test_anything_special_makes_an_unanchored_regular_expression(
    pattern: str, fitting: list[str], others: list[str]
) -> None:
    assert [name for name in fitting + others if fits(pattern, name)] == fitting


@pytest.mark.proves("S1-31", "S0-08")
@pytest.mark.parametrize("pattern", [None, "", "*"])
def test_no_matcher_an_empty_one_and_a_star_fit_everything(pattern: str | None) -> None:
    assert compile_matcher(pattern, None, TOOL) is None


@pytest.mark.proves("S1-32")
@pytest.mark.parametrize(
    ("pattern", "kind"),
    [
        ("", "all"),
        ("*", "all"),
        ("Bash", "or"),
        ("Read|Write", "or"),
        ("Bash*", "wildcard"),
        ("^(Read|Write)$", "regex"),
        ("Read|Write*", "regex"),
        ("**", "regex"),
        ("B?sh", "regex"),
        ("Bäsh", "regex"),
    ],
)
def test_the_type_is_guessed_from_the_characters(pattern: str, kind: str) -> None:
    assert guess_type(pattern, TOOL) == kind


@pytest.mark.proves("S1-32")
@pytest.mark.parametrize(
    ("kind", "pattern", "fitting", "others"),
    [
        ("exact", "Bash|Edit", ["Bash|Edit"], ["Bash", "Edit"]),
        ("exact", "^Ba", ["^Ba"], ["Bash"]),
        ("exact", " Bash ", [" Bash "], ["Bash"]),
        ("wildcard", "B*", ["Bash", "B"], ["MyBash"]),
        ("wildcard", "*Bash", ["Bash", "MyBash"], ["BashOutput"]),
        ("wildcard", "B?sh", ["Bash", "Bush"], ["Bsh", "Baash"]),
        ("wildcard", "a.c", ["a.c"], ["abc"]),
        ("wildcard", "m*[x]*", ["my[x]y"], ["mx"]),
        ("or", "^Ba|x.*", ["^Ba", "x.*"], ["Bash", "xy"]),
        ("regex", "Bas", ["Bash", "MyBash"], ["bash"]),
        ("regex", "Bash*", ["Bash", "Bas", "MyBash"], ["Ba"]),
        ("all", "never looked at", ["Bash", "anything"], []),
    ],
)
def test_an_explicit_type_overrides_the_guess(kind: str, pattern: str, fitting: list[str], others: list[str]) -> None:
    assert [name for name in fitting + others if fits(pattern, name, kind)] == fitting


@pytest.mark.proves("S1-33")
@pytest.mark.parametrize(
    ("pattern", "kind", "complaint"),
    [
        ("[", None, "`[` is not a regular expression: "),
        ("Bash(", None, "`Bash(` is not a regular expression: "),
        ("Bash", "glob", "`glob` is not a matcher type; use one of all, exact, wildcard, or, regex"),
        ("a{1000000000000}", None, "`a{1000000000000}` repeats too often"),
        ("(?P<", "regex", "`(?P<` is not a regular expression: "),
        ("+", None, "`+` is not a regular expression: "),
    ],
)
def test_a_bad_pattern_is_an_error_that_says_what_is_wrong(pattern: str, kind: str | None, complaint: str) -> None:
    with pytest.raises(PatternError) as caught:
        compile_matcher(pattern, kind, TOOL)
    assert str(caught.value).startswith(complaint)


def test_a_pattern_may_have_a_thousand_characters_and_no_more() -> None:
    assert fits("." * LONGEST_PATTERN, "a" * LONGEST_PATTERN)
    with pytest.raises(PatternError, match="the pattern has 1001 characters; keep it under 1000"):
        compile_matcher("." * (LONGEST_PATTERN + 1), None, TOOL)


def test_a_list_of_names_may_be_much_longer() -> None:
    names = [f"mcp__some_server__tool_number_{number}" for number in range(500)]
    assert fits("|".join(names), names[-1])
    with pytest.raises(PatternError, match="keep it under 50000"):
        compile_matcher("a" * 50_001, None, TOOL)


@pytest.mark.proves("S1-33")
def test_a_deeply_nested_pattern_is_compiled_or_refused_but_does_not_crash() -> None:
    for pattern in ("(" * 400 + "a.*" + ")" * 400, "(" * 800 + "a"):
        with suppress(PatternError):
            assert compile_matcher(pattern, None, TOOL) is not None


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|aa)+$", "^(.*a){20}$", "(x+x+)+y"])
def test_a_pattern_that_explodes_is_cut_off_and_says_so(pattern: str) -> None:
    predicate = compile_matcher(pattern, None, TOOL)
    assert predicate is not None
    hang_bound = time.monotonic() + 5
    answer: object = None
    try:
        answer = predicate("a" * 60 + "!" + "x" * 60)
    except PatternError as error:
        answer = str(error)
    assert answer in (False, f"`{pattern}` takes too long to match; simplify the pattern")
    assert time.monotonic() < hang_bound


def test_an_exploding_wildcard_is_cut_off_too() -> None:
    predicate = compile_matcher("*a" * 30 + "b", "wildcard", TOOL)
    assert predicate is not None
    with pytest.raises(PatternError, match="takes too long to match; simplify the pattern"):
        predicate("a" * 5000)


@pytest.mark.proves("S1-35")
def test_a_regular_expression_is_compiled_once_however_often_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    really = regex.compile
    monkeypatch.setattr(regex, "compile", lambda text, *flags: made.append(text) or really(text, *flags))
    predicate = compile_matcher("^Ba.*", None, TOOL)
    assert predicate is not None
    assert ([predicate("Bash"), predicate("Read"), predicate("Bash")], made) == ([True, False, True], ["^Ba.*"])


@pytest.mark.parametrize(
    ("on", "pattern", "fitting", "others"),
    [
        ("FileChanged", ".env|.envrc", [".env", ".envrc"], ["envrc2"]),
        ("FileChanged", "Makefile|notes", ["Makefile", "notes"], ["Makefile.am"]),
        ("FileChanged", "a,b", ["xa,by"], ["a", "b"]),
        ("FileChanged", "my-file", ["my-file", "not-my-file.txt"], ["file"]),
        ("StopFailure", "rate_limit|overloaded", ["rate_limit", "overloaded"], ["rate"]),
        ("StopFailure", "rate_limit, overloaded", [], ["rate_limit", "overloaded"]),
        ("UserPromptExpansion", "deploy,review", ["deploy", "review"], ["deploy,review"]),
    ],
)
def test_file_names_and_error_codes_are_separated_by_bars_alone(
    on: str, pattern: str, fitting: list[str], others: list[str]
) -> None:
    assert [name for name in fitting + others if fits(pattern, name, on=on)] == fitting


def test_a_changed_file_is_matched_by_its_name_without_the_folder() -> None:
    assert targets(event("FileChanged", file_path="/home/me/project/Makefile")) == ("Makefile",)


@pytest.mark.parametrize(
    ("pattern", "fitting"),
    [
        ("claude-sonnet-5", ["claude-sonnet-5"]),
        ("claude-sonnet-5[1m]", ["claude-sonnet-5"]),
        ("claude-sonnet-5[2m]", ["claude-sonnet-5"]),
        ("sonnet", []),
        (".*sonnet.*", ["claude-sonnet-5", "claude-sonnet-4"]),
    ],
)
def test_a_matcher_may_name_a_model_with_its_context_size(pattern: str, fitting: list[str]) -> None:
    models = ["claude-sonnet-5", "claude-sonnet-4", "claude-opus-5"]
    assert [model for model in models if fits(pattern, model, on="PreModelSwitch")] == fitting


@pytest.mark.parametrize(("pattern", "tool"), [("Task", "Agent"), ("Agent", "Task"), ("Agent", "Agent")])
def test_a_renamed_tool_answers_to_both_names(pattern: str, tool: str) -> None:
    assert fits(pattern, tool)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (call(tool="Bash"), ("Bash",)),
        (call(tool="Agent"), ("Agent", "Task")),
        (event("PreToolUse"), ()),
        (event("PreToolUse", tool_name=7), ()),
        (event("SessionStart", source="resume"), ("resume",)),
        (event("SessionEnd", reason="clear"), ("clear",)),
        (event("SubagentStart", agent_type="Explore"), ("Explore",)),
        (event("PreCompact", trigger="auto"), ("auto",)),
        (event("Notification", notification_type="idle_prompt"), ("idle_prompt",)),
        (event("PermissionRequest", tool_name="Write"), ("Write",)),
        (event("UserPromptExpansion", command_name="deploy"), ("deploy",)),
        (event("Elicitation", mcp_server_name="lab"), ("lab",)),
        (event("Stop"), ()),
    ],
)
def test_each_event_is_compared_by_the_field_that_its_row_names(given, wanted) -> None:
    assert tuple(targets(given)) == wanted


@pytest.mark.parametrize(
    ("pattern", "value", "expected"),
    [
        ("^Bash$", "Bash", True),
        ("^Bash$", "Bash\n", False),
        (r"cost\$", "cost$", True),
        ("[$]x", "$x", True),
        ("^(Read|Write)$", "Write", True),
        (r"[\]$]$", "a$", True),
    ],
)
def test_a_dollar_is_the_very_end_as_in_the_client(pattern: str, value: str, expected: bool) -> None:
    assert fits(pattern, value) is expected
