"""The command `snell code`: give a one-time code for a command that was refused where it ran."""

import argparse
import os
import sys

from snell.cli.confirmation import confirm
from snell.cli.person.caller import Caller, caller_of
from snell.cli.person.check import state_folder
from snell.cli.person.codes import LIFE, issue, last_refusal
from snell.cli.terminal import escape
from snell.model.errors import TrustError


def run(_: argparse.Namespace) -> int:
    if caller_of(os.getpid(), os.environ) is not Caller.PERSON or not sys.stdin.isatty():
        message = "a code is given only to a person at a terminal that no agent can use"
        raise TrustError(message, advice="run it in your own terminal, outside of an editor and of tmux")
    state = state_folder(os.environ)
    request = last_refusal(state)
    if request:
        print(f"refused last, in {escape(request.folder)}:\n\n    {escape(request.command)}\n")
        if request.subject:
            print("\n".join(f"    {escape(line)}" for line in request.subject.splitlines()) + "\n")
        if not confirm("Give a code for exactly this?"):
            print("no code was given")
            return 1
    code = issue(state, request)
    what = "exactly that command" if request else "the next command that needs a person"
    print(f"{code}\nIt is for {what}, works once and for {LIFE / 60:.0f} minutes: add `--code {code}`.")
    return 0
