"""
Ask a language model: over HTTP in one of two wire formats, or through a program of the user.

Keys come from the caller's environment or from a command, are used for one request and are never stored. Only user
and policy settings decide where questions are sent.
"""

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import msgspec
from msgspec.structs import replace

from snell.llm import anthropic, openai, token_budget
from snell.llm.cli_program import CHARACTERS_A_TOKEN, INSIDE, ask_program, program_for
from snell.llm.messages import ModelError, Question, Turn, object_in
from snell.model.context import CURRENT_CONTEXT, Context, ModelSettings
from snell.model.events import Event
from snell.redact import redact
from snell.system.address_policy import RefusedError, Target
from snell.system.deadline import CancelledError, Deadline, DeadlineExceededError
from snell.system.http_client import Call, HttpError, Response, require_http_library, send_request, target_of_user
from snell.system.run_program import environment, run

LONGEST_ANSWER = 2_000_000
MOST_TOKENS = 1_000_000_000  # most that one answer is counted as, whatever its server reports
KEY_SECONDS = 10.0
_FORMATS: dict[str, ModuleType] = {"anthropic": anthropic, "openai": openai}
# Servers and models that rejected the full request, until this process ends.
_plain: set[tuple[str, str]] = set()
_NO_MODEL = (
    "there is no model to ask: set ANTHROPIC_API_KEY or OPENAI_API_KEY, describe one in `[model]`, "
    "or install claude, codex or gemini"
)


def api_for(settings: ModelSettings, env: Mapping[str, str]) -> str:
    """Return the wire format for HTTP; empty when a program of the user is asked instead."""
    if settings.api == "cli":
        return ""
    if settings.api:
        return settings.api
    if settings.url:
        return "anthropic" if "anthropic" in settings.url else "openai"
    names = [name for name, form in _FORMATS.items() if env.get(form.KEY_VARIABLE)]
    has_key = settings.key_command or (settings.key_env and env.get(settings.key_env))
    return names[0] if names else "anthropic" if has_key else ""


class Model:
    """The model for one run of one hook."""

    def __init__(self, context: Context, session: str, deadline: Deadline) -> None:
        if context.env.get(INSIDE):
            raise ModelError("launch", "not run: this event comes from a program that is answering a model hook")
        self._context = context
        self._settings = context.settings.model
        self._session = session
        self._deadline = deadline
        self._api = api_for(self._settings, context.env)
        self.is_program = not self._api

    def ask(self, question: Question) -> Turn:
        """Ask the model, and return its answer. Raises ModelError, DeadlineExceededError or CancelledError."""
        limits = self._context.settings
        token_budget.check(limits, self._session)
        # The later messages of a loop are results of tools, which have limits of their own.
        limited = question.messages[:1] if question.tools else question.messages
        length = len(question.system) + sum(len(message.text) for message in limited)
        if length > self._settings.max_input_characters:
            why = f"the question has {length:,} characters, more than `model.max_input_characters`"
            raise ModelError("launch", why)
        turn = self._answer(replace(question, max_tokens=self._settings.max_answer_tokens))
        token_budget.add(limits, self._session, _with_usage(turn, question))
        return turn

    def _answer(self, question: Question) -> Turn:
        if self.is_program:
            question = replace(question, model=question.model or self._settings.name)
            found = program_for(self._settings.cli, self._context.env)
            if not found:
                raise ModelError("launch", _NO_MODEL)
            return ask_program(*found, question, self._context.env, self._deadline)
        form = _FORMATS[self._api]
        name = question.model or self._settings.name
        question = replace(question, model=form.SHORT_NAMES.get(name, name) or form.MODEL)
        known = (self._settings.url, question.model)
        try:
            return self._post(form, question, is_plain=known in _plain)
        except _RejectedError:
            # Some models reject a begun answer, some servers a response format; ask again without these.
            turn = self._post(form, question, is_plain=True)
            _plain.add(known)
            return turn

    def _post(self, form: ModuleType, question: Question, *, is_plain: bool) -> Turn:
        headers = {"content-type": "application/json", "accept": "text/event-stream, application/json"}
        body = msgspec.json.encode(form.body(question, is_plain=is_plain))
        try:
            require_http_library()
            target = self._target(form)
            call = Call("POST", target, {**headers, **form.headers(self._key(form, target))}, body)
            with send_request(call, self._deadline) as response:
                return _turn(form, response, is_plain=is_plain)
        except RefusedError as error:
            raise ModelError("launch", f"`model.url` may not be called: {error}") from None
        except HttpError as error:
            raise ModelError(error.kind, str(error)) from None

    def _target(self, form: ModuleType) -> Target:
        url = (self._settings.url or form.URL).rstrip("/")
        whole = url if url.endswith(form.PATH) else url + form.PATH
        # The user or the policy chose this address.
        return target_of_user(whole, self._deadline, self._context.settings.webhook_hosts)

    def _key(self, form: ModuleType, target: Target) -> str:
        settings, env = self._settings, self._context.env
        if settings.key_command:
            return _printed_key(settings, self._context, self._deadline)
        name = settings.key_env or form.KEY_VARIABLE
        key = env.get(name, "").strip()
        if not key and target.host not in ("localhost", "127.0.0.1", "::1"):
            raise ModelError("launch", f"`{name}` is not set; set it, or `model.key_command`")
        return key


def answer_in_pack(question: Question, event: Event, seconds: float) -> str:
    """Ask from a hook of a built-in pack, with the context of the event that is being handled."""
    return answer_of(question, event, CURRENT_CONTEXT.get(), seconds)


def answer_of(question: Question, event: Event, context: Context, seconds: float) -> str:
    """Return the text of the model's answer. Raises ModelError."""
    if not context.has_audience(event):
        why = "a prompt hook does not run in a session without a user; `in_batch = true` in `[model]` allows it"
        raise ModelError("launch", why)
    try:
        return Model(context, event.session_id, Deadline(seconds, context.cancel)).ask(question).text
    except DeadlineExceededError:
        raise ModelError("timeout", f"the model did not answer within {seconds:g} s") from None
    except CancelledError:
        raise ModelError("cancelled", "was cancelled") from None


def _with_usage(turn: Turn, question: Question) -> Turn:
    """Return the answer with its tokens, estimated where the server does not report them."""
    asked, answered = turn.input_tokens, turn.output_tokens
    if asked <= 0:
        asked = len(msgspec.json.encode(question)) // CHARACTERS_A_TOKEN
    if answered <= 0:
        answered = len(msgspec.json.encode(turn)) // CHARACTERS_A_TOKEN
    return replace(turn, input_tokens=min(asked, MOST_TOKENS), output_tokens=min(answered, MOST_TOKENS))


class _RejectedError(Exception):
    """The server rejected a field of the request."""


def _turn(form: ModuleType, response: Response, *, is_plain: bool) -> Turn:
    if response.status != 200:
        text = response.read_all(LONGEST_ANSWER).decode("utf-8", "replace")
        if response.status == 400 and not is_plain:
            raise _RejectedError
        raise ModelError("output", f"the model's server answered with status {response.status}: {_error_text(text)}")
    try:
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        whole = None if is_stream else _object(response.read_all(LONGEST_ANSWER))
        turn: Turn | None = form.turn_from(_events(response)) if whole is None else form.turn_of(whole)
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise ModelError("output", "the model's server did not answer in the form of its API") from None
    if turn is None:
        raise ModelError("output", "the model's server ended its answer too early")
    return turn


def _error_text(text: str) -> str:
    error = object_in(text).get("error")
    message = error.get("message") if isinstance(error, dict) else None
    return redact(str(message or text))[:200]


def _object(data: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        raise ModelError("output", f"the model's server did not answer with JSON: {error}") from None


def _events(response: Response) -> Iterator[dict[str, Any]]:
    """Yield the objects of a stream of server-sent events."""
    rest, length = b"", 0
    for chunk in response.chunks():
        length += len(chunk)
        if length > LONGEST_ANSWER:
            raise ModelError("output", "the model's answer is too long")
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            data = line.strip()
            if data.startswith(b"data:") and data[5:].strip() != b"[DONE]":
                event = _object(data[5:].strip())
                if event.get("type") == "error" or event.get("error"):
                    raise ModelError(
                        "output", f"the model's server says: {_error_text(data[5:].decode('utf-8', 'replace'))}"
                    )
                yield event


def _printed_key(settings: ModelSettings, context: Context, deadline: Deadline) -> str:
    finished = run(
        ["/bin/sh", "-c", settings.key_command],
        stdin=b"",
        cwd="/",
        env=environment(context.env, {}),
        timeout=min(KEY_SECONDS, deadline.remaining()),
        cancel=deadline.cancel,
    )
    key = finished.stdout.decode("utf-8", "replace").strip()
    if finished.exit_code != 0 or not key or len(key) > 4_000 or not key.isprintable():
        raise ModelError("launch", "`model.key_command` printed no key")
    return key
