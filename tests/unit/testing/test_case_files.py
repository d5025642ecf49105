"""Which case files a path stands for, and what each of them tests."""

import pytest

from snell import Runtime
from snell.testing import Case, CaseError, CaseEvent, run_case
from snell.testing.case_files import case_files, subject_of


@pytest.fixture
def tree(tmp_path):
    """Makes empty files."""

    def tree(*names):
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("", encoding="utf-8")
        return tmp_path

    return tree


def test_a_folder_stands_for_all_case_files_below_it_but_not_for_other_peoples(tree):
    root = tree(
        "b.cases.toml",
        ".snell/hooks/a.cases.toml",
        "pack/c.cases.toml",
        ".git/d.cases.toml",
        "node_modules/e.cases.toml",
        "pack/c.py",
    )
    assert case_files(root) == [
        root / "b.cases.toml",
        root / ".snell/hooks/a.cases.toml",
        root / "pack/c.cases.toml",
    ]


@pytest.mark.parametrize("name", ["x.py", "snell.toml", "snell.json", "snell.local.toml"])
def test_a_file_stands_for_the_cases_beside_it_and_they_for_it(tree, name):
    cases = f"{name.rpartition('.')[0]}.cases.toml"
    root = tree(name, cases)
    assert (case_files(root / name), subject_of(root / cases)) == ([root / cases], root / name)


def test_in_a_pack_a_case_file_with_a_name_of_its_own_tests_the_whole_pack(tree):
    root = tree("pack.toml", "a.py", "a.cases.toml", "pack.cases.toml", "together.cases.toml")
    assert case_files(root / "pack.toml") == [
        root / "a.cases.toml",
        root / "pack.cases.toml",
        root / "together.cases.toml",
    ]
    assert [subject_of(file) for file in case_files(root)] == [root / "a.py", root, root]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.py", "`{}` does not exist; name a case file, a hook, a settings file or a folder"),
        ("a.py", "`{}` has no cases; write them next to it, in `a.cases.toml`"),
        ("a.txt", "`{}` has no cases; hooks are in .py, .toml or .json files, cases in *.cases.toml"),
    ],
)
def test_a_path_that_stands_for_no_cases_is_explained(tree, name, message):
    path = tree("a.py", "a.txt") / name
    with pytest.raises(CaseError) as caught:
        case_files(path)
    assert str(caught.value) == message.format(path)


def test_cases_of_nothing_are_explained_with_the_nearest_hook(tree):
    file = tree("no_push.py", "no_psh.cases.toml") / "no_psh.cases.toml"
    with pytest.raises(CaseError) as caught:
        subject_of(file)
    assert str(caught.value) == f"{file}: no `no_psh.py` was found next to it; did you mean `no_push`?"


def test_files_that_exclude_each_other_are_explained():
    case = Case(name="x", event=CaseEvent("Stop", {}), files={"a": "", "a/b": ""}, file="x.cases.toml", line=3)
    with pytest.raises(CaseError) as caught:
        run_case(case, Runtime.embed())
    assert str(caught.value) == "x.cases.toml:3: `a/b` of the case's files cannot be written: File exists; rename it"
