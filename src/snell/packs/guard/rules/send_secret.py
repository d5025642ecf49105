"""
Stop commands that send secrets to another machine.

This covers private keys, credentials files, `.env` files and the environment, sent with `curl`, `nc`, `scp`, `rsync`,
`ssh`, a DNS lookup or a mail: directly, through a pipe, a variable, a copy or an archive.
"""

import re
from collections.abc import Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.known_names import names, pattern
from snell.packs.guard.known_values import ARCHIVE, ENVIRONMENT, PRIVATE, SECRET, UNKNOWN, Value
from snell.packs.guard.path_classes import (
    ABOVE,
    BUILD,
    HOME,
    HOME_PART,
    PROJECT_ROOT,
    ROOT,
    TEMP,
    Workspace,
    classify_path,
)
from snell.packs.guard.rule import WRITES_APART, Finding, Rule, Trigger
from snell.packs.guard.sensitive_files import is_private, is_secret_folder, secret_name
from snell.packs.guard.shell.network_transfers import foreign_key, is_local, sendings
from snell.packs.guard.shell.shell_state import Step
from snell.shell.arguments import arguments_of
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="send-secret",
    family="exfiltration",
    instead="send only what is needed, without keys, tokens or environment; the user can send the rest",
)

_HTTP = names("http_clients")
_PIPES = names("sending_programs")
_COPIES = name_set("scp rsync sftp rclone gsutil croc wormhole magic-wormhole aws gcloud az s3cmd mc b2 transfer")
_LOOKUPS = frozenset(("dig", "nslookup", "host", "drill", "ping", "getent"))
_TAR_VARIABLES = ("TAR_OPTIONS", "TAPE")
_REMOTE = lazy_regex(r"^(?:[\w.-]+@)?[\w.-]+:(?!\\)|^\w+://|^s3:|^gs:|^rsync:")
_HEADER = lazy_regex(r"authorization|token|api[-_]?key|cookie")


_TARS = frozenset(("tar", "gtar", "bsdtar"))
_FORGES = frozenset(("gh", "glab", "az", "gcloud"))
TRIGGER = Trigger(programs=_HTTP | _PIPES | _LOOKUPS | _TARS | _FORGES | _COPIES, traits=WRITES_APART)


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    what = _sent_by_program(step, workspace)
    if not what and step.program in _COPIES:
        what = _sent_copies(step, workspace)
    if not what and step.touched:
        what = _sent_files(step)
    if not what and any(path.startswith(("/dev/tcp/", "/dev/udp/")) for path in step.writes):
        what = _secret((step.output,)) or ("an archive" if step.output.has(ARCHIVE) else "")
    if what.startswith("?"):
        yield RULE.ask(f"it sends {what[1:]} to another machine")
    elif what:
        yield RULE.deny(f"it sends a secret to another machine: `{what}`")


def _sent_by_program(step: Step, workspace: Workspace) -> str:
    """Say what the step sends; with a leading `?`, something that may hold a secret."""
    if step.program in _HTTP:
        return _over_http(step, workspace)
    if step.program in _PIPES and (step.program != "openssl" or "s_client" in step.args):
        return _through_pipe(step, workspace)
    if step.program in _LOOKUPS:
        return _secret(step.words[1:]) or _in_host_name(step)
    if step.program in _TARS:
        return _tar(step, workspace)
    if step.program in _FORGES and {"create", "upload", "comment", "edit", "cp", "api"} & set(step.args):
        given = [arg.partition("=")[2] if arg.startswith("--") else arg for arg in step.args]
        given += [arg.partition("=@")[2] for arg in step.args]
        secrets = (secret_name(workspace.absolute(arg), workspace.home) for arg in given if arg)
        is_note = not {"gist", "snippet"}.isdisjoint(step.args)
        often = next(filter(_OFTEN.search, given), "") if is_note else ""
        return next(filter(None, secrets), f"?`{often}`, which often holds passwords," if often else "")
    return ""


_OFTEN = pattern("often_holds_passwords")


def _sent_files(step: Step) -> str:
    """Say which file with a secret, made by this line or session, is sent."""
    is_cloud = step.program in ("aws", "gcloud", "az")
    sends = step.program in _HTTP | _PIPES | _COPIES and not is_local(step.args[-1] if step.args else "")
    if not sends or (is_cloud and not {"cp", "mv", "sync", "upload", "copy"} & set(step.args)):
        return ""
    touched = Value("", step.touched)
    return _secret((touched,)) or ("?an archive of complete folders" if touched.has(ARCHIVE) else "")


def _secret(values: tuple[Value, ...]) -> str:
    for value in values:
        for label in (SECRET, ENVIRONMENT, PRIVATE):
            if value.has(label):
                return value.detail(label) or label
    return ""


def _over_http(step: Step, workspace: Workspace) -> str:
    sending = sendings(step.program, step.words)
    if is_local(sending.host):
        return ""
    bodies = tuple(value for value in sending.words if not _HEADER.search(value.text.lower()) and not _is_login(value))
    found = _secret(bodies) or _secret_file(sending.files, workspace) or foreign_key(sending)
    if found:
        return found
    if dump := next(filter(_DUMP.search, sending.files), ""):
        return f"?`{dump}`, which looks like the data of a database,"
    named = next((value for value in sending.words if re.match(r"(?:\w+://)?[\w.-]+[./]", value.text)), None)
    if named is not None and named.detail("output") in ("whoami", "id", "hostname", "uname", *_ENCODERS):
        return f"?the output of `{named.detail('output')}`, as part of an address,"
    settings = step.stdin.text if step.stdin is not None and "-" in sending.files else ""  # `curl -K -`
    if found := _secret_file(tuple(_NAMED_FILE.findall(settings)), workspace):
        return found
    takes_stdin = any(
        value.text in ("-", ".", "@/dev/stdin") or value.text.endswith(("@-", "<-")) for value in sending.words
    )
    if step.stdin is not None and (takes_stdin or step.program in ("http", "https", "xh")):
        return _secret((step.stdin,)) or ("?an archive of complete folders" if step.stdin.has(ARCHIVE) else "")
    return ""


_ENCODERS = ("base64", "base32", "xxd")
_NAMED_FILE = lazy_regex(r"(?m)^\s*-*(?:data|upload-file|form|T|d|F)[\w-]*[\s=:]+[\"']?(?:[^@\s]*@)?([^\s\"']+)")
_DUMP = lazy_regex(r"\.(?:sql|dump|bak|sqlite3?|db|mdb|rdb)(?:\.(?:gz|xz|zst|bz2|zip|enc|gpg))?$", re.IGNORECASE)


def _in_host_name(step: Step) -> str:
    """Judge `dig $(whoami).x.example`, where output of a program becomes part of the name."""
    for word in step.words[1:]:
        if re.search(rf"{UNKNOWN}\.[\w.-]*[a-z]", word.text) and word.has("output"):
            return "?the output of a command, as part of a host name,"
    return ""


def _is_login(value: Value) -> bool:
    """Tell whether the value is a login such as `-u user:$TOKEN`, which is how services are used."""
    return (
        ":" in value.text
        and not value.text.startswith(("http", "{"))
        and ": " not in value.text
        and value.has(SECRET)
        and "$" in value.detail(SECRET)
    )


def _secret_file(paths: tuple[str, ...], workspace: Workspace) -> str:
    for path in paths:
        absolute = workspace.absolute(path)
        folder = path.rpartition("/")[0] if "*" in path.rpartition("/")[2] else path
        found = secret_name(absolute, workspace.home) or (
            path if is_secret_folder(folder) or is_private(absolute) else ""
        )
        if found:
            return found
    return ""


def _through_pipe(step: Step, workspace: Workspace) -> str:
    given = (step.stdin,) if step.stdin is not None else ()
    found = _secret((*given, *(word for word in step.words[1:] if not _HEADER.search(word.text.lower()))))
    if found or step.program == "ssh":
        return found
    if step.stdin is not None and step.stdin.has(ARCHIVE):
        return "an archive or a complete database" if _is_bare(step) else "?an archive of complete folders"
    typed = step.stdin.text if step.stdin is not None and step.program in _SCRIPTED else ""
    for part in re.split(r"[\s,:;]+", " ".join((*step.args, typed))):
        secret = secret_name(workspace.absolute(part), workspace.home) if part else ""
        if secret:
            return secret
    return _sent_folder(" ".join((*step.args, typed)), workspace) if step.program in _SCRIPTED else ""


_SCRIPTED = name_set("ftp lftp sftp smbclient tftp ncftpput wput")
_SENT_BY_SCRIPT = lazy_regex(
    r"\b(?:m?put|reput|send|append|lcd|mirror\s+(?:-\w*R\w*|--reverse))\s+(?:-\S+\s+)*([^\s;'\"]+)"
)


def _sent_folder(script: str, workspace: Workspace) -> str:
    """Return the folder of a person, or the project, that a script of such a client uploads."""
    for name in _SENT_BY_SCRIPT.findall(script):
        name = workspace.home + name[1:] if name.startswith("~") else name
        path = workspace.absolute(name.removesuffix("*").rstrip("/") or "/")
        place = classify_path(path, workspace)
        if place in (ROOT, HOME, ABOVE, HOME_PART, PROJECT_ROOT):
            return f"?{place}" if place == PROJECT_ROOT else place
    return ""


_BARE = name_set("nc ncat netcat socat telnet")


def _is_bare(step: Step) -> bool:
    """Tell whether data goes to another machine over a connection without a login."""
    return step.program in _BARE and not any(map(is_local, step.args))


def _sent_copies(step: Step, workspace: Workspace) -> str:
    given = arguments_of(
        "", step.args, "-i -P -F -o -e --rsh -l -c -J --exclude --include --profile --region --password-file"
    )
    if step.program in ("scp", "rsync") and not any(_REMOTE.match(operand) for operand in given.operands[-1:]):
        return ""
    if step.program in ("aws", "gcloud", "az", "s3cmd", "gsutil", "rclone") and not any(
        _REMOTE.match(word) for word in given.operands
    ):
        return ""
    sources = given.operands[:-1] if step.program in ("scp", "rsync") else given.operands
    local = tuple(source for source in sources if not _REMOTE.match(source))
    return _secret_file(local, workspace) or _secret(step.words[1:]) or _complete_folder(step, local, workspace)


def _complete_folder(step: Step, sources: tuple[str, ...], workspace: Workspace) -> str:
    """Judge `scp -r` and `rsync -a` of a folder that is no build output; its content is unknown."""
    given = arguments_of(step.program, step.args)
    if step.program not in ("scp", "rsync") or given.has("-n", "--dry-run"):
        return ""
    if given.has("--files-from"):
        return "?all files of a list"
    if not given.has("-r", "-a", "--recursive", "--archive"):
        return ""
    folders = [name for name in sources if classify_path(workspace.absolute(name), workspace) not in (BUILD, TEMP)]
    return next((f"?the complete folder `{name}`" for name in folders if "." not in name.strip("./")), "")


def _tar(step: Step, workspace: Workspace) -> str:
    options = " ".join(value for name, value in step.env if name in _TAR_VARIABLES)
    words = " ".join((options, *step.args))
    if not re.search(r"(?:^|[\s=f])(?:[\w.-]+@)?[\w-]+\.[\w.-]+:/", words):
        return ""
    return _secret_file(tuple(arg for arg in step.args if not arg.startswith("-")), workspace) or "?an archive"
