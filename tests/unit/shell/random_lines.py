"""Random command lines that bash accepts, made from its grammar; every command in them has a name of its own."""

import random
from collections.abc import Callable
from itertools import count

DEEPEST = 2


def random_line(rng: random.Random) -> str:
    """A line of some commands, nested up to two deep; in some cases a here-document follows the first of them."""
    line = _Line(rng)
    return (line.with_heredoc() if rng.random() < 0.2 else "") + line.commands(DEEPEST)


class _Line:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.numbers = count(1)

    def pick(self, *texts: str) -> str:
        return self.rng.choice(texts)

    def name(self) -> str:
        return f"c{next(self.numbers)}"

    def commands(self, depth: int) -> str:
        text = self.pick("", "", "", "! ") + self.command(depth)
        for _ in range(self.rng.choice((0, 0, 1, 2))):
            text += self.pick(" && ", " || ", " | ", "; ", ";", "|", " |& ", " & ", "&&", "\n") + self.command(depth)
        return text

    def inside(self, depth: int) -> str:
        """Commands in brackets: a blank before them, as `((` means something else, and at times a line break after."""
        return f" {self.commands(depth - 1)}{self.pick('', '', ' ', ';', chr(10))}"

    def block(self, depth: int) -> str:
        """Commands between keywords."""
        return f" {self.commands(depth - 1)}\n"

    def command(self, depth: int) -> str:
        if depth > 0 and self.rng.random() < 0.4:
            return self.rng.choice(_COMPOUNDS)(self, depth)
        name = self.name()
        if self.rng.random() < 0.05:
            name = f"{name[0]}\\\n{name[1:]}"
        before = self.pick("", "", "", "", "", "time ", "time -p ", "A=1 ", f"A={self.word(depth)} ")
        gaps = [self.pick(" ", " ", " ", "  ", "\t", " \\\n  ") for _ in range(self.rng.randrange(4))]
        return before + name + "".join(gap + self.word(depth) for gap in gaps) + self.redirect(depth)

    def redirect(self, depth: int) -> str:
        if self.rng.random() > 0.15:
            return ""
        return self.pick(
            " >out", " 2>&1", " 2>/dev/null", " <in", ">>log", f" >{self.word(0)}", f" <<<{self.word(depth)}"
        )

    def with_heredoc(self) -> str:
        """A line with a here-document: inside longer ones shells disagree on where it starts."""
        mark, end = self.rng.choice(
            (("E", "E"), ("E", "E"), ("'E'", "E"), ('E"O"F', "EOF"), ("\\E", "E"), ('"E"', "E"))
        )
        bodies = ["text", "it's", 'a "b', "\\$(no) \\`no\\`", "$x ${y:-z}", "# no", "a \\\nE"]
        if mark == "E":
            bodies = [*bodies, f"`{self.name()} x`", f"$({self.name()} y)", f"a `{self.name()} \\`{self.name()}\\``"]
        operator, tab = self.rng.choice((("<<", ""), ("<<-", "\t")))
        body = self.pick(*bodies) if mark == "E" else self.pick(*bodies[:-1])
        rest = self.pick("", "", f" | {self.name()}", f" && {self.name()} x", " >out", f"; {self.name()} 'q r'")
        return f"{self.name()} {operator}{mark}{rest}\n{tab}{body}\n{tab}{end}\n"

    def word(self, depth: int) -> str:
        made = self.pick(*_WORDS)
        if depth <= 0:
            return made
        if self.rng.random() < 0.15:
            made = self.pick(*_SUBSTITUTIONS).replace("COMMANDS", self.inside(depth))
        return made


_WORDS = (
    *("w", "-x", "--long=v", "a/b.c", "'q r'", '"q r"', "a\\ b", "x'y'\"z\"", "$v", '"$v"', "${v:-w}", "*.py", "~"),
    *(
        "{a,b}",
        "$'a\\tb'",
        "it\\'s",
        '"a \\"b\\" c"',
        "a#b",
        "$((1 + 2))",
        "$(( (x) * 2 ))",
        "${#v}",
        "${v//a/b}",
        "$?",
    ),
    *("a\\\nb", '"a\\\nb"', "'a\\\nb'", "''", '""', "[ab]", "a=b", "@", "100%", "a,b", "-", "--", '"\'"', "'\"'", "$"),
    *("${v%%.*}", "${a[1]}", '"${a[@]}"', "'$(no)'", '"\\$(no)"', "\\`no\\`", '"\\`no\\`"', "if", "done", "}", "!"),
)
_SUBSTITUTIONS = (
    *(
        "$(COMMANDS)",
        '"$(COMMANDS)"',
        "<(COMMANDS)",
        "${v:-$(COMMANDS)}",
        'pre"$(COMMANDS)"post',
        "$(( $(COMMANDS) + 1 ))",
    ),
    *("${a[$(COMMANDS)]}", '"${v#"$(COMMANDS)"}"', ">(COMMANDS)"),
)


def _backticks(line: _Line, _depth: int) -> str:
    first, second, third = line.name(), line.name(), line.name()
    nested = (
        f"`{second} x`",
        f"`{second} \\`{third} y\\``",
        f'"`{second} z`"',
        f"`{second}` `{third}`",
        f"a`{second}`b",
    )
    return f"{first} {line.pick(*nested)}"


def _if(line: _Line, depth: int) -> str:
    more = line.pick("", f"else{line.block(depth)}", f"elif{line.block(depth)}then{line.block(depth)}")
    return f"if{line.block(depth)}then{line.block(depth)}{more}fi"


def _for(line: _Line, depth: int) -> str:
    heads = ("for i in a b", f"for i in {line.word(depth - 1)}", "for ((i=0; i<3; i++))", "for i", "select i in a")
    return f"{line.pick(*heads)}; do{line.block(depth)}done"


def _case(line: _Line, depth: int) -> str:
    first = line.pick("a|b)", "(a)", "*.py)", "[ab]*)", "'x y')", "$v)", '"$v"*)')
    return f"case {line.word(0)} in {first}{line.block(depth)};; *){line.block(depth)}esac"


def _test(line: _Line, depth: int) -> str:
    inside = ("-f x", "$a == b*", "x =~ ^(a|b)$", "! -d y", "a < b && -n $c", f'"$({line.inside(depth)})" != x')
    return f"[[ {line.pick(*inside)} ]]"


def _arithmetic(line: _Line, depth: int) -> str:
    inside = line.inside(depth)
    let = line.pick(
        "i=i+1", f'"x=$({inside})"', "'a=1' b=2"
    )  # in braces, as shfmt takes operators after it for its own
    return line.pick("((i++))", "(( x > 3 ))", f"(( x = $({inside}) ))", f"{{ let {let}; }}")


def _declare(line: _Line, depth: int) -> str:
    value = line.pick("a=(x y)", f"a={line.word(depth - 1)}", "b=1", f"a=(x $({line.inside(depth)}))", "a[1]=x")
    return line.pick("declare -a ", "export ", "local ", "", "readonly ") + value


_COMPOUNDS: tuple[Callable[[_Line, int], str], ...] = (
    _backticks,
    _if,
    _for,
    _case,
    _test,
    _arithmetic,
    _declare,
    lambda line, depth: f"({line.inside(depth)}){line.redirect(0)}",
    lambda line, depth: f"{{{line.block(depth)}}}{line.redirect(0)}",
    lambda line, depth: f"{line.pick('while', 'until')}{line.block(depth)}do{line.block(depth)}done{line.redirect(0)}",
    lambda line, depth: f"{line.pick('f()', 'f ()', 'function f')} {{{line.block(depth)}}}",
    lambda line, depth: line.pick(f"coproc {line.name()}", f"coproc N {{{line.block(depth)}}}"),
    lambda line, depth: f"time {{{line.block(depth)}}}",
)
