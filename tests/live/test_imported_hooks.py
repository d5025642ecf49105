"""A team's Cursor hooks, in every other client: what they refuse does not happen, what they change happens changed."""

import json
import sys

from tests.live.wires import Said

GUARD = f"""#!{sys.executable}
import json, sys
given = json.load(sys.stdin)
answer = {{"permission": "allow"}}
if given["hook_event_name"] == "beforeShellExecution" and "precious" in given["command"]:
    answer = {{"permission": "deny", "user_message": "REFUSED-AS-IN-CURSOR", "agent_message": "REFUSED-AS-IN-CURSOR"}}
if given["hook_event_name"] == "preToolUse" and given["tool_input"].get("command") == "echo one":
    answer["updated_input"] = {{"command": "echo CHANGED-AS-IN-CURSOR"}}
print(json.dumps(answer))
"""
HOOKS = {
    "version": 1,
    "hooks": {
        "beforeShellExecution": [{"command": "./hooks/guard"}],
        "preToolUse": [{"command": "./hooks/guard", "matcher": "Shell"}],
    },
}


def test_a_teams_cursor_hooks_count_in_the_client(driver, user, model, client_folder):
    folder = client_folder(driver)
    user.configure('import_hooks = ["cursor"]\n')
    user.write("project/precious.txt", "keep me")
    user.write("home/.cursor/hooks/guard", GUARD).chmod(0o755)
    user.write("home/.cursor/hooks.json", json.dumps(HOOKS))
    env = driver.prepare(user, model.url)
    user.snell("setup", driver.client, "--yes")
    model.begin([Said("Working.", (driver.shell(command),)) for command in ("echo one", "rm -f precious.txt")])
    ran = user.run(driver.command(folder, user, "Please work."), env)
    assert (user.project / "precious.txt").exists(), ran
    assert "CHANGED-AS-IN-CURSOR" in model.shown, ran  # by the command, or by the refusal that shows it
    assert not driver.tells_why or "REFUSED-AS-IN-CURSOR" in model.shown, ran
