"""Every way in which a hook of every kind fails, each ready to be brought about for real."""

import asyncio
import json
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

from msgspec.structs import replace

from snell.handlers.agent import Agent
from snell.handlers.command import Command
from snell.handlers.mcp_tool import McpTool
from snell.handlers.prompt import Prompt
from snell.handlers.webhook import Webhook
from snell.handlers.worker.client import Worker
from snell.model.context import Context, HandlerSettings, McpServer, ModelSettings
from snell.model.decision import Outcome
from snell.model.effects import Rewrite
from snell.model.events import Event
from snell.model.hooks import Broken, Handler, Hook, Inline, PythonFile, Scope, Source
from snell.runtime.executor import Executor
from snell.runtime.hook_loader import PythonFiles
from tests.helpers import call, event
from tests.loopback import Answer, Server
from tests.model_server import Line, ModelServer

ROOT = Path(__file__).resolve().parents[2]
EVENTS = (call(cwd="/"), event("UserPromptSubmit", prompt="hi", cwd="/"), event("Stop", cwd="/"))
PATH = {"PATH": "/usr/bin:/bin"}
LONG = 70_000
# Which kinds of failure a hook of each kind can have; what is not here cannot come about.
POSSIBLE = {
    "Broken": {"launch"},
    "Inline": {"crash", "timeout", "effect", "rewrite", "cancelled"},  # in this process: nothing to start or to read
    "PythonFile": {"launch", "crash", "timeout", "rewrite"},  # a warm child sends effects, and has its time limit
    "Command": {"launch", "crash", "timeout", "output", "rewrite", "cancelled"},  # its output is read strictly
    "Webhook": {
        "launch",
        "timeout",
        "output",
        "rewrite",
        "cancelled",
    },  # a crash of the server's process cannot be seen
    "Prompt": {"launch", "crash", "timeout", "output", "cancelled"},  # a model can only tighten
    "Agent": {"launch", "crash", "timeout", "output", "cancelled"},
    "McpTool": {"launch", "crash", "timeout", "output", "rewrite", "cancelled"},
}


class Fault:
    """One way of failing: a handler, the context in which it fails, and what kind of failure that is."""

    def __init__(
        self,
        name: str,
        kind: str,
        handler: Handler,
        context: Context | None = None,
        timeout: float = 20.0,
        *,
        is_seen_late: bool = False,
        is_async: bool = False,
        worker: Worker | None = None,
        python: str = sys.executable,
    ) -> None:
        self.name = name
        self.kind = kind
        self.handler = handler
        self.context = context or Context(env=PATH)
        self.timeout = timeout
        self.is_seen_late = is_seen_late  # by the engine, which knows what may be answered
        self.is_async = is_async
        self.worker = worker
        self.python = python

    @property
    def events(self) -> Sequence[Event]:
        """A rewrite can be wrong only where something can be rewritten."""
        return EVENTS[:1] if self.is_seen_late and self.kind == "rewrite" else EVENTS

    def hook(self, scope: Scope, setting: str | None, on: str = "PreToolUse", **fields: Any) -> Hook:
        return Hook(
            **{
                "id": "guard",
                "event": on,
                "handler": self.handler,
                "scope": scope,
                "on_failure": setting,
                "timeout": self.timeout,
                "source": Source("user"),
                **fields,
            }
        )

    def outcome(self) -> Outcome:
        """It happens."""
        hooks = (self.hook(Scope.SESSION, None),)
        executor = Executor(self.worker)
        try:
            with patch.object(sys, "executable", self.python):
                run = (
                    asyncio.run(executor.run_async(hooks, EVENTS[0], self.context))
                    if self.is_async
                    else executor.run(hooks, EVENTS[0], self.context)
                )
        finally:
            if not self.worker:
                executor.close()
        (outcome,) = run
        return replace(outcome, seconds=0.0)


def crashes(_event: Event) -> None:
    raise ZeroDivisionError("by hand")


async def hangs(_event: Event) -> None:
    await asyncio.sleep(60)


PYTHON_FILE = """
import os, time
from snell import Rewrite, judges, rewrites

@judges("PreToolUse")
def crashes(event): return 1 / 0

@judges("PreToolUse")
def ends_the_process(event): os._exit(3)

@judges("PreToolUse")
def hangs(event): time.sleep(60)

@judges("PreToolUse")
def answers_nonsense(event): return "yes"

@rewrites("PreToolUse")
def rewrites_wrongly(event): return Rewrite(3)
"""
WRONG_REWRITE = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": 3}})


class Stage:
    """Servers, programs and files that fail; all of them go with it."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self._stack = stack
        stopped = threading.Event()
        stopped.set()
        self.cancelled = Context(env=PATH, cancel=stopped)

    def faults(self) -> Iterator[Fault]:
        yield Fault("unreadable entry", "launch", Broken("snell.toml:3: the entry cannot be read"))
        yield from self._functions()
        yield from self._python_files()
        yield from self._commands()
        yield from self._webhooks()
        yield from self._models()
        yield from self._mcp_tools()

    def _functions(self) -> Iterator[Fault]:
        yield Fault("function crashes", "crash", Inline(crashes))
        yield Fault("function answers nonsense", "effect", Inline(lambda event: "yes"), is_seen_late=True)
        yield Fault("function rewrites wrongly", "rewrite", Inline(lambda event: Rewrite(3)), is_seen_late=True)
        yield Fault("coroutine hangs", "timeout", Inline(hangs), timeout=0.2)
        yield Fault("coroutine hangs in a loop", "timeout", Inline(hangs), timeout=0.2, is_async=True)
        yield Fault("coroutine cancelled", "cancelled", Inline(hangs), self.cancelled, is_async=True)

    def _python_files(self) -> Iterator[Fault]:
        path = self.folder / "guard.py"
        path.write_text(PYTHON_FILE, encoding="utf-8")
        worker = Worker()
        self._stack.callback(worker.close)
        loaded = PythonFiles(worker).load(path, scope=Scope.SESSION, layer="user", pack="guard")
        assert loaded.problem == ""
        made = {hook.handler.function: hook.handler for hook in loaded.hooks if isinstance(hook.handler, PythonFile)}
        yield Fault("file without a process", "launch", made["crashes"], worker=worker.twin(), python="/nowhere/python")
        yield Fault("file crashes", "crash", made["crashes"], worker=worker)
        yield Fault("file ends its process", "crash", made["ends_the_process"], worker=worker)
        yield Fault("file hangs", "timeout", made["hangs"], worker=worker, timeout=1.0)
        yield Fault("file answers nonsense", "crash", made["answers_nonsense"], worker=worker)
        wrong = made["rewrites_wrongly"]
        yield Fault("file rewrites wrongly", "rewrite", wrong, worker=worker, is_seen_late=True)

    def _commands(self) -> Iterator[Fault]:
        yield Fault("command missing", "launch", Command("/nowhere/guard", ()))
        yield Fault("command not to be run", "launch", Command("/etc/passwd", ()))
        yield Fault("command crashes", "crash", Command("exit 7"))
        yield Fault("command killed", "crash", Command("kill -9 $$"))
        yield Fault("command hangs", "timeout", Command("sleep 60"), timeout=0.3)
        yield Fault("command says nonsense", "output", Command('echo \'{"decision": "perhaps"}\''))
        yield Fault("command says too much", "output", Command("head -c 3000000 /dev/zero | tr '\\0' x"))
        wrong = Command(f"echo '{WRONG_REWRITE}'")
        yield Fault("command rewrites wrongly", "rewrite", wrong, is_seen_late=True)
        yield Fault("command cancelled", "cancelled", Command("sleep 60"), self.cancelled)

    def _webhooks(self) -> Iterator[Fault]:
        yield Fault("webhook refused address", "launch", Webhook("http://169.254.169.254/latest"))
        yield Fault("webhook unreachable", "launch", Webhook("http://127.0.0.1:1/"))
        yield Fault("webhook without its secret", "launch", Webhook("http://127.0.0.1:1/", secret_env="NOT_SET"))
        plain = self._server(Server(Answer())).url.replace("http:", "https:")
        yield Fault("webhook without TLS", "launch", Webhook(plain))
        yield self._web("hangs", "timeout", Answer(before=60), 0.3)
        yield self._web("drips", "timeout", Answer(b" " * LONG, drip=0.02), 0.3)
        yield self._web("status", "output", Answer({"decision": "allow"}, 500))
        elsewhere = {"location": "http://127.0.0.1:1/"}
        yield self._web("redirects", "output", Answer({"decision": "allow"}, 302, elsewhere))
        yield self._web("says nonsense", "output", Answer("allow"))
        yield self._web("breaks its JSON", "output", Answer('{"decision": "allow"]}'))
        yield self._web("says too much", "output", Answer(b" " * LONG))
        yield self._web(
            "breaks off", "output", Answer(b"{}", headers={"transfer-encoding": "chunked"}, chunks=(b"9\r\n",))
        )
        yield self._web("sends a placeholder back", "rewrite", Answer({"updatedInput": {"command": "[redacted:x]"}}))
        yield Fault("webhook cancelled", "cancelled", Webhook("http://127.0.0.1:1/"), self.cancelled)

    def _web(self, name: str, kind: str, answer: Answer, timeout: float = 20.0) -> Fault:
        return Fault(f"webhook {name}", kind, Webhook(self._server(Server(answer)).url), timeout=timeout)

    def _models(self) -> Iterator[Fault]:
        yield from self._asked("status", "output", Line(status=500))
        yield from self._asked("says nonsense", "output", Line("allow"))
        yield from self._asked("breaks off", "output", Line('"ok": true}', is_cut=True))
        yield from self._asked("hangs", "timeout", Line(before=60), 0.3)
        yield from self._both("unreachable", "launch", self._model(url="http://127.0.0.1:1"))
        yield from self._both("over budget", "launch", self._model(url="http://127.0.0.1:1", max_session_tokens=0))
        yield from self._both("without model", "launch", Context(env={"PATH": "/nowhere"}))
        yield from self._both("in batch", "launch", Context(is_interactive=False))
        yield from self._both(
            "cancelled", "cancelled", replace(self._model(url="http://127.0.0.1:1"), cancel=self.cancelled.cancel)
        )
        yield from self._both("program crashes", "crash", self._program("echo broken >&2; exit 3"))
        yield from self._both("program hangs", "timeout", self._program("exec sleep 60"), 1.0)
        yield from self._both("program says nonsense", "output", self._program("echo perhaps"))
        looking = self._server(ModelServer(lambda asked: Line(calls=(("Glob", {"pattern": "*.none"}),))))
        yield Fault(
            "agent never answers",
            "timeout",
            Agent("?"),
            replace(self._model(url=looking.url), project_dir=str(self.folder)),
        )
        yield Fault("prompt too long", "launch", Prompt("?" * 200), self._model(max_input_characters=100))

    def _asked(self, name: str, kind: str, line: Line, timeout: float = 20.0) -> list[Fault]:
        return self._both(name, kind, self._model(url=self._server(ModelServer(lambda asked: line)).url), timeout)

    def _both(self, name: str, kind: str, context: Context, timeout: float = 20.0) -> list[Fault]:
        handlers = {"prompt": Prompt("?"), "agent": Agent("?")}
        return [Fault(f"{each} {name}", kind, made, context, timeout) for each, made in handlers.items()]

    def _model(self, **settings: Any) -> Context:
        return Context(settings=HandlerSettings(ModelSettings(api="anthropic", **settings)))

    def _program(self, script: str) -> Context:
        folder = self.folder / f"programs-{len(os.listdir(self.folder))}"
        folder.mkdir()
        (folder / "claude").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (folder / "claude").chmod(0o755)
        return Context(env={"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(self.folder)})

    def _mcp_tools(self) -> Iterator[Fault]:
        servers = {
            "c": McpServer(sys.executable, (str(ROOT / "tests/mcp_checker.py"),)),
            "missing": McpServer("/nowhere/server"),
        }
        context = Context(env=PATH, settings=HandlerSettings(mcp_servers=servers))
        yield Fault("mcp_tool without server", "launch", McpTool("none", "t"), context)
        yield Fault("mcp_tool server missing", "launch", McpTool("missing", "t"), context)
        yield Fault("mcp_tool dies", "crash", McpTool("c", "check", {"die": True}), context)
        yield Fault("mcp_tool reports an error", "output", McpTool("c", "check", {"fail": "x"}), context)
        yield Fault(
            "mcp_tool says nonsense", "output", McpTool("c", "check", {"answer": '{"decision": "perhaps"}'}), context
        )
        yield Fault("mcp_tool says too much", "output", McpTool("c", "check", {"answer": "x" * 1_000_001}), context)
        wrong = McpTool("c", "check", {"answer": WRONG_REWRITE})
        yield Fault("mcp_tool rewrites wrongly", "rewrite", wrong, context, is_seen_late=True)
        yield Fault("mcp_tool hangs", "timeout", McpTool("c", "check", {"sleep": 60}), context, timeout=3.0)
        late = replace(context, cancel=self.cancelled.cancel)
        yield Fault("mcp_tool cancelled", "cancelled", McpTool("c", "check", {"sleep": 60}), late)

    def _server(self, made: Server) -> Server:
        self._stack.callback(made.close)
        return made
