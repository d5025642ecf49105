"""The guard's shortcut for patterns finds what the standard library finds."""

import fnmatch
import itertools

from snell.packs.guard.sensitive_files import matches


def test_a_pattern_matches_the_same_names_as_in_the_standard_library() -> None:
    patterns = ["".join(each) for length in range(5) for each in itertools.product("ab*?[]!", repeat=length)]
    names = ["", "a", "b", "ab", "ba", "aab", "a]", "[a", "a!b", "!a"]
    wrong = [(a, b) for a in names for b in patterns if matches(a, b) != fnmatch.fnmatchcase(a, b)]
    assert wrong == []
