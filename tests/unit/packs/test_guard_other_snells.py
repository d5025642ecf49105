"""Work on Snell itself: another clone, homes in temporary folders, and scripts that `sed` changed before they run."""

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from snell.packs.guard.judge import judge
from snell.packs.guard.known_values import Value
from snell.packs.guard.sed_scripts.substitute import substitute

INNER, PAUSE = "from snell.runtime.app import Runtime", "from snell.settings.pause import begin_pause"
PERSON = "import snell.cli.confirmation"
TEXT = 'a+b a*b (5.0)\nfoo/bar aaa bbb\n"claude","-p"\n\tx=1; [y]\n'


@pytest.fixture
def temporary() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


@pytest.mark.parametrize(
    ("name", "code", "expected"),
    [
        *(("snell", INNER, "allow"), ("snell", PERSON, "ask"), ("snell", f"x = 1; {PERSON}", "ask")),
        *(("snell", PAUSE, "deny"), ("shop", INNER, "ask")),
    ],
)
def test_modules_of_snell_may_run_in_a_clone_but_those_that_stand_for_a_person(
    tmp_path: Path, name: str, code: str, expected: str
):
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "{name}"\n', encoding="utf-8")
    found = judge(f'.venv/bin/python -c "{code}"', str(tmp_path), "/home/user", str(tmp_path))
    assert found.verdict == expected


@pytest.mark.parametrize("linked", ["state", "config", "run", ".local", ""])
def test_a_temporary_home_that_leads_to_the_users_own_is_guarded(temporary: Path, linked: str):
    own = temporary / "x"
    own.mkdir()
    if linked:
        (own / linked).symlink_to("/home/user")
    verdict = judge(f"SNELL_HOME={own} snell daemon stop", "/home/user/shop", "/home/user", "/home/user/shop").verdict
    assert verdict == ("deny" if linked else "allow")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("h = tempfile.mkdtemp(); e = {'SNELL_HOME': h}; subprocess.run(['snell', 'daemon', 'stop'], env=e)", "allow"),
        ("h = Path('/tmp/a'); subprocess.run(['snell', 'pause', '5'], cwd=str(h), env={'HOME': str(h)})", "allow"),
        ("h = '/home/user'; subprocess.run(['snell', 'pause', '5'], env={'HOME': h})", "deny"),
        ("e = {'SNELL_HOME': '/tmp/a'}; e['SNELL_HOME'] = x(); subprocess.run(['snell', 'pause', '5'])", "deny"),
        ("h = find(); subprocess.run(['snell', 'pause', '5'], env={'SNELL_HOME': h})", "deny"),
        ("p = subprocess.Popen(['snell-hook']); p.kill()", "allow"),
        ("p = subprocess.Popen(['snell-hook']); os.kill(q, 9)", "deny"),
        ("t = os.environ.get('TREE', '/tmp/a/t'); subprocess.run(['rsync', '-a', '--delete', 'x/', t])", "allow"),
        ("t = os.environ.get('TREE', '/etc'); subprocess.run(['rsync', '-a', '--delete', 'x/', t])", "deny"),
    ],
)
def test_code_that_starts_and_ends_a_snell_of_its_own(code: str, expected: str):
    assert judge(f'python3 -c "{code}"', "/home/user/shop", "/home/user", "/home/user/shop").verdict == expected


@pytest.mark.parametrize(
    ("script", "extended"),
    [
        ("s/a/b/", False),
        ("s/a/b/g", False),
        ("s/(5.0)/(1.0)/; s/foo.*//", False),
        (r"s/a+b/Q/;s/a\*b/R/", False),
        (r"s|foo/bar|x\/y|", False),
        (r"s/\(a*\) \(b*\)/\2 \1/", False),
        (r"s/(a+) (b+)/\2-&-\1/", True),
        ('s/"claude","-p"/"claude","x"/', False),
        ("s/[^a-z]/_/g", False),
        (r"s/a\|aa/X/", False),
        (r"s/b/\\n\&/", False),
    ],
)
def test_what_sed_makes_of_a_known_text(script: str, extended: bool):
    words = ["sed", *(["-E"] if extended else []), script]
    said = subprocess.run(words, input=TEXT, capture_output=True, text=True, check=True).stdout
    assert substitute(script, TEXT, is_extended=extended) == said


@pytest.mark.parametrize("script", ["/x/d", r"s/./\U&/", "s/a/b/e", r"s/\bx/y/", "y/a/b/", "s/*a/b/"])
def test_what_is_not_sure_stays_unknown(script: str):
    files = {"/home/user/shop/a.py": Value("print(1)\n")}
    line = f"sed '{script}' a.py > b.py; python3 b.py"
    assert judge(line, "/home/user/shop", "/home/user", "/home/user/shop", files).verdict == "ask"


def test_a_script_that_sed_changed_is_judged_by_what_it_became():
    files = {"/home/user/shop/a.sh": Value("echo one; true /tmp/x\n")}
    for script, expected in (("s/one/two/", "allow"), ("s/true/rm -rf/; s|/tmp/x|/home/user|", "deny")):
        line = f"sed '{script}' a.sh > b.sh; bash b.sh"
        assert judge(line, "/home/user/shop", "/home/user", "/home/user/shop", files).verdict == expected
