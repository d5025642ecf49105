"""
Commands that stand inside another program's words: `flock lock git push`, `su -c 'git push'`, `npx wrangler deploy`.

Not for knowing what a line does, only for suspecting that something is sent: a program that is not known here may run
whatever stands behind it.
"""

from collections.abc import Iterator
from functools import lru_cache

from snell.model.tool_names import name_set
from snell.shell.command_line import Command
from snell.shell.programs import program_row
from snell.shell.wrappers import program_of
from snell.system.lazy_regex import lazy_regex

MOST_STARTS = 24  # words behind a program that are tried as the beginning of a command

_SHELLS = name_set("sh bash zsh dash ksh mksh ash fish pwsh powershell nu")
# Of git these alone run something.
_GIT = name_set("submodule bisect rebase annex worktree subrepo")
_INTERPRETERS = name_set("python python2 python3 pypy pypy3 node nodejs deno bun ruby perl php lua osascript")
# Code that sends: a request with a method that changes something, mail, or a program that does.
_CODE = lazy_regex(
    r"\b(?:requests|httpx|axios|session|client|http|got|ky|superagent|needle)\s*\.\s*(?:post|put|patch|delete)\s*\("
    r"|smtplib|sendmail|nodemailer|Net::SMTP|Net::HTTP::(?:Post|Put|Patch|Delete)|\bmail\s*\("
    r"|method\s*[:=]>?\s*['\"](?:POST|PUT|PATCH|DELETE)['\"]|urlopen\s*\([^)]*data\s*=|post_form\s*\("
    r"|file_get_contents\s*\([^)]*POST|paramiko|boto3|ftplib|telnetlib|git['\", ]+push",
    2,  # in any case
)


@lru_cache(maxsize=1024)
def carries_commands(program: str) -> bool:
    """Tell whether a program is there to run others; what it is given in one word is a line of its own."""
    row = program_row(program)
    return bool(row.wraps or row.lines or row.code or row.carries)


def may_have_nested_commands(command: Command) -> bool:
    """Return whether words may be commands; most words of git are names, so only some of its commands count."""
    return command.program != "git" or not _GIT.isdisjoint(command.words[1:])


def lines_in(command: Command) -> Iterator[str]:
    """Yield the words that the program, or one behind it, reads as a line of its own."""
    program, words = command.program, command.words
    if carries_commands(program) or (program == "git" and not _GIT.isdisjoint(words[1:])):
        yield from [word for word in words[1:] if word and word.split() != [word]]
    for at, word in enumerate(words[1:-2], 1):
        if program_of(word) in _SHELLS and words[at + 1].startswith("-") and words[at + 1].endswith("c"):
            yield words[at + 2]


def is_code_that_sends(command: Command) -> bool:
    """Return whether the code of `python -c`, `node -e` and the like has words that usually send."""
    program = command.program.rstrip("0123456789.") or command.program
    known = command.program in _INTERPRETERS or program in _INTERPRETERS
    return known and any(_CODE.search(word[:20_000]) for word in command.arguments)
