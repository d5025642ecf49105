"""
Stop commands that expose, unprotect or stop remote resources which others use.

This covers disabling the logs or the protection of a cloud account, making data public, and adding new keys. Stopping a
service or scaling it to zero can be undone and is asked about.
"""

import re
from collections.abc import Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import Finding, Rule
from snell.packs.guard.shell.shell_state import Step
from snell.packs.guard.triggers import Trigger
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="exposure",
    family="infrastructure",
    instead="say what should change and why, and let the user change it",
    flagged=(
        "aws cloudtrail stop-logging --name main",
        "gcloud storage buckets add-iam gs://b --member=allUsers",
        "aws rds modify-db-instance --db-instance-identifier x --publicly-accessible",
        "gh ssh-key add k.pub",
        "aws ecs update-service --service web --desired-count 0",
        "az vm deallocate -g g -n v",
        "ansible all -m reboot",
    ),
    fine=(
        "aws ecs describe-services --services web",
        "kubectl scale deploy web --replicas=3",
        "gcloud compute instances list",
        "aws s3 cp dist s3://site --recursive --acl public-read",
        "gh ssh-key list",
        "az vm list",
    ),
)

_PROGRAMS = name_set(
    "aws gcloud gsutil az bq gh npm restic certbot pulumi kubectl doctl hcloud linode-cli oci openstack scw ibmcloud "
    "heroku fly flyctl ansible nomad"
)
_LOOSENS = lazy_regex(
    r"aws (?:\S+ ){0,5}?(?:stop-logging|stop-configuration-recorder|leave-organization|deactivate-mfa-device|"
    r"update-detector\b.*--no-enable|put-bucket-versioning\b.*Suspended|modify-\S+.*--no-disable-api-termination|"
    r"modify-\S+.*--no-deletion-protection|put-bucket-lifecycle-configuration|update-account-password-policy)|"
    r"(?:aws|gcloud|gsutil|az|bq) .*(?:--publicly-accessible|--public(?=\s|$)|all(?:Authenticated)?Users|"
    r"--authorized-networks[= ]0\.0\.0\.0/0|--public-access (?:blob|container)|--principal[= ]['\"]?\*|"
    r"roles/owner|--role[= ]Owner|--allow-blob-public-access true)|"
    r"gh (?:ssh-key add|repo deploy-key add|auth refresh .*delete_repo)|"
    r"restic key remove|certbot (?:revoke|delete)|pulumi stack rm|"
    r"kubectl (?:\S+ ){0,5}?apply\b.*--prune\b.*--all",
    re.IGNORECASE,
)
_STOPS = lazy_regex(
    r"aws (?:\S+ ){0,5}?(?:stop-\S+|reboot-\S+|release-\S+|send-command|reset-\S+)|"
    r"(?:gcloud|az|doctl|hcloud|linode-cli|oci|openstack|scw|ibmcloud) (?:[\w-]+ ){1,4}?(?:stop|reset|deallocate|"
    r"restart|power-off|poweroff|shutdown|suspend|failover)(?=\s|$)|"
    r"\S+ .*--(?:desired-count|desired-capacity|max-size|num-nodes|replicas|min-instances|scale)[= ]0(?=\s|$)|"
    r"(?:heroku ps:scale|fly scale count|flyctl scale count) .*(?:=|\b)0(?=\s|$)|"
    r"kubectl (?:\S+ ){0,5}?(?:patch\b.*replicas\W+0\b|taint\b.*NoExecute|cordon)|"
    r"ansible (?:\S+ )*?-m (?:\S+\.)?(?:reboot|shutdown)(?=\s|$)|nomad (?:node drain|system gc)",
    re.IGNORECASE,
)
_DRY = lazy_regex(r"--dry-?run|--help|--generate-cli-skeleton|--check(?=\s|$)")

TRIGGER = Trigger(programs=_PROGRAMS)


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    text = " ".join((step.program, *step.args))[:2000]
    if _DRY.search(text):
        return
    if _LOOSENS.match(text):
        yield RULE.deny(f"`{step.text[:80]}` removes the protection of a remote resource")
    elif _STOPS.match(text):
        yield RULE.ask(f"`{step.text[:80]}` stops a service that others may use")
