"""
The page of `snell ui` in a real Chromium: it is live, and nothing that an agent wrote is executed.

The ordinary run has the short part; the nightly one looks at every page in every form, also with axe-core from npm.
"""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live.installed import NotHere, Package, install_package
from tests.process.ui_page import PAGES, UiPage
from tests.waiting import wait_until

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HOSTILE = '<script>window.executed=1</script><img src=x onerror="window.executed=2"><svg onload="window.executed=3">'
DENIED = "rm -rf / --no-preserve-root"
WAIT = 60_000  # milliseconds; a hang bound

pytestmark = [
    pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium on this machine (Debian's package is `chromium`)"),
    pytest.mark.timeout(300),
]


@pytest.fixture
def ui(tmp_path: Path) -> Iterator[UiPage]:
    ui = UiPage(tmp_path)
    yield ui
    if (ui.home / "run/snell.sock").exists():
        ui.snell("daemon", "stop")


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    home = {**os.environ, "HOME": str(tmp_path / "browser")}  # it writes there
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, env=home)
        yield browser
        browser.close()


class Tab:
    """A tab that was opened by the link; it keeps what the browser complained about."""

    def __init__(self, browser: Any, ui: UiPage, **options: Any) -> None:
        self.page = browser.new_context(**options).new_page()
        self.page.set_default_timeout(WAIT)
        self.problems: list[str] = []
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.base = f"http://{ui.address}"
        self.page.goto(ui.link)
        self.page.wait_for_url(f"{self.base}/")

    def goto(self, path: str) -> Any:
        self.page.goto(self.base + path)
        return self.page


def test_a_new_event_shows_by_itself_and_its_text_is_never_executed(ui: UiPage, browser: Any):
    ui.fire("echo first")
    with ui.served():
        tab = Tab(browser, ui)
        tab.page.get_by_text("echo first").wait_for()
        ui.fire(f"echo {HOSTILE}", session=HOSTILE, agent_type=HOSTILE)
        tab.page.get_by_text("window.executed=1").first.wait_for()  # without a reload
        tab.page.get_by_role("link", name="window.executed=1").first.click()
        tab.page.get_by_role("heading", name="Hooks").wait_for()
        assert tab.page.evaluate("window.executed") is None
        assert tab.problems == []


def test_filters_narrow_the_list_and_stay_in_the_address_while_it_is_live(ui: UiPage, browser: Any):
    ui.fire("echo first")
    ui.fire(DENIED)
    with ui.served():
        page = Tab(browser, ui).page
        page.get_by_label("Verdict").select_option("deny")
        page.get_by_role("button", name="Filter").click()
        page.wait_for_url("**verdict=deny**")
        assert page.locator(".decisions tbody tr").count() == 1
        ui.fire("echo not denied")
        ui.fire(f"{DENIED} again")
        wait_until(lambda: page.locator(".decisions tbody tr").count() == 2)
        assert page.get_by_text("echo").count() == 0


@pytest.mark.nightly
def test_the_page_is_read_without_javascript(ui: UiPage, browser: Any):
    ui.fire(DENIED)
    with ui.served():
        tab = Tab(browser, ui, java_script_enabled=False)
        for path in PAGES:
            assert tab.goto(path).locator("h1").count() == 1
        tab.goto("/").get_by_role("link", name=DENIED).click()
        tab.page.get_by_role("heading", name="The answer").wait_for()
        tab.page.get_by_role("button", name="Decide it again").click()
        tab.page.get_by_text("The same as then.").wait_for()
        assert not tab.page.locator("#lost").is_visible()


@pytest.mark.nightly
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_readable_in_light_and_dark_on_a_screen_and_a_phone(
    ui: UiPage, browser: Any, axe: str, width: int, scheme: str, figure: Any
):
    paths = _filled(ui)
    with ui.served():
        tab = Tab(browser, ui, viewport={"width": width, "height": 800}, color_scheme=scheme)
        for path in paths:
            page = tab.goto(path)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            assert page.evaluate("window.executed") is None
            page.evaluate(axe)
            found = page.evaluate("axe.run()")["violations"]
            serious = [each for each in found if each["impact"] in ("serious", "critical")]
            assert [(each["id"], each["nodes"][0]["html"]) for each in serious] == [], path
        assert tab.problems == []
        figure(pages=len(paths), width=width, scheme=scheme)


@pytest.mark.nightly
def test_the_keyboard_reaches_everything(ui: UiPage, browser: Any):
    ui.fire("echo older")
    ui.fire("echo newer")
    with ui.served():
        page = Tab(browser, ui).page
        page.keyboard.press("j")
        page.keyboard.press("j")
        assert "echo older" in page.evaluate("document.activeElement.textContent")
        page.keyboard.press("k")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="The call").wait_for()
        page.go_back()
        page.keyboard.press("/")
        page.keyboard.type("older")
        page.keyboard.press("Enter")
        page.wait_for_url("**text=older**")
        page.keyboard.press("p")
        ui.fire("echo older, but while paused")
        assert page.locator(".decisions tbody tr").count() == 1
        page.keyboard.press("p")
        wait_until(lambda: page.locator(".decisions tbody tr").count() == 2)


@pytest.mark.nightly
def test_a_daemon_that_goes_and_comes_back_is_shown(ui: UiPage, browser: Any):
    ui.snell("daemon", "start")
    with ui.served():
        page = Tab(browser, ui).page
        page.get_by_text("daemon running").wait_for()
        ui.snell("daemon", "stop")
        page.get_by_text("daemon not running").wait_for()
        ui.snell("daemon", "start")
        page.get_by_text("daemon running").wait_for()
        ui.fire("echo after the restart")
        page.get_by_text("echo after the restart").wait_for()


@pytest.mark.nightly
def test_a_page_whose_server_is_gone_says_so(ui: UiPage, browser: Any):
    with ui.served() as process:
        page = Tab(browser, ui).page
        page.locator("#state").wait_for()
        process.kill()
        page.get_by_text("The page has lost its server").wait_for()


@pytest.mark.nightly
def test_a_used_link_and_a_browser_without_the_cookie_see_nothing(ui: UiPage, browser: Any):
    ui.fire("echo private")
    with ui.served():
        Tab(browser, ui)
        stranger = browser.new_context().new_page()
        stranger.goto(ui.link)
        stranger.get_by_text("This link does not work").wait_for()
        stranger.goto(f"http://{ui.address}/")
        stranger.get_by_text("This page is closed").wait_for()
        assert stranger.get_by_text("echo private").count() == 0


@pytest.fixture(scope="module")
def axe() -> str:
    """The text of axe-core, from npm."""
    try:
        folder = install_package(Package("axe-core", "4"))
    except NotHere as reason:
        pytest.skip(f"axe-core cannot be had: {reason}")
    return (folder / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")


def _filled(ui: UiPage) -> list[str]:
    """Fill every page, with hostile text; returns the addresses of all pages, also of single things."""
    ui.fire("echo first")
    ui.fire(f"{DENIED} {HOSTILE}", session=HOSTILE, agent_type=HOSTILE, agent_id="sub-1")
    ui.fire("x" * 3000, session="long")
    ui.snell("memory", "remember", f"releases are cut from the branch {HOSTILE}")
    rows = [json.loads(line) for line in ui.snell("log", "--json").splitlines()]
    calls = [json.loads(line)["tool_call_id"] for line in ui.snell("ledger", "list", "--json").splitlines()]
    memory = json.loads(ui.snell("memory", "list", "--json"))["memories"][0]["id"]
    return [
        *PAGES,
        *(f"/decision/{row['id']}" for row in rows[:3]),
        f"/session?id={rows[0]['session_id']}",
        *(f"/call?id={call}" for call in calls[:1]),
        f"/memory?id={memory}",
    ]
