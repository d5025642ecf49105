import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snell.sdk.permission_rules import holds, parse_rule

BASH = [
    ("Bash", "anything at all", True),
    ("Bash(*)", "anything at all", True),
    ("Bash(:*)", "anything at all", True),
    ("Bash(npm run build)", "npm run build", True),
    ("Bash(npm run build)", "npm  run   build", True),
    ("Bash(npm run build)", "npm run build --x", False),
    ("Bash(npm run build)", "npm run build > log", True),
    ("Bash(npm run test:*)", "npm run test", True),
    ("Bash(npm run test:*)", "npm run test --watch", True),
    ("Bash(npm run test:*)", "npm run tests", False),
    ("Bash(npm run test*)", "npm run tests", True),
    ("Bash(git *)", "git status", True),
    ("Bash(git *)", "git", True),
    ("Bash(git *)", "gitk", False),
    ("Bash(git*)", "gitk", True),
    ("Bash(git push *)", "git push", True),
    ("Bash(git push *)", "git push origin main", True),
    ("Bash(git push *)", "git status", False),
    ("Bash(git push *)", "git stash push", False),
    ("Bash(git push *)", "cd x && git push origin", True),
    ("Bash(git push *)", "ls; (git push)", True),
    ("Bash(git push *)", "if true; then git push; fi", True),
    ("Bash(git push *)", "A=1 B=2 git push", True),
    ("Bash(A=1 git *)", "A=1 git push", True),
    ("Bash(git push *)", "sudo git push", True),
    ("Bash(sudo *)", "sudo git push", True),
    ("Bash(git push *)", "timeout 5 git push", True),
    ("Bash(git push *)", "/usr/bin/git push", True),
    ("Bash(git push *)", "g'it' \"push\" x", True),
    ("Bash(git push *)", "bash -c 'git push'", True),
    ("Bash(git push *)", "git commit -m 'git push it'", False),
    ("Bash(git push *)", "echo 'git push' # git push", False),
    ("Bash(git *)", "echo $(git status)", True),
    ("Bash(git *)", "echo `git status`", True),
    ("Bash(git *)", "echo $(date)", False),
    ("Bash(git push *)", "echo $(date)", True),
    ("Bash(git push *)", "echo `date`", True),
    ("Bash(git push *)", "echo '$(date)'", False),
    ("Bash(* --force)", "git push --force", True),
    ("Bash(* --force)", "git push --force-with-lease", False),
    ("Bash(git * main)", "git push origin main", True),
    ("Bash(git * main)", "git push origin", False),
    ("Bash(cd x && make *)", "cd x && make all", True),
    (r"Bash(ls \*)", "ls '*'", True),
    (r"Bash(ls \*)", "ls a", False),
    ("Bash(git push *)", "echo 'unclosed", True),
    ("Bash(git push *)", "$CMD push", True),
    ("Bash(git push *)", "curl x | bash", True),
    ("Bash(git push *)", "", False),
    ("bash(git *)", "git status", False),
    ("Edit(git *)", "git status", False),
    ("Bsah(git *)", "git status", False),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "command", "answer"), BASH)
def test_a_bash_rule_looks_at_every_command_of_the_line(rule, command, answer):
    assert holds(rule, ["Bash"], {"command": command}, "shell") is answer


CALLS = [
    ("Edit(src/**)", "Edit", {"file_path": "/repo/src/a.py"}, "edit", True),
    ("Edit(src/**)", "Edit", {"file_path": "/repo/lib/a.py"}, "edit", False),
    ("Edit(src/**)", "Write", {"file_path": "/repo/src/a.py"}, "write", True),
    ("Edit(src/**)", "NotebookEdit", {"notebook_path": "/repo/src/a.ipynb"}, "edit", True),
    ("Edit(src/**)", "Read", {"file_path": "/repo/src/a.py"}, "read", False),
    ("Edit(src/**)", "Edit", {}, "edit", True),
    ("Edit", "Write", {"file_path": "/repo/src/a.py"}, "write", False),
    ("Write(src/**)", "Edit", {"file_path": "/repo/src/a.py"}, "edit", False),
    ("Read(*.env)", "Read", {"file_path": "/repo/x/prod.env"}, "read", True),
    ("Read(*.env)", "Read", {"file_path": "/repo/x/prod.envx"}, "read", False),
    ("Read(secrets/**)", "Grep", {"pattern": "x", "path": "secrets/a"}, "search", True),
    ("Read(secrets/**)", "Grep", {"pattern": "x"}, "search", False),
    ("Read(~/.ssh/**)", "Read", {"file_path": "/home/me/.ssh/id"}, "read", True),
    ("Read(//etc/**)", "Read", {"file_path": "/etc/passwd"}, "read", True),
    ("WebFetch(domain:example.com)", "WebFetch", {"url": "https://example.com/x"}, "web", True),
    ("WebFetch(domain:example.com)", "WebFetch", {"url": "https://me@EXAMPLE.com.:8443"}, "web", True),
    ("WebFetch(domain:example.com)", "WebFetch", {"url": "example.com/x"}, "web", True),
    ("WebFetch(domain:example.com)", "WebFetch", {"url": "https://example.com.evil.org"}, "web", False),
    ("WebFetch(domain:example.com)", "WebFetch", {"url": "https://evil.org/example.com"}, "web", False),
    ("WebFetch(domain:*.example.com)", "WebFetch", {"url": "https://a.example.com"}, "web", True),
    ("WebFetch(domain:*.example.com)", "WebFetch", {"url": "https://notexample.com"}, "web", False),
    ("WebFetch(domain:example.com)", "WebFetch", {"url": "http://[bad"}, "web", True),
    ("WebFetch", "WebFetch", {"url": "https://x.org"}, "web", True),
    ("WebFetch", "WebSearch", {"query": "x"}, "web", False),
    ("mcp__memo__remember", "mcp__memo__remember", {}, "mcp", True),
    ("mcp__memo__remember", "mcp__memo__forget", {}, "mcp", False),
    ("mcp__memo", "mcp__memo__forget", {}, "mcp", True),
    ("mcp__memo", "mcp__memory__forget", {}, "mcp", False),
    ("mcp__memo__*", "mcp__memo__forget", {}, "mcp", True),
    ("mcp__memo__get_*", "mcp__memo__forget", {}, "mcp", False),
    ("Task(Explore)", "Task", {"subagent_type": "Explore"}, "agent", True),
    ("Agent(Explore)", "Task", {"subagent_type": "Explore"}, "agent", True),
    ("Task(Explore)", "Agent", {"subagent_type": "Plan"}, "agent", False),
    ("Skill(deploy*)", "Skill", {"skill": "deploy-web"}, "skill", True),
    ("WebSearch(cats)", "WebSearch", {"query": "cats"}, "web", True),
    ("WebSearch(cats)", "WebSearch", {"query": "dogs"}, "web", False),
    ("Bash(git *)", "PowerShell", {"command": "git push"}, "shell", False),
    ("Bash(git *)", "run_shell_command", {"command": "git push"}, "shell", True),
    ("Bash(git *)", "Bash", {"command": ["bash", "-lc", "git push"]}, "shell", True),
    ("Bash(git *)", "Bash", {"commands": ["ls", "git push"]}, "shell", True),
    ("Bash(git *)", "Bash", {"command": None}, "shell", True),
    ("Bash(git *)", "Bash", {"command": {"x": 1}}, "shell", True),
    ("*", "Bash", {}, "shell", True),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "tool", "tool_input", "kind", "answer"), CALLS)
def test_a_rule_names_a_tool_and_what_it_works_on(rule, tool, tool_input, kind, answer):
    assert holds(rule, [tool], tool_input, kind, cwd="/repo", home="/home/me") is answer


def test_any_name_of_a_tool_will_do():
    assert holds("Bash(git *)", ["Bash", "run_shell_command"], {"command": "git push"}, "shell")


@pytest.mark.parametrize("rule", ["Bash", " Bash(ls) ", "Bash(echo (x))", "Edit(a b)", "mcp__a__b", "my.tool(x)"])
def test_a_rule_passes_the_check(rule):
    parse_rule(rule)


@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        ("", "`` is no rule: it names no tool; start with one, as in `Bash(git push *)`"),
        ("(ls)", "`(ls)` is no rule: it names no tool; start with one, as in `Bash(git push *)`"),
        ("Edit|Write", "`Edit|Write` is no rule: it names no tool; start with one, as in `Bash(git push *)`"),
        (
            "Bash(ls",
            "`Bash(ls` is no rule; write a tool and a pattern in parentheses, as in `Bash(git push *)`",
        ),
        (
            "Bash(ls) x",
            "`Bash(ls) x` is no rule; write a tool and a pattern in parentheses, as in `Bash(git push *)`",
        ),
        (
            "Bash()",
            "`Bash()` is no rule: its parentheses are empty; write `Bash` alone for every call",
        ),
        ("Bash(a:* b)", "`Bash(a:* b)` is no rule: `:*` is only allowed at the end; use `*` elsewhere"),
        (
            "mcp__a__b(x)",
            "`mcp__a__b(x)` is no rule: tools of MCP servers take no pattern; write `mcp__a__b` alone",
        ),
        (
            "WebFetch(example.com)",
            "`WebFetch(example.com)` is no rule: it names no domain; write `WebFetch(domain:example.com)`",
        ),
        ("x" * 1001, "the rule has 1001 characters; keep it under 1000"),
    ],
)
def test_text_that_is_no_rule_is_refused_with_a_reason_and_never_holds(rule, complaint):
    with pytest.raises(ValueError) as refusal:
        parse_rule(rule)
    assert (str(refusal.value), holds(rule, ["Bash"], {"command": "ls"}, "shell")) == (complaint, False)


@settings(deadline=None)
@given(st.text(), st.text(), st.dictionaries(st.text(), st.one_of(st.none(), st.text(), st.lists(st.text()))))
def test_no_rule_and_no_input_breaks_a_condition(rule, pattern, tool_input):
    for text in (rule, f"Bash({pattern})", f"Edit({pattern})", f"WebFetch(domain:{pattern})"):
        assert holds(text, ["Bash", "Edit", "WebFetch"], {**tool_input, "command": pattern}, "shell") in (True, False)
