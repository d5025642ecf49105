"""Print a shell completion script, which calls `snell completion words` for the candidates."""

import argparse
import sys

from snell.cli.completion import candidates

EXAMPLE = 'eval "$(snell completion bash)"'

SCRIPTS = {
    "bash": """\
_snell() {
    local word
    COMPREPLY=()
    while IFS=$'\\t' read -r word _; do
        COMPREPLY+=("$(printf '%q' "$word")")
    done < <(snell completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -o nosort -F _snell snell
""",
    "zsh": """\
#compdef snell
_snell() {
    local word text
    local -a found
    while IFS=$'\\t' read -r word text; do
        found+=("${word//:/\\\\:}:$text")
    done < <(snell completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    if (( $#found )); then _describe -V snell found; else _files; fi
}
if [[ $funcstack[1] == _snell ]]; then _snell "$@"; else compdef _snell snell; fi
""",
    "fish": """\
function __snell_words
    set -l before (commandline -opc)
    snell completion words -- $before[2..-1] (commandline -ct) 2>/dev/null
end
complete -c snell -k -a '(__snell_words)'
""",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    what = "the shell to print a script for; `words` prints candidates for such a script"
    parser.add_argument("what", choices=[*SCRIPTS, "words"], help=what)
    parser.add_argument("line", nargs=argparse.REMAINDER, metavar="-- WORD ...", help="the words typed so far")


def run(args: argparse.Namespace) -> int:
    if args.what != "words":
        sys.stdout.write(SCRIPTS[args.what])
        return 0
    words = args.line[1:] if args.line[:1] == ["--"] else args.line
    for word, text in candidates(words or [""]):
        print(f"{word}\t{text}")
    return 0
