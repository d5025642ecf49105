"""The scripted conversation that is held in every client, and what it leaves behind."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from tests.live.client_user import ClientUser, Ran
from tests.live.drivers import Driver
from tests.live.model import LiveModel
from tests.live.wires import Said

# What a person might write: each word that is asserted on is said by one hook only.
HOOKS = '''
from pathlib import Path

from snell import Allow, Deny, Note, Prompt, Rewrite, ShellCall, informs, judges, rewrites


@judges("PreToolUse", kind="shell")
def keep_precious(call: ShellCall):
    """Refuse to touch what is precious."""
    if "precious" in call.command:
        return Deny("REFUSED-BY-HOOK: it is precious")


@rewrites("PreToolUse", kind="shell")
def new_for_old(call: ShellCall):
    """Make the new thing where the old one was asked for."""
    if "old-" in call.command:
        return Rewrite(command=call.command.replace("old-", "new-"), because="old is out")


@judges("PreToolUse", kind="shell")
def approve(call: ShellCall):
    """Say yes where a client takes a change with an approval only."""
    if "new-approved" in call.command:
        return Allow("fine")


@informs("SessionStart")
def at_start():
    return Note("TOLD-AT-START")


@informs("UserPromptSubmit")
def at_prompt():
    return Note("TOLD-AT-PROMPT")


@informs("PostToolUse")
def after_tool():
    return Note("TOLD-AFTER-TOOL")


@judges("UserPromptSubmit")
def no_sesame(prompt: Prompt, cwd: str):
    """Refuse a word, and leave a trace of it."""
    if "sesame" in prompt.text:
        Path(cwd, "heard-sesame.txt").touch()
        return Deny("REFUSED-PROMPT")


@judges("Stop")
def finish_first(cwd: str):
    """Do not stop before the last thing is made."""
    if not Path(cwd, "finished.txt").exists():
        return Deny("KEPT-GOING: make finished.txt first")
'''

# What the model does; in one client a refusal ends the run, so that the refused command comes after the others.
WORK = ("echo made > old-plain.txt", "echo made > old-approved.txt", "echo harmless", "rm -f precious.txt")
END = ("", "echo made > finished.txt")  # it stops; it is sent back

NOTES = {"start": "TOLD-AT-START", "prompt": "TOLD-AT-PROMPT", "tool": "TOLD-AFTER-TOOL"}
ROW = "live row"  # the property of a report that holds a line of the table
COLUMNS = ("denied", "rewrote", "injected", "prompt blocked", "stop continued")


class Found(Struct, frozen=True):
    """What the client did, from the files that it left and from what its model was given."""

    happened: dict[str, bool]
    notes: list[str]  # which of the notes the model was given
    reason_given: bool  # the model was told why its call was refused
    ran_unchanged: bool  # a call that a hook changed ran as it was
    ran: Ran
    blocked_run: Ran


def converse(driver: Driver, folder: Path, user: ClientUser, env: Mapping[str, str], model: LiveModel) -> Found:
    """Hold the conversation, and then a second one that a hook refuses at its first word."""
    model.begin(_turns(driver))
    ran = user.run(driver.command(folder, user, "Please work."), env)
    shown, was_tried = model.shown, model.left <= len(END)
    model.begin()
    blocked_run = user.run(driver.command(folder, user, "Open sesame."), env)
    was_asked = "sesame" in model.shown
    made = {path.name for path in user.project.iterdir()}
    notes = [place for place, text in NOTES.items() if text in shown]
    happened = {
        "denied": was_tried and "precious.txt" in made,
        "rewrote": "new-approved.txt" in made,
        "injected": bool(notes),
        "prompt blocked": "heard-sesame.txt" in made and not was_asked,
        "stop continued": "KEPT-GOING" in shown and "finished.txt" in made,
    }
    unchanged = bool(made & {"old-plain.txt", "old-approved.txt"})
    return Found(happened, notes, "REFUSED-BY-HOOK" in shown, unchanged, ran, blocked_run)


def _turns(driver: Driver) -> list[Said]:
    return [Said("Working.", (driver.shell(command),) if command else ()) for command in (*WORK, *END)]
