"""Routes by keyword, rules for documents and commits, and the point at which to commit."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from snell.kit.text import distance, is_typo_of
from snell.machine.git_looks import changed_files
from snell.machine.surroundings import HandlerSettings, ModelSettings
from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.packs.nudges.prompts import COMMIT_RULES, DOCUMENT_RULES
from snell.packs.nudges.routes import route_of
from snell.runtime.builtin_packs import builtin_hooks, builtin_packs, pack_hooks
from snell.runtime.house import House
from snell.testing.inline import decide_with
from tests.model_server import Line, model

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
    parts = [DOCUMENT_RULES] if keyword == "readme" else []
    assert said(f"please {keyword} the parser") == ["\n\n".join([*parts, f"Invoke {target}."])]


@pytest.mark.proves("S0-36", "S0-37")
def test_the_first_word_that_names_a_route_decides():
    assert route("improve it, then ship it") == "improve"
    assert route("don't forget to ship it") == "ship"
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


def test_distance_is_the_same_both_ways_and_stops_at_its_limit():
    words = ["ship", "shop", "sheep", "learn", "lean", "readme", "", "xylophone"]
    assert all(distance(a, b, 3) == distance(b, a, 3) for a in words for b in words)
    assert (distance("ship", "xylophone", 2), distance("ab", "ba", 1), is_typo_of("ab", "ba")) == (3, 1, False)


@pytest.mark.proves("S0-41")
@pytest.mark.parametrize(
    "prompt",
    ["fix the hook that says ship", "why did the nudge say build?", "check the agents, improve them",
     "improve settings.json", "refine my claude settings"],
)  # fmt: skip
def test_prompts_about_the_machinery_take_no_route(prompt: str):
    assert said(prompt) == []


@pytest.mark.proves("S0-42", "S0-43")
def test_documents_add_their_rules_and_a_commit_takes_the_place_of_the_route():
    assert said("ship the changelog") == [f"{DOCUMENT_RULES}\n\nInvoke /ship."]
    assert said("ship and commit TODO.md") == [f"{DOCUMENT_RULES}\n\n{COMMIT_RULES}"]
    assert said("commit and ship", commits=False) == ["Invoke /ship."]
    assert said("write the spec", documentation=False) == []


@pytest.mark.proves("S0-44")
@pytest.mark.parametrize("prompt", [None, 3, [], {"a": "ship"}, "", " "])
def test_a_prompt_that_is_no_text_is_met_with_silence(prompt: object):
    with House.embedded(*pack_hooks("nudges")) as house:
        decision = house.fire("UserPromptSubmit", prompt=prompt)
    assert (decision.notes, decision.tells, decision.failures, decision.verdict) == ((), (), (), Verdict.SILENT)


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
    one_word = "a route listens to one word of at least three letters"
    assert sorted(problems) == sorted(
        [
            "[pack.nudges]: `matching` is one of seed, exact, careful; `careful` holds",
            "[pack.nudges]: `comits` is not an option of this pack; did you mean `commits`?",
            "[pack.nudges]: `commits` is str, not bool; the default holds",
            "[pack.nudges]: `commit_point_every` is -1; it is a number of seconds, 0 for at every stop",
            '[pack.nudges]: `routes`: `deploy` points at int, not text; write `deploy = "/command"`',
            f"[pack.nudges]: `routes`: `code review` is never heard; {one_word}",
            f"[pack.nudges]: `routes`: `go` is never heard; {one_word}",
            "[pack.notes]: `rules`: `3` is int, not text, so it is left out",
        ]
    )


@pytest.mark.proves("S0-46")
def test_the_time_limit_is_three_seconds():
    assert {hook.timeout for hook in pack_hooks("nudges") if hook.event == "UserPromptSubmit"} == {3.0}


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.txt").write_text("one\n", encoding="utf-8")
    git(tmp_path, "add", "a.txt")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def stopped(house: House, folder: Path, **fields: Any) -> Decision:
    return house.fire("Stop", session_id="s", cwd=str(folder), **fields)


@pytest.mark.proves("S0-03", "S0-68")
def test_the_end_of_a_turn_asks_for_a_commit_when_tracked_files_changed(repository: Path, tmp_path_factory: Any):
    with House.embedded(*pack_hooks("nudges", {"commit_point": "script"})) as house:
        (repository / "new.txt").write_text("untracked\n", encoding="utf-8")
        assert stopped(house, repository).verdict is Verdict.SILENT
        (repository / "a.txt").write_text("two\n", encoding="utf-8")
        assert stopped(house, repository, stop_hook_active=True).verdict is Verdict.SILENT
        assert stopped(house, tmp_path_factory.mktemp("no-repository")).verdict is Verdict.SILENT
        asked = stopped(house, repository)
        again = stopped(house, repository)
    assert asked.verdict is Verdict.DENY
    assert "a.txt | 2 +-" in asked.reason
    assert again.verdict is Verdict.SILENT  # not twice within its pause


def test_a_commit_is_not_asked_for_unless_somebody_wants_that(repository: Path):
    (repository / "a.txt").write_text("two\n", encoding="utf-8")
    with House.embedded(*pack_hooks("nudges")) as house:
        assert stopped(house, repository).verdict is Verdict.SILENT


def hostile(repository: Path, ran: Path) -> Path:
    """A repository in which everything that git can be told to run is a trap, with a file changed."""
    trap = repository / "trap.sh"
    trap.write_text(f'#!/bin/sh\necho "$0 $1" >> {ran}\ncat\nexit 0\n', encoding="utf-8")
    trap.chmod(0o755)
    names = ("a.txt", "b.txt", "c.txt", "d.txt")
    attributes = ("filter=one", "filter=two diff=conv", "diff=ext", "filter=odd")
    for name in names:
        (repository / name).write_text("one\n", encoding="utf-8")
    git(repository, "add", *names)
    git(repository, "commit", "-qm", "second")
    inner = repository / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    (inner / "x").write_text("x\n", encoding="utf-8")
    git(inner, "add", "x")
    git(inner, "commit", "-qm", "inner")
    git(repository, "add", "inner")
    git(repository, "commit", "-qm", "third")
    rows = "".join(f"{name} {what}\n" for name, what in zip(names, attributes, strict=True))
    (repository / ".gitattributes").write_text(rows, encoding="utf-8")
    git(inner, "config", "core.fsmonitor", f"{trap} inner")
    for name, value in {
        "core.fsmonitor": "monitor",
        "diff.external": "external",
        "filter.one.clean": "clean",
        "filter.one.required": None,
        "filter.two.process": "process",
        "diff.conv.textconv": "textconv",
        "diff.ext.command": "command",
        "core.pager": "pager",
    }.items():
        git(repository, "config", name, f"{trap} {value}" if value else "true")
    hooks = repository / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "post-index-change").write_text(f"#!/bin/sh\n{trap} hook\n", encoding="utf-8")
    (hooks / "post-index-change").chmod(0o755)
    for name in names:
        (repository / name).write_text("two\n", encoding="utf-8")
    (inner / "x").write_text("y\n", encoding="utf-8")
    return repository


def test_a_look_at_a_hostile_repository_runs_nothing_of_it(
    repository: Path, tmp_path_factory: Any, monkeypatch: pytest.MonkeyPatch
):
    ran = tmp_path_factory.mktemp("ran") / "log"
    hostile(repository, ran)
    subprocess.run(["git", "diff", "--stat", "HEAD"], cwd=repository, check=False, capture_output=True)
    assert {"monitor", "clean", "process"} <= set(ran.read_text(encoding="utf-8").split())  # the traps are set
    ran.unlink()
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(repository / "trap.sh"))
    monkeypatch.setenv("GIT_DIR", str(repository / "nowhere"))
    with House.embedded(*pack_hooks("nudges", {"commit_point": "script"})) as house:
        asked = stopped(house, repository)
    assert "d.txt | 2 +-" in asked.reason
    assert "inner" not in asked.reason
    assert not ran.exists()


def test_a_filter_that_cannot_be_switched_off_keeps_us_from_looking(repository: Path, tmp_path_factory: Any):
    ran = tmp_path_factory.mktemp("ran") / "log"
    hostile(repository, ran)
    with (repository / ".git/config").open("a", encoding="utf-8") as config:
        config.write(f'[filter "odd=x"]\n\tclean = touch {ran}\n')
    assert changed_files(str(repository)) == ""
    assert not ran.exists()


def test_missing_objects_are_not_fetched_for_a_look(repository: Path, tmp_path_factory: Any):
    ran = tmp_path_factory.mktemp("ran") / "log"
    (repository / "a.txt").write_text("two\n", encoding="utf-8")
    blob = subprocess.run(
        ["git", "rev-parse", "HEAD:a.txt"], cwd=repository, check=True, capture_output=True, text=True
    ).stdout.strip()
    (repository / ".git/objects" / blob[:2] / blob[2:]).unlink()
    remote = {"url": f"ext::touch {ran}", "promisor": "true", "partialclonefilter": "blob:none"}
    for name, value in remote.items():
        git(repository, "config", f"remote.far.{name}", value)
    git(repository, "config", "extensions.partialClone", "far")
    git(repository, "config", "core.repositoryFormatVersion", "1")
    git(repository, "config", "protocol.ext.allow", "always")
    subprocess.run(["git", "diff", "--stat", "HEAD"], cwd=repository, check=False, capture_output=True)
    assert ran.exists()  # the trap is set
    ran.unlink()
    changed_files(str(repository))
    assert not ran.exists()


def test_a_repository_before_its_first_commit_counts_too(tmp_path: Path):
    git(tmp_path, "init", "-q")
    assert changed_files(str(tmp_path)) == ""
    (tmp_path / "a.txt").write_text("one\n", encoding="utf-8")
    git(tmp_path, "add", "a.txt")
    assert "a.txt | 1 +" in changed_files(str(tmp_path))


def test_without_git_nothing_is_said(repository: Path, monkeypatch: pytest.MonkeyPatch):
    (repository / "a.txt").write_text("two\n", encoding="utf-8")
    monkeypatch.setenv("PATH", str(repository))
    assert changed_files(str(repository)) == ""


@pytest.mark.proves("S0-67")
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ('{"nudge": "commit a.txt now"}', ["commit a.txt now"]),
        ('{"pass": true}', []),
        ("I would rather not say", []),
        ('{"ok": false, "reason": "never stop"}', []),
    ],
)
def test_a_model_may_say_whether_it_is_time_for_a_commit(repository: Path, answer: str, said: list[str]):
    (repository / "a.txt").write_text("two\n", encoding="utf-8")
    with model([Line(answer)]) as server:
        handlers = HandlerSettings(model=ModelSettings(api="anthropic", url=server.url))
        hooks = pack_hooks("nudges", {"commit_point": "model"})
        with House.embedded(*hooks, handlers=handlers, env={"ANTHROPIC_API_KEY": "k"}) as house:
            assert stopped(house, repository, stop_hook_active=True).tells == ()
            asked, again = stopped(house, repository), stopped(house, repository)
    assert (asked.verdict, asked.failures, again.tells) == (Verdict.SILENT, (), ())
    assert [each.text for each in asked.tells] == said
    (question,) = server.asked  # once, since it is throttled
    assert "a.txt | 2 +-" in str(question["messages"])


def test_a_model_that_cannot_be_asked_holds_up_no_stop(repository: Path):
    (repository / "a.txt").write_text("two\n", encoding="utf-8")
    with House.embedded(*pack_hooks("nudges", {"commit_point": "model"}), env={}) as house:
        came = stopped(house, repository)
    assert (came.verdict, came.tells, len(came.failures)) == (Verdict.SILENT, (), 1)
