"""Codex runs hooks without a question once its user has approved their digests, and Snell computes the same ones."""

import json

from snell.setup.client_gates import hook_digests
from tests.live.drivers import DRIVERS
from tests.live.wires import Said

HOOKS = """
from snell import Deny, ShellCall, judges


@judges("PreToolUse", kind="shell")
def not_that(call: ShellCall):
    return Deny("REFUSED-BY-HOOK") if "forbidden" in call.command else None
"""
CODEX = next(each for each in DRIVERS if each.client == "codex")


def test_codex_skips_hooks_until_they_are_approved_and_snell_says_so(asked_for, user, model, client_folder):
    asked_for(CODEX.client)
    folder = client_folder(CODEX)
    user.configure(hooks=HOOKS)
    env = CODEX.prepare(user, model.url)
    user.snell("setup", "codex", "--yes")
    words = [each for each in CODEX.command(folder, user, "Please work.") if each != "--dangerously-bypass-hook-trust"]

    def is_run(name: str) -> bool:
        model.begin([Said("Working.", (CODEX.shell(f"touch {name}"),)), Said("Done.")])
        user.run(words, env)
        return (user.project / name).exists()

    assert is_run("forbidden-1.txt")  # the hook was skipped
    assert "not approved" in user.snell("clients")
    path = user.home / ".codex" / "hooks.json"
    digests = dict(hook_digests(json.loads(path.read_bytes())["hooks"]))
    state = "".join(f'\n[hooks.state."{path}:{at}"]\ntrusted_hash = "{each}"\n' for at, each in digests.items())
    config = user.home / ".codex" / "config.toml"
    config.write_text(config.read_text(encoding="utf-8") + state, encoding="utf-8")
    assert "not approved" not in user.snell("clients")
    assert not is_run("forbidden-2.txt")
    assert "REFUSED-BY-HOOK" in model.shown
