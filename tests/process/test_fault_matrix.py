"""
The fault matrix: every way in which every handler fails, in every scope, under every setting, and the exact decision.

Each failure is brought about for real, once; its outcome is then decided in all cells. One of each kind also goes all
the way through a runtime.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product

import pytest

from snell.engine.decide import decide
from snell.engine.registry import Registry
from snell.model.context import Context
from snell.model.decision import Decision, Failure, Outcome
from snell.model.events import Event
from snell.model.hooks import Hook, PythonFile, Scope
from snell.runtime.app import Runtime
from snell.runtime.event_flow import run_decision
from snell.store.in_memory import InMemoryStore
from tests.process.faults import EVENTS, POSSIBLE, Fault, Stage
from tests.process.machine import Machine

SETTINGS = (None, "allow", "ask", "block")


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Fault]]:
    with ExitStack() as stack:
        yield list(Stage(tmp_path_factory.mktemp("faults"), stack).faults())


@pytest.fixture(scope="module")
def outcomes(faults: list[Fault]) -> dict[str, Outcome]:
    return {fault.name: fault.outcome() for fault in faults}


class Told:
    """An executor that answers with an outcome that was produced before."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome

    def run(self, hooks, event, _context) -> list[Outcome]:
        return [self._outcome for _ in hooks]


def decided(hook: Hook, outcome: Outcome, on: Event) -> Decision:
    return run_decision(decide(on, Registry([hook]), InMemoryStore()), Told(outcome), Context())


def expected(fault: Fault, scope: Scope, setting: str | None, on: Event) -> tuple[str, list[tuple[str, str]], bool]:
    """The rule, said once more, so that the engine is not its own judge."""
    verdict = expected_verdict(scope, setting, on)
    return verdict, [("guard", fault.kind), ("guard", "told")], verdict != "no_opinion"


def expected_verdict(scope: Scope, setting: str | None, on: Event) -> str:
    wanted = setting or ("block" if scope is Scope.POLICY else "allow")
    if wanted == "allow" or on.name == "Stop":
        return "no_opinion"
    return "ask" if wanted == "ask" and on.name == "PreToolUse" else "deny"


def test_every_kind_of_failure_of_every_handler_is_here(faults):
    found: dict[str, set[str]] = {}
    for fault in faults:
        found.setdefault(type(fault.handler).__name__, set()).add(fault.kind)
    assert found == POSSIBLE


def test_every_fault_fails_in_its_way_and_approves_nothing(faults, outcomes):
    found = {name: (outcome.failure.kind if outcome.failure else "") for name, outcome in outcomes.items()}
    # What a hook answers is validated later, by the engine.
    assert found == {fault.name: "" if fault.is_seen_late else fault.kind for fault in faults}
    assert [fault.name for fault in faults if not fault.is_seen_late and outcomes[fault.name].effects] == []


def test_every_cell_has_its_exact_decision_and_says_why(faults, outcomes, figure):
    wrong, cells = [], 0
    for fault, scope, setting in product(faults, Scope, SETTINGS):
        for on in fault.events:
            decision = decided(fault.hook(scope, setting, on.name), outcomes[fault.name], on)
            cells += 1
            if (found := summary(decision)) != (due := expected(fault, scope, setting, on)):
                wrong.append((fault.name, scope.name, setting, on.name, found, due))
    assert wrong == []
    kinds = sum(map(len, POSSIBLE.values()))
    assert cells == sum(len(fault.events) for fault in faults) * len(Scope) * len(SETTINGS)
    figure(fault_matrix_cells=cells, faults=len(faults), kinds_by_handler=kinds, wrong=len(wrong))


def summary(decision: Decision) -> tuple[str, list[tuple[str, str]], bool]:
    """The verdict, which hook failed in which way, and whether that is said as the reason."""
    kinds = [(hook.id, outcome.failure.kind) for _, hook, outcome in decision.runs() if outcome.failure]
    told = [failure.hook for failure in decision.failures if failure.text]
    says = decision.reason.startswith("guard `guard` could not run: ")
    return str(decision.verdict), [*kinds, *((name, "told") for name in told)], says


def test_a_hook_that_no_user_approved_does_not_run_whatever_its_handler(faults):
    for fault, scope, setting in product(faults, Scope, SETTINGS):
        hook = fault.hook(scope, setting, untrusted="its bytes have changed")
        decision = decided(hook, Outcome(failure=Failure("crash", "it ran all the same")), EVENTS[0])
        assert (str(decision.verdict), decision.rounds, decision.failures) == ("no_opinion", (), ())


def test_a_fault_of_every_kind_in_a_policy_blocks_all_the_way_through_a_runtime(faults):
    wrong = []
    for fault in {(type(fault.handler), fault.kind): fault for fault in faults}.values():
        # A runtime cancels by streaming only, and loads the files of hooks by itself.
        if fault.context.cancel or isinstance(fault.handler, PythonFile):
            continue
        context = fault.context
        options = {"env": dict(context.env), "settings": context.settings, "is_interactive": context.is_interactive}
        with Runtime.embed(fault.hook(Scope.POLICY, None), **options) as runtime:
            decision = runtime.decide(EVENTS[0])
        if (str(decision.verdict), len(decision.failures)) != ("deny", 1):
            wrong.append((fault.name, str(decision.verdict), decision.failures))
    assert wrong == []


FAILING = {
    "command": 'command = "exit 7"',
    "webhook": 'url = "http://127.0.0.1:1/"',
    "agent": 'prompt = "?"',
    "mcp_tool": 'server = "none"\ntool = "t"',
}
CELLS = [(kind, setting) for kind in FAILING for setting in ("allow", "ask", "block")]


def test_twelve_cells_reach_the_client_through_the_real_program_and_the_daemon(tmp_path):
    machine = Machine(tmp_path, forks_daemon=True)
    entries = [
        f'[[hooks]]\nevent = "PreToolUse"\nname = "{kind}-{setting}"\nif = "Bash(try {kind} {setting})"\n'
        f'on_failure = "{setting}"\n[hooks.{kind}]\n{FAILING[kind]}\n'
        for kind, setting in CELLS
    ]
    machine.write("snell.toml", "\n".join(entries))
    try:
        answers = [machine.hook({"tool_input": {"command": f"try {kind} {setting}"}}) for kind, setting in CELLS]
    finally:
        machine.stop()
    found = [(code, json.loads(out or "{}").get("hookSpecificOutput", {})) for code, out, _ in answers]
    verdicts = [(code, given.get("permissionDecision", "")) for code, given in found]
    assert verdicts == [(0, {"allow": "", "ask": "ask", "block": "deny"}[setting]) for _, setting in CELLS]
    reasons = [given["permissionDecisionReason"].partition(":")[0] for _, given in found if given]
    assert reasons == [f"guard `{kind}-{setting}` could not run" for kind, setting in CELLS if setting != "allow"]
