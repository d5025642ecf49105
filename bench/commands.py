"""Make command lines as agents write them: pipes, options, redirections; no two are the same."""

import itertools
import random
from collections.abc import Iterator

_LINES = (
    "cd {folder} && git log --oneline -n {number} -- {file} | head -{small}",
    "grep -rn --include='*.py' '{word}' {folder} | sort -u | wc -l",
    "pytest -q {folder}/test_{word}.py -k '{word} and not slow' --maxfail={small} 2>&1 | tail -n {number}",
    "find {folder} -name '*{word}*' -type f -not -path '*/node_modules/*' | xargs grep -l '{word}' | head -{number}",
    "sed -n '{small},{number}p' {file} | cat -A | cut -c1-{number}",
    'git diff --stat HEAD~{small} -- {folder} && git status --short | grep "{word}"',
    "curl -s -m {small} http://localhost:{port}/{word}?page={number} | jq '.items[] | .{word}' | sort | uniq -c",
    "npm run build --workspace={word} -- --mode=production 2>&1 | tee build-{number}.log | tail -{small}",
    "cargo test --package {word} --release -- --nocapture test_{word}_{number} | tail -{small}",
    "docker logs --tail {number} {word}-{small} 2>&1 | grep -iE 'error|{word}' | tail -{small}",
    "python3 -m {word}.cli --config {file} --limit {number} > out/{word}.txt && head -{small} out/{word}.txt",
    "ls -la {folder} | awk '{{print $9, $5}}' | sort -k2 -n -r | head -{small}",
    "rg -n --glob '!*.lock' '{word}_{number}' {folder} -C {small} | sed 's/{word}/X/g'",
    "mkdir -p out/{word} && cp {file} out/{word}/copy-{number} && diff -u {file} out/{word}/copy-{number}",
    'for name in {word} a{number} b{small}; do echo "== $name"; wc -l {folder}/$name; done | column -t',
    "git add {file} && git commit -q -m 'Fix {word} in {number} places' && git show --stat HEAD | head -{small}",
    "make -j{small} {word} CFLAGS='-O2 -DNUMBER={number}' 2>&1 | grep -E 'warning|error' | sort | uniq -c",
    "psql -h localhost -p {port} -d {word} -c 'SELECT count(*) FROM {word} WHERE id > {number}' | tail -{small}",
)
_WORDS = ("parser", "reader", "socket", "journal", "ledger", "cache", "token", "config", "index", "worker", "loader")


def new_commands(seed: int = 1) -> Iterator[str]:
    """Yield command lines without end, the same ones for the same seed."""
    chosen = random.Random(seed)
    for number in itertools.count(10):
        word = f"{chosen.choice(_WORDS)}_{number}"
        folder = f"{chosen.choice(('src', 'tests', 'packages', 'lib'))}/{chosen.choice(_WORDS)}"
        yield chosen.choice(_LINES).format(
            word=word, folder=folder, file=f"{folder}/{word}.py", number=number,
            small=chosen.randint(2, 9), port=chosen.choice((3000, 5432, 8000, 8080)),
        )  # fmt: skip
