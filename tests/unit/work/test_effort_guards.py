"""Guard rules in both forms."""

from typing import Any

import pytest

from snell.work.effort_guards import Facts, active_rules, blocking, is_listed

FACTS = Facts(
    heartbeat_counter=5,
    context_usage=0.9,
    lifecycle="active",
    phase="2: Build",
    tool="Read",
    tool_input={"file_path": "/p/a.py"},
    discovered=("/p/AGENTS.md",),
    told=("said",),
)


def ids(rules: Any, facts: Facts = FACTS) -> list[str]:
    return [each.rule_id for each in active_rules(rules, facts)]


@pytest.mark.proves("S2-73")
@pytest.mark.parametrize(
    ("field", "op", "value", "fires"),
    [
        ("heartbeat_counter", "gte", 5, True),
        ("heartbeat_counter", "gt", 5, False),
        ("heartbeat_counter", "lte", 5, True),
        ("heartbeat_counter", "lt", 5, False),
        ("heartbeat_counter", "eq", 5, True),
        ("context_usage", "gte", 0.9, True),
        ("context_usage", "gt", 0.9, False),
        ("context_usage", "about", 0.9, False),
        ("weather", "gte", 0, False),
        (None, "gte", 0, False),
        ("heartbeat_counter", "gte", "5", False),
        ("heartbeat_counter", "gte", None, False),
    ],
)
def test_a_short_rule_compares_one_number(field: Any, op: str, value: Any, fires: bool):
    rule = {"ruleId": "r", "condition": {"field": field, "op": op, "value": value}, "payload": {"text": "t"}}
    assert ids([rule]) == (["r"] if fires else [])
    assert ids([rule], Facts()) == []


@pytest.mark.proves("S2-73")
@pytest.mark.parametrize(
    ("trigger", "fires"),
    [
        ({"type": "contextThreshold", "condition": {"gte": 0.9}}, True),
        ({"type": "contextThreshold", "condition": {"gte": "overflowThreshold"}}, True),
        ({"type": "contextThreshold", "condition": 0.95}, False),
        ({"type": "lifecycle", "condition": {"eq": "active"}}, True),
        ({"type": "lifecycle", "condition": {"noActiveSession": True}}, False),
        ({"type": "phase", "condition": {"contains": "build"}}, True),
        ({"type": "phase", "condition": {"contains": "plan"}}, False),
        ({"type": "toolCount", "condition": {"gte": 5}}, True),
        ({"type": "perTranscriptToolCount", "condition": {"eq": 3}}, False),
        ({"type": "perTranscriptToolCount", "condition": {"eq": 5}}, True),
        ({"type": "discovery"}, True),
        ({"type": "moon"}, False),
        ("nonsense", False),
    ],
)
def test_a_long_rule_has_a_trigger(trigger: Any, fires: bool):
    assert ids([{"id": "r", "trigger": trigger, "payload": {"text": "t"}}]) == (["r"] if fires else [])


def test_rules_are_filtered_by_tool_ordered_by_priority_and_said_once():
    always = {"type": "discovery"}
    rules = [
        {"id": "late", "trigger": always, "priority": 9},
        {"id": "not this tool", "trigger": always, "toolFilter": {"exclude": ["Read"]}},
        {"id": "only others", "trigger": always, "toolFilter": {"include": ["Bash"]}},
        {"id": "said", "trigger": always, "inject": "once"},
        {"id": "early", "trigger": always, "priority": 1, "toolFilter": {"include": ["Read"]}},
        7,
        {},
    ]
    assert ids(rules) == ["early", "late"]
    assert ids("nonsense") == ids(None) == []


def test_a_whitelist_exempts_and_an_overflow_goes_first():
    full = {"id": "full", "trigger": {"type": "contextThreshold", "condition": 0.9}, "urgency": "block"}
    other = {"id": "other", "trigger": {"type": "discovery"}, "urgency": "interrupt", "priority": 1}
    soft = {"id": "soft", "trigger": {"type": "discovery"}}
    found = active_rules([soft, other, full], FACTS)
    assert [each.rule_id for each in blocking(found, FACTS)] == ["full"]
    exempt = active_rules([{**other, "whitelist": ["Read(/p/*)"]}, full], FACTS)
    assert blocking(exempt, FACTS) == []


@pytest.mark.parametrize(
    ("entry", "listed"),
    [("Read", True), ("Read(/p/*.py)", True), ("Read(/q/*)", False), ("Edit", False), ("Rea", False)],
)
def test_a_whitelist_entry_is_a_tool_or_a_tool_with_a_glob(entry: str, listed: bool):
    assert is_listed(entry, "Read", {"file_path": "/p/a.py"}) is listed


ODD: tuple[Any, ...] = (5, [1], [[]], {"a": 1}, None, True, float("nan"), "Read")


@pytest.mark.parametrize("odd", ODD)
def test_a_rule_that_is_malformed_anywhere_disturbs_no_other(odd: Any):
    good = {"ruleId": "good", "condition": {"field": "heartbeat_counter", "op": "gte", "value": 1}}
    whole = {
        "id": "x",
        "trigger": {"type": "toolCount", "condition": {"gte": 1}},
        "toolFilter": {"include": ["Read"], "exclude": ["Bash"]},
        "payload": {"text": "t", "files": ["f"], "preload": ["p"], "command": "c"},
        "mode": "inline",
        "urgency": "block",
        "priority": 1,
        "inject": "once",
        "whitelist": ["Bash"],
    }
    payload = [
        {**whole, "payload": {**whole["payload"], name: odd}} for name in ("text", "files", "preload", "command")
    ]
    filters = [{**whole, "toolFilter": {name: odd}} for name in ("include", "exclude")]
    triggers = [{**whole, "trigger": each} for each in ({"type": odd}, {"type": "toolCount", "condition": odd})]
    conditions = [{"condition": {**good["condition"], name: odd}} for name in ("field", "op", "value")]
    rules = [*({**whole, name: odd} for name in whole), *payload, *filters, *triggers, *conditions, {"condition": odd}]
    for rule in (*rules, odd):
        found = active_rules([rule, good], FACTS)
        assert "good" in [each.rule_id for each in found]
        blocking(found, FACTS)
