"""
The arguments of one command, sorted: options with their values, and operands.

`-sd a=b`, `-da=b` and `--data=a=b` are the same option. Which options take a value is known here for programs whose
effects depend on it; of an option that is not known, the word after it may be its value or an operand.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from snell.shell.options import SINGLE_DASH

_VALUED = {
    "awk": "-F -f -v --field-separator --file --assign",
    "aws": "--profile --region --endpoint-url --output --query --color --ca-bundle --cli-read-timeout",
    "az": "--subscription -o --output --query -g --resource-group -n --name",
    "cargo": "-Z -C --config --color --manifest-path -p --package",
    "cp": "-t -S --target-directory --suffix",
    "curl": "-A -b -c -C -d -D -e -E -F -H -K -m -o -P -Q -r -t -T -u -U -w -x -X -y -Y -z --output --data --data-raw "
    "--data-binary --data-ascii --data-urlencode --form --form-string --json --upload-file --request --header --user "
    "--user-agent --cookie --cookie-jar --dump-header --output-dir --config --quote --max-time --connect-timeout "
    "--retry --retry-delay --retry-max-time --proxy --cacert --cert --key --resolve --url --url-query --write-out "
    "--referer --range --trace --trace-ascii --stderr --limit-rate --interface --connect-to --time-cond --etag-save "
    "--mail-rcpt --mail-from --mail-auth --proto --proto-default --max-redirs --aws-sigv4 --oauth2-bearer "
    "--unix-socket "
    "--abstract-unix-socket --login-options --variable --noproxy --preproxy --socks5 --socks5-hostname --pass "
    "--ciphers",
    "clickhouse-client": "-q -h -u -d --query --host --port --user --password --database",
    "cqlsh": "-e -f -k -u -p --execute --file --keyspace",
    "date": "-d -f -r -s --date --file --reference --set",
    "docker": "-c -H -l -f -p --context --host --config --log-level --file --project-name --profile --env-file "
    "--project-directory",
    "find": "",
    "gcloud": "--project --account --format --filter --zone --region --configuration --verbosity",
    "gh": "-R --repo --hostname",
    "gh api": "-X -f -F -H -q -t -p --method --field --raw-field --header --jq --template --input --cache --hostname",
    "git": "--output -C -c --git-dir --work-tree --namespace --config-env --exec-path --super-prefix",
    "glab": "-R --repo",
    "gsutil": "-o -h -u",
    "helm": "-n --namespace --kube-context --kubeconfig --repository-config --kube-token",
    "install": "-m -o -g -t -S --mode --owner --group --target-directory",
    "kubectl": "-n -s --namespace --context --cluster --kubeconfig --server --user --token --as --as-group "
    "--request-timeout --cache-dir -v",
    "less": "-o -O -b -h -j -k -p -P -t -T -x -y -z -D --log-file --LOG-FILE --pattern --prompt --tag --lesskey-file",
    "ln": "-t -S --target-directory --suffix",
    "mkdir": "-m --mode",
    "mongosh": "--eval -f --file --host --port -u --username -p --password",
    "mysql": "-e -h -u -P -D -S --execute --host --user --port --database --socket --defaults-file",
    "mv": "-t -S --target-directory --suffix",
    "npm": "-C -w --prefix --workspace --registry --loglevel --userconfig --cache --tag --otp",
    "perl": "-e -E -I -M -m",
    "pnpm": "-C -F --dir --filter",
    "psql": "-c -f -h -p -U -d -v -o -L -P -F -R -T --command --file --host --port --username --dbname --set "
    "--variable "
    "--output --log-file",
    "redis-cli": "-h -p -s -a -u -n -r -i -x -t --user --pass --pattern --eval",
    "rsync": "-e -f -T -B --rsh --exclude --include --filter --files-from --rsync-path --log-file --bwlimit --port",
    "scp": "-i -P -o -F -J -c -l -S",
    "sed": "-e -f -l --expression --file --line-length",
    "snowsql": "-q -f -a -u -d -s -w --query --filename",
    "sort": "-k -o -S -t -T --key --output --buffer-size --field-separator --temporary-directory --batch-size "
    "--parallel --files0-from --compress-program",
    "sqlcmd": "-Q -q -i -o -S -U -P -d",
    "tar": "-f -C -b -g -H -I -K -L -N -T -V -X --file --directory --exclude --transform --strip-components --owner "
    "--group --mode --format --exclude-from --files-from",
    "touch": "-d -r -t --date --reference --time",
    "tree": "-o -L -P -I --filelimit --charset --sort",
    "trino": "--execute --file --server --catalog --schema --user",
    "truncate": "-s -r --size --reference",
    "unzip": "-d -x -P",
    "wget": "-O -P -o -a -U -i -e -t -T -w -Q -A -R -D -l -B --output-document --directory-prefix --output-file "
    "--append-output --user-agent --header --method --post-data --post-file --body-data --body-file --input-file "
    "--tries --timeout --user --password --load-cookies --save-cookies --referer",
    "xxd": "-c -g -l -o -s -n -R",
    "yarn": "--cwd",
}  # fmt: skip
_SAME = {"gawk": "awk", "mawk": "awk", "nawk": "awk", "podman": "docker", "nerdctl": "docker", "oc": "kubectl",
         "mariadb": "mysql", "mongo": "mongosh", "valkey-cli": "redis-cli", "keydb-cli": "redis-cli"}  # fmt: skip
VALUED = {name: frozenset(text.split()) for name, text in _VALUED.items()}


class Arguments(Struct):
    """What stands after the program's name."""

    options: list[tuple[str, str]] = field(default_factory=list)  # in their order; without a value it is empty
    operands: list[str] = field(default_factory=list)
    unsure: set[int] = field(default_factory=set)  # operands, by number, that may be the value of an unknown option

    def has(self, *names: str) -> bool:
        return any(name in names for name, _ in self.options)

    def values(self, *names: str) -> list[str]:
        return [value for name, value in self.options if name in names]

    def value(self, *names: str) -> str:
        """The last one counts, as with most programs."""
        return next(reversed(self.values(*names)), "")


def arguments_of(program: str, arguments: Sequence[str]) -> Arguments:
    program = _SAME.get(program, program)
    program = "gh api" if program in ("gh", "glab") and arguments[:1] == ("api",) else program
    valued, found = VALUED.get(program, frozenset()), Arguments()
    words = iter(_without_bundle(arguments, valued, found) if program == "tar" else arguments)
    may_be_value = False
    for word in words:
        if word == "--":
            found.operands += words
        elif len(word) < 2 or not word.startswith("-"):
            if may_be_value:
                found.unsure.add(len(found.operands))
            found.operands.append(word)
            may_be_value = False
        else:
            may_be_value = _add(found, word, words, valued, is_whole=program in SINGLE_DASH)
    return found


def _add(found: Arguments, word: str, words: Iterator[str], valued: frozenset[str], *, is_whole: bool) -> bool:
    """Note an option; says whether the word after it may still be its value."""
    if word.startswith("--") or is_whole:
        name, equals, value = word.partition("=")
        takes = name in valued and not equals
        found.options.append((name, next(words, "") if takes else value))
        return not takes and not equals
    letters = word[1:]
    for index, letter in enumerate(letters):
        if f"-{letter}" in valued:
            found.options.append((f"-{letter}", letters[index + 1 :].removeprefix("=") or next(words, "")))
            return False
        found.options.append((f"-{letter}", ""))
    return len(letters) == 1


def _without_bundle(arguments: Sequence[str], valued: frozenset[str], found: Arguments) -> Sequence[str]:
    """`tar xfC a there`: letters without a dash, whose values follow in their order."""
    if not arguments or arguments[0].startswith("-"):
        return arguments
    rest = list(arguments[1:])
    for letter in arguments[0]:
        takes = f"-{letter}" in valued and rest
        found.options.append((f"-{letter}", rest.pop(0) if takes else ""))
    return rest
