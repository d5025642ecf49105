"""
What hooks cost where each is a process of its own. All of them do what our twenty do: read the event, find nothing to
object to, leave a line in a log. They are written as plainly as they can be, so that the comparison is kind to them.
"""

import functools
import http.server
import json
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from bench.measure import NotHere, python
from bench.scene import NUMBER, OURS, PAYLOAD, Scene, scene
from bench.shim import spawned

SLOW_ROUNDS, FAST_ROUNDS = 8, 5  # of ours there are as many for each of theirs
SCRIPT = """
import json, sys
event = json.load(sys.stdin)
if event["tool_name"] == "Bash" and "push --force" in event["tool_input"].get("command", ""):
    sys.exit("no")
with open(sys.argv[1], "a") as log:
    log.write(json.dumps({"event": event["hook_event_name"], "session": event["session_id"]}) + "\\n")
"""
SHELL = """
event=$(cat)
case $event in *"push --force"*) echo no >&2; exit 2 ;; esac
printf '%s\\n' "$event" >> "$1"
"""
NODE = """
const fs = require("fs");
const event = JSON.parse(fs.readFileSync(0, "utf8"));
if (event.tool_name === "Bash" && event.tool_input.command.includes("push --force")) process.exit(2);
fs.appendFileSync(process.argv[2], JSON.stringify({event: event.hook_event_name}) + "\\n");
"""
CONSOLE = """
import re, sys
from peer_console import main
if __name__ == "__main__":
    sys.argv[0] = re.sub(r"(-script\\.pyw|\\.exe)?$", "", sys.argv[0])
    sys.exit(main())
"""
CONSOLE_MODULE = "import argparse, json, pathlib, sys\ndef main():\n" + "".join(
    f"    {line}\n"
    for line in (
        "parser = argparse.ArgumentParser(); parser.add_argument('log'); given = parser.parse_args()",
        "event = json.load(sys.stdin)",
        "pathlib.Path(given.log).open('a').write(event['hook_event_name'] + '\\n')",
    )
)


def scripts_over_ours() -> tuple[float, dict[str, float]]:
    """Twenty hooks, one Python script each, run at the same time as clients do; over ours."""
    return _over_ours("20 Python scripts")


def scripts_over_ours_in_shell() -> tuple[float, dict[str, float]]:
    """Twenty scripts over ours, both started through `sh -c`."""
    return _over_ours("20 Python scripts, sh -c", "snell-hook, sh -c")


def one_script_over_ours() -> tuple[float, dict[str, float]]:
    """One script alone, over our twenty hooks."""
    return _over_ours("1 Python script")


def bash_hooks_over_ours() -> tuple[float, dict[str, float]]:
    """Five bash scripts one after the other."""
    return _over_ours("5 bash scripts")


def node_script_over_ours() -> tuple[float, dict[str, float]]:
    if not shutil.which("node"):
        raise NotHere("there is no node on this machine")
    return _over_ours("1 Node script")


def console_script_over_ours() -> tuple[float, dict[str, float]]:
    return _over_ours("1 Python console script")


def curl_over_ours() -> tuple[float, dict[str, float]]:
    """curl to a server that is warm already and does the work in its own process."""
    if not shutil.which("curl"):
        raise NotHere("there is no curl on this machine")
    return _over_ours("curl to a server")


def _over_ours(theirs: str, ours: str = "snell-hook") -> tuple[float, dict[str, float]]:
    found = costs()
    return found[theirs] / found[ours], {name: found[name] for name in (ours, theirs)}


@functools.cache
def costs() -> dict[str, float]:
    """Medians of one interleaved run."""
    with scene() as here, _server() as address:
        candidates = _candidates(here, address)
        samples: dict[str, list[float]] = {name: [] for name in candidates}
        for number in range(SLOW_ROUNDS * FAST_ROUNDS):
            names = [name for name in candidates if name.startswith("snell-hook") or number % FAST_ROUNDS == 0]
            for name in random.sample(names, len(names)):
                samples[name].append(candidates[name]())
    return {name: statistics.median(taken) for name, taken in samples.items()}


def _candidates(here: Scene, address: str) -> dict[str, Callable[[], float]]:
    folder, env = here.folder, {**here.env, "PYTHONPATH": str(here.folder)}
    for name, text in (("script.py", SCRIPT), ("hook.sh", SHELL), ("hook.js", NODE), ("console", CONSOLE)):
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "peer_console.py").write_text(CONSOLE_MODULE, encoding="utf-8")
    log = str(folder / "log")
    script = [sys.executable, str(folder / "script.py"), log]
    alone = {
        "snell-hook": OURS,
        "snell-hook, sh -c": _in_shell(OURS, "exec "),
        "1 Python script": script,
        "1 Python console script": [sys.executable, str(folder / "console"), log],
    }
    if node := shutil.which("node"):
        alone["1 Node script"] = [node, str(folder / "hook.js"), log]
    if curl := shutil.which("curl"):
        alone["curl to a server"] = [curl, "-s", "--data-binary", "@-", address]
    bash = [shutil.which("bash") or "/bin/sh", str(folder / "hook.sh"), log]
    return {
        **{name: functools.partial(_alone, argv, env) for name, argv in alone.items()},
        "5 bash scripts": lambda: sum(_alone(bash, env) for _ in range(5)),
        f"{NUMBER} Python scripts": lambda: _together(script, env),
        f"{NUMBER} Python scripts, sh -c": lambda: _together(_in_shell(script), env),
    }


def _in_shell(argv: Sequence[str], before: str = "") -> list[str]:
    return ["/bin/sh", "-c", before + " ".join(f"'{word}'" for word in argv)]


def _alone(argv: list[str], env: dict[str, str]) -> float:
    return spawned(argv, env, PAYLOAD)[0]


def _together(argv: Sequence[str], env: dict[str, str]) -> float:
    start = time.perf_counter()
    running = [subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in range(NUMBER)]
    for each in running:
        each.communicate(PAYLOAD)
    return time.perf_counter() - start


@contextmanager
def _server() -> Iterator[str]:
    """In a process of its own, as it would be."""
    with subprocess.Popen(python("import bench.peers; bench.peers.serve()"), stdout=subprocess.PIPE) as process:
        assert process.stdout
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/hook"
        finally:
            process.kill()


def serve() -> None:
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}" if "push --force" not in event["tool_input"].get("command", "") else b"no")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    print(server.server_port, flush=True)
    server.serve_forever()
