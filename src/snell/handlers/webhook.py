"""
Webhook hooks: send the event as JSON to a server, which answers with a result.

The request contains no environment, no conversation and no secrets, unless a user's or a policy's hook turns redaction
off. Every request is signed in the form of the Standard Webhooks specification, so that the server can tell who sent
it and can detect a replayed request.
"""

import base64
import binascii
import hashlib
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace

from snell.engine.hook_output import is_json, outcome_of
from snell.handlers.event_json import event_for_others, holds_placeholder
from snell.handlers.waiting import within_limit
from snell.model.context import Context
from snell.model.decision import Failure, Outcome
from snell.model.effects import Allow, Deny, Rewrite
from snell.model.events import Event
from snell.model.hooks import Handler, Hook, Scope
from snell.settings.handler_types import HandlerEntry, HandlerType
from snell.settings.schema import Key
from snell.settings.value_tree import InvalidValueError
from snell.system.deadline import Deadline, FailedError
from snell.system.files import FileError, file_lock, read_capped, write_atomically
from snell.system.json_output import json_bytes

if TYPE_CHECKING:
    from snell.system.address_policy import Target
    from snell.system.http_client import Call

LONGEST_REPLY = 64 * 1024
_LONGEST_SECRET = 4_096
# Hooks of these layers may call loopback and may send unredacted text; hooks of a repository or a plugin may not.
_OWN_LAYERS = ("policy", "user", "run time")


class Webhook(Handler, frozen=True):
    kind: ClassVar[str] = "webhook"
    compared_by: ClassVar[tuple[str, ...]] = ("url",)

    url: str
    method: str = "POST"
    headers: Mapping[str, str] = {}
    allowed_env: tuple[str, ...] = ()
    redact: bool = True
    secret_env: str = ""  # the variable with the secret that requests are signed with; empty = the user's own secret


def _parse(entry: HandlerEntry) -> Handler:
    layer = entry.state.layer
    if entry.values.get("redact") is False and layer not in ("policy", "user"):
        advice = "move the hook to your own settings, or remove the key"
        raise InvalidValueError(f"`redact = false` is not for {layer} settings", entry.line_of("redact"), advice)
    webhook = TYPE.build(entry)
    assert isinstance(webhook, Webhook)
    if why := _refused_variable(webhook):
        # The hook stays: it fails when it runs, and its failure policy decides.
        entry.state.add_problem(entry.line_of("headers"), why)
    return webhook


def _refused_variable(webhook: Webhook) -> str:
    """Return what is wrong with a header that uses a variable outside `allowed_env`; empty if there is none."""
    for header, value in webhook.headers.items():
        for name in (braced or plain for braced, plain in _NAME.findall(value)):
            if name not in webhook.allowed_env:
                return f'header `{header}` uses `{name}`, which is not in `allowed_env`; add `allowed_env = ["{name}"]`'
    return ""


TYPE = HandlerType(
    name="webhook",
    help="an HTTP endpoint",
    settings=Webhook,
    keys=(
        Key("url", "text", "the address for the event", is_required=True),
        Key("method", "method", "the HTTP method", default="POST", choices=("POST", "PUT")),
        Key("headers", "texts by name", "headers; `${NAME}` is filled in from `allowed_env`"),
        Key("allowed_env", "texts", "environment variables that headers may use", aliases=("allowed_env_vars",)),
        Key("secret_env", "text", "the variable with the secret to sign with; absent = your own", default=""),
        Key(
            "redact", "flag", "remove secrets from the request; may be off only in user and policy files", default=True
        ),
    ),
    default_timeout=30.0,
    aliases=("http",),
    identified_by=("url",),
    parse=_parse,
    extra="http",
    waits_for_network=True,
)


@within_limit
def run(hook: Hook, event: Event, context: Context, deadline: Deadline) -> Outcome:
    webhook, is_own = hook.handler, hook.scope is Scope.POLICY or hook.source.layer in _OWN_LAYERS
    assert isinstance(webhook, Webhook)
    if why := _refused_variable(webhook):  # else an empty token would be sent
        return Outcome(failure=Failure("launch", why))
    is_redacted = webhook.redact or not is_own
    try:
        body = json_bytes(event_for_others(event, redact=is_redacted))
        text = _exchange(webhook, body, context, deadline, may_call_loopback=is_own)
    except FailedError as error:
        denies = hook.exit_code_mode == "strict" and error.kind != "timeout"  # as with exit codes
        return Outcome(effects=(Deny(str(error)),) if denies else (), failure=Failure(error.kind, str(error)))
    return _answer(text, event, is_redacted)


def _exchange(webhook: Webhook, body: bytes, context: Context, deadline: Deadline, *, may_call_loopback: bool) -> bytes:
    from snell.system.address_policy import RefusedError, check_url  # slow to import
    from snell.system.http_client import require_http_library, resolver, send_request

    require_http_library()
    hosts = context.settings.webhook_hosts
    try:
        target = check_url(webhook.url, loopback=may_call_loopback, allowed=hosts, resolve=resolver(deadline))
    except RefusedError as error:
        raise FailedError("launch", f"the address may not be called: {error}") from None
    with send_request(_call(webhook, target, body, context), deadline) as response:
        text = response.read_all(LONGEST_REPLY)
        if not 200 <= response.status < 300:
            raise FailedError("output", f"{target.authority} answered with status {response.status}")
    return text


def _answer(body: bytes, event: Event, is_redacted: bool) -> Outcome:
    text = body.decode("utf-8", "replace")
    if text.strip() and not is_json(text) and text.strip() not in ('"Continue"', '"Reject"'):
        return Outcome(failure=Failure("output", "the answer is not a JSON object"))
    outcome = outcome_of(text, event)
    if is_redacted and any(
        isinstance(effect, Rewrite) and holds_placeholder(effect.value) for effect in outcome.effects
    ):
        # The server allowed the rewritten call, which will not run.
        kept = tuple(effect for effect in outcome.effects if not isinstance(effect, Rewrite | Allow))
        why = "the rewrite holds a placeholder of something that was redacted; it would destroy the true value"
        return replace(outcome, effects=kept, failure=outcome.failure or Failure("rewrite", why))
    return outcome


def _call(webhook: Webhook, target: "Target", body: bytes, context: Context) -> "Call":
    from snell.system.http_client import Call

    own = {name.lower(): _fill_variables(value, context) for name, value in webhook.headers.items()}
    kept = {name: value for name, value in own.items() if _HEADER.fullmatch(name) and name not in _RESERVED}
    given = {"content-type": "application/json", "accept": "application/json", **kept}
    return Call(webhook.method, target, {**given, **_signature_headers(webhook, body, context)}, body)


_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_RESERVED = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding", "upgrade", "te"})
_NAME = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Z_][A-Z0-9_]*))")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def _fill_variables(value: str, context: Context) -> str:
    """Fill the variables in; no value can begin a new header."""
    return _CONTROL.sub("", _NAME.sub(lambda found: context.env.get(found[1] or found[2], ""), value)).strip()


def _signature_headers(webhook: Webhook, body: bytes, context: Context) -> dict[str, str]:
    import hmac  # slow to import

    key = _key(webhook, context)
    if not key:
        return {}
    name, now = f"msg_{os.urandom(12).hex()}", str(int(time.time()))
    digest = hmac.new(key, b".".join((name.encode(), now.encode(), body)), hashlib.sha256).digest()
    signature = base64.b64encode(digest).decode("ascii")
    return {"webhook-id": name, "webhook-timestamp": now, "webhook-signature": f"v1,{signature}"}


def _key(webhook: Webhook, context: Context) -> bytes:
    """Return the hook's own secret, else the user's, which is created on first use. Raises FailedError."""
    if name := webhook.secret_env:
        secret, where = context.env.get(name, ""), f"`{name}`"
        if not secret:
            raise FailedError("launch", f"`{name}`, the secret to sign with, is not set")
    elif context.settings.config:
        path = Path(context.settings.config) / "webhook-secret"
        where = f"`{path}`"
        try:
            secret = _read_or_create(path)
        except (OSError, FileError, UnicodeDecodeError) as error:
            raise FailedError("launch", f"the secret in {where} cannot be read: {error}") from None
    else:
        return b""
    if key := _decode(secret):
        return key
    raise FailedError("launch", f"the secret in {where} is empty; nothing can be signed with it")


def _read_or_create(path: Path) -> str:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Without the lock, one of two processes could sign with a secret that the other one overwrites.
        with file_lock(path.with_name(f".{path.name}.lock")):
            if not path.exists():
                made = f"whsec_{base64.b64encode(os.urandom(32)).decode('ascii')}\n"
                write_atomically(path, made.encode("ascii"))
    return read_capped(path, _LONGEST_SECRET).decode("ascii").strip()


def _decode(secret: str) -> bytes:
    if not secret.startswith("whsec_"):
        return secret.encode("utf-8")
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        return secret.encode("utf-8")
