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

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS_PER_SEED = {"S0": 73, "S1": 166, "S2": 149, "S3": 91, "S4": 126}
KEYS = {"id", "says", "source", "tests", "deferred", "divergence", "option", "no_option"}
MOST_WITHOUT_OPTION = 15
FATES = ({"tests"}, {"deferred"}, {"divergence"}, {"divergence", "tests"})


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


@cache
def rows() -> list[dict]:
    files = sorted((ROOT / "tests" / "behaviours").glob("*.toml"))
    return [row for path in files for row in tomllib.loads(path.read_text(encoding="utf-8")).get("behaviour", [])]


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
