"""OTLP over HTTP: spans and metrics as tables with the field names of the protobuf messages, and one request."""

import hashlib
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from snell.packs.traces.options import Options
from snell.redact import redact
from snell.system.address_policy import RefusedError
from snell.system.deadline import CancelledError, Deadline, DeadlineExceededError
from snell.system.http_client import Call, HttpError, send_request, target_of_user
from snell.system.version import our_version

_NAMES = {"spans": "trace", "metrics": "metrics"}  # of the parts of the protocol

Table = dict[str, Any]


class NotSentError(Exception):
    """A request failed: with an HTTP status, or 0 without an answer."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


def send(kind: str, rows: Sequence[Table], options: Options, deadline: Deadline) -> int:
    """Send `spans` or `metrics` in one request; returns how many spans were refused. Raises NotSentError."""
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # it ships none

    name = _NAMES[kind]
    service: Any = import_module(f"opentelemetry.proto.collector.{name}.v1.{name}_service_pb2")
    known = {"service.name": options.service_name, "service.version": our_version(), "telemetry.sdk.name": "snell"}
    scoped = {"scope": {"name": "snell", "version": our_version()}, kind: rows}
    wrapped = {"resource": {"attributes": attributes(known)}, f"scope_{kind}": [scoped]}
    request = getattr(service, f"Export{name.title()}ServiceRequest")(**{f"resource_{kind}": [wrapped]})
    answer = _post(f"/v1/{'traces' if kind == 'spans' else kind}", request.SerializeToString(), options, deadline)
    try:
        partial = getattr(service, f"Export{name.title()}ServiceResponse").FromString(answer).partial_success
    except DecodeError:  # some receivers answer with JSON or a text; the status says that they have accepted it
        return 0
    return min(max(getattr(partial, "rejected_spans", 0), 0), len(rows))


def make_span(
    ids: tuple[bytes, bytes, bytes], name: str, times: tuple[float, float], values: Mapping[str, Any], error: str = ""
) -> Table:
    """Return a span. `ids`: of the trace, the span and its parent; `times`: its start and end in milliseconds."""
    return {
        **dict(zip(("trace_id", "span_id", "parent_span_id"), ids, strict=True)),
        "name": _text(name),
        "kind": 1,  # internal
        "start_time_unix_nano": round(times[0] * 1e6),
        "end_time_unix_nano": round(max(times) * 1e6),
        "attributes": attributes(values),
        "status": {"code": 2, "message": _text(error)} if error else {},
    }


def id_of(length: int, *parts: str) -> bytes:
    """Return the id of a trace (16 bytes) or span (8 bytes), always the same for the same parts."""
    return hashlib.sha256("\0".join(("snell", *parts)).encode("utf-8", "replace")).digest()[:length]


def attributes(values: Mapping[str, Any]) -> list[Table]:
    """Return the attributes of a span, without empty ones."""
    return [{"key": name, "value": _value(value)} for name, value in values.items() if value not in ("", None, [])]


def _value(value: Any) -> Table:
    if isinstance(value, list):
        return {"array_value": {"values": [_value(each) for each in value]}}
    kind = {bool: "bool_value", int: "int_value", float: "double_value"}.get(type(value))
    return {kind: value} if kind else {"string_value": _text(value)}


def _text(value: object) -> str:
    """Return a text without secrets: also a session, a tool or an agent may be named after one."""
    return redact(str(value))[:2_000].encode("utf-8", "replace").decode()


def _post(path: str, body: bytes, options: Options, deadline: Deadline) -> bytes:
    """Send one message and return the answer. Raises NotSentError."""
    url = f"{options.endpoint.rstrip('/').removesuffix('/v1/traces')}{path}"
    headers = {name.lower(): value for name, value in options.headers.items()}
    try:
        target = target_of_user(url, deadline)
        call = Call("POST", target, {**headers, "content-type": "application/x-protobuf"}, body)
        with send_request(call, deadline) as response:
            answer = response.read_all(65_536)
    except (RefusedError, HttpError, ValueError) as error:
        raise NotSentError(str(error)) from None
    except (DeadlineExceededError, CancelledError):
        raise NotSentError(f"the receiver did not answer within {deadline.seconds:g} s") from None
    if not 200 <= response.status < 300:
        raise NotSentError(f"the receiver answered with HTTP status {response.status}", response.status)
    return answer
