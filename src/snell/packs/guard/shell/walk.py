"""
Walk through the tree in the order in which a shell would run it, and list every program with what is known about it.

Nothing is run. Both sides of a condition are walked, and a loop once for each of its first items.
"""

import re

from msgspec.structs import replace

from snell.model.tool_names import name_set
from snell.packs.guard.known_names import names
from snell.packs.guard.known_values import (
    BREAK,
    EMPTY,
    UNKNOWN,
    UNKNOWN_VALUE,
    Value,
    drop_gaps,
    drop_text_gaps,
    merge_values,
)
from snell.packs.guard.sensitive_files import PROXY, is_startup_file, is_system_program
from snell.packs.guard.shell.embedded_commands import evaluate_texts
from snell.packs.guard.shell.expand import fields, single
from snell.packs.guard.shell.fork_bombs import is_bomb
from snell.packs.guard.shell.program_files import file_value, files_written, labels_of_named_files, named_file
from snell.packs.guard.shell.run_command import perform
from snell.packs.guard.shell.shell_state import LONGEST_NAME, Call, ShellState, Step, Walk, program_of, text_of
from snell.shell import tree
from snell.shell.cursor import TooMuchError
from snell.shell.grammar import make_tree
from snell.shell.written_files import writes_files
from snell.system.lazy_regex import lazy_regex

MOST_STEPS = 2_000
MOST_ROUNDS = 8
DEEPEST_CALL = 24
MOST_REDIRECTS = 1_000

_TABS = lazy_regex(r"^\t+", re.MULTILINE)


class LineWalk(Walk):
    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.bombs: list[str] = []
        self._active: list[str] = []
        self._background = 0
        self._sinking = False

    def line(self, text: str, scene: ShellState, stdin: Value | None = None) -> Value:
        """Walk through a text that a shell is given."""
        scene.depth += 1
        if scene.depth > DEEPEST_CALL:
            raise TooMuchError("commands are wrapped too deeply")
        output = self.run(make_tree(text, scene.budget), scene, stdin)
        scene.depth -= 1
        return output

    def run(self, node: tree.Node, scene: ShellState, stdin: Value | None) -> Value:
        """Walk through one part of the tree; returns what it prints."""
        if isinstance(node, tree.Simple):
            return self._simple(node, scene, stdin)
        if isinstance(node, tree.Chain):
            return self._chain(node, scene, stdin)
        if isinstance(node, tree.Pipe):
            return self._pipe(node, scene, stdin)
        if isinstance(node, tree.Function):
            return self._function(node, scene)
        call = self._streams(Call((), stdin), node.redirects, scene)
        output = self._compound(node, scene, call.stdin)
        self._record_redirects(call, scene, output)
        if not (call.writes or call.appends):
            return output
        self._keep(call, scene, output)
        return EMPTY

    def _compound(self, node: tree.Compound, scene: ShellState, stdin: Value | None) -> Value:
        if isinstance(node, tree.Group):
            return self.run(node.body, scene.fork() if node.is_subshell else scene, stdin)
        if isinstance(node, tree.Branches):
            return self._branches(node, scene, stdin)
        return self._loop(node, scene, stdin) if isinstance(node, tree.Loop) else self._for(node, scene, stdin)

    def _function(self, node: tree.Function, scene: ShellState) -> Value:
        scene.functions[node.name] = node.body
        if node.name in _CALLED_BY_ITSELF:
            self._call_function(node.name, Call((Value(node.name),)), scene.fork())
        return EMPTY

    def _chain(self, node: tree.Chain, scene: ShellState, stdin: Value | None) -> Value:
        output, before = EMPTY, ";"
        for item, joiner in zip(node.nodes, node.joiners, strict=True):
            scene.conditional += before in ("&&", "||")
            self._background += joiner == "&"
            output = output.concat(self.run(item, scene, stdin))
            self._background -= joiner == "&"
            scene.conditional -= before in ("&&", "||")
            before = joiner
        return output

    def _pipe(self, node: tree.Pipe, scene: ShellState, stdin: Value | None) -> Value:
        self._background += 1
        for stage in node.nodes:
            inner = scene
            if stage is not node.nodes[-1]:
                inner = scene.fork()
                inner.piped = True
            stdin = self._simple(stage, inner, stdin) if type(stage) is tree.Simple else self.run(stage, inner, stdin)
        self._background -= 1
        return stdin or EMPTY

    def _branches(self, node: tree.Branches, scene: ShellState, stdin: Value | None) -> Value:
        scene.conditional += 1
        output = merge_values([self.run(part, scene, stdin) for part in node.nodes])
        scene.conditional -= 1
        return output

    def _loop(self, node: tree.Loop, scene: ShellState, stdin: Value | None) -> Value:
        if is_bomb(node):
            self.bombs.append("a loop that never ends starts one process after the other in the background")
        self.run(node.condition, scene, stdin)
        return self.run(node.body, scene, stdin)

    def _for(self, node: tree.For, scene: ShellState, stdin: Value | None) -> Value:
        items = [UNKNOWN_VALUE]
        if node.items is not None:
            items = [value for row in fields(node.items, scene, self.capture) for value in row]
        output = EMPTY
        if len(items) > MOST_ROUNDS:
            items[MOST_ROUNDS - 1 :] = [merge_values(items[MOST_ROUNDS - 1 :])]
        for item in items:
            if node.name:
                scene.variables[node.name] = (item,)
            output = output.concat(self.run(node.body, scene, stdin))
        return output

    def capture(self, scene: ShellState, node: tree.Node, process: str) -> Value:
        inner = scene.fork()
        inner.piped = True
        return self.run(node, inner, UNKNOWN_VALUE if process == ">" else None)

    def _simple(self, node: tree.Simple, scene: ShellState, stdin: Value | None) -> Value:
        env: tuple[tuple[str, str], ...] = ()
        if node.assignments:
            env = tuple([self._assign(item, scene, keeps=not node.words) for item in node.assignments])
        rows = fields(node.words, scene, self.capture)
        call = Call(tuple(rows[0]) if len(rows) == 1 else (), stdin, env)
        if node.redirects:
            call = self._streams(call, node.redirects, scene)
        if len(rows) == 1 and UNKNOWN not in "".join(map(text_of, call.words)):  # most commands
            return self._one(call, scene, node.redirects)
        labels = frozenset[str]()
        for row in filter(None, map(drop_gaps, rows)):
            labels |= self._one(replace(call, words=tuple(row)), scene.fork(), node.redirects).labels
        outputs = [self._one(replace(call, words=tuple(row)), scene, node.redirects) for row in rows]
        output = merge_values(outputs) if outputs else EMPTY
        return output.with_labels(*labels) if labels else output

    def _one(self, call: Call, scene: ShellState, redirects: tuple[tree.Redirect, ...]) -> Value:
        if redirects and len(call.words) == 1 and call.words[0].text == "exec":
            self._keep_descriptors(redirects, scene)
        output = self.call(call, scene) if call.words else self._only_redirects(call, scene)
        if not (call.writes or call.appends):
            return output
        self._keep(call, scene, output)
        return EMPTY

    def _record_redirects(self, call: Call, scene: ShellState, output: Value) -> None:
        """Note what redirections alone do."""
        if call.writes or call.appends or call.reads:
            self.record(call.with_words(":"), scene, output)

    def _only_redirects(self, call: Call, scene: ShellState) -> Value:
        self._record_redirects(call, scene, EMPTY)
        reads_only = call.reads and not (call.writes or call.appends)  # `$(<file)` is what the file holds
        return call.stdin or EMPTY if reads_only else EMPTY

    def call(self, call: Call, scene: ShellState) -> Value:
        """Run one command: a function, an alias, a wrapper, a shell or a plain program."""
        if not call.words:
            return EMPTY
        name = call.words[0].text
        if name in scene.functions and (name not in self._active or self._background):
            return self._call_function(name, call, scene)
        if name in scene.aliases:
            return self._call_alias(name, call, scene)
        scene.depth += 1
        if scene.depth > DEEPEST_CALL:
            raise TooMuchError("commands are wrapped too deeply")
        output = perform(self, call, scene)
        scene.depth -= 1
        return output

    def _call_alias(self, name: str, call: Call, scene: ShellState) -> Value:
        text = scene.aliases.pop(name)
        words = [Value(word) for word in text.split()]
        plain = not any(mark in text for mark in "'\"$;|&`<>(~{\\")
        if plain:
            output = self.call(replace(call, words=(*words, *call.words[1:])), scene)
        else:
            output = self.line(text + "".join(f" {word.text}" for word in call.words[1:]), scene, call.stdin)
        scene.aliases[name] = text
        return output

    def _call_function(self, name: str, call: Call, scene: ShellState) -> Value:
        if name in self._active:
            if self._background:
                self.bombs.append(f"the function `{name}` starts itself over and over")
            return UNKNOWN_VALUE
        self._active.append(name)
        inner_names = ("@", *(str(number) for number in range(1, 10)))
        kept = {key: scene.variables.get(key) for key in inner_names}
        self.set_arguments(scene, call.words[1:])
        output = self.run(scene.functions[name], scene, call.stdin)
        for key, values in kept.items():
            if values is None:
                scene.variables.pop(key, None)
            else:
                scene.variables[key] = values
        self._active.pop()
        return output

    def set_arguments(self, scene: ShellState, words: tuple[Value, ...]) -> None:
        for number in range(1, 10):
            scene.variables[str(number)] = (words[number - 1] if number <= len(words) else EMPTY,)
        labels = frozenset(label for word in words for label in word.labels)
        scene.variables["@"] = (Value(BREAK.join(word.text for word in words), labels),)

    def record(self, call: Call, scene: ShellState, output: Value, code: Value | None = None) -> None:
        """Note a program that would run."""
        if len(self.steps) % 8 == 7 and not scene.budget.has_time():  # to ask for the time is a call of the system
            raise TooMuchError("it takes too long to follow")
        if len(self.steps) >= MOST_STEPS:
            raise TooMuchError("it runs too many commands")
        program = program_of(call.words[0].text)
        args = tuple(map(text_of, call.words[1:]))
        writes, env = call.writes, call.env
        may_write = writes_files(program[:LONGEST_NAME])
        if may_write and (named := files_written(program, args, call.stdin.text if call.stdin else "")):
            writes = (*writes, *(named_file(scene.absolute(path), scene) for path in named))
        if told := scene.exported & _TOLD:
            env = (*((name, scene.variables[name][0].text) for name in sorted(told)), *env)
        self.steps.append(
            Step(
                program,
                call.words,
                scene.cwd,
                call.stdin,
                call.reads,
                writes,
                (*call.appends, *call.opens),
                env,
                scene.elevated,
                scene.where,
                call.sweeps,
                call.filtered,
                output,
                scene.depth,
                code,
                scene.piped,
                labels_of_named_files(args, scene) if scene.files else frozenset(),
                args,
                scene.script,
            )
        )

        for path in writes:
            if path in scene.sinks and not self._sinking:
                self._sinking = True
                self.run(scene.sinks[path], scene.fork(), output)
                self._sinking = False

    def _assign(self, item: tree.Assignment, scene: ShellState, *, keeps: bool) -> tuple[str, str]:
        if item.inside:
            self._one_value(tree.Word(item.inside), scene)
        if item.items is not None:
            row = fields(item.items, scene, self.capture)[0]
            labels = frozenset(label for value in row for label in value.labels)
            values = [Value(BREAK.join(value.text for value in row), labels)]
        else:
            values = single(item.value, scene, self.capture)
        if item.adds:
            before = scene.variables.get(item.name) or (EMPTY,)
            glue = Value(BREAK) if item.items is not None and before[0].text else EMPTY
            values = [old.concat(glue).concat(new) for old in before for new in values]
        evaluate_texts(self, values, scene)
        if keeps or item.items is not None:  # `declare -A name=(...)`: an array is never for one command alone
            scene.assign(item.name, tuple(values))
            if item.name == "PROMPT_COMMAND":
                self.line(values[0].text, scene.fork())
            if item.name == "HISTFILE":
                self.record(Call((Value("export"), Value(f"HISTFILE={values[0].text}"))), scene, EMPTY)
        return item.name, values[-1].text

    def _streams(self, call: Call, redirects: tuple[tree.Redirect, ...], scene: ShellState) -> Call:
        if len(redirects) > MOST_REDIRECTS:
            scene.budget.trouble("it has too many redirections")
        for redirect in redirects[:MOST_REDIRECTS]:
            call = self._stream(call, redirect, scene)
        return call

    def _stream(self, call: Call, redirect: tree.Redirect, scene: ShellState) -> Call:
        operator = redirect.operator
        if redirect.body is not None:
            body = self._one_value(redirect.body, scene)
            if operator == "<<-":
                body = Value(_TABS.sub("", body.text), body.labels)
            return self._feed(call, redirect, body, scene)
        target = self._one_value(redirect.target, scene)
        if operator == "<<<":
            return self._feed(call, redirect, target.concat(Value("\n")), scene)
        if operator in ("<&", ">&") and _is_descriptor(target.text, scene):
            return self._duplicate(call, operator, target.text, scene)
        is_listed = target.text == UNKNOWN and target.detail("found") == "all"  # `> "$f"` for each file of a listing
        path = scene.absolute("*" if is_listed else target.text)
        if operator in ("<", "<>", "<&"):
            stdin = scene.content(path) or file_value(path, scene)
            opens = (*call.opens, path) if operator == "<>" and not path.startswith("/dev/") else call.opens
            return replace(call, reads=(*call.reads, path), stdin=stdin.with_labels(*target.labels), opens=opens)
        if redirect.fd == "2" or path == "/dev/null":
            return call if path.startswith("/dev/") or not path else replace(call, appends=(*call.appends, path))
        paths = (path, drop_text_gaps(path)) if UNKNOWN in path and drop_text_gaps(path) != path else (path,)
        if operator in (">>", "&>>"):
            return replace(call, appends=(*call.appends, *paths))
        return replace(call, writes=(*call.writes, *paths))

    def _feed(self, call: Call, redirect: tree.Redirect, text: Value, scene: ShellState) -> Call:
        """Text that stands in the line itself, on standard input or on another descriptor."""
        if redirect.fd in ("", "0"):
            return replace(call, stdin=text)
        path = scene.fds[redirect.fd] = f"/dev/fd/{redirect.fd}"
        scene.files[path] = text
        scene.variables.setdefault(redirect.fd, (Value(redirect.fd),))
        return call

    def _duplicate(self, call: Call, operator: str, target: str, scene: ShellState) -> Call:
        path = scene.fds.get(target.rstrip("-"), "")
        if operator == ">&":
            return replace(call, writes=(*call.writes, path)) if path else call
        if target == UNKNOWN:
            held = [scene.files.get(name, EMPTY) for name in scene.fds.values()]
            return replace(call, stdin=merge_values(held) if held else call.stdin)
        return replace(call, stdin=scene.files.get(path) or file_value(path, scene)) if path else call

    def _one_value(self, word: tree.Word, scene: ShellState) -> Value:
        return merge_values(single(word, scene, self.capture))

    def _keep(self, call: Call, scene: ShellState, output: Value) -> None:
        told = output.text.strip(UNKNOWN + " \n")
        if told and any(is_startup_file(path) or is_system_program(path) for path in call.writes + call.appends):
            self.line(output.text, scene.fork())
        for code in PROXY.findall(told) if "/.ssh/config" in "\0".join(call.writes + call.appends) else ():
            self.line(code, scene.fork())
        for path in call.writes:
            scene.write(path, output)
        for path in call.appends:
            scene.write(path, output, adds=True)

    def _keep_descriptors(self, redirects: tuple[tree.Redirect, ...], scene: ShellState) -> None:
        for redirect in redirects:
            if not redirect.fd or redirect.body is not None or redirect.operator == "<<<":
                continue
            target = self._one_value(redirect.target, scene).text
            copied = scene.fds.get(target.rstrip("-")) if redirect.operator in ("<&", ">&") else None
            scene.fds[redirect.fd] = copied or scene.absolute(target)
            scene.variables.setdefault(redirect.fd, (Value(redirect.fd),))


# Variables that change what a program does; a step says which of them are set for it.
_TOLD = name_set("TAR_OPTIONS TAPE LD_PRELOAD BASH_ENV ENV GIT_SSH_COMMAND PROMPT_COMMAND VIRTUAL_ENV")
_CALLED_BY_ITSELF = names("functions_called_by_shells")


def _is_descriptor(target: str, scene: ShellState) -> bool:
    name = target.rstrip("-")
    return not name or name.isdigit() or name in scene.fds or (target == UNKNOWN and bool(scene.fds))
