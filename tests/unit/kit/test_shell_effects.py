"""What a command line creates or changes."""

import pytest

from snell.kit.shell_effects import Effects, effects_of

CHANGES = [
    ("touch a 'b c'", "a|b c"),
    ("echo hi > out.txt", "out.txt"),
    ("echo hi >> out.txt", "out.txt"),
    ("echo hi >| out.txt", "out.txt"),
    ("make &> both.log", "both.log"),
    (": > empty", "empty"),
    ("> empty", "empty"),
    ("cat a | tee -a b c", "b|c"),
    ("mkdir -p -m 700 a/b", "a/b"),
    ("cp -r a b dest", "dest"),
    ("cp -t dest a b", "dest"),
    ("mv a b", "b"),
    ("ln -s target name", "name"),
    ("install -m 755 tool /usr/local/bin/tool", "/usr/local/bin/tool"),
    ("dd if=/dev/zero of=disk.img bs=1M", "disk.img"),
    ("sed -i s/a/b/ f", "f"),
    ("sed -i.bak -e s/a/b/ f g", "f|g"),
    ("curl -o page http://example.com/y", "page"),
    ("curl -sSLo page http://example.com", "page"),
    ("curl -O http://example.com/a.tgz?x=1", "a.tgz"),
    ("wget http://example.com/a.tgz", "a.tgz"),
    ("wget -qO page http://example.com", "page"),
    ("wget -P down http://example.com/a", "down/a"),
    ("tar xzf a.tgz", "."),
    ("tar -xf a.tar -C there", "there"),
    ("tar czf new.tgz src", "new.tgz"),
    ("unzip -o a.zip -d there", "there"),
    ("git clone https://example.com/x/repo.git", "repo"),
    ("git clone https://example.com/x/repo.git here", "here"),
    ("rm -rf build", "build"),
    ("sudo touch /etc/x", "/etc/x"),
    ("env A=1 timeout 5 touch x", "x"),
    ("bash -c 'echo x > y'", "y"),
    ("for i in 1 2; do touch f$i; done", "f$i"),
    ("(cd a && echo x > y)", "y"),
    ("find . -name x -exec touch {} +", "{}"),
]

NOTHING = [
    "ls -la 2>&1",
    "ls > /dev/null 2>&1",
    "ls &>/dev/null",
    "grep -r 'a > b' .",
    'echo "x >> y"',
    "cat <<'EOF'\n> not a file\ntouch neither\nEOF",
    "cat <<< 'echo > x'",
    "sed s/a/b/ f",
    "curl https://example.com",
    "curl -o /dev/null https://example.com",
    "tar tzf a.tgz",
    "unzip -l a.zip",
    "git status",
    "git log --oneline > /dev/null",
    "git branch",
    "exec 3>&1",
    "echo hi >&2",
    "[ 1 -gt 0 ] && echo yes",
    "head -5 < in.txt # > out.txt",
]


@pytest.mark.proves("S3-31")
@pytest.mark.parametrize(("line", "paths"), CHANGES)
def test_what_a_command_creates_or_changes_is_named(line: str, paths: str):
    found = effects_of(line)
    assert ("|".join(found.paths), found.reach) == (paths, "local")


@pytest.mark.proves("S3-31")
@pytest.mark.parametrize("line", NOTHING)
def test_what_only_looks_like_a_change_is_none(line: str):
    found = effects_of(line)
    assert found.paths == ()
    assert found.reach == "read_only" or line.startswith("exec")


@pytest.mark.parametrize(
    ("line", "reach"),
    [
        ("git push origin main", "external"),
        ("git push --dry-run", "local"),
        ("git -C there push", "external"),
        ("npm publish", "external"),
        ("gh pr create --title x", "external"),
        ("gh pr list", "read_only"),
        ("curl -X POST https://example.com -d a=1", "external"),
        ("curl -XDELETE https://example.com", "external"),
        ("curl --data-binary @f https://example.com", "external"),
        ("scp a host:b", "external"),
        ("ssh host true", "external"),
        ("aws s3 ls", "read_only"),
        ("aws s3 rm s3://x/y", "external"),
        ("kubectl apply -f x", "external"),
        ("pip install x", "local"),
        ("npm ci", "local"),
        ("apt-get update", "local"),
        ("git commit -m x", "local"),
        ("git stash", "local"),
        ("find . -delete", "local"),
        ("pytest -q", "local"),
        ("./deploy.sh", "local"),
        ("$PROGRAM a", "local"),
        ("echo 'unclosed", "local"),
        ("ls && git push", "external"),
    ],
)
def test_how_far_a_command_reaches(line: str, reach: str):
    assert effects_of(line).reach == reach


@pytest.mark.parametrize("line", ["", "\0", "|", ">", "> $(", "a" * 2_000_000, "touch " * 5_000, "💥 > é"])
def test_any_text_has_an_answer(line: str):
    assert isinstance(effects_of(line), Effects)
