"""Shells and languages: find the code that they are given, and follow it."""

import base64
import binascii
import itertools
import re
from functools import cache

from msgspec.structs import replace

from snell.model.tool_names import name_set
from snell.packs.guard.known_names import pattern, table
from snell.packs.guard.known_values import DECODED, MOVED, NETWORK, PROGRAM, SOURCE, UNKNOWN, UNKNOWN_VALUE, Value
from snell.packs.guard.shell import loaded_modules, program_code
from snell.packs.guard.shell.build_recipes import LOADED, RECIPE_READERS, recipes
from snell.packs.guard.shell.program_output import output_of
from snell.packs.guard.shell.shell_state import Call, Performer, ShellState, Walk, program_of, text_of
from snell.shell.build_targets import BUILD_FILES, SCRIPT_RUNNERS
from snell.shell.cursor import Budget
from snell.shell.programs import is_known
from snell.shell.windows_text import cmd_line, join_strings
from snell.system.lazy_regex import lazy_regex

STDIN = frozenset(("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "-"))
SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "rbash", "fish", "csh", "tcsh", "pwsh-sh"))
_SHELL_VALUED = frozenset(("-o", "-O", "+o", "+O", "--rcfile", "--init-file"))
LANGUAGES = table("options_with_code")
_PRINTS = ("-p", "-pe", "--print")
_AWKS = frozenset(("awk", "gawk", "mawk", "nawk"))
_VERSIONED = lazy_regex(r"^(python|pypy|ruby|perl|php|lua|node|py)[\d.]*w?$")
_SAME = {"py": "python", "r": "rscript", "irb": "ruby", "ts-node": "node", "tsx": "node", "jruby": "ruby"}
_ATTACHED = table("options_with_code_in_the_same_word")
_CHECKS = {"php": name_set("-l --syntax-check"), "node": name_set("-c --check"), "ruby": name_set("-c -wc -cw")}
_VALUED = frozenset(("-W", "-X", "-I", "-M", "-r", "--require", "-F", "-v", "-f", "-d", "--import", "--loader"))


def run_code(walk: Walk, call: Call, scene: ShellState, code: Value, inner: ShellState) -> Value:
    """Walk through a text that a shell is given to run; returns what it prints."""
    walk.record(replace(call, stdin=None), scene, UNKNOWN_VALUE, code=code)
    if not code.text.strip(UNKNOWN).strip():
        return Value(UNKNOWN, code.labels)
    printed = list[Value]()
    with inner.inside_script(code):
        printed.append(walk.line(code.text, inner))
    return printed[0] if printed else UNKNOWN_VALUE


_FILE_OPTIONS = frozenset(("-f", "--file", "--makefile", "--justfile", "-t", "--taskfile"))
# Programs that run what a file of this name in the folder says.
_BUILDS = {
    **BUILD_FILES,
    **{program: (file,) for program, (file, _language) in LOADED.items()},
    **dict.fromkeys(SCRIPT_RUNNERS, ("package.json",)),
    "gradle": ("build.gradle", "build.gradle.kts"),
    "vagrant": ("Vagrantfile",),
    "pytest": ("conftest.py",),
}


def run_file(walk: Walk, call: Call, scene: ShellState) -> Value | None:
    """Follow a program that is named by its path, if this line or this session wrote it."""
    name = call.words[0].text
    if "/" in name:
        content = scene.script_text(name)
    else:
        built = {scene.absolute(file) for file in _BUILDS.get(name, ())}
        kept = [value for path, value in scene.files.items() if path in built or path.endswith(f"bin/{name}")]
        # A tool that was fetched by an address one can check, and put in its place, is how tools are installed.
        fetched = [value for value in kept if value.has(NETWORK)]
        content = next((value for value in fetched if "https:" not in value.detail(NETWORK)), None)
        if fetched and not content and not is_known(program_of(name)):
            tool = call.words[0].with_labels(*fetched[0].labels)
            walk.record(call.with_words(tool, *call.words[1:]), scene, UNKNOWN_VALUE)
    if "/" not in name:
        _run_recipes(walk, call, scene)
    copy = content.detail(PROGRAM) if content is not None and content.has(PROGRAM) else ""
    if copy and program_of(copy) != program_of(name):
        return walk.call(replace(call, words=(Value(copy), *call.words[1:])), scene)
    if content is None or _is_just_made(content):
        return None
    return _follow(walk, call, scene, content)


def _run_recipes(walk: Walk, call: Call, scene: ShellState) -> None:
    program = program_of(call.words[0].text)
    args = [word.text for word in call.words[1:]]
    if program.startswith("python") and args[:1] == ["-m"] and len(args) > 1:
        program, args = args[1], args[2:]
    if program not in RECIPE_READERS:
        return
    known = {path: value.text for path, value in scene.files.items() if value.text and value.text != UNKNOWN}
    for before, path in itertools.pairwise(args):
        if before in _FILE_OPTIONS and (program in BUILD_FILES or program in ("rake", "nox")):
            text = call.stdin.text if path in STDIN and call.stdin is not None else known.get(scene.absolute(path), "")
            known[scene.absolute(_BUILDS[program][0])] = text
        elif before in _FILE_OPTIONS and path in STDIN and call.stdin is not None:
            known[scene.absolute(path)] = call.stdin.text  # a plan, such as a manifest for `kubectl apply -f -`
    for language, code in recipes(program, args, known, scene.cwd):
        if language == "sh":
            walk.line(code, scene.fork())
        else:
            program_code.follow(walk, call, scene, language, code)


def _is_just_made(content: Value) -> bool:
    """Return whether a program has just written the content, of which no more is known than of any other file."""
    return content.text == UNKNOWN and all(
        label.partition(" ")[0] in ("output", "variable", MOVED, PROGRAM) for label in content.labels
    )


def _follow(walk: Walk, call: Call, scene: ShellState, content: Value) -> Value:
    first = content.text.split("\n", 1)[0]
    language = next((name for name in LANGUAGES if name in first), "") if first.startswith("#!") else ""
    language = content.detail(SOURCE) or language
    if language:
        walk.record(call, scene, UNKNOWN_VALUE, code=content)
        with scene.inside_script(content):
            program_code.follow(walk, call, scene, language, content.text)
        return UNKNOWN_VALUE
    inner = scene.fork()
    walk.set_arguments(inner, call.words[1:])
    inner.variables["0"] = inner.variables["BASH_SOURCE"] = call.words[:1]
    return run_code(walk, call, scene, content, inner)


def _shell(walk: Walk, call: Call, scene: ShellState) -> Value:
    words = list(call.words[1:])
    letters = _shell_options(words)
    if "n" in letters and "i" not in letters:
        walk.record(call, scene, UNKNOWN_VALUE)
        return UNKNOWN_VALUE  # it is read and not run
    inner = _exported_only(scene, call.env)
    _start_files(walk, call, scene, inner)
    if "c" in letters and words:
        walk.set_arguments(inner, tuple(words[2:]))
        if len(words) > 1:
            inner.variables["0"] = (words[1],)
        return run_code(walk, call, scene, words[0], inner)
    if words and "s" not in letters and words[0].text not in STDIN:
        return _script(walk, call, scene, words, inner)
    walk.set_arguments(inner, tuple(words if "s" in letters else words[1:]))
    if call.stdin is None:
        walk.record(call, scene, UNKNOWN_VALUE)
        return UNKNOWN_VALUE
    return run_code(walk, call, scene, call.stdin, inner)


def _shell_options(words: list[Value]) -> str:
    """Take the options of a shell off its words, and return the letters of the short ones."""
    letters = ""
    while words and words[0].text[:1] in ("-", "+") and len(words[0].text) > 1:
        option = words.pop(0).text
        if option == "--":
            break
        if not option.startswith("--"):
            letters += option[1:] if option[0] == "-" else ""
        if (option in _SHELL_VALUED or re.fullmatch(r"[-+]\w*o", option)) and words:
            words.pop(0)
    return letters


def _start_files(walk: Walk, call: Call, scene: ShellState, inner: ShellState) -> None:
    """Follow what a shell reads first (`BASH_ENV=file`, `--rcfile file`), and prompts, which run when shown."""
    for name, prompt in call.env:
        if name in ("PS0", "PS1", "PS4") and ("$(" in prompt or "`" in prompt):
            walk.line(f': "{prompt}"', inner.fork())
    args = [word.text for word in call.words]
    named = [after for arg, after in itertools.pairwise(args) if arg in ("--rcfile", "--init-file")]
    named += [value for name, value in call.env if name in ("BASH_ENV", "ENV")]
    for path in named:
        content = scene.content(path)
        if content is not None:
            run_code(walk, call, scene, content, inner)


def _script(walk: Walk, call: Call, scene: ShellState, words: list[Value], inner: ShellState) -> Value:
    content = scene.script_text(words[0].text)
    if content is None and words[0].labels:
        content = Value(UNKNOWN, words[0].labels)
    if content is None or _is_just_made(content):
        walk.record(call, scene, UNKNOWN_VALUE)
        return Value(UNKNOWN, frozenset((f"output {program_of(words[0].text)}",)))
    walk.set_arguments(inner, tuple(words[1:]))
    inner.variables["0"] = inner.variables["BASH_SOURCE"] = (words[0],)
    return run_code(walk, call, scene, content, inner)


def _exported_only(scene: ShellState, env: tuple[tuple[str, str], ...]) -> ShellState:
    inner = scene.fork()
    kept = scene.exported | {"IFS", "HOME", "PWD", "TMPDIR", "0"}
    inner.variables = {name: values for name, values in scene.variables.items() if name in kept}
    exported = {name: body for name, body in scene.functions.items() if f"{name}()" in scene.exported}
    inner.functions, inner.aliases = exported, {}
    for name, value in env:
        inner.variables[name] = (Value(value),)
        inner.exported.add(name)
    return inner


def run_language(walk: Walk, call: Call, scene: ShellState) -> Value:
    """Follow the code that an interpreter of another language is given."""
    program = program_of(call.words[0].text)
    found = _VERSIONED.match(program)
    name = found[1] if found else program
    name = _SAME.get(name, name)
    attached, options = _code_options(name)
    words = call.words[1:]
    codes, script, module = list[Value](), None, False
    index = 0
    while index < len(words):
        text = words[index].text
        if options.fullmatch(text) and index + 1 < len(words):
            code = words[index + 1]
            codes.append(replace(code, text=f"console.log({code.text})") if text in _PRINTS else code)
            index += 1
        elif found := attached.fullmatch(text):
            codes.append(Value(found[1], words[index].labels))
        elif text in _CHECKS.get(name, ()) and not codes:
            walk.record(call, scene, UNKNOWN_VALUE)
            return UNKNOWN_VALUE  # the script behind this option is read and not run
        elif text == "-m" and name == "python":
            module = True
            codes += _module_code(words[index + 1 :], scene)
            break
        elif text in _VALUED and index + 1 < len(words):
            index += 1
        elif not text.startswith("-") or text == "-":
            script = words[index]
            break
        index += 1
    return _given_code(walk, call, scene, name, codes, script, module=module)


@cache
def _code_options(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of an option with code in the same word, and of options with code in the next one."""
    return re.compile(_ATTACHED.get(language, "(?!)"), re.DOTALL), re.compile(LANGUAGES[language] or "(?!)")


def _module_code(words: tuple[Value, ...], scene: ShellState) -> list[Value]:
    """Return the code of a module that the line or session wrote, and code for a module that runs its arguments."""
    if not words:
        return []
    runs = words[1:] if words[0].text in ("pdb", "timeit", "code", "cProfile") else ()
    given = [Value(word.text.lstrip("!"), word.labels) for word in runs if not word.text.startswith("-")]
    return [*loaded_modules.module_files("python", words[0].text, scene), *given]


def _given_code(
    walk: Walk, call: Call, scene: ShellState, name: str, codes: list[Value], script: Value | None, *, module: bool
) -> Value:
    is_awk = name in _AWKS
    if is_awk:
        codes = [script] if script is not None and not any(word.text == "-f" for word in call.words) else []
    texts = [*map(text_of, call.words[1:])]
    output = output_of("awk", texts, call, scene) if is_awk else Value(UNKNOWN, frozenset((f"output {name}",)))
    if not codes and not module:
        codes = _code_of_script(call, scene, name, script)
    if script is not None and script.text.endswith("manage.py") and any(word.text == "dbshell" for word in call.words):
        walk.record(replace(call, words=(Value("psql"),)), scene, output)  # any client is told the same
    if not codes:
        walk.record(call, scene, output)
        return output
    if call.stdin is not None and any(_RUNS_INPUT.search(code.text[: program_code.SHORT]) for code in codes):
        run_code(walk, call, scene, call.stdin, scene.fork())
    places = (loaded_modules.printed_place(code.text) for code in codes) if name == "python" else ()
    if place := next(filter(None, places), ""):
        output = Value(place, output.labels)
    for code in codes:
        walk.record(call, scene, output, code=None if is_awk else code)
        with scene.inside_script(code):
            program_code.follow(walk, call, scene, name, code.text)
    return output


def _code_of_script(call: Call, scene: ShellState, name: str, script: Value | None) -> list[Value]:
    """Return the code of a script that the line or the session wrote, or that comes over standard input."""
    if script is None or script.text in STDIN or _is_console(call, script):
        return [call.stdin] if call.stdin is not None else []
    known = scene.script_text(script.text) or next(iter(loaded_modules.module_files(name, script.text, scene)), None)
    if known is None and script.labels:
        known = Value(UNKNOWN, script.labels)
    return [known] if known is not None else []


def _is_console(call: Call, script: Value) -> bool:
    """Tell whether a script of a framework runs its input: `python manage.py shell`."""
    return script.text.endswith("manage.py") and any(word.text in ("shell", "shell_plus") for word in call.words)


def is_versioned(program: str) -> bool:
    """Return whether this is a language with its version behind its name: `perl5.38.2`, `node22`."""
    return _VERSIONED.match(program) is not None


_RUNS_INPUT = pattern("runs_its_input")
_COMPUTED = lazy_regex(r"(?:^|[;|{&])\s*&\s*\(")


def _powershell(walk: Walk, call: Call, scene: ShellState) -> Value:
    words = call.words[1:]
    for index, word in enumerate(words):
        option = word.text.lower()
        rest = words[index + 1 :]
        if option in ("-e", "-ec", "-enc", "-encodedcommand", "-encoded", "-enco") and rest:
            code = _translate_powershell(walk, _decode(rest[0].text), scene).with_labels(DECODED)
            return run_code(walk, call, scene, code, scene.fork())
        if option.startswith("-c") and rest:
            code = _translate_powershell(walk, " ".join(part.text for part in rest), scene)
            return run_code(walk, call, scene, code, scene.fork())
    if call.stdin is not None:
        code = _translate_powershell(walk, call.stdin.text, scene).with_labels(*call.stdin.labels)
        return run_code(walk, call, scene, code, scene.fork())
    if words and not words[0].text.startswith(("-", "/")) and not words[0].text.lower().endswith(".ps1"):
        code = _translate_powershell(walk, " ".join(part.text for part in words), scene)
        return run_code(walk, call, scene, code, scene.fork())
    walk.record(call, scene, UNKNOWN_VALUE)
    return UNKNOWN_VALUE


def _translate_powershell(walk: Walk, text: str, scene: ShellState) -> Value:
    """Return PowerShell code as a line for a POSIX shell; programs with a shell's options are followed as they are."""
    text = join_strings(text)
    if _COMPUTED.search(text):
        scene.budget.trouble("PowerShell calls a command whose name it computes")
    plain = scene.fork()
    plain.budget = Budget()  # what is no line for a POSIX shell is no fault here
    walk.line(text.replace("\\", "/"), plain)
    from snell.shell.powershell import to_posix  # few commands need it

    translated = to_posix(text)
    if not translated.is_understood:
        scene.budget.trouble("there is PowerShell code that is not understood")
    return Value(translated.line)


def _decode(text: str) -> str:
    try:
        return base64.b64decode(text).decode("utf-16-le")
    except (ValueError, binascii.Error):
        return UNKNOWN


def _cmd(walk: Walk, call: Call, scene: ShellState) -> Value:
    words = [word.text for word in call.words[1:]]
    starts = [index for index, word in enumerate(words) if word.lower() in ("/c", "/k")]
    if starts:
        code = cmd_line(" ".join(words[starts[0] + 1 :]))
        return run_code(walk, call, scene, Value(code), scene.fork())
    walk.record(call, scene, UNKNOWN_VALUE)
    return UNKNOWN_VALUE


PERFORMERS: dict[str, Performer] = {
    **dict.fromkeys(SHELLS, _shell),
    **dict.fromkeys(LANGUAGES, run_language),
    **{f"python{version}": run_language for version in ("2", "3", *(f"3.{minor}" for minor in range(6, 17)), "2.7")},
    **dict.fromkeys(_SAME, run_language),
    **dict.fromkeys(("pypy3", "ruby3", "perl5", "php8", "lua5.4", "lua5.3", "lua5.1"), run_language),
    **dict.fromkeys(("powershell", "pwsh"), _powershell),
    "cmd": _cmd,
}
