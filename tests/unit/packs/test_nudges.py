"""Routes by keyword, and rules for documents and commits."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from snell.model.effects import Verdict
from snell.packs.nudges.prompts import COMMIT_RULES, DOCUMENT_RULES
from snell.packs.nudges.routes import route_of
from snell.runtime.app import Runtime
from snell.sdk.words import distance, is_typo_of
from snell.settings.packs import builtin_hooks, builtin_packs, pack_hooks
from snell.testing import decide_with

OPTIONS = builtin_packs()["nudges"].options
ROUTES = OPTIONS["routes"]


def route(prompt: str, matching: str = "careful") -> str:
    return route_of(prompt, ROUTES, matching, OPTIONS["look_alikes"].split())


def said(prompt: Any, **options: Any) -> list[str]:
    decision = decide_with(*pack_hooks("nudges", options), on="UserPromptSubmit", prompt=prompt)
    assert decision.failures == ()
    assert [each.text for each in decision.tells] == [each.text for each in decision.notes]
    return [each.text for each in decision.notes]


@pytest.mark.proves("S0-35", "S0-38")
@pytest.mark.parametrize(("keyword", "target"), ROUTES.items())
def test_every_keyword_points_at_its_command_or_agent(keyword: str, target: str):
    assert len(ROUTES) == 9
    parts = [DOCUMENT_RULES] if keyword == "readme" else []
    assert said(f"please {keyword} the parser") == ["\n\n".join([*parts, f"Invoke {target}."])]


@pytest.mark.proves("S0-36", "S0-37")
def test_the_first_word_that_names_a_route_decides():
    assert route("improve it, then ship it") == "improve"
    assert route("don't forget to ship it") == "ship"
    assert route("improve it, then ship it", "seed") == "improve"
    short = {"qa": "/qa", "tag": "/tag"}  # a keyword of two letters is no word of a prompt
    asked = [(prompt, matching) for prompt in ("qa it", "tag it") for matching in ("careful", "seed")]
    assert [route_of(prompt, short, matching) for prompt, matching in asked] == ["", "", "tag", "tag"]
    assert route("what is the time") == ""
    assert said("what is the time") == []


@pytest.mark.proves("S0-40")
@pytest.mark.parametrize(
    "prompt",
    [
        "shop for a chip", "join the guild", "lean back", "dear reader", "define the virtual regime", "read it again",
        "is this clean and clear?", "resume the usual work", "the sweet tweed", "the improved version", "rename it",
        "open src/build/learn.py", "run it with --ship", "`improve` is a word", "see https://x.y/readme/learn",
        "call build_index()", "don't ship it", "never ever build this", "do not please improve anything",
        "```\nship\n```",
    ],
)  # fmt: skip
def test_words_that_only_look_alike_take_no_route(prompt: str):
    assert route(prompt) == ""


PROMPTS = tomllib.loads((Path(__file__).parent / "nudge_prompts.toml").read_text(encoding="utf-8"))


@pytest.mark.proves("S0-40")
@pytest.mark.parametrize("part", PROMPTS)
def test_a_route_is_taken_where_something_is_asked_for_and_nowhere_else(part: str):
    wanted = {prompt: "" if name == "none" else name for name, prompts in PROMPTS[part].items() for prompt in prompts}
    taken = {prompt: route(prompt) for prompt in wanted}
    differing = {prompt: keyword for prompt, keyword in taken.items() if keyword != wanted[prompt]}
    known = {"what would it take to build this ourselves?": "build"} if part == "last" else {}
    assert differing == known


@pytest.mark.proves("S0-39")
@pytest.mark.parametrize(
    ("word", "keyword"),
    [
        ("shipp", "ship"), ("bild", "build"), ("biuld", "build"), ("improov", "improve"), ("imrpove", "improve"),
        ("distil", "distill"), ("lern", "learn"), ("twete", "tweet"), ("visaul", "visual"), ("refien", "refine"),
        ("raedme", "readme"), ("Readme", "readme"), ("visuals", "visual"), ("tweets", "tweet"),
    ],
)  # fmt: skip
def test_a_typo_is_understood(word: str, keyword: str):
    assert route(f"please {word} this") == keyword
    assert route(f"please {word} this", "exact") == (keyword if word.lower() == keyword else "")


@pytest.mark.proves("S0-39")
@pytest.mark.parametrize(
    ("word", "keyword"),
    [("shop", "ship"), ("guild", "build"), ("bild", "build"), ("lean", "learn"), ("reader", "readme"),
     ("learnt", "learn"), ("learner", ""), ("sheep", ""), ("shipping", ""), ("relearn", ""), ("shi", "")],
)  # fmt: skip
def test_seed_mode_has_the_bare_near_miss_rule(word: str, keyword: str):
    assert route(f"a {word} it", "seed") == keyword


@pytest.mark.proves("S0-39")
def test_distance_is_the_same_both_ways_and_stops_at_its_limit():
    words = ["ship", "shop", "sheep", "learn", "lean", "readme", "", "xylophone"]
    assert all(distance(a, b, 3) == distance(b, a, 3) for a in words for b in words)
    near = (("shiipp", "ship"), ("bbuilld", "build"), ("distilll", "distill"), ("imrpvoe", "improve"))
    assert [is_typo_of(*pair) for pair in near] == [False, False, True, True]  # the limit is 1, or 2 for a long keyword
    assert (distance("ship", "xylophone", 2), distance("ab", "ba", 1), is_typo_of("ab", "ba")) == (3, 1, False)


@pytest.mark.proves("S0-41")
@pytest.mark.parametrize(
    "prompt",
    ["fix the hook that says ship", "why is the agent slow? improve it",
     "why did the nudge say build?", "check the agents, improve them",
     "improve settings.json", "refine my claude settings", "improve the hook", "refine the nudges"],
)  # fmt: skip
def test_prompts_about_the_machinery_take_no_route(prompt: str):
    assert said(prompt) == []
    assert said("improve the parser") == ["Invoke @improve."]


@pytest.mark.proves("S0-42", "S0-43")
def test_documents_add_their_rules_and_a_commit_takes_the_place_of_the_route():
    assert said("ship the changelog") == [f"{DOCUMENT_RULES}\n\nInvoke /ship."]
    assert said("ship and commit TODO.md") == [f"{DOCUMENT_RULES}\n\n{COMMIT_RULES}"]
    assert said("mind the tests when committing, then ship") == [COMMIT_RULES]
    assert said("commit and ship", commits=False) == ["Invoke /ship."]
    assert said("do not commit yet, improve the tests first") == ["Invoke @improve."]
    assert said("look at the last commit and improve the names") == ["Invoke @improve."]
    assert said("write the spec", documentation=False) == []


@pytest.mark.proves("S0-44")
@pytest.mark.parametrize("prompt", [None, 3, [], {"a": "ship"}, "", " "])
def test_a_prompt_that_is_no_text_is_met_with_silence(prompt: object):
    with Runtime.embed(*pack_hooks("nudges")) as runtime:
        decision = runtime.fire("UserPromptSubmit", prompt=prompt)
    assert (decision.notes, decision.tells, decision.failures, decision.verdict) == ((), (), (), Verdict.NO_OPINION)


@pytest.mark.proves("S0-45")
def test_routes_are_settings():
    assert said("deploy it now", routes={**ROUTES, "deploy": "/deploy"}) == ["Invoke /deploy."]
    assert said("ship it now", routes={**ROUTES, "ship": ""}) == []


def test_a_route_may_be_written_in_capitals():
    assert said("deploy it now", routes={**ROUTES, "Deploy": "/deploy"}) == ["Invoke /deploy."]


def test_mistyped_options_are_named_with_what_was_meant():
    problems: list[str] = []
    given = {"enabled": True, "matching": "fuzzy", "comits": False, "commits": "no", "commit_point_every": -1}
    given |= {"routes": {"deploy": 3, "code review": "/review", "go": "/go", "ship": ""}}
    builtin_hooks({"nudges": given, "notes": {"rules": ["be brief", 3]}}, problems)
    one_word = "a keyword is one word of at least three letters"
    assert sorted(problems) == sorted(
        [
            "[pack.nudges]: `matching` must be one of seed, exact, plural, careful; `careful` is used",
            "[pack.nudges]: `comits` is not an option of this pack; did you mean `commits`?",
            "[pack.nudges]: `commits` must be bool, not str; the default is used",
            "[pack.nudges]: `commit_point_every` is -1; it must be a number of seconds, 0 for every stop",
            '[pack.nudges]: `routes`: `deploy` is int, not text; write `deploy = "/command"`',
            f"[pack.nudges]: `routes`: `code review` never matches; {one_word}",
            f"[pack.nudges]: `routes`: `go` never matches; {one_word}",
            "[pack.notes]: `rules`: `3` is int, not text, so it is ignored",
        ]
    )


@pytest.mark.proves("S0-46")
def test_the_time_limit_is_three_seconds():
    assert {hook.timeout for hook in pack_hooks("nudges") if hook.event == "UserPromptSubmit"} == {3.0}
