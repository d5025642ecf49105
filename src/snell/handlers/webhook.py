"""
Webhook hooks: a server that gets the event as JSON and answers with a result.

What leaves this machine holds no environment, no conversation and, unless a user's or a policy's hook wants it, no
secrets. Every request is signed in the form of the Standard Webhooks specification, so that a server can tell who
asks and that nobody repeats an old request.
"""

import base64
import binascii
import hashlib
import hmac
import os
import re
import time
from pathlib import Path

from msgspec.structs import replace

from snell.engine.hook_output import is_json, outcome_of
from snell.handlers.event_json import event_for_others, holds_placeholder
from snell.model.context import Context
from snell.model.decision import Failure, Outcome
from snell.model.effects import Allow, Deny, Effect, Rewrite
from snell.model.events import Event
from snell.model.hooks import Hook, Scope, Webhook
from snell.system.address_policy import RefusedError, Target, check_url
from snell.system.deadline import CancelledError, Deadline, DeadlineExceededError
from snell.system.files import FileError, file_lock, read_capped, write_atomically
from snell.system.http_client import Call, HttpError, require_http_library, resolver, send_request
from snell.system.json_output import json_bytes

LONGEST_REPLY = 64 * 1024
_LONGEST_SECRET = 4_096
# Whose hooks may call loopback and may send what was not redacted: nobody's that came with a repository or a plugin.
_OWN_LAYERS = ("policy", "user", "run time")


def run(hook: Hook, event: Event, context: Context) -> Outcome:
    """Run one webhook."""
    start = time.perf_counter()
    outcome = _run(hook, event, context, Deadline(hook.time_limit, context.cancel))
    return replace(outcome, seconds=time.perf_counter() - start)


def _run(hook: Hook, event: Event, context: Context, deadline: Deadline) -> Outcome:
    webhook = hook.handler
    assert isinstance(webhook, Webhook)
    is_redacted = webhook.redact or not _is_own(hook)
    try:
        require_http_library()
        target = check_url(
            webhook.url,
            loopback=_is_own(hook),
            allowed=context.settings.webhook_hosts,
            resolve=resolver(deadline),
        )
        body = json_bytes(event_for_others(event, redact=is_redacted))
        with send_request(_call(webhook, target, body, context), deadline) as response:
            status, text = response.status, response.read_all(LONGEST_REPLY)
    except RefusedError as error:
        return _failed(hook, "launch", f"the address may not be called: {error}")
    except HttpError as error:
        return _failed(hook, error.kind, str(error))
    except DeadlineExceededError:
        return _failed(hook, "timeout", f"did not answer within {hook.time_limit:g} s")
    except CancelledError:
        return Outcome(failure=Failure("cancelled", "was cancelled"))
    if not 200 <= status < 300:
        return _failed(hook, "output", f"{target.authority} answered with status {status}")
    return _answer(text, event, is_redacted)


def _is_own(hook: Hook) -> bool:
    return hook.scope is Scope.POLICY or hook.source.layer in _OWN_LAYERS


def _failed(hook: Hook, kind: str, message: str) -> Outcome:
    """A failure; in strict mode a refusal too, as with exit codes."""
    refusal: tuple[Effect, ...] = (Deny(message),) if hook.exit_code_mode == "strict" and kind != "timeout" else ()
    return Outcome(effects=refusal, failure=Failure(kind, message))


def _answer(body: bytes, event: Event, is_redacted: bool) -> Outcome:
    text = body.decode("utf-8", "replace")
    if text.strip() and not is_json(text) and text.strip() not in ('"Continue"', '"Reject"'):
        return Outcome(failure=Failure("output", "the answer is not a JSON object"))
    outcome = outcome_of(text, event)
    if is_redacted and any(
        isinstance(effect, Rewrite) and holds_placeholder(effect.value) for effect in outcome.effects
    ):
        # An allow was meant for what would have run then, not for what runs now.
        kept = tuple(effect for effect in outcome.effects if not isinstance(effect, Rewrite | Allow))
        why = "the rewrite holds a placeholder of something that was redacted; it would destroy the true value"
        return replace(outcome, effects=kept, failure=outcome.failure or Failure("rewrite", why))
    return outcome


def _call(webhook: Webhook, target: Target, body: bytes, context: Context) -> Call:
    own = {name.lower(): _filled(value, webhook, context) for name, value in webhook.headers.items()}
    kept = {name: value for name, value in own.items() if _HEADER.fullmatch(name) and name not in _OURS}
    given = {"content-type": "application/json", "accept": "application/json", **kept}
    return Call(webhook.method, target, {**given, **_signed(webhook, body, context)}, body)


_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding", "upgrade", "te"})
_NAME = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Z_][A-Z0-9_]*))")
_BREAKS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def _filled(value: str, webhook: Webhook, context: Context) -> str:
    """The header with its variables; one that was not granted is empty, and nothing can begin a new line."""

    def value_of(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return context.env.get(name, "") if name in webhook.allowed_env else ""

    return _BREAKS.sub("", _NAME.sub(value_of, value)).strip()


def _signed(webhook: Webhook, body: bytes, context: Context) -> dict[str, str]:
    key = _key(webhook, context)
    if not key:
        return {}
    name, now = f"msg_{os.urandom(12).hex()}", str(int(time.time()))
    digest = hmac.new(key, b".".join((name.encode(), now.encode(), body)), hashlib.sha256).digest()
    signature = base64.b64encode(digest).decode("ascii")
    return {"webhook-id": name, "webhook-timestamp": now, "webhook-signature": f"v1,{signature}"}


def _key(webhook: Webhook, context: Context) -> bytes:
    """The hook's own secret, else the user's, which is made when it is first needed."""
    if webhook.secret_env:
        secret = context.env.get(webhook.secret_env, "")
        if not secret:
            raise HttpError("launch", f"`{webhook.secret_env}`, the secret to sign with, is not set")
        return _decoded(secret, f"`{webhook.secret_env}`")
    if not context.settings.config:
        return b""
    path = Path(context.settings.config) / "webhook-secret"
    try:
        found = _read_or_made(path)
    except (OSError, FileError, UnicodeDecodeError) as error:
        raise HttpError("launch", f"the secret in `{path}` cannot be read: {error}") from None
    return _decoded(found, f"`{path}`")


def _read_or_made(path: Path) -> str:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with file_lock(
            path.with_name(f".{path.name}.lock")
        ):  # or of two who make one, one would sign with what is lost
            if not path.exists():
                made = f"whsec_{base64.b64encode(os.urandom(32)).decode('ascii')}\n"
                write_atomically(path, made.encode("ascii"))
    return read_capped(path, _LONGEST_SECRET).decode("ascii").strip()


def _decoded(secret: str, where: str) -> bytes:
    key = _bytes_of(secret)
    if not key:
        raise HttpError("launch", f"the secret in {where} is empty; nothing can be signed with it")
    return key


def _bytes_of(secret: str) -> bytes:
    if not secret.startswith("whsec_"):
        return secret.encode("utf-8")
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        return secret.encode("utf-8")
