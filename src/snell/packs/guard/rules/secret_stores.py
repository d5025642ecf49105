"""
Stop commands that print secrets from a secret store.

This covers keychains, password managers, cloud secret stores, and tools that print their own token.
"""

from collections.abc import Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.output_kinds import SECRET_PRINTERS, prints_secret
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import Finding, Rule
from snell.packs.guard.shell.shell_state import Step
from snell.packs.guard.triggers import ADDRESS, Trigger
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="secret-stores",
    family="secrets",
    instead="let the program that needs the secret fetch it itself (`op run -- ...`)",
    flagged=(
        "security dump-keychain -d",
        "gh auth token",
        "kubectl get secret db -o yaml",
        "pass show mail",
        "gcloud iam service-accounts keys create k.json --iam-account a",
        "aws secretsmanager get-secret-value --secret-id x",
        "curl http://169.254.169.254/latest/meta-data/",
    ),
    fine=("gh auth status", "kubectl get pods", "aws s3 ls", "security list-keychains", "op run -- make deploy"),
)

_METADATA = lazy_regex(
    r"(?:https?://)?(?:169\.254\.(?:169\.254|170\.2)|metadata\.google\.internal|100\.100\.100\.200|"
    r"\[fd00:ec2::254\])(?:[:/]|$)"
)
_DENIED = name_set("security secret-tool mimikatz lazagne gpg git keyring gcore procdump gdb")

TRIGGER = Trigger(programs=SECRET_PRINTERS, traits=ADDRESS)


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    if any(map(_METADATA.match, step.args)):
        yield RULE.deny("it reads the cloud machine's own credentials from the metadata address")
        return
    if prints_secret(step.program, step.args) and not _decrypts_for_build(step):
        yield (RULE.deny if step.program in _DENIED else RULE.ask)(f"`{step.program}` prints secrets", step.program)


def _decrypts_for_build(step: Step) -> bool:
    """Tell whether a build decrypts into a file or a program: `sops -d x > y`."""
    return step.program in ("sops", "age") and (bool(step.writes) or step.piped)
