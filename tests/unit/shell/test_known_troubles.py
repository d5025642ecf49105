"""Spellings that mislead readers of shell lines, judged and listed where users meet them."""

import time

import pytest

from snell.cli.checks.command import check_row
from snell.sdk.subjects import ShellCall

# The kind of trouble, a line in which it hides `rm -rf /`, and whether the reader is sure that it listed all.
HIDDEN = [
    ("an escaped line break in the command word", "r\\\nm -rf /", True),
    ("an escaped line break in an argument", "rm -r\\\nf /", True),
    ("an escaped line break in a quoted word", '"r\\\nm" -rf /', True),
    ("an escaped line break before the name of an assignment ends", "a\\\nb=1 rm -rf /", True),
    ("backticks inside backticks", "echo `echo \\`rm -rf /\\``", True),
    ("backticks three deep", "echo `echo \\`echo \\\\\\`rm -rf /\\\\\\`\\``", True),
    ("backticks in a here-document", "cat <<E\n`rm -rf /`\nE", True),
    ("escaped backticks in the backticks of a here-document", "cat <<E\n`echo \\`rm -rf /\\``\nE", True),
    ("a coprocess", "coproc rm -rf /", True),
    ("a coprocess with a name", "coproc NAME { rm -rf /; }", True),
    ("the keyword `time`", "time rm -rf /", True),
    ("the keyword `time` with its option", "time -p rm -rf /", True),
    ("the keyword `time` before a group", "time { rm -rf /; }", True),
    ("the program `time`", "/usr/bin/time -v rm -rf /", True),
    ("a substitution in `let`", 'let "x=$(rm -rf /)"', True),
    ("a command after `let`", "let x=1; rm -rf /", True),
    ("a command after `let`, without a blank", "let x=1&&rm -rf /", True),
    ("Windows line ends", "cd x\r\nrm -rf /\r\n", False),
    ("a carriage return at the end", "rm -rf /\r", False),
    ("a here-document whose end is partly quoted", 'sh <<E"O"F\nrm -rf /\nEOF', True),
    ("a command after such a here-document", "cat <<'E'OF\ntext\nEOF\nrm -rf /", True),
    ("a here-document whose end line is joined to another", "cat <<E\nx \\\nE\nE\nrm -rf /", True),
    ("a substitution in arithmetic", "(( x = $(rm -rf /) ))", False),
    ("a substitution in the head of a loop", "for ((i=$(rm -rf /); i<3; i++)); do ls; done", True),
    ("a substitution in a pattern of `case`", "case x in $(rm -rf /)) ;; esac", True),
    ("a substitution in a subscript", 'echo "${a[$(rm -rf /)]}"', True),
    ("a substitution in the subscript of an assignment", "a[$(rm -rf /)]=1", False),
    ("subshells that look like arithmetic", "((ls); rm -rf /)", False),
    ("an apostrophe in the default of a quoted variable", """echo "${x:-it's}"; rm -rf /""", False),
    ("a keyword that is out of place in backticks", "echo `done; rm -rf /`", False),
]
# The kind of trouble, and a line in which that text is data.
DATA = [
    ("a here-document whose end is partly quoted", 'cat <<E"O"F\n$(rm -rf /) `rm -rf /`\nEOF'),
    ("a here-document whose end is escaped", "cat <<\\E\n`rm -rf /`\nE"),
    ("escaped backticks", "echo \\`rm -rf /\\`"),
    ("escaped backticks between quotes", 'echo "\\`rm -rf /\\`"'),
    ("a comment after `time`", "time # rm -rf /"),
    ("an escaped line break before a comment sign", "echo a\\\n#b"),
]


@pytest.mark.parametrize(("line", "is_sure"), [row[1:] for row in HIDDEN], ids=[row[0] for row in HIDDEN])
def test_a_command_in_a_misleading_spelling_is_judged_and_listed(line, is_sure):
    call = ShellCall(tool="Bash", kind="shell", input={}, command=line)
    verdict = check_row({"command": line, "cwd": "/w", "home": "/h"})["verdict"]
    assert (verdict, call.runs("rm", "-rf", "/"), call.line.understood) == ("deny", True, is_sure)


@pytest.mark.parametrize("line", [row[1] for row in DATA], ids=[row[0] for row in DATA])
def test_text_that_only_looks_like_a_command_is_data(line):
    call = ShellCall(tool="Bash", kind="shell", input={}, command=line)
    verdict = check_row({"command": line, "cwd": "/w", "home": "/h"})["verdict"]
    assert (verdict, call.runs("rm"), call.line.understood) == ("allow", False, True)


def test_an_expansion_that_a_line_break_splits_is_asked_about():
    line = 'echo "$\\\n(rm -rf /)"'
    call = ShellCall(tool="Bash", kind="shell", input={}, command=line)
    assert (check_row({"command": line, "cwd": "/w", "home": "/h"})["verdict"], call.line.understood) == ("ask", False)


def test_a_long_row_of_unset_variables_is_judged_in_good_time():
    before = time.process_time()
    assert check_row({"command": "$x" * 60_000, "cwd": "/w", "home": "/h"})["verdict"] in ("allow", "ask")
    assert time.process_time() - before < 10


@pytest.mark.parametrize(
    "line",
    [
        "echo " + "a" * 200_000 + "$x; rm -rf /",
        "cmd /c '" + "&&".join(f"set a{n}=%a{n + 1}%%a{n + 1}%" for n in range(30)) + "&& %a0% & rd /s /q C:\\'",
        "cmd /c 'set a=" + " " * 100_000 + "x & rd /s /q C:\\'",
        "python3 -c " * 5_000 + "; rm -rf /",
    ],
    ids=[
        "a long word before a variable",
        "variables that double each other",
        "many blanks in a variable",
        "many codes",
    ],
)
def test_what_follows_a_line_that_could_take_long_does_not_pass(line):
    before = time.process_time()
    assert check_row({"command": line, "cwd": "/w", "home": "/h"})["verdict"] in ("ask", "deny")
    assert time.process_time() - before < 10


@pytest.mark.parametrize("code", ["065", "9" * 5_000, "0xD800"], ids=["leading zeros", "too large", "half of a pair"])
def test_powershell_that_spells_a_program_in_odd_numbers_is_judged(code):
    line = f"pwsh -Command '& ([char]{code}); Remove-Item -Recurse -Force C:/'"
    assert check_row({"command": line, "cwd": "/w", "home": "/h"})["verdict"] == "deny"
