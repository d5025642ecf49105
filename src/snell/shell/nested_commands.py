"""
Commands that stand inside another program's words: `flock lock git push`, `su -c 'git push'`, `npx wrangler deploy`.

Not for knowing what a line does, only for suspecting that something is sent: a program that is not known here may run
whatever stands behind it.
"""

from collections.abc import Iterator, Sequence

from snell.shell.command_line import Command
from snell.shell.wrappers import program_of
from snell.system.lazy_regex import lazy_regex

MOST_STARTS = 24  # words behind a program that are tried as the beginning of a command


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Programs that are there to run others; what they are given in one word is a line of its own.
CARRIERS = _names(
    "su runuser script watch parallel flock hyperfine concurrently entr watchexec nodemon tmux screen xvfb-run chroot "
    "unshare nsenter systemd-run taskset chrt setarch strace ltrace gdb valgrind faketime caffeinate proxychains "
    "proxychains4 torsocks firejail bwrap npx bunx uvx pipx pnpm yarn bun npm uv poetry pipenv pdm hatch rye pixi "
    "conda "
    "mamba bundle direnv mise asdf rtx devbox nix nix-shell nix-develop guix docker podman nerdctl docker-compose "
    "kubectl vagrant lxc toolbox distrobox dotenv dotenvx op doppler infisical aws-vault chamber sops teller envconsul "
    "repo lerna nx turbo rush retry unbuffer expect at batch dbus-run-session ssh-agent gpg-agent busybox "
    "toybox sem run-parts coproc eatmydata fakeroot pkexec gosu su-exec tini dumb-init sg newgrp setpriv capsh"
)
_SHELLS = _names("sh bash zsh dash ksh mksh ash fish pwsh powershell nu")
# Of git these alone run something.
_GIT = _names("submodule bisect rebase annex worktree subrepo")
_INTERPRETERS = _names("python python2 python3 pypy pypy3 node nodejs deno bun ruby perl php lua osascript")
# Code that sends: a request with a method that changes something, mail, or a program that does.
_CODE = lazy_regex(
    r"\b(?:requests|httpx|axios|session|client|http|got|ky|superagent|needle)\s*\.\s*(?:post|put|patch|delete)\s*\("
    r"|smtplib|sendmail|nodemailer|Net::SMTP|Net::HTTP::(?:Post|Put|Patch|Delete)|\bmail\s*\("
    r"|method\s*[:=]>?\s*['\"](?:POST|PUT|PATCH|DELETE)['\"]|urlopen\s*\([^)]*data\s*=|post_form\s*\("
    r"|file_get_contents\s*\([^)]*POST|paramiko|boto3|ftplib|telnetlib|git['\", ]+push",
    2,  # in any case
)


def may_have_nested_commands(command: Command) -> bool:
    """Most of what git is given are names."""
    return command.program != "git" or bool(_GIT & set(command.arguments))


def nested_commands(command: Command) -> Iterator[Sequence[str]]:
    """Words that may be a command which this one runs, each with all that follows."""
    words = command.words
    for at in range(1, min(len(words), MOST_STARTS)):
        yield words[at:]


def lines_in(command: Command) -> Iterator[str]:
    """Texts in one word that the program, or one behind it, reads as a line of its own."""
    words = command.words
    if command.program in CARRIERS or (command.program == "git" and _GIT & set(words[1:])):
        yield from (word for word in words[1:] if any(char.isspace() for char in word))
    for at, word in enumerate(words[1:-2], 1):
        if program_of(word) in _SHELLS and words[at + 1].startswith("-") and words[at + 1].endswith("c"):
            yield words[at + 2]


def is_code_that_sends(command: Command) -> bool:
    """`python -c`, `node -e`: by what usually stands in such code."""
    program = command.program.rstrip("0123456789.") or command.program
    known = command.program in _INTERPRETERS or program in _INTERPRETERS
    return known and any(_CODE.search(word[:20_000]) for word in command.arguments)
