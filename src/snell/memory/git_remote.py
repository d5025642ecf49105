"""Derive a project's name from its git remote: the same for every clone of a repository, on every machine."""

import re

_SCP = re.compile(r"(?:[\w.+-]+@)?([\w.-]+):(?!//)(.+)\Z")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^@/]*@)?([^/:]+|\[[^\]]+\])(?::(\d+))?/+(.+)\Z", re.IGNORECASE)
_DEFAULT_PORTS = {"22", "80", "443", "9418"}


def project_of_remote(url: str) -> str:
    """
    Return `host/owner/name` from any notation of a repository's address; empty when it has no host.

    The user, a default port, `.git`, a slash at the end and the case are ignored.
    """
    url = url.strip()
    if match := _URL.match(url):
        host, port, path = match.groups()
    elif (match := _SCP.match(url)) and len(match.group(1)) > 1:  # one letter is a drive
        host, path = match.groups()
        port = None
    else:
        return ""
    place = f"{host}:{port}" if port and port not in _DEFAULT_PORTS else host
    path = path.split("?")[0].split("#")[0].strip("/").removesuffix(".git").strip("/")
    return re.sub(r"/+", "/", f"{place}/{path.removeprefix('~/')}").lower() if path else ""


def origin_in(config: str) -> str:
    """Return the address of `origin` in the text of a git configuration, else of the first remote."""
    found: dict[str, str] = {}
    remote = ""
    for line in config.splitlines():
        if heading := re.match(r'\s*\[remote "([^"]+)"\]', line):
            remote = heading.group(1)
        elif line.lstrip().startswith("["):
            remote = ""
        elif remote and (value := re.match(r"\s*url\s*=\s*(\S+)", line)):
            found.setdefault(remote, value.group(1))
    return found.get("origin") or next(iter(found.values()), "")
