"""Ways by which an agent could make its command look like a person's: each is tried below a client and as an orphan."""

import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from snell.cli.person.caller import Caller, at_terminal
from snell.cli.person.process_chain import Link
from tests.process.person_home import HOST, PAUSE, Home, in_container, needs_root, needs_system_python, refused
from tests.waiting import wait_until

# Opens a console or a serial line, which no program drives, as a process without a parent.
CONSOLE = """
import fcntl, os, sys, termios
parent = os.getpid()
if os.fork():
    os._exit(0)
os.setsid()
fcntl.ioctl(os.open(sys.argv[1], os.O_RDWR | os.O_NONBLOCK), termios.TIOCSCTTY, 1)
while os.getppid() == parent:  # until it belongs to the process that collects orphans
    pass
os.execv(sys.argv[2], sys.argv[2:])
"""
# Runs a command in a terminal of vim, and types the letters that it shows.
VIM = """
let terminal = term_start([{line}])
for tries in range(100)
  sleep 100m
  let letters = matchlist(join(getbufline(terminal, 1, '$'), ''), 'Type \\\\([A-Z]\\\\+\\\\) to go on')
  if len(letters)
    call term_sendkeys(terminal, letters[1] . "\\\\<CR>")
    call term_wait(terminal, 3000)
  endif
  if filereadable('{done}')
    break
  endif
endfor
qa!
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


class Attempt:
    """A script that tries to pause Snell, and what it showed."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.shown, self.done = home.folder / "shown", home.folder / "done"
        self.script = home.program("attempt", f"#!/bin/sh\n{shlex.join(PAUSE)} >{self.shown} 2>&1\necho >{self.done}\n")
        self.client = home.program("claude", '#!/bin/sh\n"$@"\n')

    def hide(self, command: list[str]) -> list[str]:
        """Begin a command in a session of its own, with no parent and none of the client's variables."""
        clean = ["/usr/bin/env", "-i", *(f"{name}={value}" for name, value in self.home.env.items())]
        return [self.client, *clean, "/usr/bin/setsid", "-f", *command]

    @property
    def is_refused(self) -> bool:
        wait_until(self.done.exists)
        is_refused = refused(self.home, self.shown.read_text(encoding="utf-8"))
        self.done.unlink()
        return is_refused


@pytest.fixture
def attempt(home: Home) -> Attempt:
    return Attempt(home)


def _in_vim(attempt: Attempt) -> list[str]:
    text = VIM.format(line=repr(attempt.script), done=attempt.done)
    return ["vim", "-es", "-u", "NONE", "-S", attempt.home.program("in.vim", text)]


def _in_emacs(attempt: Attempt) -> list[str]:
    letters = r'(string-match "Type \\([A-Z]+\\)" text)'
    answer = rf'(lambda (job text) (when {letters} (process-send-string job (concat (match-string 1 text) "\n"))))'
    start = f'(make-process :name "x" :command (list "{attempt.script}") :connection-type (quote pty) :filter {answer})'
    return [
        "emacs",
        "--batch",
        "--eval",
        f'(progn {start} (while (not (file-exists-p "{attempt.done}")) (sit-for 0.1)))',
    ]


def _in_nvim(attempt: Attempt) -> list[str]:
    answer = "function(job, lines) for _, line in ipairs(lines) do local letters = line:match('Type (%u+)') "
    answer += "if letters then vim.fn.chansend(job, letters .. '\\n') end end end"
    start = f"local job = vim.fn.jobstart({{'{attempt.script}'}}, {{pty = true, on_stdout = {answer}}}) "
    return ["nvim", "--headless", "-u", "NONE", "-c", f"lua {start} vim.fn.jobwait({{job}})", "-c", "qa!"]


def _in_tmux(attempt: Attempt) -> list[str]:
    """A pane at which a terminal looks that a program opened."""
    words = shlex.join(["tmux", "-S", str(attempt.home.folder / "tmux"), "-f", "/dev/null"])
    keys = f"{words} send-keys -t one {shlex.quote(attempt.script)} Enter"
    looks = f"TERM=xterm exec {words} attach -t one"
    viewer = shlex.join([sys.executable, "-c", HOST, "letters", "/bin/sh", "-c", looks])
    seen = f"while ! {words} list-clients | grep -q .; do :; done"
    waits = f"while ! [ -e {attempt.done} ]; do sleep 0.1; done; {words} kill-server"
    return ["/bin/sh", "-c", f"{words} new-session -d -s one /bin/sh; {viewer} & {seen}; {keys}; {waits}"]


def _as_copy(name: str) -> Callable[[Attempt], list[str]]:
    def command(attempt: Attempt) -> list[str]:
        words, env = attempt.home.copy(name)
        line = ["/usr/bin/env", "-u", "PYTHONHOME", attempt.script]
        return ["/usr/bin/env", *(f"{key}={value}" for key, value in env.items()), *words, "letters", *line]

    return command


def _by_expect(attempt: Attempt) -> list[str]:
    answer = 'expect -re {Type ([A-Z]+) to go on} {send "$expect_out(1,string)\\r"}'
    return ["expect", "-c", f"spawn {attempt.script}\n{answer}\nexpect eof"]


WAYS: dict[str, Callable[[Attempt], list[str]]] = {
    "a plain process": lambda attempt: [attempt.script],
    "nohup": lambda attempt: ["nohup", attempt.script],
    "setsid": lambda attempt: ["setsid", "-w", attempt.script],
    "script": lambda attempt: ["script", "-qec", attempt.script, "/dev/null"],
    "expect": _by_expect,
    "socat": lambda attempt: ["socat", "-u", f"EXEC:{attempt.script},pty,setsid,ctty", "OPEN:/dev/null"],
    "screen": lambda attempt: ["screen", "-DmS", "one", attempt.script],
    "tmux": _in_tmux,
    "su": lambda attempt: ["su", "-P", "-c", attempt.script],
    "systemd-run": lambda attempt: ["systemd-run", "--user", "--pty", "--wait", attempt.script],
    "vim": _in_vim,
    "emacs": _in_emacs,
    "nvim": _in_nvim,
    "a copy under the name of an editor": _as_copy("code"),
    "a copy under the name of a terminal": _as_copy("xterm"),
}
NEEDS = {"systemd-run": os.path.exists("/run/systemd/system"), "su": hasattr(os, "getuid") and os.getuid() == 0}


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("is_hidden", [False, True], ids=["below a client", "as an orphan"])
def test_no_way_to_run_a_command_makes_an_agent_a_person(attempt: Attempt, name: str, is_hidden: bool) -> None:
    command = WAYS[name](attempt)
    if not (shutil.which(command[0]) and NEEDS.get(name, True)):
        pytest.skip(f"{name} does not work here")
    attempt.home.run(attempt.hide(command) if is_hidden else [attempt.client, *command])
    assert attempt.is_refused


@needs_root
@pytest.mark.parametrize("device", ["/dev/tty9", "/dev/ttyS0", "/dev/console"])
def test_a_process_of_root_that_opens_a_console_is_refused(attempt: Attempt, device: str) -> None:
    if not os.path.exists(device):
        pytest.skip("there is no such device")
    attempt.home.run(attempt.hide([sys.executable, "-c", CONSOLE, device, attempt.script]))
    try:
        assert attempt.is_refused
    except AssertionError:
        if attempt.shown.exists():
            raise
        pytest.skip("this device cannot be opened")


@needs_root
def test_a_terminal_in_a_namespace_of_a_user_is_refused(attempt: Attempt) -> None:
    """There any user owns `/usr`, so a copy there is no program of an administrator."""
    command = attempt.home.installed("xterm")
    attempt.home.run(attempt.hide(["/usr/bin/unshare", "-Ur", *command, "letters", attempt.script]))
    assert attempt.is_refused


@needs_root
@pytest.mark.parametrize("program", ["atd", "cron"])
def test_a_command_that_a_scheduler_starts_is_refused(attempt: Attempt, program: str) -> None:
    """Each runs with empty folders of its own, in a mount namespace."""
    server = shutil.which(program, path="/usr/sbin:/sbin")
    if not server:
        pytest.skip(f"{program} is not installed")
    jobs = "mkdir -m 1770 atjobs atspool && touch atjobs/.SEQ && chown -R daemon:daemon at*"
    give = f"echo {attempt.script} | at now"
    if program == "cron":
        jobs = "mkdir -m 1730 crontabs && mount -t tmpfs none /run"
        lines = [*(f"{name}={value}" for name, value in attempt.home.env.items()), f"@reboot {attempt.script}", ""]
        give = f"crontab {attempt.home.program('table', chr(10).join(lines))}"
    start = f"{give}; {server} -f & while ! [ -e {attempt.done} ]; do sleep 0.1; done; kill $!"
    folders = f"mount -t tmpfs none /var/spool/cron && cd /var/spool/cron && {jobs} && cd / && {{ {start}; }}"
    attempt.home.run(["/usr/bin/unshare", "-m", "/bin/sh", "-c", folders])
    assert attempt.is_refused


def test_a_program_in_the_users_folder_counts_a_day_after_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent can copy any program there; a person installed their editor before."""
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    editor = tmp_path / "code"
    editor.touch()
    host = Link(pid=2**22 + 2, parent=1, name="code", program=str(editor), user=1000)
    chain = [Link(pid=2**22 + 1, parent=2**22 + 2, name="sh", session=2**22 + 1, terminal="pts", user=1000), host]
    found = [at_terminal(chain)]
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 86_460)
    assert [*found, at_terminal(chain)] == [Caller.UNKNOWN, Caller.EDITOR]


@needs_root
@pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")
def test_a_person_types_the_letters_in_a_pane_of_tmux(attempt: Attempt) -> None:
    """The terminal at which tmux runs is a person's; what it draws around the letters does not matter."""
    anywhere = HOST.replace(' to go on: $|\\[y/N\\] $", shown)', ' to go on", shown)').replace(
        'shown += b" "', 'shown = b""'
    )
    script = attempt.home.program("typed", Path(attempt.script).read_text("utf-8").replace("2>&1", f"2>{os.devnull}"))
    words = ["tmux", "-S", str(attempt.home.folder / "tmux"), "-f", "/dev/null", "new-session", script]
    attempt.home.run([sys.executable, "-c", anywhere, "letters", *in_container(words)], TERM="xterm")
    assert "only policy hooks run until" in attempt.shown.read_text(encoding="utf-8")
    assert attempt.home.is_paused


@needs_root
@needs_system_python
def test_a_command_that_a_terminal_emulator_is_started_with_needs_letters(home: Home) -> None:
    """An agent can start an emulator with a command; in its shell a person types."""
    said = home.run([*home.installed("xterm"), "WRONG", *PAUSE])
    assert "Type " in said
    assert refused(home, said)
    typed = f"{shlex.join(PAUSE)}; exit"
    assert "only policy hooks run until" in home.run([*home.installed("xterm"), typed, "/bin/sh", "-i"], PS1="[y/N] ")
    assert home.is_paused
