"""What makes the first answer of a daemon quick, in a Python of its own: the modules behave as they always do."""

import hmac
import os
import subprocess
import sys
from pathlib import Path

import pytest

BEGIN = "import sys, snell.system.quick_start as quick_start\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the parts of Snell that find modules, with a module to change."""
    source = Path(__file__).parents[3] / "src/snell"
    for name in ("__init__.py", "system/__init__.py", "system/msgspec_import.py"):
        _copy(source, tmp_path / "snell", name)
    for each in (source / "system/quick_start").glob("*.py"):
        _copy(source, tmp_path / "snell", f"system/quick_start/{each.name}")
    (tmp_path / "snell/answer.py").write_text("TEXT = 'one'\n", encoding="utf-8")
    return tmp_path


def test_parts_of_the_standard_library_are_loaded_when_they_are_used() -> None:
    code = (
        "import json, hashlib\n"
        "print('json.decoder' in sys.modules, type(hashlib).__name__)\n"
        "print(json.loads('[1]'), hashlib.blake2b(b'').hexdigest()[:4], 'sha256' in vars(hashlib))\n"
        "print(hashlib.sha256(b'').hexdigest()[:4], json is not sys.modules['json'])\n"
    )
    assert run(BEGIN + code) == "False LateModule\n[1] 786a False\ne3b0 True\n"


def test_openssl_is_loaded_only_for_tls() -> None:
    code = (
        "quick_start.end()\nimport asyncio, hashlib, hmac\n"
        "print(hmac.digest(b'key', b'text', 'sha256').hex()[:8], hashlib.new('sha256', b'x').hexdigest()[:4])\n"
        "print('libcrypto' in open('/proc/self/maps').read(), 'asyncio' in sys.modules)\n"
        "import ssl\nprint(ssl.create_default_context().check_hostname)\n"
    )
    expected = hmac.digest(b"key", b"text", "sha256").hex()[:8]
    assert run(BEGIN + code) == f"{expected} 2d71\nFalse True\nTrue\n"


def test_after_the_first_answer_modules_are_the_real_ones() -> None:
    code = (
        "import shlex as early\nquick_start.end()\nimport shlex, json.decoder\nfrom pathlib import Path\n"
        "print(type(shlex).__name__, json.decoder.JSONDecoder is json.JSONDecoder)\n"
        "print(early.quote is shlex.quote, Path('/a b').as_uri())\n"
        "import uuid, msgspec\nprint(msgspec.json.decode('\"%s\"' % uuid.UUID(int=1), type=uuid.UUID).int)\n"
        "print(bool(msgspec.json.schema(int)), bool(msgspec.inspect.type_info(int)))\n"
    )
    assert run(BEGIN + code) == "module True\nTrue file:///a%20b\n1\nTrue True\n"


def test_what_asyncio_reports_is_logged() -> None:
    code = (
        "quick_start.end()\nimport asyncio, concurrent.futures\nprint('logging' in sys.modules)\n"
        "async def fail(): asyncio.get_running_loop().call_exception_handler({'message': 'a mishap'})\n"
        "asyncio.run(fail())\nprint('logging' in sys.modules)\nimport logging\nlogging.getLogger('x').error('ours')\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", BEGIN + code], capture_output=True, text=True, check=True)
    assert (done.stdout, "a mishap" in done.stderr, "ours" in done.stderr) == ("False\nTrue\n", True, True)


def test_times_and_names_in_texts_are_read_as_usual() -> None:
    code = (
        "import datetime, tomllib, typing\nprint(tomllib.loads('at = 2026-01-02')['at'] == datetime.date(2026, 1, 2))\n"
        "class Tree:\n    inner: 'list[Tree]'\nprint(typing.get_type_hints(Tree)['inner'] == list[Tree])\n"
        "print(tomllib.loads(r'a-B_9 = \"\\u00e4\"'))\n"
    )
    assert run(BEGIN + code) == "True\nTrue\n{'a-B_9': 'ä'}\n"


def test_a_module_that_does_not_exist_is_not_found() -> None:
    code = "try:\n    import snell.nowhere\nexcept ModuleNotFoundError as error:\n    print(error)\n"
    assert run(BEGIN + code) == "No module named 'snell.nowhere'\n"


def test_modules_know_their_files_as_usual() -> None:
    code = (
        "import snell.model, snell.model.errors as errors\nfrom importlib.resources import files\n"
        "print(errors.__file__ == errors.__spec__.origin, errors.__cached__.endswith('.pyc'), errors.__package__)\n"
        "print(errors.__loader__.get_source('snell.model.errors')[:3], len(snell.model.__path__))\n"
        "print(files('snell.model').joinpath('errors.py').is_file())\n"
    )
    assert run(BEGIN + code) == 'True True snell.model\n"""' + " 1\nTrue\n"


def test_changed_source_is_compiled_again(package: Path) -> None:
    """Also where its size stays the same."""
    module = package / "snell/answer.py"
    assert answer(package) == "one\n"
    assert list(package.glob("snell/__pycache__/answer.*.pyc"))
    module.write_text("TEXT = 'two'\n", encoding="utf-8")
    os.utime(module, (1, 1))
    assert answer(package) == "two\n"


@pytest.mark.parametrize("bytes_left", [0, 10])
def test_compiled_code_that_was_cut_short_is_made_again(package: Path, bytes_left: int) -> None:
    assert answer(package) == "one\n"
    (compiled,) = package.glob("snell/__pycache__/answer.*.pyc")
    os.truncate(compiled, bytes_left)
    assert answer(package) == "one\n"


def answer(package: Path) -> str:
    code = "import snell.answer\nprint(snell.answer.TEXT)\n"
    return run(f"import sys\nsys.path.insert(0, {str(package)!r})\n{BEGIN}{code}")


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _copy(source: Path, target: Path, name: str) -> None:
    (target / name).parent.mkdir(parents=True, exist_ok=True)
    (target / name).write_bytes((source / name).read_bytes())
