"""List what the sessions of the clients have used, by their transcripts."""

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

from msgspec import Struct

from snell.cli.terminal import Colours, align, plural, print_json, visible
from snell.clients import canonical_name, client_named
from snell.conversations import READERS, files_of
from snell.conversations.claude_code import files_of_session
from snell.conversations.record import duration_ms
from snell.setup.plan import Site
from snell.system.transcripts import is_readable
from snell.usage.answers import Tokens
from snell.usage.session import count

SHOWN = 30
_HEADINGS = ("session", "client", "model", "in", "out", "cached", "cache written", "spent")


class SessionUsage(Struct, frozen=True):
    client: str
    session: str
    model: str
    tokens: Tokens

    def as_row(self) -> dict[str, Any]:
        return {"client": self.client, "session": self.session, "model": self.model, **figures(self.tokens)}


def run(args: argparse.Namespace) -> int:
    client = canonical_name(args.client) if args.client else ""
    if client:
        client_named(client)
    site, since = Site.here(dict(os.environ), Path.cwd()), int(time.time() * 1000) - duration_ms(args.since)
    found = [each for each in sessions_of(client, site, since) if each.session.startswith(args.session)]
    if args.json:
        print_json({"sessions": [each.as_row() for each in found], "total": figures(total_of(found))})
    else:
        print("\n".join(_lines(found, args.session, Colours.for_stdout())))  # noqa: T201 - a command prints its report
    return 0


def sessions_of(client: str, site: Site, since: int) -> Iterator[SessionUsage]:
    """Yield each session in files that changed since then; what a session copied from another one counts once."""
    for name in [client] if client else READERS:
        known: set[str] = set()
        for path in files_of(name, site, since) if name in READERS else ():
            if is_readable(str(path)):
                yield _session(name, path, known)


def _session(client: str, path: Path, known: set[str]) -> SessionUsage:
    tokens, model = Tokens(), ""
    for file in files_of_session(path):
        counted = count(file)
        tokens, model = tokens.plus(counted.tokens), model or counted.model
        for key in known & counted.answers.keys():
            tokens = tokens.plus(counted.answers[key], -1)
        known.update(counted.answers)
    return SessionUsage(client, _session_id(client, path), model, tokens)


def _session_id(client: str, path: Path) -> str:
    """Return the id of a session: mostly the name of its file, for some clients that of its folder."""
    if client == "copilot" or (client == "qwen" and path.stem.startswith("agent-")):
        return path.parent.name
    if client == "kimi":
        return path.parents[2].name
    return path.stem[-36:] if client == "codex" else path.stem


def total_of(sessions: Sequence[SessionUsage]) -> Tokens:
    return reduce(Tokens.plus, (each.tokens for each in sessions), Tokens())


def figures(tokens: Tokens) -> dict[str, int]:
    """Return the numbers by the names that they have in hooks."""
    return {
        "tokens_in": tokens.read,
        "tokens_out": tokens.written,
        "tokens_cached": tokens.cached,
        "cache_written": tokens.cache_written,
        "tokens_spent": tokens.total - tokens.cached,
    }


def _lines(found: Sequence[SessionUsage], wanted: str, paint: Colours) -> Iterator[str]:
    counted = sorted((each for each in found if each.tokens.total), key=lambda each: -each.tokens.total)
    if not counted:
        which = f"session `{visible(wanted)}`" if wanted else "session of that time"
        yield f"no {which} has a transcript with counts of tokens; `--since` looks further back"
        return
    rows = [[each.session[:8], each.client.replace("_", "-"), each.model, *_cells(each.tokens)] for each in counted]
    rows = [[visible(cell) for cell in row] for row in rows[:SHOWN]]
    lines = align([list(_HEADINGS), *rows, ["total", "", "", *_cells(total_of(counted))]])
    yield from (paint.bold(line) if number == 0 else line for number, line in enumerate(lines))
    if len(counted) > SHOWN:
        yield f"and {plural(len(counted) - SHOWN, 'session')} more: `--json` lists all"


def _cells(tokens: Tokens) -> list[str]:
    return [f"{each:,}" for each in figures(tokens).values()]
