"""
Make the table of what `snell-hook` answers when no decision is possible, from the client tables.

`snell-hook` itself reads no JSON and starts without Snell, so what each client takes for a refusal, and for no opinion,
is written into it when it is built. Names are in lower case and without separators.
"""

from collections import defaultdict

from snell.clients import ALIASES, CLIENTS, canonical_event, client_named
from snell.model.catalogue import CATALOGUE, OTHER_NAMES, can_be_refused
from snell.system.event_name import EVENT_KEYS

REASON = "@REASON@"
HEAD = """\
# What `snell-hook` says when nothing can decide. Written by `python3 dev.py docs` from the tables of the clients.
# First the keys that name an event in payloads. Then columns with a tab between them: clients; events (* = every other
# one); 1 where an exit code other than 0 and 2 is a failed hook that changes nothing; refusal (- = never refused,
# exit 2 = by exit code and a reason on stderr); no opinion.
"""

Row = tuple[str, str, str, str]  # events, takes other exit codes, refusal, no opinion


def shim_forms() -> str:
    clients: dict[tuple[Row, ...], list[str]] = defaultdict(list)
    for name in CLIENTS:
        clients[_rows(name)] += [_folded(each) for each in (name, *(a for a, of in ALIASES.items() if of == name))]
    keys = "\t".join(("keys of events", " ".join(EVENT_KEYS)))
    lines = ("\t".join((" ".join(dict.fromkeys(names)), *row)) for rows, names in clients.items() for row in rows)
    return HEAD + "".join(f"{line}\n" for line in (keys, *lines))


def _rows(name: str) -> tuple[Row, ...]:
    """Return one row for all events with the same answers; the row for unknown events comes last."""
    events: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    seen: set[str] = set()
    for event in _events(name):
        if _folded(event) not in seen:  # two spellings of one name differ in what else they take, not in refusals
            events[_form(name, event)].append(_folded(event))
        seen.add(_folded(event))
    usual = _form(name, "")
    rows = [(" ".join(dict.fromkeys(named)), *form) for form, named in events.items() if form != usual]
    return (*rows, ("*", *usual))


def _events(name: str) -> list[str]:
    table = client_named(name).table
    own = (*table.events, *table.answers) if table else ()
    return [*CATALOGUE, *OTHER_NAMES, *own]


def _form(name: str, event: str) -> tuple[str, str, str]:
    client = client_named(name)
    refused, neutral = (client.encode_failure(event, REASON, blocks=blocks) for blocks in (True, False))
    refusal = "exit 2" if refused.exit_code == 2 else refused.stdout.decode().strip()
    is_refused = can_be_refused(canonical_event(client, event)) and refused != neutral
    return str(neutral.exit_code), refusal if is_refused else "-", neutral.stdout.decode().strip()


def _folded(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
