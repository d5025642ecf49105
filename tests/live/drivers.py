"""How each client is installed, pointed at the scripted model, and run once with a prompt: one entry each."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.live.client_user import ClientUser
from tests.live.installed import Package

Words = list[str]


class Driver(Struct, frozen=True, kw_only=True):
    """A client in headless mode."""

    client: str
    package: Package
    # Its shell tool: the name, and its input for a command.
    shell: Callable[[str], tuple[str, dict[str, Any]]]
    # Writes the client's own configuration and returns its environment.
    prepare: Callable[[ClientUser, str], Mapping[str, str]]
    # The command for one prompt, from the folder where it is installed.
    command: Callable[[Path, ClientUser, str], Words]
    # What no answer of ours can bring about there, and why: a column of the table each.
    cannot: Mapping[str, str] = {}
    # Where the model is given notes.
    notes_at: Sequence[str] = ("start", "prompt", "tool")
    tells_why: bool = True  # its model is given the reason of a refusal


def node_program(name: str) -> Callable[[Path], str]:
    return lambda folder: str(folder / "node_modules" / ".bin" / name)


CLAUDE_ENV_KEY = "none"


def _claude_code(user: ClientUser, url: str) -> Mapping[str, str]:
    return {
        "ANTHROPIC_API_KEY": CLAUDE_ENV_KEY,
        "ANTHROPIC_BASE_URL": url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "0",
        "DISABLE_AUTOUPDATER": "1",
    }


def claude_program(folder: Path) -> str:
    """Its own program is beside a script that needs its package's scripts to have run."""
    program = next(folder.glob("node_modules/@anthropic-ai/claude-code-*/claude"), None)
    return str(program or node_program("claude")(folder))


def _claude_command(folder: Path, user: ClientUser, prompt: str) -> Words:
    return [claude_program(folder), "-p", prompt, "--allowedTools", "Bash"]


CODEX_CONFIG = """
model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false

[projects."{project}"]
trust_level = "trusted"
"""


def _codex(user: ClientUser, url: str) -> Mapping[str, str]:
    user.write("home/.codex/config.toml", CODEX_CONFIG.format(url=url, project=user.project))
    return {"SCRIPTED_KEY": "none"}


def _codex_command(folder: Path, user: ClientUser, prompt: str) -> Words:
    # Who approves hooks under /hooks is a person; in a script this stands for it.
    trust = ["--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--sandbox", "danger-full-access"]
    return [node_program("codex")(folder), "exec", *trust, prompt]


def _gemini(user: ClientUser, url: str) -> Mapping[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": True}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False},
        "tools": {"useRipgrep": False},
        "model": {"name": "gemini-2.5-flash"},
    }
    user.write("home/.gemini/settings.json", json.dumps(settings, indent=2))
    user.write("home/.gemini/trustedFolders.json", json.dumps({str(user.project): "TRUST_FOLDER"}))
    return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_NO_RELAUNCH": "true"}


def _copilot(user: ClientUser, url: str) -> Mapping[str, str]:
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": "none",
        "COPILOT_MODEL": "gpt-4.1",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_ALLOW_ALL": "true",
    }


def _qwen(user: ClientUser, url: str) -> Mapping[str, str]:
    settings = {
        "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False},
        "model": {"name": "scripted"},
        "$version": 4,  # else it adds that by itself
    }
    user.write("home/.qwen/settings.json", json.dumps(settings, indent=2))
    return {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "scripted"}


def _droid(user: ClientUser, url: str) -> Mapping[str, str]:
    model = {
        "model": "scripted",
        "displayName": "Scripted",
        "baseUrl": f"{url}/v1",
        "apiKey": "none",
        "provider": "generic-chat-completion-api",
        "maxOutputTokens": 4096,
        "maxContextLimit": 200000,
    }
    settings = {"customModels": [model], "cloudSessionSync": False, "enableHooks": True}
    user.write("home/.factory/settings.json", json.dumps(settings, indent=2))
    return {
        "FACTORY_AIRGAP_ENABLED": "true",
        "FACTORY_API_KEY": "fk-none",
        "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false",
        "FACTORY_DISABLE_KEYRING": "true",
        "FACTORY_API_BASE_URL": url,
        "FACTORY_APP_BASE_URL": url,
    }


def droid_program(folder: Path) -> str:
    return str(folder / "node_modules" / DROID.name / "bin" / "droid")


def _droid_command(folder: Path, user: ClientUser, prompt: str) -> Words:
    return [droid_program(folder), "exec", "--skip-permissions-unsafe", "-m", "custom:Scripted-0", prompt]


GROK_CONFIG = """
[models]
default = "scripted"

[model.scripted]
model = "scripted"
name = "scripted"
base_url = "{url}/v1"
api_key = "none"
api_backend = "chat_completions"
context_window = 200000
"""


def _grok(user: ClientUser, url: str) -> Mapping[str, str]:
    user.write("home/.grok/config.toml", GROK_CONFIG.format(url=url))
    nowhere = "http://127.0.0.1:9/v1"
    return {
        "GROK_DISABLE_AUTOUPDATER": "1",
        "GROK_TELEMETRY_ENABLED": "false",
        "GROK_FEEDBACK_ENABLED": "false",
        "XAI_API_KEY": "none",
        "GROK_CLI_CHAT_PROXY_BASE_URL": nowhere,
        "GROK_MODELS_BASE_URL": nowhere,
    }


KIMI_CONFIG = """
default_model = "scripted"

[providers.scripted]
type = "openai"
base_url = "{url}/v1"
api_key = "none"

[models.scripted]
provider = "scripted"
model = "scripted"
max_context_size = 200000
"""


def _kimi(user: ClientUser, url: str) -> Mapping[str, str]:
    user.write("home/.kimi-code/config.toml", KIMI_CONFIG.format(url=url))
    return {"KIMI_DISABLE_TELEMETRY": "1", "KIMI_CODE_NO_AUTO_UPDATE": "1"}


def kimi_program(folder: Path) -> Words:
    modules = folder / "node_modules"
    nodes = [*modules.glob("node-*/bin/node"), *modules.glob("node/node_modules/node-*/bin/node")]
    nodes += [*modules.glob("node/bin/node")]
    return [str(nodes[0]), str(modules / "@moonshot-ai/kimi-code/dist/main.mjs")]


def _cline(user: ClientUser, url: str) -> Mapping[str, str]:
    kind = "openai-compatible"
    provider = {"provider": kind, "apiKey": "none", "model": "scripted", "baseUrl": f"{url}/v1"}
    entry = {"settings": provider, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    providers = {"version": 1, "lastUsedProvider": kind, "modes": {}, "providers": {kind: entry}}
    user.write("home/.cline/data/settings/providers.json", json.dumps(providers, indent=2))
    return {"CLINE_DISABLE_AUTO_UPDATE": "1", "CLINE_TELEMETRY_DISABLED": "1"}


def cline_program(folder: Path) -> Words:
    return [node_program("cline")(folder), "-P", "openai-compatible", "-m", "scripted"]


def _opencode(user: ClientUser, url: str) -> Mapping[str, str]:
    model = {"name": "scripted", "tool_call": True, "limit": {"context": 200000, "output": 4096}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"scripted": model},
    }
    settings = {
        "autoupdate": False,
        "share": "disabled",
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "provider": {"scripted": provider},
    }
    user.write("project/opencode.json", json.dumps(settings, indent=2))
    return {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "npm_config_fetch_retries": "0",  # it installs a package for its plugins, and retries for more than a minute
    }


def _pi(user: ClientUser, url: str) -> Mapping[str, str]:
    provider = {
        "baseUrl": f"{url}/v1",
        "api": "openai-completions",
        "apiKey": "none",
        "compat": {"supportsDeveloperRole": False, "supportsReasoningEffort": False},
        "models": [{"id": "scripted", "contextWindow": 200000}],
    }
    user.write("home/.pi/agent/models.json", json.dumps({"providers": {"scripted": provider}}, indent=2))
    return {"PI_SKIP_VERSION_CHECK": "1", "PI_OFFLINE": "1"}


def _cursor(user: ClientUser, url: str) -> Mapping[str, str]:
    user.write("home/.cursor/argv.json", "{}")
    return {"MODEL_URL": url}


CURSOR_AGENT = Path(__file__).parent / "cursor_agent.mjs"

DROID = Package("@factory/cli-linux-x64" if sys.platform == "linux" else "@factory/cli-darwin-arm64", "0.225.2")

DRIVERS = (
    Driver(
        client="claude-code",
        package=Package("@anthropic-ai/claude-code", "2.1.328"),
        shell=lambda command: ("Bash", {"command": command, "description": "work"}),
        prepare=_claude_code,
        command=_claude_command,
    ),
    Driver(
        client="codex",
        package=Package("@openai/codex", "0.169.0"),
        shell=lambda command: ("exec_command", {"cmd": command}),
        prepare=_codex,
        command=_codex_command,
    ),
    Driver(
        client="gemini",
        package=Package("@google/gemini-cli", "0.61.0"),
        shell=lambda command: ("run_shell_command", {"command": command, "description": "work"}),
        prepare=_gemini,
        command=lambda folder, _, prompt: [
            *("node", node_program("gemini")(folder), "-m", "gemini-2.5-flash", "--yolo", "-p", prompt)
        ],
    ),
    Driver(
        client="copilot",
        package=Package("@github/copilot", "1.0.102", has_scripts=True),
        shell=lambda command: ("bash", {"command": command, "description": "work"}),
        prepare=_copilot,
        command=lambda folder, _, prompt: [
            *(node_program("copilot")(folder), "--allow-all-tools", "--no-color", "-p", prompt)
        ],
    ),
    Driver(
        client="qwen",
        package=Package("@qwen-code/qwen-code", "0.24.4"),
        shell=lambda command: (
            "run_shell_command",
            {"command": command, "description": "work", "is_background": False},
        ),
        prepare=_qwen,
        command=lambda folder, _, prompt: ["node", node_program("qwen")(folder), "--yolo", "-p", prompt],
        cannot={"rewrote": "it ignores a changed input, so the call is refused and shown"},
    ),
    Driver(
        client="droid",
        package=DROID,
        shell=lambda command: (
            "Execute",
            {"command": command, "timeout": 10, "riskLevel": "low", "riskLevelReason": "work"},
        ),
        prepare=_droid,
        command=_droid_command,
        cannot={"prompt blocked": "`exec` does not report its prompt"},
        notes_at=("start", "tool"),
    ),
    Driver(
        client="grok",
        package=Package("@xai-official/grok", "1.0.41", has_scripts=True),
        shell=lambda command: ("run_terminal_command", {"command": command, "description": "work"}),
        prepare=_grok,
        command=lambda folder, _, prompt: [
            *(node_program("grok")(folder), "--always-approve", "-m", "scripted", "-p", prompt)
        ],
    ),
    Driver(
        client="kimi",
        package=Package("@moonshot-ai/kimi-code", "2.1.0", ("node@24",), has_scripts=True),
        shell=lambda command: ("Bash", {"command": command}),
        prepare=_kimi,
        command=lambda folder, _, prompt: [*kimi_program(folder), "-p", prompt],
        cannot={"rewrote": "it takes no changed input, so the call is refused and shown"},
        notes_at=("start", "prompt"),
    ),
    Driver(
        client="cline",
        package=Package("cline", "3.0.65", has_scripts=True),
        shell=lambda command: ("run_commands", {"commands": [command]}),
        prepare=_cline,
        command=lambda folder, _, prompt: [*cline_program(folder), "--json", prompt],
        cannot={
            "prompt blocked": "its CLI does not report prompts",
            "stop continued": "the client does not wait for the hook at its end",
        },
        tells_why=False,
        notes_at=("start", "tool"),
    ),
    Driver(
        client="opencode",
        package=Package("opencode-ai", "1.18.33", has_scripts=True),
        shell=lambda command: ("bash", {"command": command, "description": "work"}),
        prepare=_opencode,
        command=lambda folder, _, prompt: [node_program("opencode")(folder), "run", prompt],
        cannot={"stop continued": "a new prompt is lost in a headless `run`"},
    ),
    Driver(
        client="pi",
        package=Package("@mariozechner/pi-coding-agent", "0.73.1"),
        shell=lambda command: ("bash", {"command": command}),
        prepare=_pi,
        command=lambda folder, _, prompt: [
            *("node", node_program("pi")(folder), "--model", "scripted/scripted", "-p", prompt)
        ],
        cannot={"stop continued": "with `-p` it does not wait for the hook at the end of a turn"},
    ),
    Driver(
        client="cursor",
        package=Package("@cursor/sdk", "1.0.32"),
        shell=lambda command: ("Shell", {"command": command}),
        prepare=_cursor,
        command=lambda folder, _, prompt: ["node", str(CURSOR_AGENT), str(folder), prompt],
        cannot={"prompt blocked": "its SDK runs the hook and goes on whatever it says"},
        notes_at=("tool",),
    ),
)
