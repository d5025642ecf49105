"""Each row: a line, the commands in it (a word with blanks or none in angle brackets), and what is said of the line."""

import pytest

from snell.shell.reader import Command, CommandLine, Redirect, read, without_escape
from snell.shell.reader import is_escaped as escaped

SURE, DOUBT, DYNAMIC = "understood", "doubtful", "dynamic"

WORDS = [
    ("", [], SURE),
    (" \t\n", [], SURE),
    ("git push", ["git push"], SURE),
    ("git  push\t--force ", ["git push --force"], SURE),
    ("echo 'a  b' \"c d\" e\\ f", ["echo <a  b> <c d> <e f>"], SURE),
    ("echo '' \"\" x''y", ["echo <> <> xy"], SURE),
    ("g'i't pu\"s\"h", ["git push"], SURE),
    (r"\git push", ["git push"], SURE),
    (r"\r\m -rf", ["rm -rf"], SURE),
    ("r\\\nm -rf", ["rm -rf"], SURE),
    ("git \\\n  push \\\n  origin", ["git push origin"], SURE),
    (r"$'\x72m' -rf", ["rm -rf"], SURE),
    (r"$'\162\u006d' $'a\tb\'c' $'\e[0m'", ["rm <a\tb'c> \x1b[0m"], SURE),
    (r"echo $'\xc3\xa9'", ["echo é"], SURE),
    (r"echo $'\x{41}'", [r"echo \x{41}"], DOUBT),
    (r"echo $'a\0b'", [r"echo a\0b"], DOUBT),
    ('echo $"hello there"', ["echo <hello there>"], SURE),
    (r'echo "a \"b\" \$x \`c\` \d \\"', [r'echo <a "b" $x `c` \d \>'], SURE),
    ("echo it\\'s", ["echo it's"], SURE),
    ("echo a#b # rm -rf /", ["echo a#b"], SURE),
    ("# rm -rf /", [], SURE),
    ("echo $ $% a$", ["echo $ $% a$"], SURE),
    ("[ -f x ]", ["[ -f x ]"], SURE),
    ("echo café ☂", ["echo café ☂"], SURE),
    ("echo a\u00a0b", ["echo a\u00a0b"], SURE),
    ("echo a\x0bb", ["echo a\x0bb"], SURE),
    ("echo {} }{", ["echo {} }{"], SURE),
]

LISTS = [
    ("a;b", ["a", "b"], SURE),
    ("a&&b||c", ["a", "b", "c"], SURE),
    ("a|b|&c", ["a", "b", "c"], SURE),
    ("a & b &", ["a", "b"], SURE),
    ("a\nb\n\nc", ["a", "b", "c"], SURE),
    ("a &&\n  b |\n  c", ["a", "b", "c"], SURE),
    ("a |\\\nb", ["a", "b"], SURE),
    ("a && # why\nb", ["a", "b"], SURE),
    ("! a | b", ["a", "b"], SURE),
    ("(a; b)", ["a", "b"], SURE),
    ("(a) && (b)", ["a", "b"], SURE),
    ("{ a; b; }", ["a", "b"], SURE),
    ("{ (a) }", ["a"], SURE),
    ("!(a)", ["a"], SURE),
    ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"], SURE),
    ("for i in x y; do a $i; done", ["a $i"], SURE),
    ("for i in $(a); do b; done", ["a", "b"], SURE),
    ("for i; do a; done", ["a"], SURE),
    ("for i in x\ndo\n a\ndone", ["a"], SURE),
    ("for ((i=0; i<3; i++)); do a; done", ["a"], SURE),
    ("for i in x; { a; }", ["a"], SURE),
    ("while a; do b; done", ["a", "b"], SURE),
    ("until a; do b; done", ["a", "b"], SURE),
    ("select i in x; do a; done", ["a"], SURE),
    ("case $x in a|b) rm 1;; (c) ls;& d) pwd;;& *) id; esac", ["rm 1", "ls", "pwd", "id"], SURE),
    ("case x in esac", [], SURE),
    ("case $(a) in\n x)\n  b\n  ;;\nesac", ["a", "b"], SURE),
    ("case x in @(a|b)) c;; esac", ["c"], SURE),
    ("f() { a; }; f", ["a", "f"], SURE),
    ("f()\n{\n a\n}", ["a"], SURE),
    ("function f { a; }", ["a"], SURE),
    ("function f() (a)", ["a"], SURE),
    ("[[ $(a) == x* && -f y ]] && b", ["a", "b"], SURE),
    ("[[ x =~ ^(a|b c)$ ]] || b", ["b"], SURE),
    ("[[ x < y || ( a > b ) ]]", [], SURE),
    ("[[ a == <(b) ]]", ["b"], SURE),
    ("(( x > 3 )) && a", ["a"], SURE),
    ("(( x = $(a) ))", ["a"], SURE),
    ("((i++)); (( x -= 1 )); (( $n > 3 && y ))", [], SURE),
    ("((rm -rf x))", [], DOUBT),
    ("((reboot))", [], DOUBT),
    ("[[ -f x || rm y ]]", [], DOUBT),
    ('[[ ! -f x && ( $a == b* || -n "$c" ) ]]', [], SURE),
    ("coproc a b", ["a b"], SURE),
    ("coproc N { a; }", ["a"], SURE),
    ("echo $(coproc a)", ["echo <$(coproc a)>", "a"], DOUBT),
    ("time { a; }", ["a"], SURE),
    ("time -p (a)", ["a"], SURE),
    ("time a b", ["time a b"], SURE),
    ("time A=1 a b", ["a b"], SURE),
    ("time coproc a", ["a"], SURE),
    ("if a; then b; fi | c", ["a", "b", "c"], SURE),
    ("echo if then fi done }", ["echo if then fi done }"], SURE),
    ("A=b if", ["if"], SURE),
]

EXPANSIONS = [
    ("echo $(a b)", ["echo <$(a b)>", "a b"], SURE),
    ('echo "x $(a "y z") w"', ['echo <x $(a "y z") w>', "a <y z>"], SURE),
    ("echo `a b`", ["echo <`a b`>", "a b"], SURE),
    ("echo ` a`", ["echo <` a`>", "a"], SURE),
    ('echo "`a`"', ["echo `a`", "a"], SURE),
    (r"echo `a \`rm x\``", [r"echo <`a \`rm x\``>", "a <`rm x`>", "rm x"], SURE),
    (r'echo "`a \"b\"`"', [r"echo <`a \"b\"`>", "a b"], DOUBT),
    ("echo `r\\\nm x`", ["echo <`r\\\nm x`>", "rm x"], SURE),
    ("echo $(a $(b $(c)))", ["echo <$(a $(b $(c)))>", "a <$(b $(c))>", "b $(c)", "c"], SURE),
    ("echo $(case x in x) a;; esac) b", ["echo <$(case x in x) a;; esac)> b", "a"], SURE),
    ("echo $(a # )\n)", ["echo <$(a # )\n)>", "a"], SURE),
    ("diff <(a) >(b)", ["diff <(a) >(b)", "a", "b"], SURE),
    ("cat x<(a)", ["cat x<(a)", "a"], SURE),
    ("echo ${x:-$(a)} ${y:-`b`} ${z:-<(c)}", ["echo ${x:-$(a)} ${y:-`b`} ${z:-<(c)}", "a", "b", "c"], SURE),
    ('echo "${x:-<(a)}"', ["echo ${x:-<(a)}"], SURE),
    (r"echo ${x//\}/y} ${x:-'}'} ${#x}", [r"echo ${x//\}/y} ${x:-'}'} ${#x}"], SURE),
    ("echo \"${x:-'a b'}\"", ["echo <${x:-'a b'}>"], SURE),
    ('echo "${x:-\'}"', ["echo ${x:-'}"], DOUBT),
    ("echo $((1 + 2)) $[3 + 4]", ["echo <$((1 + 2))> <$[3 + 4]>"], SURE),
    ("echo $(( (1) + $(a) ))", ["echo <$(( (1) + $(a) ))>", "a"], SURE),
    ("echo $((a); b)", ["echo <$((a); b)>", "a", "b"], DOUBT),
    ("echo ${ a; }", ["echo <${ a; }>", "a"], DOUBT),
    ("echo $[1;rm x]", ["echo <$[1;rm x]>"], DOUBT),
    ("echo ${(e)x}", ["echo ${(e)x}"], DOUBT),
    ("a=$(b) c", ["c", "b"], SURE),
    ("a=(x $(b) 'y z') c", ["c", "b"], SURE),
    ("declare -a a=(x $(b))", ["declare -a <a=(x $(b))>", "b"], SURE),
    ("a+=(x)\nb", ["", "b"], SURE),
    ("echo @(a|b)", ["echo @(a|b)"], DOUBT),
    ("echo '$(rm x)' '`rm y`'", ["echo <$(rm x)> <`rm y`>"], SURE),
    (r'echo "\$(rm x) \`rm y\`"', ["echo <$(rm x) `rm y`>"], SURE),
    ("git commit -m 'rm -rf / && sudo reboot'", ["git commit -m <rm -rf / && sudo reboot>"], SURE),
    ("trap", ["trap"], SURE),
]

REDIRECTIONS = [
    (">file a", ["a"], SURE),
    ("a 2>&1 >out", ["a"], SURE),
    ("a>b", ["a"], SURE),
    ("a &>b &", ["a"], SURE),
    ("a &>b c", ["a c"], DOUBT),
    ("a <<< 'rm x'", ["a"], SURE),
    ("> only", [""], SURE),
    ("{ a; } > out", ["a", ""], SURE),
    ("a > $(b)", ["a", "b"], SURE),
    ("exec 3<> f {fd}>g", ["exec"], SURE),
    ("cat <<E\nrm x\nE\nls", ["cat", "ls"], SURE),
    ("cat <<'E'\n$(rm x) `rm y`\nE\nls", ["cat", "ls"], SURE),
    ('cat <<E""\n$(rm x)\nE\nls', ["cat", "ls"], SURE),
    ("cat <<\\E\n$(rm x)\nE", ["cat"], SURE),
    ("cat <<E\n$(rm x) `rm y`\nE", ["cat", "rm x", "rm y"], SURE),
    ("cat <<E\n\\$(rm x) \\`rm y\\`\nE", ["cat"], SURE),
    ("cat <<-E\n\t$(a)\n\tE\nb", ["cat", "a", "b"], SURE),
    ("cat <<E | b\nx\nE\nc", ["cat", "b", "c"], SURE),
    ("cat <<A <<B\n$(a)\nA\n$(b)\nB\nc", ["cat", "a", "b", "c"], SURE),
    ("cat <<E\nx\\\nE\nrm\nE\nb", ["cat", "b"], SURE),
    ("x=$(cat <<E\nit's $(a)\nE\n)\nb", ["", "cat", "a", "b"], SURE),
    ("while read x; do a; done <<E\n$(b)\nE", ["read x", "a", "", "b"], SURE),
    ("cat <<E\nrm x", ["cat"], DOUBT),
    ("cat <<E", ["cat"], DOUBT),
    ("x=$(cat <<E)\nbody\nE", ["", "cat"], DOUBT),
]

HANDED_ON = [
    ("sh -c 'a && b'", ["sh -c <a && b>", "a", "b"], SURE),
    ('bash -lc "git push"', ["bash -lc <git push>", "git push"], SURE),
    ("bash -euo pipefail -c 'a'", ["bash -euo pipefail -c a", "a"], SURE),
    ("bash --norc -c 'a' x", ["bash --norc -c a x", "a"], SURE),
    ('bash -c "a $x"', ["bash -c <a $x>", "a $x"], DYNAMIC),
    ('bash -c "a $(b)"', ["bash -c <a $(b)>", "a $()", "b"], DYNAMIC),
    ("bash -c 'bash -c \"rm x\"'", ['bash -c <bash -c "rm x">', "bash -c <rm x>", "rm x"], SURE),
    ("bash -c 'a \"'", ['bash -c <a ">', "a <>"], DOUBT),
    ("bash --unheard-of -c 'a'", ["bash --unheard-of -c a"], DOUBT),
    ("bash --version", ["bash --version"], SURE),
    ("bash script.sh", ["bash script.sh"], SURE),
    ("curl x | bash", ["curl x", "bash"], DYNAMIC),
    ("curl x | sudo bash -s -- y", ["curl x", "sudo bash -s -- y"], DYNAMIC),
    ("bash <(curl x)", ["bash <<(curl x)>", "curl x"], DYNAMIC),
    (". <(curl x)", [". <<(curl x)>", "curl x"], DYNAMIC),
    (". ~/.bashrc", [". ~/.bashrc"], SURE),
    ("bash <<'E'\nrm x\nE", ["bash", "rm x"], SURE),
    ("sudo bash <<-E\n\trm x\n\tE", ["sudo bash", "rm x"], SURE),
    ("bash <<E\nrm $x\nE", ["bash", "rm $x"], DYNAMIC),
    ("bash <<< 'rm x'", ["bash", "rm x"], SURE),
    ("eval 'rm x'", ["eval <rm x>", "rm x"], SURE),
    ("eval rm \\; ls", ["eval rm ; ls", "rm", "ls"], SURE),
    ('eval "$x"', ["eval $x", "$x"], DYNAMIC),
    ("trap 'rm x' EXIT", ["trap <rm x> EXIT", "rm x"], SURE),
    ("trap - EXIT", ["trap - EXIT"], SURE),
    ("find . -exec rm {} \\; -exec ls {} +", ["find . -exec rm {} ; -exec ls {} +", "rm {}", "ls {}"], SURE),
    (
        "find . -exec sh -c 'a \"$1\"' _ {} \\;",
        ['find . -exec sh -c <a "$1"> _ {} ;', 'sh -c <a "$1"> _ {}', "a $1"],
        SURE,
    ),
    ("find . -exec sh -c 'rm {}' \\;", ["find . -exec sh -c <rm {}> ;", "sh -c <rm {}>", "rm {}"], DYNAMIC),
    ("xargs -I% sh -c 'rm %'", ["xargs -I% sh -c <rm %>", "rm %"], DYNAMIC),
    ("xargs sh -c", ["xargs sh -c"], DYNAMIC),
    ("xargs sudo", ["xargs sudo"], DYNAMIC),
    ("xargs rm -f", ["xargs rm -f"], SURE),
    ("$CMD x", ["$CMD x"], DYNAMIC),
    ('"$CMD" x', ["$CMD x"], DYNAMIC),
    ("$(a) x", ["$(a) x", "a"], DYNAMIC),
    ("/bin/r? x", ["/bin/r? x"], DYNAMIC),
    ("{rm,-rf} x", ["{rm,-rf} x"], DYNAMIC),
    ("~/bin/a x", ["~/bin/a x"], SURE),
    ("sudo $CMD x", ["sudo $CMD x"], DYNAMIC),
    ("sudo -u $USER a", ["sudo -u $USER a"], DYNAMIC),
    ('sudo -u "$USER" a', ["sudo -u $USER a"], SURE),
    ("sudo --unheard-of a", ["sudo --unheard-of a"], DOUBT),
    ("env -S 'a b'", ["env -S <a b>"], DOUBT),
]

UNREADABLE = [
    ("echo 'a", ["echo a"], DOUBT),
    ('git push --force "a', ["git push --force a"], DOUBT),
    ("echo $(a", ["echo $(a", "a"], DOUBT),
    ("echo `a", ["echo `a", "a"], DOUBT),
    ("echo ${a", ["echo ${a"], DOUBT),
    ("(a", ["a"], DOUBT),
    ("a)", ["a"], DOUBT),
    ("{ a }", ["a }"], DOUBT),
    ("if a; then b", ["a", "b"], DOUBT),
    ("a; done", ["a"], DOUBT),
    ("a ;; b", ["a", "b"], DOUBT),
    ("a && ", ["a"], DOUBT),
    ("| a", ["a"], DOUBT),
    ("a >", ["a"], DOUBT),
    ("echo \"$\\\n(rm x)\"", ["echo <$(rm x)>"], DOUBT),
    ("i\\\nf a; then b; fi", ["if a", "b"], DOUBT),
    ("a &\\\n& b", ["a", "b"], DOUBT),
    ("a\r\nb", ["a", "b"], DOUBT),
    ("a \0 b", ["a <> b"], DOUBT),
    ("a b\\", ["a b"], DOUBT),
    ("a[x y]=1", [""], DOUBT),
    (":(){:|:&};:", ["{:", ":", ":"], DOUBT),
]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "commands", "said"), WORDS + LISTS + EXPANSIONS + REDIRECTIONS + HANDED_ON + UNREADABLE
)
def test_every_visible_command_is_listed_in_order_and_doubt_is_admitted(line, commands, said):
    reading = read(line)
    flags = {SURE: (True, False), DOUBT: (False, False), DYNAMIC: (True, True)}
    assert ([shown(command) for command in reading.commands], (reading.understood, reading.dynamic)) == (
        commands,
        flags[said],
    )


def test_a_command_says_everything_about_itself():
    line = "cd x && A=1 B='2 3' ! git -C \"$d\" push >out 2>&1"
    assert read(line).commands[1] == Command(
        words=("!", "git", "-C", "$d", "push"),
        literal=(True, True, True, False, True),
        spans=((12, 13), (14, 17), (18, 20), (21, 25), (26, 30)),
        assignments=(("A", "1"), ("B", "2 3")),
        redirects=(Redirect(">", "out"), Redirect(">&", "1", fd=2)),
        text="A=1 B='2 3' ! git -C \"$d\" push >out 2>&1",
        start=8,
        end=len(line),
    )


def test_a_line_says_everything_about_itself():
    date = Command(("date",), (True,), ((0, 4),), text="date", start=7, end=11, depth=1)
    echo = Command(("echo", "$(date)"), (True, False), ((0, 4), (5, 12)), text="echo $(date)", end=12)
    assert read("echo $(date)") == CommandLine("echo $(date)", (echo, date), substitutes=True)


@pytest.mark.parametrize(
    ("word", "is_literal"),
    [
        ("plain", True),
        ("'*'", True),
        (r"\*", True),
        ("'$x'", True),
        ("{}", True),
        ("a=b", True),
        ("*.py", False),
        ("a?", False),
        ("[ab]", False),
        ("~", False),
        ("'~'", True),
        ("a~", True),
        ("{a,b}", False),
        ("{1..3}", False),
        ("'{a,b}'", True),
        ("$x", False),
        ('"$x"', False),
        ("`x`", False),
        ("<(x)", False),
        ("$((1))", False),
    ],
)
def test_a_word_that_run_time_decides_is_marked(word, is_literal):
    assert read(f"echo {word}").commands[0].literal == (True, is_literal)


@pytest.mark.parametrize(
    ("line", "redirects"),
    [
        ("a >b", [Redirect(">", "b")]),
        ("a >> 'b c'", [Redirect(">>", "b c")]),
        ("a 2> $x", [Redirect(">", "$x", fd=2, literal=False)]),
        ("a >|b <c", [Redirect(">|", "b"), Redirect("<", "c")]),
        ("a &>>b", [Redirect("&>>", "b")]),
        ("a 2>&-", [Redirect(">&", "-", fd=2)]),
        ("a <<<'b c'", [Redirect("<<<", "b c")]),
        ("a 2 >b", [Redirect(">", "b")]),
        ("a <<E\nx $y\nE", [Redirect("<<", "E", body="x $y\n")]),
        ("a <<-'E'\n\tx\n\tE", [Redirect("<<-", "E", body="\tx\n")]),
    ],
)
def test_redirections_are_told_apart(line, redirects):
    assert list(read(line).commands[0].redirects) == redirects


def test_depth_counts_what_a_command_is_inside_of():
    reading = read("a; (b; { c; }); echo $(d `e`); bash -c 'f $(g)'")
    assert [(command.program, command.depth) for command in reading.commands] == [
        ("a", 0),
        ("b", 1),
        ("c", 2),
        ("echo", 0),
        ("d", 1),
        ("e", 2),
        ("bash", 0),
        ("f", 1),
        ("g", 2),
    ]


def test_negation_is_a_mark_on_the_command_it_stands_before():
    assert [command.negated for command in read("! a | b; ! ! c").commands] == [True, False, False]


@pytest.mark.parametrize(
    ("line", "is_escaped", "left"),
    [
        ("!pytest -q", True, "pytest -q"),
        ("  !pytest", True, "  pytest"),
        ("!./run", True, "./run"),
        ("! pytest", False, "! pytest"),
        ("!", False, "!"),
        ("!!", False, "!!"),
        ("!(a)", False, "!(a)"),
        ("pytest !x", False, "pytest !x"),
        ("", False, ""),
    ],
)
def test_a_leading_exclamation_mark_right_before_a_word_is_the_escape(line, is_escaped, left):
    assert (escaped(line), without_escape(line)) == (is_escaped, left)


def shown(command: Command) -> str:
    return " ".join(word if word and not set(word) & set(" \t\n\0") else f"<{bare(word)}>" for word in command.words)


def bare(word: str) -> str:
    return word.replace("\0", "")
