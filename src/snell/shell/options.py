"""
Match the sub-commands and options of a command.

Programs spell one option in several ways. What is known of that is data here; of a program that is not listed, an
option may or may not take the word after it, and either reading counts.
"""

from collections.abc import Sequence

from msgspec import Struct, field

from snell.system.lazy_regex import lazy_regex

_CLUSTER = lazy_regex(r"-([A-Za-z0-9]+)")


class Spelling(Struct, frozen=True):
    """How one program, or one of its sub-commands, spells its options."""

    valued: frozenset[str] = frozenset()  # the next word belongs to the option
    same: tuple[frozenset[str], ...] = ()  # options that mean the same
    long: tuple[str, ...] = ()  # all long options, where unambiguous beginnings of them are accepted


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Programs whose options are words behind a single dash; letters in them are no options of their own.
SINGLE_DASH = _set("find go java javac openssl terraform tofu packer ffmpeg qemu-img convert xcodebuild")

SPELLINGS: dict[str, Spelling] = {
    "chmod": Spelling(same=(_set("-R --recursive"),)),
    "chown": Spelling(same=(_set("-R --recursive"),)),
    "cp": Spelling(same=(_set("-f --force"), _set("-r -R --recursive"))),
    "curl": Spelling(
        valued=_set("-X --request -d --data -H --header -o --output -u --user -F --form -T --upload-file"),
        same=(_set("-X --request"), _set("-o --output"), _set("-k --insecure"), _set("-d --data")),
    ),
    "docker": Spelling(valued=_set("-c --context -H --host --config -l --log-level")),
    "gh": Spelling(valued=_set("-R --repo")),
    "git": Spelling(
        valued=_set("-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source --list-cmds")
    ),
    "git add": Spelling(same=(_set("-f --force"), _set("-A --all"), _set("-u --update"))),
    "git branch": Spelling(
        valued=_set("-u --set-upstream-to --contains --merged --no-merged --sort --format --points-at"),
        same=(_set("-d --delete"), _set("-f --force"), _set("-m --move"), _set("-a --all")),
    ),
    "git checkout": Spelling(valued=_set("-b -B --orphan --conflict"), same=(_set("-f --force"),)),
    "git clean": Spelling(
        valued=_set("-e --exclude"),
        same=(_set("-f --force"), _set("-n --dry-run"), _set("-i --interactive")),
        long=("--force", "--dry-run", "--interactive", "--quiet", "--exclude"),
    ),
    "git commit": Spelling(
        valued=_set(
            "-m --message -F --file -C --reuse-message -c --reedit-message --author --date --cleanup --fixup"
            " --squash -t --template --trailer --pathspec-from-file"
        ),
        same=(
            _set("-m --message"),
            _set("-n --no-verify"),
            _set("-a --all"),
            _set("-F --file"),
            _set("-s --signoff"),
        ),
        long=(
            *("--all", "--allow-empty", "--allow-empty-message", "--amend", "--author", "--branch", "--cleanup"),
            *("--date", "--dry-run", "--edit", "--file", "--fixup", "--gpg-sign", "--include", "--interactive"),
            *("--long", "--message", "--no-edit", "--no-gpg-sign", "--no-post-rewrite", "--no-signoff"),
            *("--no-status", "--no-verify", "--null", "--only", "--patch", "--pathspec-file-nul"),
            *("--pathspec-from-file", "--porcelain", "--quiet", "--reedit-message", "--reset-author"),
            *("--reuse-message", "--short", "--signoff", "--squash", "--status", "--template", "--trailer"),
            *("--untracked-files", "--verbose", "--verify"),
        ),
    ),
    "git merge": Spelling(valued=_set("-m -F -s -X --strategy --strategy-option --into-name --cleanup")),
    "git push": Spelling(
        valued=_set("-o --push-option --receive-pack --exec --repo"),
        same=(_set("-f --force"), _set("-d --delete"), _set("-u --set-upstream"), _set("-n --dry-run")),
        long=(
            *("--all", "--atomic", "--branches", "--delete", "--dry-run", "--exec", "--follow-tags", "--force"),
            *("--force-if-includes", "--force-with-lease", "--ipv4", "--ipv6", "--mirror", "--no-force"),
            *("--no-force-with-lease", "--no-signed", "--no-thin", "--no-verify", "--porcelain", "--progress"),
            *("--prune", "--push-option", "--quiet", "--receive-pack", "--recurse-submodules", "--repo"),
            *("--set-upstream", "--signed", "--tags", "--thin", "--verbose", "--verify"),
        ),
    ),
    "git rebase": Spelling(
        valued=_set("--onto -s -X -x --exec --strategy --strategy-option -C"),
        same=(_set("-i --interactive"), _set("-x --exec")),
    ),
    "git reset": Spelling(
        long=("--hard", "--intent-to-add", "--keep", "--merge", "--mixed", "--patch", "--quiet", "--soft"),
    ),
    "git rm": Spelling(same=(_set("-f --force"), _set("-n --dry-run"))),
    "git switch": Spelling(valued=_set("-c -C --create --force-create --orphan"), same=(_set("-f --force"),)),
    "kubectl": Spelling(valued=_set("-n --namespace --context --cluster --kubeconfig -s --server --user --token --as")),
    "ls": Spelling(same=(_set("-a --all"), _set("-R --recursive"))),
    "mv": Spelling(same=(_set("-f --force"),)),
    "npm": Spelling(valued=_set("--prefix -C -w --workspace --registry --loglevel --userconfig --cache")),
    "rm": Spelling(
        same=(_set("-r -R --recursive"), _set("-f --force"), _set("-d --dir")),
        long=(
            *("--dir", "--force", "--help", "--interactive", "--no-preserve-root", "--one-file-system"),
            *("--preserve-root", "--recursive", "--verbose", "--version"),
        ),
    ),
    "sed": Spelling(valued=_set("-e -f --expression --file"), same=(_set("-i --in-place"),)),
    "tar": Spelling(same=(_set("-x --extract --get"), _set("-c --create"))),
}
_NOTHING_KNOWN = Spelling()


class _Given(Struct):
    """The arguments of one command, sorted."""

    program: str
    spelling: Spelling
    known: bool
    operands: list[tuple[str, bool]] = field(default_factory=list)  # with: may be the value of an option
    options: set[str] = field(default_factory=set)
    same: tuple[frozenset[str], ...] = ()


def gives(program: str, arguments: Sequence[str], wanted: Sequence[str]) -> bool:
    """The wanted words lead the operands in order, and every wanted option is there in one of its spellings."""
    if not wanted:
        return True
    given = _sorted_out(program, arguments)
    operands = [word for word in wanted if not _is_option(word)]
    return _lead(given.operands, operands) and all(_has(given, word) for word in wanted if _is_option(word))


def _is_option(word: str) -> bool:
    return len(word) > 1 and word.startswith("-")


def _sorted_out(program: str, arguments: Sequence[str]) -> _Given:
    spelling = SPELLINGS.get(program)
    given = _Given(program, spelling or _NOTHING_KNOWN, known=spelling is not None)
    given.same = given.spelling.same
    at, unsure = 0, False
    while at < len(arguments):
        word = arguments[at]
        at += 1
        if word == "--":
            given.operands += [(operand, False) for operand in arguments[at:]]
            break
        if _is_option(word):
            takes_next = _add_option(given, word)
            at += takes_next
            unsure = not takes_next and "=" not in word and not given.known
            continue
        _add_operand(given, word, unsure=unsure)
        unsure = False
    return given


def _add_operand(given: _Given, word: str, *, unsure: bool) -> None:
    if not given.operands and not unsure:
        # From the sub-command on, its own options count, and not all of those are known.
        given.spelling = SPELLINGS.get(f"{given.program} {word}", _NOTHING_KNOWN)
        given.same += given.spelling.same
        given.known = False
    given.operands.append((word, unsure))


def _add_option(given: _Given, word: str) -> bool:
    """Note the option; True when it takes the word after it."""
    name, equals, _ = word.partition("=")
    if word.startswith("--") or given.program in SINGLE_DASH:
        name = _written_out(name, given.spelling.long)
        given.options.add(name)
        return not equals and name in given.spelling.valued
    given.options.add(name)
    cluster = _CLUSTER.match(word)
    letters = cluster[1] if cluster else ""
    for index, letter in enumerate(letters):
        given.options.add(f"-{letter}")
        if f"-{letter}" in given.spelling.valued:
            return index + 2 == len(word)
    return False


def _written_out(name: str, known: tuple[str, ...]) -> str:
    if name in known:
        return name
    meant = [option for option in known if option.startswith(name)]
    return meant[0] if len(meant) == 1 else name


def _lead(operands: Sequence[tuple[str, bool]], wanted: Sequence[str]) -> bool:
    found = 0
    for word, unsure in operands:
        if found == len(wanted):
            break
        if word == wanted[found]:
            found += 1
        elif not unsure:
            return False
    return found == len(wanted)


def _has(given: _Given, wanted: str) -> bool:
    spellings = {wanted}.union(*(group for group in given.same if wanted in group))
    if spellings & given.options:
        return True
    letters = _CLUSTER.fullmatch(wanted)
    if not letters or len(letters[1]) < 2 or given.program in SINGLE_DASH:
        return False
    return all(_has(given, f"-{letter}") for letter in letters[1])
