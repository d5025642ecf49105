import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snell.sdk.wildcards import path_matches, text_matches


@pytest.mark.parametrize(
    ("pattern", "text", "answer"),
    [
        ("a", "a", True),
        ("a", "ab", False),
        ("a*", "a", True),
        ("a*", "abc", True),
        ("*c", "abc", True),
        ("a*c", "abbc", True),
        ("a*c", "abcd", False),
        ("*b*", "abc", True),
        ("a*a", "a", False),
        ("*", "", True),
        ("a**b", "axb", True),
        (r"a\*", "a*", True),
        (r"a\*", "ab", False),
        (r"a\\*", "a\\b", True),
        ("a?c", "abc", False),
        ("[a]", "[a]", True),
    ],
)
def test_a_star_is_any_run_of_characters(pattern, text, answer):
    assert text_matches(pattern, text) is answer


@pytest.mark.parametrize(
    ("pattern", "path", "answer"),
    [
        ("src/**", "/repo/src/a.py", True),
        ("src/**", "/repo/src/deep/a.py", True),
        ("src/**", "src/a.py", True),
        ("src/**", "/other/src/a.py", False),
        ("src/**", "/repo/lib/src/a.py", False),
        ("src/*", "/repo/src/a.py", True),
        ("src/*", "/repo/src/deep/a.py", False),
        ("src/**/a.py", "/repo/src/a.py", True),
        ("src/**/a.py", "/repo/src/x/y/a.py", True),
        ("./src/a.py", "/repo/src/a.py", True),
        ("/src/a.py", "/repo/src/a.py", True),
        ("/src/a.py", "/src/a.py", False),
        ("../other/*", "/other/a", True),
        ("*.env", "/repo/x/.env", True),
        ("*.env", "/elsewhere/prod.env", True),
        (".env", "/repo/x/.env", True),
        (".env", "/repo/x/.env.local", False),
        (".env*", "/repo/x/.env.local", True),
        ("docs", "/repo/docs/a/b.md", True),
        ("docs/", "/repo/docs/a.md", True),
        ("a?.py", "/repo/ab.py", True),
        ("a?.py", "/repo/a.py", False),
        ("//etc/**", "/etc/ssh/x", True),
        ("//etc/**", "/repo/etc/x", False),
        ("~/.ssh/**", "/home/me/.ssh/id", True),
        ("~/.ssh/**", "~/.ssh/id", True),
        ("~/.ssh/**", "/repo/.ssh/id", False),
        ("src/**", "/repo/lib/../src/a.py", True),
        ("src/**", "/repo/src/../secret", False),
        ("**", "/anything", True),
    ],
)
def test_path_patterns_start_where_they_say(pattern, path, answer):
    assert path_matches(pattern, path, cwd="/repo", home="/home/me") is answer


@pytest.mark.parametrize(
    ("pattern", "path", "answer"),
    [
        ("src/**", "/anywhere/src/a.py", True),
        ("src/**", "/anywhere/lib/a.py", False),
        ("~/.ssh/*", "/home/you/.ssh/id", True),
        ("../x/a", "/y/x/a", True),
    ],
)
def test_where_the_working_folder_is_not_known_a_pattern_may_start_anywhere(pattern, path, answer):
    assert path_matches(pattern, path) is answer


def test_windows_paths_are_compared_by_their_parts():
    assert path_matches("src/**", "C:\\repo\\src\\a.py", cwd="C:\\repo")


@settings(deadline=None)
@given(st.text("ab*?/.", max_size=60), st.text("ab/.", max_size=60))
def test_no_pattern_breaks_the_matcher(pattern, text):
    assert text_matches(pattern, text) in (True, False)
    assert path_matches(pattern, text, cwd="/a", home="/b") in (True, False)


@settings(deadline=None)
@given(st.lists(st.text("abc ", min_size=1), max_size=5))
def test_a_text_is_matched_by_itself_with_any_parts_left_out(parts):
    assert text_matches("*".join(["", *parts, ""]), "x".join(parts))
