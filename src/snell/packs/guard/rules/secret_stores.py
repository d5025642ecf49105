"""
Stop commands that print secrets from a secret store.

This covers keychains, password managers, cloud secret stores, and tools that print their own token.
"""

from collections.abc import Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.known_names import pattern
from snell.packs.guard.output_kinds import prints_secret
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import ADDRESS, Finding, Rule, Trigger, only_asks
from snell.packs.guard.shell.shell_state import Step

RULE = Rule(
    name="secret-stores",
    family="secrets",
    instead="let the program that needs the secret fetch it itself (`op run -- ...`)",
)

_METADATA = pattern("cloud_metadata")
_FOR_PIPES = pattern("logins_for_pipes")
_DENIED = name_set("security secret-tool mimikatz lazagne gpg git keyring gcore procdump gdb")
_PARTLY = name_set("terraform tofu opentofu terragrunt jq helm")  # what they print is not all secret

TRIGGER = Trigger(traits=ADDRESS, rows=("prints_secrets",))


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    if any(map(_METADATA.match, step.args)):
        yield RULE.deny("it reads the cloud machine's own credentials from the metadata address")
        return
    if prints_secret(step.program, step.args) and not (_decrypts_for_build(step) or only_asks(step)):
        is_printed = not (step.piped or step.writes or step.appends)
        if not is_printed and (step.program in _PARTLY or _FOR_PIPES.search(step.text)):
            return
        verdict = RULE.deny if (is_printed and step.program not in _PARTLY) or step.program in _DENIED else RULE.ask
        yield verdict(f"`{step.program}` prints secrets", step.program)


def _decrypts_for_build(step: Step) -> bool:
    """Tell whether a build decrypts into a file or a program: `sops -d x > y`."""
    return step.program in ("sops", "age") and (bool(step.writes) or step.piped)
