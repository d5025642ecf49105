"""The page of `snell ui`: who may look, what it shows, and when it ends."""

import json
import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from tests.process.ui_page import PAGES, UiPage
from tests.waiting import wait_until

HOSTILE = """<script>alert(1)</script><img src=x onerror=alert(2)>"'{{7*7}}"""
DENIED = "rm -rf /"


@pytest.fixture
def ui(tmp_path: Path) -> UiPage:
    return UiPage(tmp_path)


def test_the_link_works_once_and_is_exchanged_for_a_cookie_that_only_this_page_can_use(ui: UiPage):
    with ui.served():
        assert ui.get("/").status == 403
        first = ui.open()
        assert first.status == 200
        assert first.headers["set-cookie"].endswith("; Path=/; HttpOnly; SameSite=Strict")
        kept = ui.cookie
        again = ui.open()
        assert (again.status, "set-cookie" in again.headers) == (403, False)
        ui.cookie = kept
        assert ui.get("/").status == 200
        ui.cookie = kept[:-1] + ("A" if kept[-1] != "A" else "B")
        assert ui.get("/").status == 403


def test_a_wrong_link_does_not_use_up_the_right_one(ui: UiPage):
    with ui.served():
        for key in ("", "?key=", "?key=wrong", f"?key={'x' * 5000}"):
            assert ui.get(f"/open{key}").status == 403
        assert ui.open().status == 200


def test_another_host_name_for_this_machine_is_refused_everywhere(ui: UiPage):
    with ui.served():
        port = ui.address.rpartition(":")[2]
        parts = urlsplit(ui.link)
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1.evil.example:{port}"):
            for path in (f"{parts.path}?{parts.query}", "/", "/static/live.js"):
                assert ui.get(path, Host=host).status == 403
        assert ui.open().status == 200  # the refused requests have not used the link
        assert ui.get("/", Host=f"localhost:{port}").status == 200


def test_a_request_of_another_site_is_refused(ui: UiPage):
    with ui.served():
        ui.open()
        own = f"http://{ui.address}"
        assert ui.get("/", Origin="http://evil.example").status == 403
        assert ui.get("/live", Origin="null").status == 403
        assert ui.ask("POST", "/health", {}).status == 403
        assert ui.ask("POST", "/health", {"Origin": "http://evil.example"}).status == 403
        assert ui.ask("POST", "/", {"Origin": own}).status == 404
        assert ui.get("/", Origin=own).status == 200


def test_every_answer_forbids_scripts_styles_and_frames_of_others(ui: UiPage):
    ui.fire(DENIED)
    with ui.served():
        answers = [ui.get("/"), ui.get("/static/style.css"), ui.open(), *map(ui.get, PAGES), ui.get("/nothing")]
        for answer in answers:
            policy = answer.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
            assert "unsafe" not in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cache-control"] == "no-store"
            assert " style=" not in answer.text
            assert "<script>" not in answer.text
            assert "http://" not in answer.text.replace(f"http://{ui.address}", "")


def test_a_page_without_a_store_says_what_to_do(ui: UiPage):
    with ui.served():
        ui.open()
        assert not (ui.home / "state/snell.db").exists()
        for path in PAGES:
            assert "snell setup" in ui.get(path).text


def test_a_decision_is_listed_and_explained_as_why_does(ui: UiPage):
    ui.fire("ls -la")
    ui.fire(DENIED)
    with ui.served():
        ui.open()
        now = ui.get("/").text
        assert DENIED in now
        assert "delete-tree" in now
        id_ = json.loads(ui.snell("log", "--json", "--verdict", "deny"))["id"]
        assert f'href="/decision/{id_}"' in now
        shown = ui.get(f"/decision/{id_}").text
        for wanted in (
            "guard/command",
            "How the outcomes were combined",
            "What the client is told",
            "permissionDecision",
            "The client does not run the call",
        ):
            assert wanted in shown
        assert ui.get("/decision/unknown").status == 404


def test_the_input_of_a_decision_is_decided_again_when_asked(ui: UiPage):
    ui.fire(DENIED)
    (row,) = [json.loads(line) for line in ui.snell("log", "--json").splitlines()]
    path, before = f"/decision/{row['id']}", ui.snell("log", "--json")
    with ui.served():
        ui.open()
        assert f"snell replay --decision {row['id']}" in ui.get(path).text
        answer = ui.ask("POST", path, {"Origin": f"http://{ui.address}"})
        assert (answer.status, "The same as then." in answer.text) == (200, True)
        assert ui.ask("POST", path, {"Origin": "http://elsewhere.example"}).status == 403
    assert ui.snell("log", "--json") == before


def test_the_call_is_shown_with_its_end_and_a_session_as_a_line(ui: UiPage):
    ui.fire("make all")
    ui.fire("make all", hook_event_name="PostToolUse", tool_response={"stdout": "printed by make"})
    ui.snell("log")  # waits until the call is in the ledger
    with ui.served():
        ui.open()
        page = ui.get("/").text
        assert (page.count("<code>make all</code>"), "printed by make" in page) == (2, False)
        assert '<svg class="strip line"' in ui.get("/sessions").text


def test_health_knows_the_preset_and_what_coverage_found(ui: UiPage):
    (ui.home / "config").mkdir(parents=True)
    (ui.home / "config" / "snell.toml").write_text('profile = "observe"\n', encoding="utf-8")
    ui.fire(DENIED)
    found = {"at": int(time.time() * 1000), "holes": 3, "text": "3 of 40 calls ran without hooks"}
    with ui.served():
        ui.open()
        assert "only observed: deny" in ui.get("/").text
        assert "The preset is" in ui.get("/hooks").text
        assert "not compared" in ui.get("/health").text
        (ui.home / "state" / "coverage.json").write_text(json.dumps(found), encoding="utf-8")
        health = ui.get("/health").text
        assert ("3 of 40 calls ran without hooks" in health, "observe" in health) == (True, True)
        body = {"Origin": f"http://{ui.address}", "Content-Type": "application/x-www-form-urlencoded"}
        assert "nothing to compare" in ui.ask("POST", "/health", body, "what=coverage").text


def test_health_says_of_each_client_and_setting_what_status_says(ui: UiPage):
    (ui.home / "config").mkdir(parents=True)
    (ui.home / "config" / "snell.toml").write_text("[pakcs.guard]\nenabled = true\n", encoding="utf-8")
    ui.fire("ls")
    with ui.served():
        ui.open()
        health = " ".join(ui.get("/health").text.split())
    (client,) = json.loads(ui.snell("status", "--json"))["clients"]
    assert (client["name"], client["installed"]) == ("claude-code", "no")
    assert '<td>claude-code</td><td><span class="tag ">not connected</span></td><td>last event' in health
    assert "<code>snell setup claude-code</code> connects it" in health
    assert ("snell.toml:1" in health, "did you mean `pack`?" in health) == (True, True)
    assert "coverage, fleet, guard" in health


def test_a_denied_call_is_shown_as_one_that_did_not_run(ui: UiPage):
    ui.fire(DENIED)
    (call,) = [json.loads(line) for line in ui.snell("ledger", "list", "--json").splitlines()]
    with ui.served():
        ui.open()
        assert "so it did not run" in ui.get(f"/call?id={call['tool_call_id']}").text
        assert '<td class="number">–</td>' in ui.get("/ledger").text


def test_pages_name_clients_as_commands_do(ui: UiPage):
    ui.fire(DENIED, session="first")
    (decision,) = [json.loads(line)["id"] for line in ui.snell("log", "--json").splitlines()]
    with ui.served():
        ui.open()
        for page in ("/", "/sessions", "/session?id=first", f"/decision/{decision}", "/ledger"):
            text = re.sub("<[^>]*>", " ", ui.get(page).text)
            assert ("claude-code" in text, "claude_code" in text) == (True, False), page


def test_filters_are_in_the_address(ui: UiPage):
    ui.fire("echo alpha", session="first")
    ui.fire(DENIED, session="second")
    with ui.served():
        ui.open()

        def shown(query: str) -> tuple[bool, bool]:
            text = ui.get(f"/?{query}").text.partition('id="content"')[2]
            return "echo alpha" in text, DENIED in text

        assert shown("") == (True, True)
        assert shown("verdict=deny") == (False, True)
        assert shown("session=fir") == (True, False)
        assert shown("text=alpha") == (True, False)
        assert shown("text=100%25") == (False, False)
        assert shown("client=claude_code") == (True, True)
        assert shown("client=cursor") == (False, False)
        assert shown("hook=guard/command") == (True, True)
        assert shown("hook=no_such_hook") == (False, False)
        assert shown(f"project={ui.project}") == (True, True)
        assert shown("project=project") == (True, True)
        assert shown("project=elsewhere") == (False, False)
        assert shown("before=999999999999999999999999") == (True, True)


def test_hostile_text_in_every_field_stays_text(ui: UiPage):
    ui.fire(f"echo {HOSTILE}", session=HOSTILE, tool=f"mcp__{HOSTILE}", agent_id=HOSTILE, agent_type=HOSTILE)
    ui.fire(f"rm -rf / {HOSTILE}", session="two", tool_use_id=HOSTILE)
    ui.snell("memory", "remember", f"we decided to use {HOSTILE} instead")
    with ui.served():
        ui.open()
        ids = [json.loads(line)["id"] for line in ui.snell("log", "--json").splitlines()]
        calls = [json.loads(line)["tool_call_id"] for line in ui.snell("ledger", "list", "--json").splitlines()]
        memory = json.loads(ui.snell("memory", "list", "--json"))["memories"][0]["id"]
        sessions = {json.loads(line)["session_id"] for line in ui.snell("log", "--json").splitlines()}
        text = quote(HOSTILE)
        paths = [
            *PAGES,
            *(f"/decision/{each}" for each in ids),
            *(f"/call?id={quote(each)}" for each in calls),
            *(f"/session?id={quote(each)}" for each in sessions),
            f"/memory?id={memory}",
            f"/decision/{text}",
            f"/session?id={text}",
            f"/hooks?folder=/{text}",
            f"/memories?text={text}&project={text}",
            "/?" + "&".join(f"{name}={text}" for name in ("text", "client", "project", "session", "verdict", "hook")),
            f"/ledger?tool={text}&status={text}&session={text}&at={text}&id={text}",
        ]
        for path in paths:
            answer = ui.get(path)
            assert answer.status in (200, 404), path
            assert "<script>alert" not in answer.text, path
            assert "<img src=x" not in answer.text, path
            assert "{{7*7}}" in answer.text or "49" not in answer.text or path in PAGES, path
        found = ui.get(f"/?text={quote('onerror=alert')}").text
        assert "&lt;script&gt;alert(1)" in found


def test_secrets_are_not_on_the_page(ui: UiPage):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    ui.fire(f"curl -H 'Authorization: token {secret[:40]}' https://api.example/x")
    with ui.served():
        ui.open()
        id_ = json.loads(ui.snell("log", "--json").splitlines()[0])["id"]
        for path in (*PAGES, f"/decision/{id_}"):
            assert secret[:40] not in ui.get(path).text


def test_the_stream_reports_an_event_of_another_process(ui: UiPage):
    ui.fire("echo before")
    with ui.served():
        ui.open()
        with ui.stream() as changes:
            first = next(changes)
            ui.fire("echo after")
            assert next(changes) != first
        assert "echo after" in ui.get("/").text


def test_the_process_ends_when_the_last_page_is_closed(ui: UiPage):
    with ui.served() as process:
        ui.open()
        with ui.stream() as changes:
            next(changes)
            assert ui.get("/").status == 200
            assert process.poll() is None
        wait_until(lambda: process.poll() is not None)
        assert process.returncode == 0


def test_looking_changes_nothing_in_the_store(ui: UiPage):
    ui.fire(DENIED)
    ui.snell("memory", "remember", "releases are cut from the release branch")
    with ui.served():
        ui.open()
        before = ui.snell("memory", "list", "--json"), ui.snell("log", "--json")
        for path in (*PAGES, "/memories?text=release"):
            assert ui.get(path).status == 200
        assert (ui.snell("memory", "list", "--json"), ui.snell("log", "--json")) == before


def test_a_memory_is_forgotten_only_when_a_person_confirms(ui: UiPage):
    ui.snell("memory", "remember", "releases are cut from the release branch")
    memory = json.loads(ui.snell("memory", "list", "--json"))["memories"][0]["id"]
    path, form = f"/memory?id={memory}", "application/x-www-form-urlencoded"

    def send(body: str) -> int:
        return ui.ask("POST", path, {"Origin": f"http://{ui.address}", "Content-Type": form}, body).status

    with ui.served(CLAUDECODE="1"):  # the shell of an agent
        ui.open()
        assert "snell memory forget" in ui.get(path).text
        assert send("confirm=yes") == 200
        assert ui.get(path).status == 200
    with ui.served():
        ui.open()
        assert ui.get(f"{path}&confirm=yes&is_sent=yes").status == 200
        assert send("") == 200
        assert ui.get(path).status == 200
        assert send("confirm=yes") == 200
        assert ui.get(path).status == 404


def test_agents_efforts_phases_and_context_use_are_shown(ui: UiPage):
    ui.env["AGENT_ID"] = "builder"
    phases = json.dumps({"phases": [{"label": "1", "name": "Plan"}, {"label": "2", "name": "Build"}]})
    ui.snell("effort", "start", "parser", "implement", "--metadata", phases)
    ui.snell("phase", "1: Plan")
    ui.fire("ls", session="working")
    ui.snell("agent", "status", "attention")
    with ui.served():
        ui.open()
        fleet = ui.get("/fleet").text
        for wanted in ("builder", "attention", "implement"):
            assert wanted in fleet
        session = ui.get("/session?id=working").text
        assert "Efforts" in session
        assert "Plan" in session
        assert ui.get("/ledger?session=working").text.count("/call?id=") == 1


def test_the_checks_of_doctor_run_when_asked(ui: UiPage):
    ui.fire(DENIED)
    try:
        with ui.served():
            ui.open()
            assert "synthetic" not in ui.get("/health").text
            answer = ui.ask("POST", "/health", {"Origin": f"http://{ui.address}"})
            assert answer.status == 200
            assert "Run the checks again" in answer.text
    finally:
        ui.snell("daemon", "stop")


def test_without_its_packages_the_command_says_how_to_install_them(ui: UiPage):
    start = "import sys; sys.modules['jinja2'] = None; from snell.cli.main import main; sys.exit(main(['ui']))"
    done = subprocess.run([sys.executable, "-c", start], env=ui.env, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 1
    assert done.stderr.startswith("snell: the page cannot be shown: the `ui` extra is not installed; run `")
    assert "starlette" in done.stderr


def test_a_port_in_use_is_refused_with_a_message(ui: UiPage):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(AssertionError, match=r"port \d+ cannot be used"):
            ui.snell("ui", "--no-open", "--port", str(taken.getsockname()[1]))
