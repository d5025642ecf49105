"""Which value holds, and who set it."""

import pytest

from snell.model.hooks import Switches
from snell.settings.effective_values import effective_values, switches
from snell.settings.parse_types import Value


def value(layer: str, setting: object, name: str = "disable_all_hooks") -> Value:
    return Value(name, setting, layer, f"{layer}.toml", 1)


@pytest.mark.proves("S1-109")
def test_both_switches_are_off_unless_a_user_sets_them():
    assert switches([]) == Switches(False, False, False, "")
    assert {each.layer for each in effective_values([])} == {"default"}


@pytest.mark.proves("S1-108")
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"user": True}, Switches(disable_all_hooks=True)),
        ({"project": True}, Switches(disable_all_hooks=True)),
        ({"user": True, "project": False}, Switches()),
        ({"project": True, "local": False}, Switches()),
        ({"user": False, "project": False, "local": True}, Switches(disable_all_hooks=True)),
        ({"policy": True}, Switches(policy_disables_all=True)),
        ({"policy": True, "local": False}, Switches(policy_disables_all=True)),
        ({"policy": False, "user": True}, Switches(disable_all_hooks=True)),
        ({"policy": False}, Switches()),
        ({"policy:added": True, "local": False}, Switches(disable_all_hooks=True)),
    ],
)
def test_disable_all_hooks_is_taken_from_the_nearest_file_and_from_the_policy_for_everything(given, expected):
    assert switches([value(layer, setting) for layer, setting in given.items()]) == expected


@pytest.mark.proves("S1-133")
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"policy": "policy", "local": "any"}, "policy"),
        ({"user": "policy", "project": "any"}, "policy"),
        ({"user": "any", "project": "policy"}, "policy"),
        ({"user": "any"}, ""),
        ({}, ""),
    ],
)
def test_the_strictest_file_decides_who_may_rewrite(given, expected):
    values = [value(layer, setting, "rewrites_from") for layer, setting in given.items()]
    assert switches(values).rewrites_from == expected


def test_each_value_says_which_file_and_line_it_comes_from():
    values = [value("user", {"command": "a"}, "status_line"), value("project", {"command": "b"}, "status_line")]
    found = {each.name: each for each in effective_values(values)}
    assert found["status_line"] == Value("status_line", {"command": "b"}, "project", "project.toml", 1)
    assert found["file_suggestion"] == Value("file_suggestion", None, "default", "", 0)


def test_lists_add_up_over_all_layers():
    values = [value("policy", ("A",), "extra_events"), value("user", ("B", "A"), "extra_events")]
    assert {each.name: each.value for each in effective_values(values)}["extra_events"] == ("A", "B")


@pytest.mark.proves("S1-108")
@pytest.mark.parametrize(
    ("switch", "line", "expected"),
    [
        ([], "user", True),
        ([value("user", True)], "user", False),
        ([value("user", True)], "policy", True),
        ([value("policy", True)], "policy", False),
        ([value("policy", True, "allow_managed_hooks_only")], "user", False),
        ([value("policy", True, "allow_managed_hooks_only")], "policy", True),
    ],
)
def test_with_hooks_turned_off_only_the_policys_status_line_remains(switch, line, expected):
    values = [*switch, value(line, {"command": "x"}, "status_line")]
    found = {each.name: each.value for each in effective_values(values)}["status_line"]
    assert found == ({"command": "x"} if expected else None)


def test_options_of_packs_add_up_and_a_persons_own_file_wins_over_what_a_project_brings():
    said = [
        value("project", {"guard": {"enabled": False, "preset": "relaxed"}, "notes": {"enabled": True}}, "pack"),
        value("user", {"guard": {"enabled": True}}, "pack"),
        value("policy", {"guard": {"preset": "strict"}}, "pack"),
    ]
    assert {each.name: each.value for each in effective_values(said)}["pack"] == {
        "guard": {"enabled": True, "preset": "strict"},
        "notes": {"enabled": True},
    }


@pytest.mark.parametrize(
    ("project", "local", "user", "policy", "holds", "layer"),
    [
        ({"enabled": False}, {}, {"enabled": True}, {}, {"enabled": False}, "project"),
        ({}, {"capture": False}, {"enabled": True, "capture": True}, {}, {"enabled": True, "capture": False}, "local"),
        ({"enabled": False}, {"enabled": True}, {"enabled": True}, {}, {"enabled": True}, "local"),
        ({"enabled": True}, {}, {"enabled": False}, {}, {"enabled": False}, "user"),
        ({"share": False, "budget": 9}, {}, {"share": True, "budget": 1}, {}, {"share": False, "budget": 1}, "project"),
        ({"enabled": False}, {}, {"enabled": True}, {"enabled": True}, {"enabled": True}, "policy"),
    ],
)
def test_a_projects_no_to_memory_holds_and_is_shown_as_its_own(project, local, user, policy, holds, layer):
    layers = {"project": project, "local": local, "user": user, "policy": policy}
    said = [value(name, {"remember": options}, "pack") for name, options in layers.items() if options]
    found = next(each for each in effective_values(said) if each.name == "pack")
    assert (found.value, found.layer) == ({"remember": holds}, layer)
