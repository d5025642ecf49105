"""What counts most decides, wherever in the line it stands; and what is a project."""

from itertools import permutations

import pytest

from snell.packs.guard.judge import judge

LINES = [
    ("rm -rf", ("$D", "/", "build"), "deny"),
    ("rm -rf", ("$(find . -name '*.x')", "~", "dist"), "deny"),
    ("rm -r", ("src", "/etc", "$X"), "deny"),
    ("grep x", (".env", "~/.ssh/id_rsa"), "deny"),
    ("truncate -s 0", ("~/notes.txt", "/etc/passwd"), "deny"),
    ("find", ("/tmp/x", "/", "build"), "deny"),
    ("rm -rf", ("$D", "build"), "ask"),
    ("rm -rf", ("build", "dist"), "allow"),
]


@pytest.mark.parametrize(("program", "operands", "verdict"), LINES)
def test_the_order_of_operands_does_not_matter(program: str, operands: tuple[str, ...], verdict: str):
    ending = " -name '*.x' -delete" if program == "find" else ""
    for order in permutations(operands):
        found = judge(f"{program} {' '.join(order)}{ending}", "/home/dev/p", "/home/dev", "/home/dev/p")
        assert (order, found.verdict) == (order, verdict)
        assert not found.findings or found.findings[0].verdict == verdict


def test_what_there_is_no_room_for_is_not_what_counts():
    many = " ".join(f"$D{number}" for number in range(40))
    found = judge(f"rm -rf {many} /", "/home/dev/p", "/home/dev", "/home/dev/p")
    assert (found.verdict, found.findings[0].why) == ("deny", "it deletes the whole disk: `/`")


@pytest.mark.parametrize("cwd", ["/", "/home"])
def test_a_folder_that_takes_in_the_home_is_no_project(cwd: str):
    denied = ("rm -rf ~", "rm -rf /etc", "rm -rf /usr/lib", "rm -rf /home", "rm -rf ~/Documents", "rm -rf ~/work")
    fine = ("rm -rf build dist", "rm -rf node_modules && npm ci", "rm -rf .venv", "rm -rf /tmp/x", "rm notes.txt")
    told = {line: judge(line, cwd, "/home/dev").verdict for line in (*denied, *fine)}
    assert told == {**dict.fromkeys(denied, "deny"), **dict.fromkeys(fine, "allow")}


def test_who_works_right_in_the_home_keeps_what_every_home_has():
    denied = ("rm -rf ~", "rm -rf ~/Documents", "rm -rf Downloads", "rm -rf ~/.config", "rm -rf .ssh", "rm -rf bin")
    fine = ("rm -rf build", "rm -rf x", "rm -rf out/x", "rm -rf .venv")
    told = {line: judge(line, "/home/dev", "/home/dev").verdict for line in (*denied, *fine)}
    assert told == {**dict.fromkeys(denied, "deny"), **dict.fromkeys(fine, "allow")}
