"""Load only the hooks that a case file tests: no user settings, no policy, no other pack."""

from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from snell.model.errors import HookError, SettingsError
from snell.model.hooks import Hook, PythonFile, Scope, Switches
from snell.runtime.python_hook_files import PythonFiles
from snell.settings.builtin_packs import is_builtin, pack_hooks
from snell.settings.locate import SettingsFile
from snell.settings.pack_manifest import MANIFEST, read_pack
from snell.settings.parse_types import Parsed
from snell.settings.read_file import read_file

LAYER = "test"


class UnderTest(Struct, frozen=True):
    hooks: tuple[Hook, ...]
    switches: Switches = Switches()
    project: str = ""  # the folder of a settings file's project; empty = each case has a temporary folder


def under_test(subject: Path, files: PythonFiles) -> UnderTest:
    """Load the hooks of a Python file, a settings file or a pack. Raises HookError or SettingsError."""
    if is_builtin(subject):
        return _from_builtin(subject)
    if subject.is_dir():
        pack = read_pack(subject)
        return UnderTest(tuple(hook for path in pack.files for hook in _from_python(path, pack.name, files)))
    if subject.suffix == ".py":
        return UnderTest(_from_python(subject, _pack_name(subject), files))
    return _from_settings(subject, files)


def _from_builtin(subject: Path) -> UnderTest:
    """Return the hooks of a built-in pack, which run in this process, as always."""
    folder = subject if subject.is_dir() else subject.parent
    hooks = pack_hooks(read_pack(folder).name)
    if subject.is_dir():
        return UnderTest(hooks)
    return UnderTest(tuple(hook for hook in hooks if Path(hook.source.file).stem == subject.stem))


def _pack_name(path: Path) -> str:
    """Return the pack's name as the hook loader does: a file outside a pack is named by itself."""
    return read_pack(path.parent).name if path.with_name(MANIFEST).is_file() else path.stem


def _from_python(path: Path, pack: str, files: PythonFiles) -> tuple[Hook, ...]:
    found = files.load(path.absolute(), scope=Scope.SESSION, layer=LAYER, pack=pack)
    if found.problem:
        raise HookError(found.problem)
    return found.hooks


def _from_settings(path: Path, files: PythonFiles) -> UnderTest:
    path = path.absolute()
    parsed = read_file(_settings_file(path))
    for problem in parsed.problems:
        if problem.severity == "error":
            where = f"{problem.file}:{problem.line}"
            raise SettingsError(problem.message, where=where, advice=problem.advice)
    hooks = tuple(_with_function(each.hook, files) for each in parsed.declared)
    if not hooks:
        raise SettingsError("the file has no hooks to test", where=str(path), advice="add one with [[hooks]]")
    return UnderTest(hooks, _switches(parsed), str(_project_of(path)))


def _settings_file(path: Path) -> SettingsFile:
    """Return the file with its layer: a policy is recognised by its name, a client's file by its folder."""
    if path.stem == "policy":
        return SettingsFile(path, "policy", Scope.POLICY)
    layer = "local" if path.stem.endswith(".local") else "project"
    return SettingsFile(path, layer, is_foreign=path.parent.name == ".claude")


def _with_function(hook: Hook, files: PythonFiles) -> Hook:
    """Load the Python function that a hook of a settings file names. Raises SettingsError."""
    handler = hook.handler
    if not isinstance(handler, PythonFile):
        return hook
    for each in _from_python(Path(handler.path), "settings", files):
        if isinstance(each.handler, PythonFile) and each.handler.function == handler.function:
            return replace(hook, handler=each.handler)
    message = f"`{handler.path}` has no hook `{handler.function}`"
    raise SettingsError(message, where=str(hook.source), advice="name a function with @judges, @informs, ...")


def _switches(parsed: Parsed) -> Switches:
    values: dict[str, Any] = {value.name: value.value for value in parsed.values}
    known = {name: values[name] for name in Switches.__struct_fields__ if name in values}
    return Switches(**known)


def _project_of(path: Path) -> Path:
    return path.parent.parent if path.parent.name in (".snell", ".claude") else path.parent
