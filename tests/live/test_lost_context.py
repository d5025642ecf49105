"""The real Claude Code under `snell run`: its context goes, its effort stays, and the next window goes on with it."""

import json
import os
import sys
from collections.abc import Callable, Mapping

import pytest

from tests.live.client_user import Ran
from tests.live.drivers import DRIVERS
from tests.live.model import LAST
from tests.live.recording import Recording, texts_in
from tests.live.wires import Said

CLAUDE = DRIVERS[0]
WINDOW = "[pack.sessions]\ncontext_window = 100000\n"
PROMPT = "Please write a lexer and a parser."
LEFT = {
    "summary": "the lexer is written and the parser is not",
    "lastAction": "wrote lexer.txt",
    "nextSteps": ["write parser.txt"],
    "requiredFiles": [],
    "userHistory": PROMPT,
}
DEHYDRATE = f"snell session dehydrate <<'EOF'\n{json.dumps(LEFT)}\nEOF"
LEXER = "echo lexer > lexer.txt && snell effort log 'the lexer is written'"
TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"
Script = Callable[[str], Said]


@pytest.fixture
def supervised(asked_for, user, model, client_folder):
    """Claude Code under `snell run`, with an effort that was begun: called with how its model goes about it."""
    asked_for(CLAUDE.client)
    folder = client_folder(CLAUDE)
    path = os.pathsep.join([os.path.dirname(sys.executable), user.env()["PATH"]])
    usual = {**CLAUDE.prepare(user, model.url), "PATH": path}
    user.snell("setup", "claude-code", "--yes")

    def work(first: Script, settings: str = "", env: Mapping[str, str] | None = None) -> Ran:
        user.configure(settings)
        user.snell("effort", "start", "parser", "implement")
        recording = Recording(user)
        model.begin(script=lambda asked: recording.turn(asked, _said(json.dumps(asked["messages"]), first)))
        agent = CLAUDE.command(folder, user, PROMPT)
        words = [sys.executable, "-m", "snell", "run", "--restarts", "3", "--", *agent]
        ran = user.run(words, {**usual, **(env or {})}, seconds=240)
        assert ran.code == 0, ran
        recording.keep(ran)
        return ran

    return work


def _said(given: str, first: Script) -> Said:
    """The second window does what its recovery block says is left; the first one goes about it as the test says."""
    if "## Session recovery" not in given:
        return first(given)
    return LAST if "parser.txt &&" in given else _shell("echo parser > parser.txt && echo done")


def _shell(command: str, tokens: int = 1_000) -> Said:
    return Said("Working.", (CLAUDE.shell(command),), tokens=tokens)


def test_an_agent_writes_down_where_it_is_and_its_next_window_goes_on_from_there(user, model, supervised):
    def first(given: str) -> Said:
        if LEFT["summary"] in given:
            return LAST
        if "`snell session dehydrate`" in given:
            return _shell(DEHYDRATE, 95_000)
        return _shell(LEXER if "lexer.txt" not in given else "wc -l lexer.txt", 95_000)

    ran = supervised(first, WINDOW)
    assert ran.err == "snell: the window is over (dehydrated); starting the next one, 1 of 3\n"
    told = _start_of_last_window(model)
    assert all(text in told for text in (LEFT["summary"], "write parser.txt", "skill implement"))
    assert _written(user) == ["lexer.txt", "parser.txt"]
    assert _ends(user)[:3] == ["replaced", "dehydrated", "other"]


@pytest.mark.parametrize(("env", "reason"), [({}, "compact"), ({"DISABLE_COMPACT": "1"}, "exhausted")])
def test_a_context_that_is_used_up_is_made_up_for_from_what_the_effort_wrote(user, model, supervised, env, reason):
    """The client wants to compact by itself, which would lose the thread; where it may not, it gives up."""

    def first(given: str) -> Said:
        return Said(refusal=TOO_LONG) if "lexer.txt" in given else _shell(LEXER)

    ran = supervised(first, env=env)
    assert ran.err == f"snell: the window is over ({reason}); starting the next one, 1 of 3\n"
    told = _start_of_last_window(model)
    assert all(text in told for text in ("ended without saving its state", "1_IMPLEMENT_LOG.md"))
    assert _written(user) == ["lexer.txt", "parser.txt"]


def _start_of_last_window(model) -> str:
    """What the model of the last window was given with its first request."""
    asked = [json.loads(sent.body) for sent in model.sent if sent.method == "POST" and b'"tools"' in sent.body]
    starts = [each["messages"] for each in asked if "## Session recovery" in json.dumps(each["messages"])]
    return "\n".join(texts_in(starts[0]))


def _written(user) -> list[str]:
    return sorted(path.name for path in user.project.glob("*.txt"))


def _ends(user) -> list[str | None]:
    rows = json.loads(user.snell("session", "list", "--json"))
    assert len({row["effortId"] for row in rows}) == 1
    return [row["endReason"] for row in rows]
