"""
The manifest (tests/behaviours/*.toml) and the tests agree, both ways.

Test files are parsed, not imported, so this costs milliseconds and sees tests that a filter would leave out.
"""

import ast
import re
import tomllib
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

from scripts.entry_points import ENTRY_POINTS, entry_points_of

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS_PER_SEED = {"S0": 73, "S1": 166, "S2": 149, "S3": 91, "S4": 126}
KEYS = {"id", "says", "source", "capability", "tests", "deferred", "divergence", "option", "no_option"}
MOST_WITHOUT_OPTION = 15
CAPABILITY_KEYS = {"name", "says", "enters", "tests"}
MOST_AWAY = {"S0": 0, "S1": 2}  # rows of a document with no proof where users enter
FATES = ({"tests"}, {"deferred"}, {"divergence"}, {"divergence", "tests"})

# One of each kind, among them those that only look as if they entered.
KNOWN_ENTRIES = {
    "tests/process/test_seeds_profile.py::test_the_project_commands_document": {"snell-hook"},
    "tests/process/test_remote_calls.py::test_a_first_line_need_not_be_json_either": {"snell-hook", "socket"},
    "tests/process/test_remote_calls.py::test_calls_sent_at_once_are_answered_in_their_order": {},
    "tests/process/test_command_hooks.py::test_a_command_line_is_run_by_the_shell": {},
}


def test_the_manifest_lists_every_requirement_once():
    listed = Counter(row.get("id", "a row without id") for row in rows())
    expected = {f"{seed}-{n:02}" for seed, count in REQUIREMENTS_PER_SEED.items() for n in range(1, count + 1)}
    assert {
        "missing": sorted(expected - listed.keys()),
        "unknown": sorted(listed.keys() - expected),
        "repeated": sorted(id_ for id_, times in listed.items() if times > 1),
    } == {"missing": [], "unknown": [], "repeated": []}


def test_every_row_says_what_where_from_and_one_fate():
    complaints = {row.get("id", str(row)): complaint for row in rows() if (complaint := fault_in(row))}
    assert complaints == {}


def test_every_option_that_a_divergence_names_exists():
    files = ("reference/settings.md", "reference/packs.md", "howto/embed.md")
    pages = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in files)
    named = {row["id"]: re.sub(r"^\[.*\] |^\w+\(|[ =].*", "", row["option"]) for row in rows() if "option" in row}
    shown = {id_: re.search(rf"`{name}`|^{name} = |\b{name}=", pages, re.MULTILINE) for id_, name in named.items()}
    assert {id_: named[id_] for id_, found in shown.items() if not named[id_] or not found} == {}


def test_the_profile_seeds_sets_every_value_that_a_divergence_names():
    profile = tomllib.loads((ROOT / "src/snell/settings/profiles/seeds.toml").read_text(encoding="utf-8"))
    named = {row["id"]: row["option"] for row in rows() if re.search(r" = ", row.get("option", ""))}
    values = {id_: tomllib.loads(option.replace("] ", "]\n")) for id_, option in named.items()}
    of_one_hook = {"role": "watches"}  # no document says it of all hooks
    everywhere = {**profile, **profile["hook_defaults"]}
    wrong = {id_: value for id_, value in values.items() if value != of_one_hook and not is_part(value, everywhere)}
    assert wrong == {}


def is_part(value: object, whole: object) -> bool:
    if isinstance(value, dict) and isinstance(whole, dict):
        return all(key in whole and is_part(each, whole[key]) for key, each in value.items())
    return value == whole


def test_few_divergences_are_without_an_option():
    """Of each of the others a user can have the document's behaviour."""
    assert sum("no_option" in row for row in rows()) <= MOST_WITHOUT_OPTION


def test_every_row_names_a_capability_of_its_file_and_every_capability_has_a_row():
    complaints = []
    for name, data in files().items():
        known = Counter(each.get("name") for each in data.get("capability", []))
        named = {row["id"]: row.get("capability") for row in data.get("behaviour", [])}
        complaints += [f"{name}: `{each}` is there {times} times" for each, times in known.items() if times > 1]
        complaints += [f"{name}: no row names the capability `{each}`" for each in known.keys() - set(named.values())]
        complaints += [
            f"{id_} names the capability `{each}`, which {name} does not have"
            for id_, each in named.items()
            if each not in known
        ]
    assert complaints == []


def test_every_capability_has_a_story_from_each_place_where_it_says_users_enter():
    """What a test enters by is found from what it calls, so that no label can be wrong."""
    capabilities = [each for data in files().values() for each in data.get("capability", [])]
    assert {each.get("name", str(each)): why for each in capabilities if (why := fault_in_capability(each))} == {}


def test_nearly_every_row_is_proven_where_users_enter():
    away = Counter(row["id"].split("-")[0] for row in rows() if not any(map(entry_points_of, row.get("tests", []))))
    assert {seed: away[seed] for seed, most in MOST_AWAY.items() if away[seed] > most} == {}


def test_where_a_test_enters_is_found_from_what_it_calls():
    found = {test: entry_points_of(test) for test in KNOWN_ENTRIES}
    assert found == {test: frozenset(points) for test, points in KNOWN_ENTRIES.items()}


def test_every_test_a_row_names_exists_and_claims_that_row():
    claims = claims_by_test()
    complaints = [
        f"{row['id']} names {test}, which " + ("does not claim it" if test in claims else "does not exist")
        for row in rows()
        for test in row.get("tests", [])
        if row["id"] not in claims.get(test, ())
    ]
    assert complaints == []


def test_every_claim_of_a_test_is_in_the_manifest():
    named = defaultdict(set)
    for row in rows():
        named[row["id"]].update(row.get("tests", []))
    complaints = [
        f"{test} claims {id_}, whose row does not name it"
        for test, ids in claims_by_test().items()
        for id_ in ids
        if test not in named[id_]
    ]
    assert complaints == []


def test_claims_are_decorators_with_plain_strings():
    """Anything else (a variable, a mark on a module or a parameter) is invisible to the checks above."""
    complaints = []
    for path in files_with_tests():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        written = sum(isinstance(node, ast.Attribute) and node.attr == "proves" for node in ast.walk(tree))
        read = sum(is_claim(mark) for test in functions_that_test(tree) for mark in test.decorator_list)
        if written != read:
            complaints.append(f"{path.relative_to(ROOT).as_posix()} has {written} marks, {read} of them readable")
    assert complaints == []


def fault_in(row: dict[str, object]) -> str:
    if unknown := row.keys() - KEYS:
        return f"unknown keys {sorted(unknown)}"
    if missing := [key for key in ("id", "says", "source") if not text(row.get(key))]:
        return f"needs {missing}"
    if (row.keys() & {"tests", "deferred", "divergence"}) not in FATES:
        return "needs one of tests, deferred or divergence (a divergence may have tests too)"
    if "tests" in row and not (isinstance(row["tests"], list) and row["tests"] and all(map(text, row["tests"]))):
        return "tests must be a list of `tests/...py::name`"
    if not all(text(row[key]) for key in ("deferred", "divergence") if key in row):
        return "deferred and divergence must say why"
    if ("divergence" in row) is not (len(row.keys() & {"option", "no_option"}) == 1):
        return "a divergence names the option that gives the document's behaviour, or says why there is none"
    return ""


def fault_in_capability(capability: dict[str, object]) -> str:
    if capability.keys() != CAPABILITY_KEYS:
        return f"needs exactly the keys {sorted(CAPABILITY_KEYS)}"
    if not all(text(capability[key]) for key in ("name", "says")):
        return "name and says must be text"
    enters = capability["enters"] if isinstance(capability["enters"], list) else [capability["enters"]]
    if not enters or not set(enters) <= set(ENTRY_POINTS):
        return f"enters must be some of {ENTRY_POINTS}"
    if not (isinstance(capability["tests"], list) and capability["tests"]):
        return "tests must be a list of stories"
    entered = {test: entry_points_of(test) for test in capability["tests"]}
    if strange := [test for test, points in entered.items() if not points & set(enters)]:
        return f"{strange[0]} enters by {sorted(entered[strange[0]]) or 'none of the entry points'}, not by {enters}"
    if missing := set(enters) - set().union(*entered.values()):
        return f"no story enters by {sorted(missing)}"
    return ""


def rows() -> list[dict]:
    return [row for data in files().values() for row in data.get("behaviour", [])]


@cache
def files() -> dict[str, dict]:
    """The manifest's files by name."""
    paths = sorted((ROOT / "tests" / "behaviours").glob("*.toml"))
    return {path.name: tomllib.loads(path.read_text(encoding="utf-8")) for path in paths}


@cache
def claims_by_test() -> dict[str, set[str]]:
    """Every test function by its id, with the requirements it claims (usually none)."""
    return {
        f"{path.relative_to(ROOT).as_posix()}::{test.name}": {
            argument.value for mark in test.decorator_list if is_claim(mark) for argument in mark.args
        }
        for path in files_with_tests()
        for test in functions_that_test(ast.parse(path.read_text(encoding="utf-8")))
    }


@cache
def files_with_tests() -> list[Path]:
    return sorted((ROOT / "tests").rglob("test_*.py"))


def functions_that_test(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [function for function in functions if function.name.startswith("test_")]


def is_claim(mark: ast.expr) -> bool:
    return (
        isinstance(mark, ast.Call)
        and isinstance(mark.func, ast.Attribute)
        and mark.func.attr == "proves"
        and bool(mark.args)
        and not mark.keywords
        and all(isinstance(argument, ast.Constant) and text(argument.value) for argument in mark.args)
    )


def text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
