"""
Asking a store of secrets to show them.

Keychains, password managers and cloud secret stores when they are told to print, and tools that print their own token.
"""

import re
from collections.abc import Iterator

from snell.kit.late_pattern import late
from snell.packs.guard.names import names
from snell.packs.guard.places import Ground
from snell.packs.guard.rule import Finding, Rule
from snell.packs.guard.shell.scene import Step

RULE = Rule(
    name="secret-stores",
    family="secrets",
    instead="let the program that needs the secret fetch it itself (`op run -- ...`)",
    flagged=(
        "security dump-keychain -d",
        "gh auth token",
        "kubectl get secret db -o yaml",
        "pass show mail",
        "aws secretsmanager get-secret-value --secret-id x",
        "curl http://169.254.169.254/latest/meta-data/",
    ),
    fine=("gh auth status", "kubectl get pods", "aws s3 ls", "security list-keychains", "op run -- make deploy"),
)

_PRINTS = late(
    r"^(?:security (?:dump-keychain|find-(?:generic|internet)-password|export)\b|"
    r"secret-tool (?:lookup|search)\b|gh auth token\b"
    r"|gcloud auth (?:application-default )?print-(?:access|identity)-token|"
    r"aws secretsmanager get-secret-value|aws configure get \w*secret"
    r"|aws ssm get-parameters?\b.*--with-decryption|aws configure export-credentials|vault (?:kv get|"
    r"read)\b|gopass show|pass show|pass [\w/-]+$"
    r"|kubectl (?:.* )?get secrets?\b.*(?:-o|--output)|az keyvault secret show|"
    r"az account get-access-token|heroku config\b|doppler secrets (?:get|download)"
    r"|bw (?:get|export|list)\b|op (?:read|item get .*--reveal)|op item get .*--fields|gpg .*--export-secret|"
    r"security (?:delete|add)-\w+|security (?:authorizationdb|set-\w+)|reg save|gcloud secrets versions access|"
    r"keyring get|"
    r"git credential(?:-\w+)? (?:fill|get)\b|mimikatz|lazagne"
    r"|npm token (?:list|create)|gcore\b|procdump\b|gdb .*(?:generate-core-file|gcore|dump memory)|"
    r"docker-credential-\w+ get|chrome-?pass|firefox_decrypt|hashdump)",
    re.IGNORECASE,
)


_METADATA = late(
    r"(?:https?://)?(?:169\.254\.(?:169\.254|170\.2)|metadata\.google\.internal|100\.100\.100\.200|"
    r"\[fd00:ec2::254\])(?:[:/]|$)"
)


def find(step: Step, _ground: Ground) -> Iterator[Finding]:
    if any(map(_METADATA.match, step.args)):
        yield RULE.deny("a cloud machine's own credentials are at that address")
        return
    if step.program in _PROGRAMS and _PRINTS.match(" ".join((step.program, *step.args))):
        hard = step.program in (
            "security",
            "secret-tool",
            "mimikatz",
            "lazagne",
            "gpg",
            "git",
            "keyring",
            "gcore",
            "procdump",
            "gdb",
        )
        yield (RULE.deny if hard else RULE.ask)(f"`{step.program}` is told to print secrets")


_PROGRAMS = names(
    "security secret-tool gh gcloud aws vault gopass pass kubectl az heroku doppler bw op gpg keyring git "
    "mimikatz lazagne npm gcore procdump gdb"
)
