"""What a hook asks of a line that was read: what does it run, and how is one command of it replaced?"""

import pytest

from snell.shell.reader import Command, read

RUNS = [
    ("git push", ("git",), True),
    ("git push", ("git", "push"), True),
    ("git push origin main", ("git", "push", "origin"), True),
    ("git push origin main", ("git", "push", "main"), False),
    ("git log push", ("git", "push"), False),
    ("git stash push", ("git", "push"), False),
    ("git stash push", ("git", "stash", "push"), True),
    ("git -C push log", ("git", "push"), False),
    ("git -C x push origin", ("git", "push"), True),
    ("git -c a.b=c --git-dir x --work-tree=y --no-pager push", ("git", "push"), True),
    ("/usr/bin/git push", ("git", "push"), True),
    ("/usr/bin/git push", ("/usr/bin/git", "push"), True),
    (r"\git push", ("git", "push"), True),
    ("git.exe push", ("git", "push"), True),
    ("'git' \"push\"", ("git", "push"), True),
    ("echo git push", ("git", "push"), False),
    ("echo 'git push'", ("git", "push"), False),
    ("echo $(git push)", ("git", "push"), True),
    ("cd x && git push", ("git", "push"), True),
    ("legit push", ("git", "push"), False),
    ("", ("git",), False),
    ("git push --force", ("git", "push", "--force"), True),
    ("git push -f", ("git", "push", "--force"), True),
    ("git push --force", ("git", "push", "-f"), True),
    ("git push origin main --force", ("git", "push", "--force"), True),
    ("git push -fu origin main", ("git", "push", "--force"), True),
    ("git push --force=x", ("git", "push", "--force"), True),
    ("git push --force-with-lease", ("git", "push", "--force"), False),
    ("git push --force-with-lease=main", ("git", "push", "--force-with-lease"), True),
    ("git push --force", ("git", "push", "--force-with-lease"), False),
    ("git push --force-if-includes", ("git", "push", "-f"), False),
    ("git push --mirr", ("git", "push", "--mirror"), True),
    ("git push -- --force", ("git", "push", "--force"), False),
    ("git push -o --force", ("git", "push", "--force"), False),
    ("git commit -m --amend", ("git", "commit", "--amend"), False),
    ("git commit -am '-n'", ("git", "commit", "-n"), False),
    ("git commit -mnow", ("git", "commit", "-n"), False),
    ("git commit -anm x", ("git", "commit", "--no-verify"), True),
    ("git commit --no-verify -m x", ("git", "commit", "-n"), True),
    ("git commit --no-veri -m x", ("git", "commit", "--no-verify"), True),
    ("git clean -xdf", ("git", "clean", "--force"), True),
    ("git reset --har HEAD", ("git", "reset", "--hard"), True),
    ("rm -rf x", ("rm", "-r", "-f"), True),
    ("rm -fR x", ("rm", "-rf"), True),
    ("rm --recursive --force x", ("rm", "-rf"), True),
    ("rm --rec -f x", ("rm", "-rf"), True),
    ("rm -r x", ("rm", "-rf"), False),
    ("rm -- -rf", ("rm", "-rf"), False),
    ("terraform apply -auto-approve", ("terraform", "apply", "-auto-approve"), True),
    ("terraform apply -auto-approve", ("terraform", "apply", "-a"), False),
    ("find . -delete", ("find", "-delete"), True),
    ("kubectl -n prod delete pod x", ("kubectl", "delete"), True),
    ("kubectl get delete", ("kubectl", "delete"), False),
    ("mytool --env prod deploy", ("mytool", "deploy"), True),
    ("mytool --env=prod stage deploy", ("mytool", "deploy"), False),
    ("make -j 4 test", ("make", "test"), True),
    ("python -m pytest -q", ("python", "-m", "pytest"), True),
    ("npm --prefix web run test", ("npm", "run", "test"), True),
    ("sudo git push", ("git", "push"), True),
    ("sudo git push", ("sudo",), True),
    ("sudo -u root -E env A=b timeout -k 5 10s nice -n 5 git push -f", ("git", "push", "--force"), True),
    ("A=1 command git push", ("git", "push"), True),
    ("nohup git push &", ("git", "push"), True),
    ("exec -a x git push", ("git", "push"), True),
    ("time -p git push", ("git", "push"), True),
    ("stdbuf -oL setsid -w ionice -c3 git push", ("git", "push"), True),
    ("echo x | xargs -0 -n1 git push", ("git", "push"), True),
    ("doas -u x git push", ("git", "push"), True),
    ("command -v git push", ("git",), False),
    ("sudo -l git push", ("git",), False),
    ("bash -c 'git push'", ("git", "push"), True),
    ("sudo bash -c 'cd x; git push'", ("git", "push"), True),
    ("eval git push", ("git", "push"), True),
    ("find . -exec git push \\;", ("git", "push"), True),
    ("git push --force 'unclosed", ("git", "push", "--force"), True),
]


@pytest.mark.parametrize(("line", "asked", "answer"), RUNS)
def test_a_line_knows_what_it_runs(line, asked, answer):
    assert read(line).runs(*asked) is answer


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("git push", ("git", "push")),
        ("sudo git push", ("git", "push")),
        ("sudo -u x -- git push", ("git", "push")),
        ("env", ("env",)),
        ("env - A=1 git", ("git",)),
        ("env -u A --chdir=/x git", ("git",)),
        ("nice -5 git", ("git",)),
        ("timeout 5", ("timeout", "5")),
        ("timeout --signal KILL 5 git", ("git",)),
        ("xargs -I{} -P4 git {}", ("git", "{}")),
        ("xargs --replace=% git %", ("git", "%")),
        ("xargs", ("xargs",)),
        ("time A=1 git", ("git",)),
        ("sudo -k", ("sudo", "-k")),
        ("sudo --no-such git", ("sudo", "--no-such", "git")),
        ("noglob git", ("git",)),
        ("> x", ()),
    ],
)
def test_wrappers_are_taken_off(line, words):
    assert read(line).commands[0].inner_command.words == words


def test_an_unwrapped_command_still_knows_its_place():
    line = "cd x; sudo A=1 env B=2 git 'a b' >out"
    assert read(line).commands[1].inner_command == Command(
        words=("git", "a b"),
        literal=(True, True),
        spans=((0, 3), (4, 9)),
        assignments=(("A", "1"), ("B", "2")),
        redirects=read(line).commands[1].redirects,
        text="git 'a b' >out",
        start=line.index("git"),
        end=len(line),
    )


@pytest.mark.parametrize(
    ("line", "program", "replaced"),
    [
        ("pytest -q", "pytest", "make test"),
        ("cd x && A=1 pytest -q | tee log", "pytest", "cd x && make test | tee log"),
        ('echo "$(pytest)"', "pytest", 'echo "$(make test)"'),
        ("echo `pytest`", "pytest", "echo `make test`"),
        ("sudo pytest", "sudo", "make test"),
    ],
)
def test_one_command_of_a_line_can_be_replaced(line, program, replaced):
    reading = read(line)
    command = next(command for command in reading.commands if command.program == program)
    assert reading.replacing(command, "make test") == replaced


@pytest.mark.parametrize(
    ("line", "program"), [("bash -c 'pytest'", "pytest"), ("cat <<E\nx\nE", "cat"), (r"echo `pytest \$x`", "pytest")]
)
def test_a_command_is_not_replaced_where_that_would_harm_the_line(line, program):
    reading = read(line)
    command = next(command for command in reading.commands if command.program == program)
    with pytest.raises(ValueError, match="cannot be replaced inside its line; change the whole line instead"):
        reading.replacing(command, "make test")
