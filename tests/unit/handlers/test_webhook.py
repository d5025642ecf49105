"""Webhook hooks, against a real server on loopback."""

import base64
import hashlib
import hmac
import socket
import threading

import pytest

from snell.handlers.webhook import Webhook
from snell.model.context import Context, HandlerSettings
from snell.model.decision import Failure, Outcome
from snell.model.effects import Deny, Note, Rewrite
from snell.model.events import event_from
from snell.model.hooks import Scope, Source
from tests.handler_helpers import outcome_of, webhook
from tests.helpers import call
from tests.loopback import Answer, serving
from tests.unit.settings.settings_files import hook_of, messages_of, parse_text

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@pytest.mark.proves("S1-47", "S1-72", "S1-115")
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_the_event_is_sent_as_json(method):
    event = call("ls -l", cwd="/work")
    with serving(Answer()) as server:
        outcome = outcome_of(webhook(server, method=method), event)
    (sent,) = server.sent
    assert (outcome, sent.method, sent.path) == (Outcome(), method, "/hook")
    assert sent.headers["content-type"] == "application/json"
    assert sent.json == {
        "session_id": "s1",
        "cwd": "/work",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "ls -l"},
    }


@pytest.mark.proves("S1-47", "S1-77")
def test_a_webhook_posts_and_has_thirty_seconds_unless_it_says_otherwise():
    hook = hook_of('[[hooks]]\nevent = "PreToolUse"\n[hooks.webhook]\nurl = "https://a.example/x"\n')
    other = hook_of(
        '[[hooks]]\nevent = "PreToolUse"\ntype = "http"\nurl = "https://a.example/x"\nmethod = "put"\ntimeout = 3\n'
        'secret_env = "S"\nheaders = { X-A = "${B}" }\nallowed_env = ["B"]\nredact = false\n'
    )
    assert (hook.handler, hook.timeout) == (Webhook("https://a.example/x"), 30.0)
    assert (other.handler, other.timeout) == (
        Webhook("https://a.example/x", "PUT", {"X-A": "${B}"}, ("B",), redact=False, secret_env="S"),
        3.0,
    )


@pytest.mark.proves("S1-25")
def test_environment_conversation_and_secrets_stay_here():
    event = event_from(
        {
            "tool_name": "Bash",
            "tool_input": {"command": f"curl -H 'Authorization: Bearer {SECRET}' x"},
            "env": {"HOME": "/root"},
            "transcript": ["hello"],
            "messages": [1],
        },
        "PreToolUse",
    )
    with serving(Answer()) as server:
        outcome_of(webhook(server), event)
    body = server.sent[0].json
    assert sorted(body) == ["hook_event_name", "tool_input", "tool_name"]
    assert SECRET not in str(body)
    assert "[redacted:" in body["tool_input"]["command"]


@pytest.mark.parametrize(
    ("layer", "scope", "is_true"),
    [
        ("user", Scope.SESSION, True),
        ("policy", Scope.POLICY, True),
        ("run time", Scope.SESSION, True),
        ("project", Scope.SESSION, False),
        ("plugin:x", Scope.PLUGIN, False),
        ("skill:x", Scope.SKILL, False),
    ],
)
def test_the_true_input_is_sent_only_for_hooks_of_the_user_and_the_policy(layer, scope, is_true):
    context = Context(settings=HandlerSettings(webhook_hosts=("127.0.0.1",)))
    with serving(Answer()) as server:
        outcome_of(
            webhook(server, redact=False), call(f"echo {SECRET}"), context=context, source=Source(layer), scope=scope
        )
    assert (SECRET in server.sent[0].body.decode()) is is_true


def test_turning_redaction_off_in_a_project_is_an_error_with_its_line():
    text = '[[hooks]]\nevent = "PreToolUse"\n[hooks.webhook]\nurl = "https://a.example"\nredact = false\n'
    assert messages_of(parse_text(text, layer="project").problems) == [
        (
            "snell.toml:5: `redact = false` is not for project settings; "
            "move the hook to your own settings, or remove the key"
        )
    ]


def test_a_rewrite_with_a_placeholder_is_refused_and_the_rest_of_the_answer_counts():
    answer = {"updatedInput": {"command": "echo [redacted:github-token]"}, "additionalContext": "hello"}
    with serving(Answer(answer)) as server:
        outcome = outcome_of(webhook(server), call(f"echo {SECRET}"))
    why = "the rewrite holds a placeholder of something that was redacted; it would destroy the true value"
    assert outcome == Outcome((Note("hello"),), Failure("rewrite", why))


def test_a_refused_rewrite_takes_its_approval_along_since_the_original_was_not_approved():
    said = {"permissionDecision": "allow", "updatedInput": {"command": "echo [redacted:github-token]"}}
    with serving(Answer({"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}})) as server:
        outcome = outcome_of(webhook(server), call(f"echo {SECRET}"))
    assert (outcome.effects, outcome.failure.kind) == ((), "rewrite")


def test_a_rewrite_with_a_placeholder_is_taken_where_nothing_was_redacted():
    with serving(Answer({"updatedInput": {"command": "echo [redacted:x]"}})) as server:
        outcome = outcome_of(webhook(server, redact=False))
    assert outcome == Outcome((Rewrite({"command": "echo [redacted:x]"}),))


@pytest.mark.proves("S1-73")
def test_headers_are_filled_in_from_granted_variables_only_and_cannot_begin_a_new_line():
    env = {"TOKEN": "abc\r\nX-Evil: 1", "OTHER": "secret", "PLAIN": "p"}
    headers = {
        "Authorization": "Bearer ${TOKEN}",
        "X-Short": "$PLAIN",
        "X-Fixed": "a\nb",
        "Host": "evil.example",
        "bad name": "x",
        "Content-Length": "3",
    }
    with serving(Answer()) as server:
        outcome_of(webhook(server, headers=headers, allowed_env=("TOKEN", "PLAIN")), context=Context(env=env))
    got = server.sent[0].headers
    chosen = {name: got.get(name) for name in ("authorization", "x-short", "x-fixed", "host", "x-evil")}
    assert chosen == {
        "authorization": "Bearer abcX-Evil: 1",
        "x-short": "p",
        "x-fixed": "ab",
        "host": f"127.0.0.1:{server.port}",
        "x-evil": None,
    }
    assert "bad name" not in got


@pytest.mark.parametrize("value", ["${VAR_8}", "<$VAR_8>", "${VAR_7}${VAR_8}"])
def test_a_variable_that_is_not_granted_never_leaves_and_nothing_is_sent_without_it(value):
    env = {"VAR_7": "7", "VAR_8": "8"}
    with serving(Answer()) as server:
        outcome = outcome_of(webhook(server, headers={"X": value}, allowed_env=("VAR_7",)), context=Context(env=env))
    why = 'header `X` uses `VAR_8`, which is not in `allowed_env`; add `allowed_env = ["VAR_8"]`'
    assert (outcome, server.sent) == (Outcome(failure=Failure("launch", why)), [])


def test_every_request_is_signed_with_id_and_time(tmp_path):
    context = Context(settings=HandlerSettings(config=str(tmp_path)))
    with serving(Answer()) as server:
        for _ in range(2):
            outcome_of(webhook(server), context=context)
    secret = (tmp_path / "webhook-secret").read_text(encoding="ascii").strip()
    assert (tmp_path / "webhook-secret").stat().st_mode & 0o777 == 0o600
    key = base64.b64decode(secret.removeprefix("whsec_"))
    for sent in server.sent:
        name, when = sent.headers["webhook-id"], sent.headers["webhook-timestamp"]
        digest = hmac.new(key, f"{name}.{when}.".encode() + sent.body, hashlib.sha256).digest()
        assert sent.headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"
    assert len({sent.headers["webhook-id"] for sent in server.sent}) == 2


def test_a_hook_may_bring_its_own_secret_and_one_that_is_missing_is_a_failure():
    with serving(Answer()) as server:
        outcome_of(webhook(server, secret_env="HOOK_SECRET"), context=Context(env={"HOOK_SECRET": "s3"}))
        missing = outcome_of(webhook(server, secret_env="HOOK_SECRET"))
    (sent,) = server.sent
    signed = f"{sent.headers['webhook-id']}.{sent.headers['webhook-timestamp']}.".encode() + sent.body
    digest = hmac.new(b"s3", signed, hashlib.sha256).digest()
    assert sent.headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"
    assert missing == Outcome(failure=Failure("launch", "`HOOK_SECRET`, the secret to sign with, is not set"))


@pytest.mark.proves("S1-74")
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(), Outcome()),
        (Answer(status=204), Outcome()),
        (Answer({"decision": "block", "reason": "no"}), Outcome((Deny("no"),))),
        (Answer({"Reject": {"reason": "no"}}), Outcome((Deny("no"),))),
        (Answer('"Continue"'), Outcome()),
        (Answer({"updatedInput": {"command": "pwd"}}, 201), Outcome((Rewrite({"command": "pwd"}),))),
        (Answer({"async": True}), Outcome()),
        (Answer("hello"), Outcome(failure=Failure("output", "the answer is not a JSON object"))),
        (Answer("[1]"), Outcome(failure=Failure("output", "the answer is not a JSON object"))),
        (Answer(b"\xff\xfe"), Outcome(failure=Failure("output", "the answer is not a JSON object"))),
    ],
)
def test_a_response_is_read_as_an_answer(answer, expected):
    with serving(answer) as server:
        assert outcome_of(webhook(server)) == expected


def test_json_that_is_broken_is_a_failure():
    with serving(Answer('{"decision": "allow"')) as server:
        outcome = outcome_of(webhook(server))
    # a reset may overtake what was sent before it
    assert (outcome.effects, outcome.failure.kind in ("output", "launch")) == ((), True)


@pytest.mark.proves("S1-75")
@pytest.mark.parametrize("status", [301, 302, 307, 400, 401, 404, 429, 500, 503])
def test_a_status_that_is_no_success_is_a_failure_and_a_refusal_in_strict_mode(status):
    with serving(Answer({"decision": "allow"}, status, {"location": "http://127.0.0.1:1/"})) as server:
        plain = outcome_of(webhook(server))
        strict = outcome_of(webhook(server), exit_code_mode="strict")
    why = f"127.0.0.1:{server.port} answered with status {status}"
    assert plain == Outcome(failure=Failure("output", why))
    assert strict == Outcome((Deny(why),), Failure("output", why))


def test_no_redirect_is_followed():
    with serving(Answer()) as canary, serving(Answer("", 307, {"location": canary.url})) as server:
        outcome = outcome_of(webhook(server))
    assert (outcome.failure.kind, canary.sent) == ("output", [])


@pytest.mark.proves("S1-76")
def test_a_server_that_cannot_be_reached_is_a_failure_and_a_refusal_in_strict_mode():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        hook = Webhook(f"http://127.0.0.1:{port}/")
        plain, strict = outcome_of(hook), outcome_of(hook, exit_code_mode="strict")
    why = f"cannot reach 127.0.0.1:{port}: connection refused"
    assert plain == Outcome(failure=Failure("launch", why))
    assert strict == Outcome((Deny(why),), Failure("launch", why))


@pytest.mark.proves("S1-77")
@pytest.mark.parametrize(
    "answer",
    [Answer({"decision": "block"}, before=30), Answer(b" " * 5_000, drip=0.02)],
    ids=["says nothing", "drips"],
)
def test_the_time_limit_is_for_the_whole_exchange(answer):
    with serving(answer) as server:
        outcome = outcome_of(webhook(server), timeout=0.3)
    assert outcome == Outcome(failure=Failure("timeout", "did not answer within 0.3 s"))


def test_headers_that_drip_do_not_outlast_the_limit():
    listener = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()

    def drip() -> None:
        visitor, _ = listener.accept()
        with visitor:
            for byte in b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 1000:
                if done.wait(0.02):
                    return
                try:
                    visitor.send(bytes([byte]))
                except OSError:
                    return

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    outcome = outcome_of(Webhook(f"http://127.0.0.1:{listener.getsockname()[1]}/"), timeout=0.3)
    done.set()
    thread.join(5)
    listener.close()
    assert outcome == Outcome(failure=Failure("timeout", "did not answer within 0.3 s"))


@pytest.mark.parametrize("length", [64 * 1024, 64 * 1024 + 1])
def test_a_reply_has_at_most_64_kb(length):
    body = '{"reason": "' + "x" * (length - 14) + '"}'
    with serving(Answer(body)) as server:
        outcome = outcome_of(webhook(server))
    too_long = Outcome(failure=Failure("output", "answered more than Snell reads (64 KB)"))
    assert outcome == (too_long if length > 64 * 1024 else Outcome())


def test_a_connection_that_breaks_off_is_a_failure():
    listener = socket.create_server(("127.0.0.1", 0))

    def hang_up() -> None:
        visitor, _ = listener.accept()
        visitor.recv(10_000)
        visitor.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        visitor.shutdown(socket.SHUT_WR)
        while visitor.recv(10_000):  # what is closed with something unread resets the connection
            pass
        visitor.close()

    thread = threading.Thread(target=hang_up, daemon=True)
    thread.start()
    outcome = outcome_of(Webhook(f"http://127.0.0.1:{listener.getsockname()[1]}/"))
    thread.join(5)
    listener.close()
    assert (outcome.effects, outcome.failure.kind) == ((), "output")


@pytest.mark.proves("S1-78")
@pytest.mark.parametrize(
    ("layer", "scope", "reaches"),
    [
        ("user", Scope.SESSION, True),
        ("policy", Scope.POLICY, True),
        ("run time", Scope.SESSION, True),
        ("project", Scope.SESSION, False),
        ("local", Scope.SESSION, False),
        ("plugin:x", Scope.PLUGIN, False),
        ("skill:x", Scope.SKILL, False),
    ],
)
def test_loopback_is_for_hooks_of_the_user_and_the_policy(layer, scope, reaches):
    with serving(Answer()) as server:
        outcome = outcome_of(webhook(server), source=Source(layer), scope=scope)
        allowed = Context(settings=HandlerSettings(webhook_hosts=("127.0.0.1",)))
        assert outcome_of(webhook(server), context=allowed, source=Source(layer), scope=scope) == Outcome()
    why = "the address may not be called: `127.0.0.1` is loopback, which only your own and policy hooks call"
    assert outcome == (Outcome() if reaches else Outcome(failure=Failure("launch", why)))
    assert len(server.sent) == reaches + 1


def test_a_cancelled_webhook_is_cancelled():
    cancel = threading.Event()

    def cancelling(_sent) -> Answer:
        cancel.set()
        return Answer(before=30)

    with serving(cancelling) as server:
        outcome = outcome_of(webhook(server), context=Context(cancel=cancel))
    assert (outcome, outcome.status) == (Outcome(failure=Failure("cancelled", "was cancelled")), "cancelled")


def test_a_header_may_hold_any_text(tmp_path):
    headers = {"X-Name": "Zoë", "X-Env": "${NAME}", "X-É": "1"}
    context = Context(env={"NAME": "日\ud800\r\nX-Evil: ü"})
    with serving(Answer({"decision": "block", "reason": "no"})) as server:
        outcome = outcome_of(webhook(server, headers=headers, allowed_env=("NAME",)), context=context)
    got = {name.lower(): value.encode("latin-1").decode("utf-8") for name, value in server.sent[0].headers.items()}
    assert outcome == Outcome((Deny("no"),))
    assert {name: value for name, value in got.items() if name.startswith("x-")} == {
        "x-name": "Zoë",
        "x-env": "日?X-Evil: ü",
    }


def test_webhooks_that_come_first_together_sign_with_one_secret(tmp_path):
    with serving(lambda sent: Answer()) as server:
        for number in range(5):
            folder = tmp_path / str(number)
            context = Context(settings=HandlerSettings(config=str(folder)))
            threads = [
                threading.Thread(target=outcome_of, args=(webhook(server),), kwargs={"context": context})
                for _ in range(8)
            ]
            before = len(server.sent)
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
            secret = (folder / "webhook-secret").read_text(encoding="ascii").strip()
            key = base64.b64decode(secret.removeprefix("whsec_"))
            assert [_is_signed(sent, key) for sent in server.sent[before:]] == [True] * 8


def _is_signed(sent, key: bytes) -> bool:
    signed = f"{sent.headers['webhook-id']}.{sent.headers['webhook-timestamp']}.".encode() + sent.body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    return sent.headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"


@pytest.mark.parametrize("content", ["", " \n", "whsec_", "whsec_\n", "ü", "x" * 5_000])
@pytest.mark.parametrize("mode", ["client", "strict"])
def test_a_secret_that_cannot_be_used_is_a_failure_and_nothing_is_sent(tmp_path, content, mode):
    (tmp_path / "webhook-secret").write_text(content, encoding="utf-8")
    context = Context(settings=HandlerSettings(config=str(tmp_path)))
    with serving(Answer()) as server:
        outcome = outcome_of(webhook(server), context=context, exit_code_mode=mode)
    assert (outcome.failure.kind, len(outcome.effects), server.sent) == ("launch", int(mode == "strict"), [])


def test_a_variable_with_half_a_secret_is_a_failure():
    with serving(Answer()) as server:
        outcome = outcome_of(webhook(server, secret_env="S"), context=Context(env={"S": "whsec_"}))
    why = "the secret in `S` is empty; nothing can be signed with it"
    assert (outcome, server.sent) == (Outcome(failure=Failure("launch", why)), [])
