"""Apply the settings `[setup.CLIENT]`, with which a user chooses how set-up writes one client."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from snell.clients import canonical_event, client_named
from snell.model.catalogue import canonical, fold_name
from snell.model.installs import HookForm, Install
from snell.model.protocols import Capabilities
from snell.settings.parse_types import Value


class Choices(Struct, frozen=True):
    """The tables of `setup`: how to write clients, and what further names stand for."""

    clients: Mapping[str, Mapping[str, Any]] = {}  # by the client's name
    meanings: Mapping[str, str] = {}  # a name as it may be typed, folded -> the client's name

    def client_for(self, name: str) -> str:
        """Return the client that a typed name stands for: the user's own meaning of it, if there is one."""
        return self.meanings.get(fold_name("".join(name.split())), name)


def choices_in(values: Iterable[Value]) -> Choices:
    """Return the choices of the settings. Raises ClientError for a client that Snell does not know."""
    found = next((value.value for value in values if value.name == "setup"), None) or {}
    clients: dict[str, Mapping[str, Any]] = {}
    meanings = {fold_name(name): client_named(keys["means"]).name for name, keys in found.items() if "means" in keys}
    for name, keys in found.items():
        if "means" not in keys:
            known = client_named(name).name
            clients[known] = {**clients.get(known, {}), **keys}
    return Choices(clients, meanings)


def with_choices(install: Install, choices: Choices) -> Install:
    """Return the set-up of a client as the user chose it."""
    chosen = choices.clients.get(install.name, {})
    if chosen.get("hooks") is False:
        return replace(install, form=None, hooks={}, events=(), since={})
    limits = {canonical(name): seconds for name, seconds in chosen.get("time_limits", {}).items()}
    client = client_named(install.name)
    own = {each: limits[name] for each in install.events if (name := canonical_event(client, each)) in limits}
    form = install.form and _with_loop_limit(install.form, chosen.get("loop_limit"))
    return replace(install, form=form, timeouts={**install.timeouts, **{event: int(own[event]) for event in own}})


def abilities(install: Install) -> Capabilities:
    """Return what the client can do for Snell when it is set up like this: without hooks, it is reached by MCP only."""
    can = client_named(install.name).capabilities
    return can if install.form else replace(can, hooks=False)


def _with_loop_limit(form: HookForm, limit: int | None) -> HookForm:
    """Return the form with this limit on the events whose entries have one."""
    changed = {event: {**keys, "loop_limit": limit} for event, keys in form.more.items() if "loop_limit" in keys}
    return replace(form, more={**form.more, **changed}) if limit else form
