"""What git, package managers, builds and build servers run by themselves in a project."""

import re
import shlex
from collections.abc import Iterator

from snell.packs.guard.automatic_files.entries import ELSEWHERE, Entry, command_line, member, members_of_part, read_json
from snell.shell.programs import program_row
from snell.system.lazy_regex import lazy_regex


def read_script(text: str) -> Iterator[Entry]:
    """Yield a whole script that git or a shell runs by itself."""
    yield Entry(text, "when git or the shell calls it")
    for address in _SOURCE_URL.findall(text):
        yield Entry(f"source_url {address}", "whenever a shell enters the folder", asks=True)


_SOURCE_URL = lazy_regex(r"(?m)^[ \t]*source_url\s+(\S+)")
_YAML_LINE = lazy_regex(r"(?m)^[ \t]*(?:-\s*)?(?:run|entry)\s*:\s*[|>]?[-+]?\s*(\S.*)$")


def read_hook_list(text: str) -> Iterator[Entry]:
    """Yield the commands of a manager of git hooks."""
    for line in map(str.rstrip, _YAML_LINE.findall(text)):
        yield Entry(line.strip("\"'") if line[:1] == line[-1:] else line, "when git calls its hooks")


_INSTALL_SCRIPTS = frozenset(
    f"{lead}{name}" for name in ("install", "prepare", "uninstall") for lead in ("pre", "", "post")
) | {"prepublish", "dependencies"}
_PUBLISH_SCRIPTS = frozenset(("prepack", "postpack", "prepublishOnly", "publish", "postpublish"))
_SIMPLE = lazy_regex(r"[\w@.:/=,*\"' -]+")


def read_package(text: str) -> Iterator[Entry]:
    """Yield the scripts of a package that run when it is installed or packed."""
    value = read_json(text)
    scripts = member(value, "scripts")
    pairs = list(scripts.items()) if isinstance(scripts, dict) else members_of_part(text) if value is None else []
    for name, given in pairs:
        line = command_line(given)
        if name in _INSTALL_SCRIPTS and line:
            yield Entry(line, f"as `{name}`, whenever the package is installed", asks=not _runs_known_tools(line))
        elif name in _PUBLISH_SCRIPTS:
            yield Entry(line, f"as `{name}`, when the package is packed or published")


def _runs_known_tools(line: str) -> bool:
    """Tell whether a script only calls tools that many projects call when they are installed, or its other scripts."""
    return all(_is_known_tool(part.split()) for part in re.split(r"&&|\|\||;", line))


def _is_known_tool(words: list[str]) -> bool:
    if not words or not _SIMPLE.fullmatch(" ".join(words)):
        return not words
    if words[0] in ("npm", "pnpm", "yarn", "bun"):
        return words[1:2] in (["run"], ["build"], ["install"], ["test"]) and "http" not in " ".join(words)
    tool = words[1] if words[0] in ("npx", "bunx") and len(words) > 1 else words[0]
    return tool in _INSTALL_TOOLS or tool in program_row("npx").well_known


_INSTALL_TOOLS = frozenset(
    ("husky", "patch-package", "node-gyp", "node-gyp-build", "prebuild-install", "tsc", "true", "exit", "echo", "ngcc")
) | {
    "simple-git-hooks",
    "lefthook",
    "prisma",
    "svelte-kit",
    "nuxt",
    "nuxi",
    "electron-rebuild",
    "is-ci",
    "wxt",
    "patches",
}


def read_composer(text: str) -> Iterator[Entry]:
    """Yield the scripts that Composer runs by itself."""
    scripts = member(read_json(text), "scripts")
    pairs = scripts.items() if isinstance(scripts, dict) else members_of_part(text)
    for name, given in pairs:
        if name.startswith(("pre-", "post-")):
            for line in given if isinstance(given, list) else [given]:
                yield Entry(str(line), f"as `{name}` of Composer")


_PROGRAM_SETTINGS = lazy_regex(
    r"(?im)^[ \t]*[\"']?(script-shell|shell|node-options|git|editor|viewer|yarn-?path|onload-script|init-module"
    r"|rustc(?:-wrapper|-workspace-wrapper)?|runner|linker|pnpmfile|global-pnpmfile|unsafe-perm)[\"']?\s*[=:]\s*(\S.*)$"
)
_OPEN_SOURCE = lazy_regex(
    r"(?im)^[ \t]*[\"']?((?:@[\w-]+:)?registry|npmRegistryServer|(?:extra-)?index-url|replace-with|proxy|https-proxy)"
    r"[\"']?\s*[=:]\s*[\"']?(http://(?!localhost|127\.|10\.|192\.168\.)\S+)"
)
_USUAL_VALUE = lazy_regex(
    r"[\"']?(?:/(?:usr/)?bin/(?:ba|z)?sh|bash|lld|mold|clang|gcc|\w+-linux-\w+-gcc|sccache|wasm-\w+|qemu-\S+|--max[\w-]+=\d+"
    r"|\.yarn/releases/[\w.-]+|true|false)[\"']?\s*"
)


def read_tool_settings(text: str) -> Iterator[Entry]:
    """Yield the settings of package managers that name a program, or an unencrypted address of packages."""
    for name, given in _PROGRAM_SETTINGS.findall(text):
        if not _USUAL_VALUE.fullmatch(given):
            yield Entry(given.strip(), f"as `{name}`, whenever the package manager runs", asks=True)
    for name, address in _OPEN_SOURCE.findall(text):
        yield Entry(address, f"as `{name}`: packages from there, without encryption", asks=True)


_RUST_COMMAND = lazy_regex(r'Command::new\(\s*"([^"]+)"\s*\)((?:\s*\.\s*args?\s*\([^)]*\))*)')
_RUST_TEXT = lazy_regex(r'"((?:[^"\\]|\\.)*)"')


def read_build_script(text: str) -> Iterator[Entry]:
    """Yield what the build script of a Rust package starts."""
    for program, given in _RUST_COMMAND.findall(text):
        yield Entry(command_line([program, *_RUST_TEXT.findall(given)]), "whenever the package is built")


def read_python(text: str) -> Iterator[Entry]:
    """Yield Python code that is run when a package is installed, or whenever Python starts."""
    line = f"python3 -c {shlex.quote(text)}"
    yield Entry(text, "when the package is installed or Python starts", code=line)


_SERVER_SECRET = lazy_regex(
    r"\$\{\{\s*(?:secrets\.\w+|secrets\[[^\]]*\]|toJSON\(secrets\)|github\.token)\s*\}\}", re.IGNORECASE
)
_SECRET_VARIABLE = lazy_regex(r"(?m)^[ \t]*(?:-\s*)?(\w+)\s*:\s*[\"']?\$SERVER_SECRET_TOKEN[\"']?\s*$")
_CI_VARIABLE = lazy_regex(
    r"\$\{?(?:CI_JOB_TOKEN|CI_REGISTRY_PASSWORD|CI_DEPLOY_PASSWORD|SYSTEM_ACCESSTOKEN|CIRCLE_TOKEN)\}?"
)
_SCRIPT_LINE = lazy_regex(r"(?m)^[ \t]*(?=\S)(?:-\s*)?(?:(?:run|script|sh)\s*:\s*)?[|>]?-?\s*(.+)$")
_FORKS = lazy_regex(r"(?m)^(?:on\s*:.*|[ \t]*[\"']?)\bpull_request_target\b")
_FOREIGN_TEXT = lazy_regex(
    r"(?m)^.*\$\{\{\s*github\.(?:event\.(?:issue|pull_request|comment|review|discussion|head_commit)"
    r"[\w.]*\.(?:title|body|message|ref|label|name|email)|head_ref)\s*\}\}"
)
_ASSIGNED = lazy_regex(r"^\s*(?:-\s*)?(?!run\b|script\b)[\w-]+\s*:\s*[\"']?\$\{\{")


def read_workflow(text: str) -> Iterator[Entry]:
    """Yield what a build server runs when the file is pushed, with its secrets named as a variable."""
    when = "on the build server, with its secrets, as soon as it is pushed"
    # The server puts secrets in these places, also between single quotes; rules recognise them as a variable.
    named = _CI_VARIABLE.sub("$SERVER_SECRET_TOKEN", _SERVER_SECRET.sub("$SERVER_SECRET_TOKEN", text))
    named = named.replace("'", '"') if named != text else text
    script = "\n".join(_SCRIPT_LINE.findall(_SECRET_VARIABLE.sub(r"\1=$SERVER_SECRET_TOKEN", named)))
    yield Entry(text, when, where=ELSEWHERE, code=script)
    if _FORKS.search(text):
        yield Entry("pull_request_target", "with the repository's secrets, for pull requests of strangers", asks=True)
    for found in _FOREIGN_TEXT.finditer(text):
        if not _ASSIGNED.match(found[0]) and ("run" in found[0] or "|" in text):
            yield Entry(found[0].strip(), "with text that strangers write as a part of the command", asks=True)
