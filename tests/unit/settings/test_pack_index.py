"""The index of the built-in packs: it says what the packs say, and a pack that was changed is read itself."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import asdict

from snell.model.hooks import Hook, Inline
from snell.settings import packs
from snell.settings.pack_index import current_packs

SOURCE = Path(packs.__file__).parents[2]


@pytest.mark.proves("S0-34", "S0-46", "S0-56", "S0-64")
def test_the_index_says_what_the_packs_declare() -> None:
    """Compared with what importing every module gives, in a Python that has no index."""
    indexed = current_packs(packs.FOLDER)
    assert sorted(indexed) == sorted(packs.builtin_packs()), "run `python3 dev.py docs`"
    for name, pack in packs.builtin_packs().items():
        for is_on in (True, False):
            stems = [path.stem for path in pack.files if (path.stem == packs.OFF) is not is_on]
            modules = (packs.import_module(f"snell.packs.{name}.{stem}") for stem in stems)
            imported = [hook for module in modules for hook in packs._hooks_of(module, name, pack.options)]
            assert plain(indexed[name].hooks_in(stems, name, pack.options)) == plain(imported)


def test_hooks_are_imported_when_they_run() -> None:
    code = (
        "import sys\nfrom snell.settings.packs import pack_hooks\nfrom snell import Runtime\n"
        "hooks = pack_hooks('guard')\nprint('snell.packs.guard.guard' in sys.modules)\n"
        "from snell.model.events import Event\n"
        "call = {'tool_name': 'Bash', 'tool_input': {'command': 'rm -rf /'}}\n"
        "with Runtime.embed(*hooks) as runtime:\n"
        "    event = Event(name='PreToolUse', payload=call, tool='Bash', tool_name='Bash', kind='shell')\n"
        "    print(runtime.decide(event).verdict.name)\n"
        "print('snell.packs.guard.guard' in sys.modules)\n"
    )
    assert run(code) == "False\nDENY\nTrue\n"


def test_a_pack_that_was_changed_is_read_itself(tmp_path: Path) -> None:
    shutil.copytree(SOURCE / "snell", tmp_path / "snell", ignore=shutil.ignore_patterns("__pycache__"))
    added = "\n\n@judges('PreToolUse', kind='shell')\ndef added(call):\n    return None\n"
    module = tmp_path / "snell/packs/notes/notes.py"
    module.write_text(f"from snell import judges\n{module.read_text(encoding='utf-8')}{added}", encoding="utf-8")
    code = (
        f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nfrom snell.settings.packs import pack_hooks\n"
        "print([hook.id for hook in pack_hooks('notes')][-1], 'snell.packs.guard' in sys.modules)\n"
    )
    assert run(code) == "notes/added False\n"


def plain(hooks: object) -> list[dict[str, object]]:
    """Everything about hooks but their functions."""
    return [{**asdict(hook), "handler": _handler(hook)} for hook in hooks]  # type: ignore[attr-defined] # an iterable


def _handler(hook: Hook) -> tuple[bool, bool]:
    assert isinstance(hook.handler, Inline)
    return hook.handler.waits, hook.handler.batches


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
