from hypothesis import given
from hypothesis import strategies as st

from snell.system.child_environment import dropped_rows, environment, is_dropped

NAMES = [name for row in dropped_rows() for name in row["names"]]


def test_variables_that_run_foreign_code_are_dropped_and_the_rest_is_kept() -> None:
    parent = {
        "PATH": "/bin",
        "HOME": "/home/me",
        "PYTHONUTF8": "1",
        "GIT_AUTHOR_NAME": "me",
        "ENVIRONMENT": "test",
        "LD_PRELOAD": "/tmp/evil.so",
        "DYLD_INSERT_LIBRARIES": "/tmp/evil.dylib",
        "PYTHONPATH": ".",
        "NODE_OPTIONS": "--require ./evil.js",
        "BASH_ENV": "./evil.sh",
        "ENV": "./evil.sh",
        "BASH_FUNC_ls%%": "() { evil; }",
        "PERL5OPT": "-Mevil",
        "RUBYOPT": "-revil",
        "GIT_EXTERNAL_DIFF": "evil",
        "GIT_CONFIG_KEY_0": "core.pager",
    }
    assert environment(parent, {}) == {
        "PATH": "/bin",
        "HOME": "/home/me",
        "PYTHONUTF8": "1",
        "GIT_AUTHOR_NAME": "me",
        "ENVIRONMENT": "test",
    }


def test_what_is_given_explicitly_is_added_whatever_its_name() -> None:
    assert environment({"A": "1", "PYTHONPATH": "bad"}, {"A": "2", "PYTHONPATH": "good"}) == {
        "A": "2",
        "PYTHONPATH": "good",
    }


def test_the_parent_is_not_changed() -> None:
    parent = {"LD_PRELOAD": "x"}
    environment(parent, {"A": "1"})
    assert parent == {"LD_PRELOAD": "x"}


def test_every_row_of_the_table_counts_and_has_a_reason() -> None:
    assert [name for name in NAMES if not is_dropped(name.replace("*", "ANYTHING"))] == []
    assert [row["names"] for row in dropped_rows() if not row["reason"]] == []
    assert len(NAMES) == len(set(NAMES))


@given(st.dictionaries(st.text(), st.text()), st.dictionaries(st.text(), st.text()))
def test_nothing_is_left_of_the_parent_but_what_is_allowed(parent: dict[str, str], extra: dict[str, str]) -> None:
    result = environment(parent, extra)
    assert {name: result[name] for name in extra} == extra
    assert [name for name in result if name not in extra and (is_dropped(name) or name not in parent)] == []
