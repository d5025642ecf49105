"""Does a command reach beyond this machine? Read from its words: which verb, wherever it stands, and which method."""

from typing import Literal

from snell.kit.shell_given import Given
from snell.kit.shell_parts import Command

Remote = Literal["sends", "looks", "neither"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_REMOTE = _names("ssh sftp ftp mail mailx sendmail mutt msmtp nc ncat telnet lftp swaks ansible ansible-playbook")
# Sub-commands that send something. A phrase has to lead the operands.
_SENDING = {
    "git": ("push", "send-email", "imap-send", "svn dcommit", "lfs push", "p4 submit"),
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
    "goreleaser": ("release", "publish"), "svn": ("commit", "ci", "delete", "mkdir"), "hg": ("push",),
}  # fmt: skip
_SENDING["podman"] = _SENDING["nerdctl"] = _SENDING["docker"]
_SENDING["tofu"] = _SENDING["terraform"]
# Builders whose tasks may stand in any order: how the last part of a task's name begins.
_TASKS = {"mvn": ("deploy", "perform"), "mvnw": ("deploy", "perform"), "gradle": ("publish",), "gradlew": ("publish",)}
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
_DATA = ("-d", "-F", "-T", "--data", "--data-raw", "--data-binary", "--data-ascii", "--data-urlencode", "--form",
         "--form-string", "--json", "--upload-file")  # fmt: skip


def remote(command: Command, given: Given) -> Remote:
    """Whether the command sends something, only looks at what is elsewhere, or has nothing to do with elsewhere."""
    program = command.program
    if program in _REMOTE:
        return "sends"
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


def _copies_away(program: str, given: Given) -> bool:
    if program == "rsync" and given.has("-n", "--dry-run"):
        return False
    return any(":" in word.split("/")[0] for word in given.operands[-1:])


def _curl(given: Given) -> bool:
    if given.has("-K", "--config", "-Q", "--quote"):
        return True  # what is in there is not known, or is a command of the server's own
    method = given.value("-X", "--request").upper()
    if method:
        return method not in _METHODS_THAT_LOOK
    return given.has(*_DATA) and not (given.has("-G", "--get") and not given.has("-T", "--upload-file"))


def _wget(given: Given) -> bool:
    method = given.value("--method").upper()
    if method:
        return method not in _METHODS_THAT_LOOK
    return given.has("--post-data", "--post-file", "--body-data", "--body-file")


def _httpie(given: Given) -> bool:
    first = given.operands[0] if given.operands else ""
    if first.isalpha() and first.isupper():
        return first not in _METHODS_THAT_LOOK
    fields = (word for word in given.operands[1:] if "==" not in word)  # `==` is a part of the address
    return given.has("-f", "--form", "--multipart", "--raw") or any("=" in word or "@" in word for word in fields)


_WEB = {"curl": _curl, "wget": _wget, "http": _httpie, "https": _httpie, "xh": _httpie}


def _gh(given: Given) -> Remote:
    if "api" in given.operands[:1]:
        method = given.value("-X", "--method").upper()
        has_fields = given.has("-f", "-F", "--field", "--raw-field", "--input")
        return "sends" if (method not in _METHODS_THAT_LOOK if method else has_fields) else "looks"
    verbs = _first_words(given, 2)
    group = next((word for index, word in enumerate(verbs) if index not in given.unsure), "")
    if any(word in _GH_CHANGING for word in verbs if word != group):
        return "sends"
    return "looks" if verbs and verbs[-1] in _GH_LOOKING else "neither"


def _first_words(given: Given, most: int) -> list[str]:
    """The leading operands; those that may be the value of an option are there too, and do not count."""
    found, counted = [], 0
    for index, word in enumerate(given.operands):
        if counted == most:
            break
        found.append(word)
        counted += index not in given.unsure
    return found


def _cloud(program: str, given: Given) -> Remote:
    """The first word that is a verb decides; the names of things come after it."""
    if not given.operands:
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


def _download(given: Given) -> Remote:
    """From a bucket to this machine."""
    here = given.operands[-1]
    is_remote = "://" in here or ":" in here.split("/")[0]
    return "sends" if is_remote or "mv" in given.operands else "neither"


def _kubectl(program: str, given: Given) -> Remote:
    if not given.operands:
        return "looks"
    dry = given.value("--dry-run") in ("client", "server") or ("--dry-run", "") in given.options
    if dry or any(_leads(given, phrase) for phrase in _KUBE_PHRASES):
        return "looks"
    if given.operands[0] == "config":
        return "neither"
    sure = next((word for index, word in enumerate(given.operands) if index not in given.unsure), "")
    return "looks" if sure in _LOOKING_AFAR[program] else "sends"


def _is_sending(program: str, given: Given) -> bool:
    if given.has("--dry-run") or (program == "git" and given.has("-n") and given.operands[:1] == ["push"]):
        return False
    if program in ("docker", "podman", "nerdctl") and given.has("--push"):
        return True
    if program in _TASKS:
        return any(word.rpartition(":")[2].startswith(_TASKS[program]) for word in given.operands)
    return any(_leads(given, phrase) for phrase in _SENDING.get(program, ()))


def _leads(given: Given, phrase: str) -> bool:
    """Do the operands begin with these words? What may be a value, and a toolchain such as `+nightly`, is passed."""
    wanted = phrase.split()
    for index, word in enumerate(given.operands):
        if word == wanted[0]:
            wanted.pop(0)
            if not wanted:
                return True
        elif index not in given.unsure and not word.startswith("+"):
            return False
    return False
