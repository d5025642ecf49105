"""Let a command run that loosens protection only if a person runs it, or gave a code for it."""

import os
import shlex
import sys
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

from snell.cli.person.caller import Caller, caller_of
from snell.cli.person.challenge import passes_challenge
from snell.cli.person.codes import Request, accept, remember_refusal
from snell.cli.person.machine_policy import policy_allows
from snell.model.errors import TrustError
from snell.system.paths import HomeInProjectError, places, working_folder

ADVICE = "run it in your own terminal, or run `snell code` there and add its code with --code"


def check_person(
    env: Mapping[str, str], what: str, code: str, subject: str, policy: Mapping[str, Collection[object]]
) -> None:
    """Raise TrustError unless a person runs this command or gave a code; one proof lasts until the command ends."""
    if code in _proofs() or policy_allows(policy):
        return
    caller = caller_of(os.getpid(), env)
    request = Request(shlex.join(_words()), working_folder(), subject)
    if caller is not Caller.PERSON:
        if code:
            _accept(env, what, code, request)
        elif caller is not Caller.EDITOR or not passes_challenge(what):
            remember_refusal(state_folder(env), request)
            raise TrustError(f"{what} needs a person{_WHY[caller]}", advice=ADVICE)
    _proofs().append(code)


_WHY = {
    Caller.AGENT: ", but this shell belongs to an agent",
    Caller.UNKNOWN: " at a terminal, and this is not known to be one",
    Caller.EDITOR: ", and the letters were not typed",
}


def _accept(env: Mapping[str, str], what: str, code: str, request: Request) -> None:
    if not accept(state_folder(env), code, request):
        remember_refusal(state_folder(env), request)
        message = f"{what} needs a person, and this code is wrong, used, too old or for something else"
        raise TrustError(message, advice=ADVICE)


@cache
def _proofs() -> list[str]:
    """Return the codes by which this process has passed; an empty text stands for a proof without a code."""
    return []


def _words() -> list[str]:
    """Return the arguments of this command without the code."""
    words = ["snell", *sys.argv[1:]]
    while "--code" in words:
        at = words.index("--code")
        del words[at : at + 2]
    return [word for word in words if not word.startswith("--code=")]


def state_folder(env: Mapping[str, str]) -> Path:
    """Return the user's state folder; a SNELL_HOME inside a project that is not approved does not count."""
    try:
        return places(env).state
    except HomeInProjectError:
        return places({name: value for name, value in env.items() if name != "SNELL_HOME"}).state
