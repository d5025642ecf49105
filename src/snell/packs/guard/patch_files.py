"""The files that a patch names, with the text that it adds to each."""

from snell.system.lazy_regex import lazy_regex

_FILE = lazy_regex(r"^(?:\*\*\* (?:Add File|Update File|Delete File|Move to): |\+\+\+ (?:b/)?)(\S.*?)\s*$")
MOST_LINES = 20_000


def text_by_file(text: str) -> dict[str, str]:
    """Of `*** Add File: name` patches and of unified ones; a text that is no patch names nothing."""
    if "*** " not in text and "+++ " not in text:
        return {}
    added, path = dict[str, list[str]](), ""
    for line in text.split("\n", MOST_LINES)[:MOST_LINES]:
        named = _FILE.match(line)
        if named:
            path = named[1].partition("\t")[0]
            added.setdefault(path, [])
        elif path and line.startswith("+"):
            added[path].append(line[1:])
    return {path: "\n".join(lines) for path, lines in added.items() if path != "/dev/null"}
