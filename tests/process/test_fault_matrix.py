"""
The fault matrix: every way in which every handler fails, in every scope, under every setting, and the exact decision.

Each failure is brought about for real, once; its outcome is then decided in all cells. One cell of each also goes all
the way through a house.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path

import pytest
from msgspec.structs import replace

from snell.engine.book import Book
from snell.engine.decide import decide
from snell.machine.surroundings import HandlerSettings, McpServer, ModelSettings, Surroundings
from snell.model.decision import Decision, Failure, Outcome
from snell.model.events import Event
from snell.model.hooks import Agent, Broken, Command, Handler, Hook, Inline, McpTool, Prompt, Scope, Source, Webhook
from snell.runtime.crew import Crew
from snell.runtime.drive import drive
from snell.runtime.house import House
from snell.stores.inmemory import InMemoryStore
from tests.helpers import call, event
from tests.loopback import Answer, Server
from tests.model_server import Line, ModelServer

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.process

SETTINGS = (None, "allow", "ask", "block")
EVENTS = (call(cwd="/"), event("UserPromptSubmit", prompt="hi", cwd="/"), event("Stop", cwd="/"))
LONG = 70_000


class Fault:
    """One way of failing: a handler, the surroundings in which it fails, and what kind of failure that is."""

    def __init__(
        self, name: str, kind: str, handler: Handler, around: Surroundings | None = None, timeout: float = 20.0
    ):
        self.name = name
        self.kind = kind
        self.handler = handler
        self.around = around or Surroundings(env={"PATH": "/usr/bin:/bin"})
        self.timeout = timeout

    def hook(self, scope: Scope, setting: str | None, on: str = "PreToolUse", **fields) -> Hook:
        return Hook(
            **{
                "id": "guard",
                "event": on,
                "handler": self.handler,
                "scope": scope,
                "on_failure": setting,
                "timeout": self.timeout,
                "source": Source("user"),
                **fields,
            }
        )


def crashes(_event: Event) -> None:
    raise ZeroDivisionError("by hand")


@pytest.fixture(scope="module")
def faults() -> Iterator[list[Fault]]:
    with ExitStack() as servers:

        def server(made: Server) -> Server:
            servers.callback(made.close)
            return made

        def web(name: str, kind: str, answer: Answer, timeout: float = 20.0) -> Fault:
            return Fault(f"webhook {name}", kind, Webhook(server(Server(answer)).url), timeout=timeout)

        def asked(name: str, kind: str, line: Line, timeout: float = 20.0) -> list[Fault]:
            url = server(ModelServer(lambda asked: line)).url
            around = Surroundings(settings=HandlerSettings(ModelSettings(url=url, api="anthropic")))
            handlers = {"prompt": Prompt("?"), "agent": Agent("?")}
            return [Fault(f"{each} {name}", kind, made, around, timeout) for each, made in handlers.items()]

        checker = McpServer(sys.executable, (str(ROOT / "tests/mcp_checker.py"),))
        mcp = Surroundings({"PATH": "/usr/bin:/bin"}, settings=HandlerSettings(mcp_servers={"c": checker}))
        batch = Surroundings(is_interactive=False)
        stopped = threading.Event()
        stopped.set()
        cancelled = Surroundings(env={"PATH": "/usr/bin:/bin"}, cancel=stopped)
        yield [
            Fault("unreadable entry", "launch", Broken("snell.toml:3: the entry cannot be read")),
            Fault("function crashes", "crash", Inline(crashes)),
            Fault("function answers nonsense", "effect", Inline(lambda event: "yes")),
            Fault("command missing", "launch", Command("/nowhere/guard", ())),
            Fault("command crashes", "crash", Command("exit 7")),
            Fault("command killed", "crash", Command("kill -9 $$")),
            Fault("command hangs", "timeout", Command("sleep 60"), timeout=0.3),
            Fault("command says nonsense", "output", Command('echo \'{"decision": "perhaps"}\'')),
            Fault("command says too much", "output", Command("head -c 3000000 /dev/zero | tr '\\0' x")),
            Fault("command cancelled", "cancelled", Command("sleep 60"), cancelled),
            Fault("webhook refused address", "launch", Webhook("http://169.254.169.254/latest")),
            Fault("webhook unreachable", "launch", Webhook("http://127.0.0.1:1/")),
            web("hangs", "timeout", Answer(before=60), 0.3),
            web("drips", "timeout", Answer(b" " * LONG, drip=0.02), 0.3),
            web("status", "output", Answer({"decision": "allow"}, 500)),
            web("redirects", "output", Answer({"decision": "allow"}, 302, {"location": "http://127.0.0.1:1/"})),
            web("says nonsense", "output", Answer("allow")),
            web("breaks its JSON", "output", Answer('{"decision": "allow"]}')),
            web("says too much", "output", Answer(b" " * LONG)),
            web("sends a placeholder back", "rewrite", Answer({"updatedInput": {"command": "[redacted:x]"}})),
            Fault("webhook cancelled", "cancelled", Webhook("http://127.0.0.1:1/"), cancelled),
            *asked("status", "output", Line(status=500)),
            *asked("says nonsense", "output", Line("allow")),
            *asked("breaks off", "output", Line('"ok": true}', is_cut=True)),
            *asked("hangs", "timeout", Line(before=60), 0.3),
            Fault("prompt without model", "launch", Prompt("?"), Surroundings(env={"PATH": "/nowhere"})),
            Fault("agent without model", "launch", Agent("?"), Surroundings(env={"PATH": "/nowhere"})),
            Fault("prompt in batch", "launch", Prompt("?"), batch),
            Fault("agent in batch", "launch", Agent("?"), batch),
            Fault("mcp_tool without server", "launch", McpTool("none", "t")),
            Fault("mcp_tool dies", "crash", McpTool("c", "check", {"die": True}), mcp),
            Fault("mcp_tool reports an error", "output", McpTool("c", "check", {"fail": "x"}), mcp),
            Fault("mcp_tool hangs", "timeout", McpTool("c", "check", {"sleep": 60}), mcp, timeout=3.0),
        ]


@pytest.fixture(scope="module")
def outcomes(faults: list[Fault]) -> dict[str, Outcome]:
    return {fault.name: brought_about(fault) for fault in faults}


def brought_about(fault: Fault) -> Outcome:
    crew = Crew(around=fault.around)
    try:
        (outcome,) = crew.run((fault.hook(Scope.SESSION, None),), EVENTS[0])
    finally:
        crew.close()
    return replace(outcome, seconds=0.0)


class Told:
    """A crew that answers with an outcome that was brought about before."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome

    def run(self, hooks, event) -> list[Outcome]:
        return [self._outcome for _ in hooks]


def decided(hook: Hook, outcome: Outcome, on: Event) -> Decision:
    return drive(decide(on, Book([hook]), InMemoryStore()), Told(outcome))


def expected(scope: Scope, setting: str | None, on: Event) -> str:
    """The rule, said once more, so that the engine is not its own judge."""
    wanted = setting or ("block" if scope is Scope.POLICY else "allow")
    if wanted == "allow" or on.name == "Stop":
        return "silent"
    return "ask" if wanted == "ask" and on.name == "PreToolUse" else "deny"


def test_every_fault_fails_in_its_way_and_approves_nothing(faults, outcomes):
    found = {
        name: (outcome.failure.kind if outcome.failure else "", outcome.effects) for name, outcome in outcomes.items()
    }
    # A function that answers nonsense is found out by the engine, one room further on.
    assert found == {
        fault.name: ("", ("yes",)) if fault.name == "function answers nonsense" else (fault.kind, ())
        for fault in faults
    }


def test_every_cell_has_its_exact_decision_and_says_why(faults, outcomes, figure):
    wrong, cells = [], 0
    for fault, scope, setting, on in product(faults, Scope, SETTINGS, EVENTS):
        decision = decided(fault.hook(scope, setting, on.name), outcomes[fault.name], on)
        verdict = expected(scope, setting, on)
        told = [failure.hook for failure in decision.failures] == ["guard"] and bool(decision.failures[0].text)
        said = verdict == "silent" or decision.reason.startswith("guard `guard` could not run: ")
        cells += 1
        if (str(decision.verdict), told, said) != (verdict, True, True):
            wrong.append((fault.name, scope.name, setting, on.name, str(decision.verdict), verdict))
    assert wrong == []
    assert cells == len(faults) * 4 * 4 * 3
    assert cells >= 1_500
    figure(fault_matrix_cells=cells, faults=len(faults), wrong=len(wrong))


def test_a_hook_that_nobody_approved_does_not_run_whatever_its_handler(faults):
    for fault, scope, setting in product(faults, Scope, SETTINGS):
        hook = fault.hook(scope, setting, untrusted="its bytes have changed")
        decision = decided(hook, Outcome(failure=Failure("crash", "it ran all the same")), EVENTS[0])
        assert (str(decision.verdict), decision.rounds, decision.failures) == ("silent", (), ())


def test_every_fault_of_a_policy_blocks_all_the_way_through_a_house(faults):
    wrong = []
    for fault in faults:
        house = House.embedded(
            fault.hook(Scope.POLICY, None),
            env=dict(fault.around.env),
            handlers=fault.around.settings,
            is_interactive=fault.around.is_interactive,
        )
        if fault.around.cancel is None:  # a house cancels by streaming only
            decision = house.decide(EVENTS[0])
            if (str(decision.verdict), len(decision.failures)) != ("deny", 1):
                wrong.append((fault.name, str(decision.verdict), decision.failures))
        house.close()
    assert wrong == []
