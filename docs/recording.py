"""
Record the first five minutes of a new user: follow README.md in a fresh clone with a fresh home, and note the times.

Run it with the project's own Python: `.venv/bin/python docs/recording.py`. It writes a page of docs/recordings from
what the commands really print. `snell setup` wants a person; a one-time code stands for the one who would type `y`.
"""

import http.client
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

from snell.cli.person.codes import issue
from snell.system.paths import places

ROOT = Path(__file__).resolve().parent.parent
RECORDING = ROOT / "docs/recordings/first-five-minutes.md"
INSTALL = """\
python3 -m venv ~/.local/share/snell-venv
~/.local/share/snell-venv/bin/pip install -q '.[std]'
mkdir -p ~/.local/bin && ln -sf ~/.local/share/snell-venv/bin/snell* ~/.local/bin/"""
CALL = '{"hook_event_name": "PreToolUse", "session_id": "first", "cwd": "'
CALL += '%s", "tool_name": "Bash", "tool_input": {"command": "rm -rf ~/work"}}'
MOST_LINES = 34


class NewUser:
    def __init__(self, folder: Path) -> None:
        self.folder, self.clone = folder, folder / "snell"
        (folder / ".claude").mkdir()  # Claude Code is installed
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "LANG", "TERM", "SSL_"))}
        path = f"{folder}/.local/bin:{Path(sys.executable).resolve().parent}:/usr/bin:/bin"
        self.env = {**kept, "HOME": str(folder), "PATH": path}
        self.start, self.used = time.monotonic(), _used()
        self.text: list[str] = []

    def do(self, title: str, command: str, *, hidden: str = "", shown_as: str = "") -> None:
        """Run a command in the clone and note what was typed, what it printed and when it was done."""
        began = time.monotonic()
        cwd = self.clone if self.clone.exists() else self.folder
        words = ["bash", "-c", f"{command}{hidden}"]
        done = subprocess.run(words, cwd=cwd, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        shown = (done.stdout + done.stderr).decode().replace(str(self.folder), "~").rstrip()
        self.note(title, shown_as or command, shown, time.monotonic() - began)
        if done.returncode not in (0, 1):
            raise SystemExit(f"`{command}` ended with {done.returncode}: {shown}")

    def watch_demo(self) -> None:
        """Run the demo at a terminal, look at its page when it offers that, and end the page with Ctrl-C."""
        began, (ours, theirs) = time.monotonic(), pty.openpty()
        words, ends = ["python3", "dev.py", "demo"], {"stdin": theirs, "stdout": theirs, "stderr": theirs}
        env = {**self.env, "NO_COLOR": "1"}
        with subprocess.Popen(words, cwd=self.clone, env=env, start_new_session=True, **ends) as process:
            os.close(theirs)
            shown = _read_until(ours, "on the page? [y/N] ")
            os.write(ours, b"y\n")
            page = _read_until(ours, "Ctrl-C here.")
            row = _row_on_page(re.findall(r"http://\S+", page)[0])
            for child in _children(process.pid, "snell ui"):
                os.kill(child, signal.SIGINT)
            rest = _read_until(ours, "")
        text = f"{shown}{page}\n\non the page Now:\n{row}\n\n{rest}".replace("\r", "")
        self.note("See it work, and on a page", "python3 dev.py demo", _without_link(text), time.monotonic() - began)

    def note(self, title: str, command: str, shown: str, seconds: float) -> None:
        lines = shown.replace(str(self.folder), "~").strip().splitlines()
        if len(lines) > MOST_LINES:
            lines = [*lines[: MOST_LINES - 14], f"[{len(lines) - MOST_LINES + 1} more lines]", *lines[-13:]]
        total, used = time.monotonic() - self.start, _used()
        typed = "\n".join(f"$ {line}" for line in command.splitlines())
        times = f"{seconds:.0f} s ({used - self.used:.0f} s of processor time); {_clock(total)} since the start."
        self.used = used
        self.text.append(f"## {title}\n\n{times}\n")
        self.text.append("```text\n" + "\n".join([typed, *(line.rstrip() for line in lines)]) + "\n```\n")
        print(f"{_clock(total)}  {title}")

    def look(self) -> None:
        """Open the page by its link, as a browser does, and note the row that shows the refused call."""
        began = time.monotonic()
        command = [self.folder / ".local/bin/snell", "ui", "--no-open"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self.env, cwd=self.clone) as process:
            assert process.stdout
            first = process.stdout.readline()
            row = _row_on_page(first.split()[1])
            process.terminate()
        shown = _without_link(first.strip())
        self.note("See it on a page", "snell ui", f"{shown}\n\non the page Now:\n{row}", time.monotonic() - began)


def _read_until(terminal: int, text: str) -> str:
    """Return what is printed until this text, or until the end if it is empty."""
    found = ""
    with suppress(OSError):  # the other end is closed
        while not text or text not in found:
            found += os.read(terminal, 65536).decode("utf-8", "replace")
    return found


def _children(pid: int, words: str) -> list[int]:
    """Return the processes below this one whose command line contains these words."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()[1:]]
    below, found = {pid}, []
    for _ in range(5):  # as deep as they are
        below |= {int(own) for own, parent, _ in rows if int(parent) in below}
    found += [int(own) for own, _, args in rows if int(own) in below and words in args]
    return found


def _without_link(text: str) -> str:
    return re.sub(r"(http://127\.0\.0\.1:)\S+", r"\1.../...", text)


def _used() -> float:
    """Return the processor time of all commands so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _row_on_page(link: str) -> str:
    parts = urlsplit(link)
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    connection.request("GET", f"{parts.path}?{parts.query}", headers={"Host": parts.netloc})
    answer = connection.getresponse()
    answer.read()
    cookie = str(answer.getheader("set-cookie")).partition(";")[0]
    connection.request("GET", "/?verdict=deny", headers={"Host": parts.netloc, "Cookie": cookie})
    page = connection.getresponse().read().decode()
    connection.close()
    row = page.partition("<tbody>")[2].partition("</tr>")[0]
    return "  " + " | ".join(
        filter(None, (unescape(re.sub(r"<[^>]+>", " ", cell)).strip() for cell in row.split("</td>")))
    )


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def main() -> int:
    folder = Path(tempfile.mkdtemp(prefix="new-user-", dir="/tmp"))
    user = NewUser(folder)
    try:
        user.do("Get it", f"git clone -q {ROOT} snell", shown_as="git clone REPOSITORY snell && cd snell")
        user.watch_demo()
        user.do("Install it", INSTALL)
        code = issue(places(user.env).state)
        user.do("Connect Claude Code", "snell setup claude-code", hidden=f" --yes --code {code}")
        (user.clone / "call.json").write_text(CALL % user.clone, encoding="utf-8")
        user.do("The agent wants to delete a folder", "snell-hook --client claude-code < call.json")
        user.do("Ask why", "snell why")
        user.do("How is it going?", "snell status")
        user.look()
    finally:
        subprocess.run([folder / ".local/bin/snell", "daemon", "stop"], env=user.env, capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)
    busy = f"{os.getloadavg()[1]:.0f} processes shared {os.cpu_count()} processors meanwhile."
    head = (
        "# The first five minutes\n\nA fresh clone and a fresh home, with nothing but README.md. `docs/recording.py`"
        f" typed this and\nnoted what came back. A person would answer `y` to `snell setup`; here a one-time code did."
        f"\n{busy}\n"
    )
    RECORDING.write_text("\n".join([head, *user.text]), encoding="utf-8")
    print(f"wrote {RECORDING.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
