"""Does a command reach beyond this machine? Read from its words: which verb, wherever it stands, and which method."""

from typing import Literal

from snell.shell.arguments import Arguments
from snell.shell.database_clients import DATABASES, reach_of_database

Remote = Literal["sends", "looks", "neither"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_REMOTE = _names("ssh sftp ftp mail mailx sendmail mutt msmtp nc ncat telnet lftp swaks ansible ansible-playbook")
# Sub-commands that send something. A phrase has to lead the operands.
_SENDING = {
    "git": ("push", "send-email", "imap-send", "svn dcommit", "lfs push", "p4 submit", "subtree push", "annex sync",
            "annex push", "send-pack", "http-push", "review", "cl upload", "subrepo push", "sync", "town sync"),
    "jj": ("git push",), "sl": ("push",), "fossil": ("push", "sync"), "bzr": ("push",), "darcs": ("push",),
    "p4": ("submit",), "arc": ("diff", "land"), "hub": ("push", "create", "pull-request", "release create"),
    "repo": ("upload",), "gt": ("submit", "sync"),
    "npm": ("publish", "unpublish", "deprecate", "dist-tag add", "dist-tag rm", "owner add", "owner rm", "access"),
    "pnpm": ("publish", "unpublish", "deprecate"), "yarn": ("publish", "npm publish"), "bun": ("publish",),
    "lerna": ("publish",), "cargo": ("publish", "yank", "owner"), "twine": ("upload",), "gem": ("push", "yank"),
    "uv": ("publish",), "poetry": ("publish",), "hatch": ("publish",), "flit": ("publish",), "vsce": ("publish",),
    "dotnet": ("nuget push", "nuget delete"), "dart": ("pub publish",), "flutter": ("pub publish",),
    "docker": ("push", "image push", "compose push", "manifest push", "stack deploy", "stack rm", "service create",
               "service update", "service rm", "service scale", "plugin push", "buildx imagetools create"),
    "docker-compose": ("push",), "skopeo": ("copy", "delete", "sync"), "crane": ("push", "copy", "delete", "tag"),
    "terraform": ("apply", "destroy", "import", "taint", "untaint", "state rm", "state mv", "state push",
                  "workspace delete", "refresh"),
    "terragrunt": ("apply", "destroy", "run-all apply", "run-all destroy"),
    "pulumi": ("up", "update", "destroy", "refresh", "import", "cancel", "stack rm"),
    "helm": ("install", "upgrade", "uninstall", "delete", "rollback", "push", "test"),
    "cdk": ("deploy", "destroy"), "serverless": ("deploy", "remove"), "sls": ("deploy", "remove"),
    "goreleaser": ("release", "publish"), "svn": ("commit", "ci", "delete", "mkdir"),
    "hg": ("push", "email"), "buildah": ("push", "manifest push"), "oras": ("push", "copy", "cp", "attach"),
    "ko": ("build", "publish", "apply", "create", "resolve"), "cosign": ("sign", "attest", "upload", "copy"),
    "sam": ("deploy", "delete", "sync", "publish"), "railway": ("up", "deploy", "redeploy", "down", "delete", "add"),
    "render": ("deploys create", "deploy"), "amplify": ("push", "publish", "delete"), "cf": ("push", "delete", "scale"),
    "copilot": ("deploy", "svc deploy", "env deploy", "app delete"), "convox": ("deploy", "scale"), "now": ("",),
    "skaffold": ("run", "deploy", "dev", "delete"), "okteto": ("deploy", "up", "destroy"), "tilt": ("up", "down"),
    "argocd": ("app sync", "app create", "app delete", "app set", "app rollback"),
    "flux": ("reconcile", "create", "delete", "bootstrap", "suspend", "resume"), "istioctl": ("install", "uninstall"),
    "nomad": ("job run", "run", "job stop", "stop", "job dispatch"), "waypoint": ("up", "deploy", "release", "destroy"),
    "consul": ("kv put", "kv delete"),
    "vault": ("write", "delete", "kv put", "kv delete", "kv patch", "secrets enable"),
    "etcdctl": ("put", "del"), "chalice": ("deploy", "delete"), "zappa": ("deploy", "update", "undeploy", "rollback"),
    "eas": ("submit", "update", "build", "deploy"), "expo": ("publish",), "fastlane": ("",),
    "clasp": ("push", "deploy"),
    "supabase": ("db push", "functions deploy", "secrets set", "db reset", "migration up", "functions delete"),
    "prisma": ("db push", "migrate deploy"), "convex": ("deploy",), "shopify": ("app deploy", "theme push"),
    "flyway": ("migrate", "clean", "undo"), "liquibase": ("update", "rollback"), "dbmate": ("up", "down", "drop"),
    "surge": ("",), "gh-pages": ("",), "mkdocs": ("gh-deploy",), "ng": ("deploy",), "mike": ("deploy", "delete"),
    "semantic-release": ("",), "changeset": ("publish",), "release-it": ("",), "np": ("",), "nx": ("release",),
    "pod": ("trunk push",), "conan": ("upload",), "luarocks": ("upload",), "mix": ("hex.publish",),
    "stack": ("upload",),
    "cabal": ("upload",), "opam": ("publish",), "jfrog": ("rt upload", "rt u"), "jf": ("rt upload", "rt u"),
    "huggingface-cli": ("upload", "repo create", "delete"), "hf": ("upload", "repo create"), "wandb": ("sync",),
    "kaggle": ("datasets create", "datasets version", "competitions submit"), "dvc": ("push",), "mc": ("cp", "mirror",
    "rm", "mv", "rb", "mb", "pipe"), "slack": ("chat send",),
    "stripe": ("trigger", "post", "delete"), "twilio": ("api:core:messages:create", "phone-numbers:update"),
    "sentry-cli": ("releases", "send-event", "upload-dif", "sourcemaps upload"), "codecov": ("",),
    "ntfy": ("publish", "send"),
    "apprise": ("",), "telegram-send": ("",), "kcat": ("-P",), "mosquitto_pub": ("",), "pub": ("publish",),
    "wormhole": ("send",), "croc": ("send",), "restic": ("backup", "forget", "prune"), "borg": ("create",
    "delete", "prune"), "jira": ("issue create", "issue edit", "issue move", "issue comment"),
    "linear": ("issue create",),
    "azcopy": ("copy", "cp", "sync", "remove", "rm"), "eksctl": ("create", "delete", "scale", "upgrade"),
    "kops": ("create", "update", "delete", "replace", "rolling-update"), "packer": ("build",), "vagrant": ("push",),
    "cap": ("deploy", "production deploy", "staging deploy"),
    "kamal": ("deploy", "setup", "redeploy", "rollback", "remove"),
    "dokku": ("apps:destroy", "ps:rebuild", "git:sync"), "ionic": ("deploy",), "modal": ("deploy",),
    "deployctl": ("deploy",), "dagster-cloud": ("deploy",), "scw": ("instance server create",),
}  # fmt: skip
_SENDING["podman"] = _SENDING["nerdctl"] = _SENDING["docker"]
_SENDING["tofu"] = _SENDING["terraform"]
# Builders whose tasks may stand in any order: how the last part of a task's name begins.
_SAID = ("deploy", "publish", "push")
_TASKS = {"mvn": ("deploy", "perform"), "mvnw": ("deploy", "perform"), "gradle": ("publish",), "gradlew": ("publish",),
          "make": _SAID, "gmake": _SAID, "just": _SAID, "task": _SAID, "rake": (*_SAID, "release"), "invoke": _SAID,
          "mage": _SAID, "ant": _SAID, "sbt": _SAID, "tox": _SAID, "nox": _SAID, "lein": _SAID}  # fmt: skip
_SCRIPTS = _names("npm pnpm yarn bun")
# Programs whose every verb changes something far away, but for these.
_LOOKING_AFAR = {
    "kubectl": _names("get describe logs top explain api-resources api-versions version cluster-info diff wait help "
                      "completion options events"),
}  # fmt: skip
_LOOKING_AFAR["oc"] = _LOOKING_AFAR["kubectl"]
_KUBE_PHRASES = ("rollout status", "rollout history", "auth can-i", "auth whoami", "config view",
                 "config get-contexts", "config current-context", "kustomize")  # fmt: skip
_CLOUD = _names(
    "aws gcloud az doctl heroku vercel fly flyctl netlify firebase wrangler gsutil s3cmd rclone oci hcloud bq eb"
)
_CLOUD_CHANGING = _names(
    "create delete update set add remove rm cp mv sync mb rb put deploy start stop restart reset resize move patch "
    "import export apply destroy run invoke publish send upload attach detach enable disable cancel purge restore "
    "rsync copy scale terminate reboot write replace ssh promote rollback tag untag revoke grant bind unbind"
)
_CLOUD_LOOKING = _names(
    "list describe ls show get info version help cat stat du whoami logs log history releases lsd lsl lsf size check "
    "ps regions print-access-token print-identity-token head wait view status apps:info config:get"
)
_CLOUD_LOOKING_PREFIXES = ("list-", "describe-", "get-", "head-", "show-", "print-", "batch-get-", "filter-", "search-")
_GH_CHANGING = _names(
    "create close comment delete edit merge reopen review run upload lock unlock transfer rerun set fork ready enable "
    "disable cancel archive unarchive rename delete-asset pin unpin add remove add-item item-add item-edit item-delete "
    "approve revoke note update publish retry trigger develop update-branch link unlink copy sync import invite"
)
_GH_LOOKING = _names("list view status diff checks watch ls show")
_METHODS_THAT_LOOK = ("GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND")
_MAILING = ("smtp:", "smtps:", "telnet:", "gopher:", "gophers:", "mqtt:")
_DATA = ("-d", "-F", "-T", "--data", "--data-raw", "--data-binary", "--data-ascii", "--data-urlencode", "--form",
         "--form-string", "--json", "--upload-file")  # fmt: skip


def remote(program: str, given: Arguments) -> Remote:
    """Whether the command sends something, only looks at what is elsewhere, or has nothing to do with elsewhere."""
    if program in _REMOTE:
        return "sends"
    if program in DATABASES:
        return reach_of_database(program, given)
    if program in ("scp", "rsync"):
        return "sends" if _copies_away(program, given) else "neither"
    if program in ("curl", "wget", "http", "https", "xh"):
        return "sends" if _WEB[program](given) else "looks"
    if program in ("gh", "glab"):
        return _gh(given)
    if program in _CLOUD:
        return _cloud(program, given)
    if program in _LOOKING_AFAR:
        return _kubectl(program, given)
    return "sends" if _is_sending(program, given) else "neither"


def is_known_to_send(program: str, *, is_certain: bool) -> bool:
    """A name that stands for a program; short words that are also other things only where it is certain to be one."""
    known = program in _SENDING or program in _CLOUD or program in _LOOKING_AFAR or program in ("gh", "glab", "curl")
    if is_certain:
        return known or program in _REMOTE or program in _WEB or program in DATABASES or program in ("scp", "rsync")
    return known and bool(_SENDING.get(program, ("push",))[0])


def _copies_away(program: str, given: Arguments) -> bool:
    if program == "rsync" and given.has("-n", "--dry-run"):
        return False
    return any(":" in word.split("/")[0] for word in given.operands[-1:])


def _curl(given: Arguments) -> bool:
    places = (*given.operands, *given.values("--url"))
    if given.has("--mail-rcpt", "--mail-from") or any(place.lower().startswith(_MAILING) for place in places):
        return True
    if given.has("-K", "--config", "-Q", "--quote"):
        return True  # what is in there is not known, or is a command of the server's own
    method = given.value("-X", "--request").upper()
    if method:
        return method not in _METHODS_THAT_LOOK
    return given.has(*_DATA) and not (given.has("-G", "--get") and not given.has("-T", "--upload-file"))


def _wget(given: Arguments) -> bool:
    method = given.value("--method").upper()
    if method:
        return method not in _METHODS_THAT_LOOK
    return given.has("--post-data", "--post-file", "--body-data", "--body-file")


def _httpie(given: Arguments) -> bool:
    first = given.operands[0] if given.operands else ""
    if first.isalpha() and first.isupper():
        return first not in _METHODS_THAT_LOOK
    fields = (word for word in given.operands[1:] if "==" not in word)  # `==` is a part of the address
    return given.has("-f", "--form", "--multipart", "--raw") or any("=" in word or "@" in word for word in fields)


_WEB = {"curl": _curl, "wget": _wget, "http": _httpie, "https": _httpie, "xh": _httpie}


def _gh(given: Arguments) -> Remote:
    if "api" in given.operands[:1]:
        method = given.value("-X", "--method").upper()
        has_fields = given.has("-f", "-F", "--field", "--raw-field", "--input")
        return "sends" if (method not in _METHODS_THAT_LOOK if method else has_fields) else "looks"
    verbs = _first_words(given, 2)
    group = next((word for index, word in enumerate(verbs) if index not in given.unsure), "")
    if any(word in _GH_CHANGING for word in verbs if word != group):
        return "sends"
    return "looks" if verbs and verbs[-1] in _GH_LOOKING else "neither"


def _first_words(given: Arguments, most: int) -> list[str]:
    """The leading operands; those that may be the value of an option are there too, and do not count."""
    found, counted = [], 0
    for index, word in enumerate(given.operands):
        if counted == most:
            break
        found.append(word)
        counted += index not in given.unsure
    return found


def _cloud(program: str, given: Arguments) -> Remote:
    """The first word that is a verb decides; the names of things come after it."""
    if not given.operands:
        only_asks = all(name in ("-h", "-v", "-V", "--help", "--version") for name, _ in given.options)
        if program == "vercel":  # which deploys unless it is told something else
            return "looks" if given.options and only_asks else "sends"
        return "looks" if given.options else "neither"
    if program == "aws" and given.operands[0] == "configure":
        return "neither"
    for index, word in enumerate(given.operands[1:] if program == "aws" else given.operands):
        number = index + (program == "aws")
        if word in _CLOUD_CHANGING:
            return _download(given) if word in ("cp", "sync", "copy", "mv", "rsync") else "sends"
        if number not in given.unsure and (word in _CLOUD_LOOKING or word.startswith(_CLOUD_LOOKING_PREFIXES)):
            return "looks"
    return "sends"


def _download(given: Arguments) -> Remote:
    """From a bucket to this machine."""
    here = given.operands[-1]
    is_remote = "://" in here or ":" in here.split("/")[0]
    return "sends" if is_remote or "mv" in given.operands else "neither"


def _kubectl(program: str, given: Arguments) -> Remote:
    if not given.operands:
        return "looks"
    dry = given.value("--dry-run") in ("client", "server") or ("--dry-run", "") in given.options
    if dry or any(_leads(given, phrase) for phrase in _KUBE_PHRASES):
        return "looks"
    if given.operands[0] == "config":
        return "neither"
    sure = next((word for index, word in enumerate(given.operands) if index not in given.unsure), "")
    return "looks" if sure in _LOOKING_AFAR[program] else "sends"


def _is_sending(program: str, given: Arguments) -> bool:
    if given.has("--dry-run") or (program == "git" and given.has("-n") and given.operands[:1] == ["push"]):
        return False
    if program in ("docker", "podman", "nerdctl") and given.has("--push"):
        return True
    if program in _SCRIPTS and (_runs_a_script(given) or (program == "yarn" and given.operands[:1] == ["deploy"])):
        return True
    if program in _TASKS and any(word.rpartition(":")[2].startswith(_TASKS[program]) for word in given.operands):
        return True
    return any(_leads(given, phrase) for phrase in _SENDING.get(program, ()))


def _runs_a_script(given: Arguments) -> bool:
    """`npm run deploy`: by what people call it."""
    verb, name = (*given.operands[:2], "", "")[:2]
    return verb in ("run", "run-script") and any(part.startswith(_SAID) for part in name.split(":"))


def _leads(given: Arguments, phrase: str) -> bool:
    """Do the operands begin with these words? What may be a value, and a toolchain such as `+nightly`, is passed."""
    wanted = phrase.split()
    if not wanted:
        return not given.has("--help", "--version", "-h", "-v", "-V")
    for index, word in enumerate(given.operands):
        if word == wanted[0]:
            wanted.pop(0)
            if not wanted:
                return True
        elif index not in given.unsure and not word.startswith("+"):
            return False
    return False
