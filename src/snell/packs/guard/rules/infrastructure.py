"""
Stop commands that delete remote resources: clouds, clusters, hosted repositories, backups.

Reading, planning and dry runs are fine.
"""

import re
from collections.abc import Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.arguments import parse_arguments
from snell.packs.guard.known_values import UNKNOWN
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import Finding, Rule
from snell.packs.guard.shell.shell_state import Step
from snell.packs.guard.triggers import Trigger
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="infrastructure",
    family="infrastructure",
    instead="show the plan (`plan`, `--dry-run`), and let the user run it",
    flagged=(
        "terraform destroy",
        "kubectl delete ns prod",
        "kubectl delete pods --all",
        "kubectl -n prod delete pod web-1",
        "helm uninstall web",
        "aws s3 rm s3://b --recursive",
        "docker system prune -a --volumes",
        "gh repo delete o/r",
        "gcloud projects delete p",
        "curl -X DELETE https://api.example/v1/projects/4",
        "docker volume rm data",
        "docker rm -f $(docker ps -aq)",
        "npm unpublish x",
        "docker-compose down -v",
        "az group delete -n list",
    ),
    fine=(
        "terraform plan",
        "kubectl get pods",
        "helm list",
        "aws s3 ls",
        "docker ps",
        "gh pr list",
        "docker rm -f test",
        "docker rm $(docker ps -aq --filter name=test)",
        "curl -X DELETE http://localhost:3000/api/items/5",
        "curl -X POST https://api.example/v1/x",
        "docker rm -fv test",
        "kubectl auth can-i delete pods",
        "kubectl delete pod web-abc123 -n staging",
        "gh issue list --search 'delete repo'",
    ),
)

_DRY = lazy_regex(
    r"(?:^|\s)(?:--dry-?run(?:=(?:client|server|true))?|--dryrun|--help|-h|--what-if|--check|plan)(?:\s|$)"
)
_DENIED = (
    (
        r"(?:terraform|tofu|terragrunt|cdktf|cdk|pulumi|sls|serverless|sst|eksctl|kops|copilot) (?:\S"
        r"+ )*?(?:destroy|remove|delete|down|run-all destroy)(?=\s|$)"
    ),
    (
        r"(?:terraform|tofu|terragrunt) (?:\S+ ){0,5}?(?:apply (?:.* )?-(?:auto-approve|destroy)|state (?:rm|"
        r"push)|workspace delete|taint|force-unlock)"
    ),
    r"(?:kubectl|oc|k) (?:\S+ ){0,5}?(?:delete|drain|replace --force)(?=\s|$)",
    r"(?:kubectl|oc|k) (?:\S+ ){0,5}?create (?:cluster)?rolebinding\b.*cluster-admin",
    r"(?:kubectl|oc|k) (?:\S+ ){0,5}?scale\b.*--replicas[= ]0",
    (
        r"helm (?:\S+ ){0,5}?(?:uninstall|delete|del|un)(?=\s|$)|argocd (?:app|proj|cluster) delete|"
        r"flux (?:uninstall|delete)|velero (?:\S+ )?(?:backup|restore|schedule)? ?delete|"
        r"istioctl (?:uninstall|x uninstall)"
    ),
    (
        r"aws (?:(?!--)\S+ |--\S+=\S+ |--(?:profile|region|output|endpoint-url) \S+ |--(?:no-\S+|"
        r"debug) ){0,5}?(?:delete-\S+|terminate-\S+|remove-\S+|deregister-\S+|purge-queue|"
        r"schedule-key-deletion|rb\b|update-secret|put-secret-value|disable-\S+|detach-\S+|revoke-\S+|"
        r"put-bucket-policy|stop-instances)"
    ),
    (
        r"aws ec2 authorize-security-group-ingress\b(?=.*(?:0\.0\.0\.0/0|::/0))(?=.*(?:--protocol (?:-1|all)|"
        r"--port (?:all|0-65535|22|3389|-1)(?:\s|$)|IpProtocol=-1)).*|"
        r"gcloud compute firewall-rules (?:create|update)\b(?=.*0\.0\.0\.0/0)(?=.*(?:--allow[= ](?:all|tcp(?:,|\s|$)|"
        r"tcp:(?:22|3389|0-65535)))).*|"
        r"az network nsg rule create\b(?=.*--access Allow)(?=.*--destination-port-ranges '?\*).*"
    ),
    r"aws s3 rm\b.*--recursive|aws s3 (?:sync|mv)\b.*--delete|aws s3 rm s3://",
    (
        r"aws iam (?:create-access-key|create-login-profile|update-login-profile|attach-\S+-policy|put-\S+-policy|"
        r"add-user-to-group|update-assume-role-policy|create-user)|aws s3api put-(?:bucket-acl|public-access-block|"
        r"bucket-policy)|gcloud (?:\S+ ){0,4}?(?:add-iam-policy-binding|set-iam-policy)|az role assignment create"
    ),
    (
        r"gcloud (?:\S+ ){0,5}?(?:delete|destroy|remove-iam\S*|disable)(?=\s|$)|"
        r"gcloud storage (?:\S+ ){0,3}?rm(?=\s|$)|"
        r"gsutil (?:\S+ ){0,5}?(?:rm|rb)(?=\s|$)|gsutil (?:\S+ ){0,5}?rsync (?:.* )?-\w*d|bq (?:"
        r"\S+ )*?rm\b|firebase (?:\S+:)?(?:delete|disable)(?=\s|$)|firebase \S+:delete"
    ),
    (
        r"az (?:\S+ ){0,5}?(?:delete|purge)(?=\s|$)|doctl (?:\S+ ){0,5}?(?:delete|destroy|rm)(?=\s|$)|linode-cli (?:\S"
        r"+ )*?(?:delete|rm)(?=\s|$)|hcloud (?:\S+ ){0,5}?delete\b|vultr-cli (?:\S+ ){0,5}?delete|oci (?:\S"
        r"+ )*?(?:delete|terminate)(?=\s|$)|ibmcloud (?:\S+ ){0,5}?(?:delete|rm)(?=\s|$)|scw (?:\S+ ){0,5}?(?:delete|"
        r"terminate)(?=\s|$)"
    ),
    (
        r"(?:fly|flyctl|heroku|vercel|netlify|railway|render|wrangler|supabase|neonctl|planetscale|pscale"
        r"|upstash|turso|wasp|dokku|cf|eb|now|surge)\s+(?:[^\s:]+[ :])*?(?:destroy|delete|remove|rm|"
        r"terminate|teardown|down|:destroy)(?=\s|$)"
    ),
    (
        r"(?:docker|podman|nerdctl) (?:system|volume|container) prune\b"
        r".*(?:-a\b|--all|--volumes|-f\b|--force|-af|-fa)"
    ),
    (
        r"(?:docker|podman|nerdctl) (?:volume (?:rm|remove|prune)|system (?:prune|reset)|stack rm|"
        r"service rm|swarm leave|node rm|secret rm)(?=\s|$)"
    ),
    (
        r"(?:(?:docker|podman) compose|docker-compose|podman-compose) (?:\S+ ){0,5}?"
        r"(?:down|rm)\b.*(?:-\w*v\b|--volumes|--rmi)"
    ),
    (
        r"gh (?:repo (?:delete|archive|edit .*--visibility)|release delete|secret (?:delete|remove)|"
        r"variable delete|gist delete|ssh-key delete|gpg-key delete|run delete|"
        r"repo rename|run cancel|codespace delete|label delete|issue delete|environment delete|workflow disable)"
    ),
    (
        r"hub delete\b|gh api\b(?=.*(?:-X|--method)[= ]?(?:PATCH|PUT|POST)).*(?:private=false|visibility=public)|"
        r"gh api\b.*(?:-X|--method)[= ]?(?:DELETE)|gh api\b(?=.*(?:rulesets|protection|hooks|keys))(?=.*(?:-X|"
        r"--method)[= ]?(?:PATCH|PUT|POST)).*"
    ),
    (
        r"glab (?:\S+ ){0,5}?(?:delete|archive)(?=\s|$)|circleci (?:\S+ ){0,5}?(?:delete|remove-secret|"
        r"store-secret)(?=\s|$)|"
        r"gitlab-runner (?:unregister|stop|uninstall)|jenkins-cli .*(?:delete|shutdown|quiet-down)|"
        r"java .*jenkins-cli\S* (?:.* )?(?:delete-\S+|disable-\S+|shutdown|offline-node|safe-\S+|restart|"
        r"quiet-down|clear-queue|stop-builds)"
    ),
    (
        r"(?:npm|pnpm|yarn) (?:unpublish|owner (?:rm|add)|access|token revoke|dist-tag rm)(?=\s|$)|"
        r"cargo (?:yank|owner)|gem (?:yank|owner)|twine remove|pypi-cleanup|vsce unpublish|"
        r"pod trunk delete"
    ),
    (
        r"(?:restic|borg|borgmatic|duplicity|rclone|tarsnap|kopia|duplicacy) (?:\S+ ){0,5}?(?:forget|prune|"
        r"delete|purge|remove-\S+|cleanup|rmdirs?|deletefile|sync|dedupe|move|unlock --remove-all|"
        r"break-lock)(?=\s|$)"
    ),
    (
        r"(?:vault) (?:\S+ ){0,5}?(?:delete|destroy|disable|revoke|seal|metadata delete)(?=\s|$)|(?:op|bw|doppler|"
        r"infisical|chamber|pass|gopass) (?:\S+ ){0,5}?(?:delete|rm|remove|destroy)(?=\s|$)"
    ),
    (
        r"kafka-(?:topics|acls|consumer-groups|configs|delete-records|streams-application-reset)(?:\.sh)?"
        r"\b.*--(?:delete|remove|reset-offsets|offset-json-file|delete-config|delete-offsets)(?=\s|$)|"
        r"kafka-delete-records|rabbitmqctl (?:delete_\w+|purge_queue|reset|force_reset|stop|clear_\w+|"
        r"forget_cluster_node|remove_\w+)|rabbitmqadmin (?:delete|purge)|nats (?:\S+ ){0,5}?(?:delete|rm|"
        r"purge|del)(?=\s|$)|pulsar-admin (?:\S+ ){0,5}?delete"
    ),
    (
        r"(?:consul|nomad|boundary|waypoint|packer|vagrant|multipass|virsh|lxc|incus|vboxmanage|proxmox|"
        r"qm|pct) (?:\S+ ){0,5}?(?:delete|destroy|purge|undefine|rm|unregistervm|kv delete|stop -purge|prune)"
        r"\b"
    ),
    (
        r"ansible-playbook (?:\S+ )*?\S*(?:destroy|teardown|wipe|decommission)\S*\.ya?ml|"
        r"ansible(?:-playbook)? .*(?:state=absent|-m (?:shell|command|raw) .*rm -rf)|salt .*cmd\."
        r"run .*rm -rf|knife (?:\S+ ){0,5}?delete|chef-client .*--delete"
    ),
    r"(?:curl|http|https|xh|wget) .*(?:-X ?DELETE|--request[= ]DELETE|--method[= ]DELETE|\bDELETE https?:)",
    r"(?:curl|http|https) .*(?:_delete_by_query|/_close|_cluster/settings|/_all\b.*DELETE)",
    r"(?:mc|s3cmd|b2|s5cmd|azcopy) (?:\S+ ){0,5}?(?:rm|rb|del|delete|remove|delete-bucket)(?=\s|$)",
    (
        r"(?:influx|etcdctl|zkcli|cassandra|nodetool) (?:\S+ ){0,5}?(?:delete|del|deleteall|rmr|drop|"
        r"decommission|removenode|assassinate)(?=\s|$)|es_\w+ delete|elasticdump .*delete|curator .*delete"
    ),
)
# Programs that manage remote resources. Whatever the noun, these verbs delete it.
_MANAGERS = name_set(
    "aws gcloud gsutil az oci ibmcloud aliyun tccli doctl linode-cli hcloud vultr-cli scw civo exo upctl openstack "
    "nova "
    "heroku fly flyctl vercel netlify railway render wrangler cf eb dokku surge now amplify sam copilot chalice "
    "terraform tofu terragrunt pulumi cdk cdktf sls serverless sst eksctl kops kubectl oc helm helmfile kustomize "
    "argocd flux "
    "velero istioctl linkerd cilium kind minikube k3d rancher crossplane skaffold kn knative tkn vcluster "
    "docker podman nerdctl docker-compose portainer gh glab hub circleci jenkins-cli buildkite-agent bk drone tea "
    "vault consul nomad boundary op bw doppler infisical chamber akeyless berglas sops "
    "stripe braintree twilio sendgrid mailgun postmark launchdarkly ldcli flipt unleash split fastly flarectl "
    "cloudflare "
    "akamai newrelic datadog-ci dogshell pagerduty pd splunk grafana-cli promtool sentry-cli honeycomb "
    "kong deck apigeecli apigee tyk kafka-topics kafka-acls kafka-consumer-groups kafka-configs confluent rpk kcat "
    "rabbitmqctl rabbitmqadmin nats pulsar-admin etcdctl zkcli algolia meilisearch typesense elasticsearch-plugin "
    "supabase neonctl neon pscale planetscale turso atlas mongocli upstash firebase appwrite convex prisma hasura "
    "dataform "
    "mc s3cmd s5cmd b2 azcopy rclone restic borg borgmatic kopia duplicacy duplicity tarsnap rdiff-backup snapper "
    "timeshift "
    "virsh lxc incus vboxmanage multipass vagrant qm pct limactl colima prlctl packer ansible salt knife "
    "npm pnpm yarn cargo gem pod vsce ovsx nuget conda anaconda tsh teleport okta auth0 keycloak kcadm tailscale "
    "zerotier-cli "
    "bq cbt datastore dataproc kafka-delete-records nsupdate route53 haproxy nginx-ingress databricks snow snowsql dbt"
)
_PROGRAMS = _MANAGERS | name_set(
    "ansible-playbook cassandra chef-client curator curl elasticdump gitlab-runner gopass http https influx java k "
    "nodetool pass podman-compose proxmox pypi-cleanup twine wasp waypoint wget xh"
)
_PATTERNS = dict[str, list[re.Pattern[str]]]()  # by program
for _pattern in _DENIED:
    for _word in _PROGRAMS.intersection(re.findall(r"[a-z0-9_]+(?:-[a-z]+)*", _pattern)):
        _PATTERNS.setdefault(_word, []).append(lazy_regex(rf"^(?:{_pattern})", re.IGNORECASE))
_VERB = lazy_regex(
    r"(?:\w+:reset|(?:--)?(?:[\w]+[:.])*(?:batch-|force-|bulk-)?(?:delete|destroy|terminate|deregister|purge|"
    r"unpublish|teardown|"
    r"undeploy|uninstall|deprovision|decommission|repo-delete|wipe|nuke|flush|truncate|removenode|drop|remove-all|"
    r"unsubscribe|revoke|detach|dissociate|schedule-key-deletion|empty-bucket)(?:[-_:]\w[\w-]*)?)$",
    re.IGNORECASE,
)
_VALUE_OF = frozenset(
    ("-m", "--message", "--title", "--body", "--name", "-n", "--description", "--grep", "-l", "--label")
)
_KEEPS = frozenset(("flush-cache", "deleted", "delete-branch", "--delete-branch", "deletedafter"))


def _takes_value(option: str) -> bool:
    is_long = option.startswith("--") and "=" not in option
    return option in _VALUE_OF or (is_long and not _SWITCH.match(option))


_SWITCH = lazy_regex(r"--(?:yes|quiet|force|debug|verbose|no-|non-interactive|all|recursive|delete|remove|json)")


# The first words say what is done; the rest names what is read.
_LOOKERS = name_set("kubectl oc k helm gh glab aws gcloud az terraform tofu docker podman")
_LOOKS = lazy_regex(
    r"\S+ (?:--?\S+[= ]\S+ )*?(?:auth can-i|explain|get|describe|logs|top|wait|diff|help|completion|"
    r"(?:pr|issue|repo|run|release|workflow) (?:list|view|status|diff|checks|comment|create)|search|"
    r"(?:(?!delete|destroy|remove|rm|purge|terminate|drain|prune)[a-z][\w-]* ){1,3}?"
    r"(?:list|describe|show|help))(?=\s|$)"
)


def _verb(args: tuple[str, ...]) -> str:
    """Return the first word that deletes something."""
    before = ""
    for arg in args[:14]:
        if _VERB.match(arg) and not _takes_value(before) and arg.lower() not in _KEEPS:
            return arg
        if arg == "--":
            return ""
        before = arg
    return ""


TRIGGER = Trigger(programs=_PROGRAMS | {f"{name}.sh" for name in _PROGRAMS})


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    program = step.program.removesuffix(".sh")
    text = " ".join((program, *step.args))[:2000]
    if _only_looks(program, step.args, text):
        return
    verb = _verb(step.args) if program in _MANAGERS else ""
    if verb and not _is_local_resource(program, step.args):
        yield RULE.deny(f"`{program} ... {verb}` deletes or takes down a remote resource")
        return
    for pattern in _PATTERNS.get(program, ()):
        found = pattern.match(text)
        if found and not _is_local_service(text):
            verdict = RULE.ask if _is_small(text) else RULE.deny
            yield verdict(f"`{found[0][:80]}` deletes or takes down a remote resource")
            return
    if program in ("docker", "podman", "nerdctl") and _deletes_all_listed(step):
        yield RULE.deny(f"`{program} {step.args[0]}` acts on everything that it lists, including other projects")


def _only_looks(program: str, args: tuple[str, ...], text: str) -> bool:
    if _DRY.search(text) or (program in _LOOKERS and _LOOKS.match(text)):
        return True
    return program in ("kubectl", "oc", "k") and _is_one_pod(args)


def _deletes_all_listed(step: Step) -> bool:
    """Tell whether a list without a filter is deleted: `docker rm -f $(docker ps -aq)`."""
    words = [word for word in step.words[1:] if word.text not in ("container", "image", "volume", "network")]
    takes = bool(words) and words[0].text in ("rm", "rmi", "kill", "stop", "remove")
    return takes and any(word.has("every") for word in words[1:])


def _is_local_resource(program: str, args: tuple[str, ...]) -> bool:
    """Tell whether the program manages local clusters, packages or machines that can be rebuilt."""
    if program in ("kind", "minikube", "k3d", "vcluster"):
        return True
    if program in ("npm", "pnpm", "yarn", "cargo", "gem", "pod", "conda"):
        return not any(arg in ("unpublish", "yank") for arg in args)
    return program in ("gh", "prisma", "docker", "podman", "nerdctl", "helm", "ansible", "prisma", "hub")


def _is_one_pod(args: tuple[str, ...]) -> bool:
    """Tell whether one pod is deleted, which its controller starts again: `kubectl delete pod web-1`."""
    given = parse_arguments(args, "-n --namespace --context -l --selector --field-selector --grace-period")
    where = " ".join(given.values.values())
    return (
        given.operands[:2] in (("delete", "pod"), ("delete", "po"), ("delete", "pods"))
        and len(given.operands) == 3
        and UNKNOWN not in given.operands[2]
        and not given.has("--all", "-A", "--all-namespaces", "-l", "--selector", "--field-selector", "--force", "-f")
        and not _LIVE.search(where)
    )


_LIVE = lazy_regex(r"prod|live|kube-system", re.IGNORECASE)


def _is_small(text: str) -> bool:
    """Tell whether the loss is small: unused containers and images can be rebuilt."""
    if re.match(r"(?:docker|podman|nerdctl) (?:system|container|image|network|builder|buildx) prune", text):
        return "--volumes" not in text
    return False


# Ports of data stores, secret stores and clusters, on this machine or another.
_STORES = lazy_regex(r":(?:9200|9300|5984|8086|8500|8200|2375|2376|2379|6443|8001|6333|8108|7700|9000|15672|4646)\b")


def _is_local_service(text: str) -> bool:
    """Tell whether the request goes to a service in development on this machine."""
    return _LOCAL_REQUEST.match(text) is not None and _STORES.search(text) is None


_LOCAL_REQUEST = lazy_regex(
    r"(?:curl|http|https|xh|wget) (?:.*[\s/@])?(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(?:[:/\s]|$)"
)
