"""Recognise, by name only, files that hold secrets, files of Snell, and files that run automatically."""

import fnmatch
import re
from functools import lru_cache

from snell.model.tool_names import name_set
from snell.system.lazy_regex import lazy_regex

LONGEST_PATTERN = 1_000  # matching time grows with the square of the length

_TEMPLATE = lazy_regex(
    r"\.(?:example|sample|template|tmpl|schema|dist|defaults?|example\.\w+)$|^(?:example|sample)\b", re.IGNORECASE
)
_ENV_FILE = lazy_regex(r"^\.env(?:rc)?(?:[.*?_-].*)?$|\.env$", re.IGNORECASE)
_KEY_FILE = lazy_regex(
    r"^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?![\w-]*\.pub\b)(?:\b|_)|^id_[*?]|\.(?:key|p12|pfx|jks|"
    r"keystore|kdbx|ppk|p8|agekey|ovpn|keytab)\W*$"
    r"|(?<!cert)(?<!certs)(?<!/ca)(?<!chain)(?<!bundle)(?<!^ca)(?<!ca-cert)\.pem$|private[-_]?key|^[*?]+\.(?:pem|key)$",
    re.IGNORECASE,
)
_PUBLIC = lazy_regex(r"\.pub\b|public|pubkey|^package\.key$|i18n|translations?", re.IGNORECASE)
_SECRET_NAMES = name_set(
    ".netrc _netrc .pypirc .git-credentials .pgpass .my.cnf .boto .s3cfg .vault-token .htpasswd .dockercfg "
    ".dockerconfigjson .npmrc.token wallet.dat key4.db logins.json cookies.sqlite keychain.db login.keychain "
    "login.keychain-db .credentials.json credentials.json service-account.json service_account.json "
    "serviceaccount.json gcp-key.json secrets.json secrets.yaml secrets.yml secrets.toml secret.json "
    "secret.yaml secret.yml credentials.yml credentials.yaml credentials.toml master.key kubeconfig "
    ".terraformrc application_default_credentials.json access_tokens.db credentials.db .env.vault .secrets "
    "secring.gpg shadow- gshadow credentials.tfrc.json token.json oauth_creds.json .npmrc~ secrets.env "
    "service_account_key.json service-account-key.json terraform.tfstate terraform.tfstate.backup gcloud-key.json "
    "credentials.xml hudson.util.secret terraform.tfvars .htdigest .esmtprc .fetchmailrc keys.txt .condarc "
    "nuget.config krb5.keytab debian.cnf accounts.xml .authinfo .authinfo.gpg wp-config.php.bak "
    ".mylogin.cnf .msmtprc .mbsyncrc .dev.vars deploy_key .claude.json "
    ".mutt-credentials .snowsql rclone.conf .databrickscfg vault-token azureprofile.json "
    "credentials .aws .gnupg .kube .azure .password-store"
) | {"login data"}
# Personal lists of passwords, and keys that services offer as a file.
_PASSWORD_LIST = lazy_regex(
    r"^(?:\w+[_-])?passwords?\.(?:txt|csv|xlsx?|md)$|^(?:\w+[_-])?(?:api|access|secret)[_-]?keys?\.(?:txt|csv|json|ya?ml)$"
    r"|firebase-adminsdk[\w-]*\.json$|_accessKeys\.csv$|^rootkey\.csv$|^recovery[_-]codes?\.txt$|^seed[_-]?phrase"
)
_SECRET_PATHS = lazy_regex(
    r"(?:^|/)(?:\.aws/(?:credentials|sso|cli/cache)|\.docker/config\.json|\.kube/(?:config|cache)|\.gem/credentials"
    r"|\.cargo/credentials|\.config/(?:gh/hosts\.yml|gcloud|op|containers/auth\.json|hub|doctl|rclone|stripe|heroku)"
    r"|\.azure/|\.gnupg(?:/|$)|\.password-store|\.codex/auth\.json|\.gemini/oauth|\.composer/auth\."
    r"json|\.m2/settings.*xml"
    r"|Library/(?:Keychains|Cookies)|\.local/share/keyrings|\.mozilla/firefox|"
    r"Application Support/(?:Google/Chrome|Firefox)"
    r"|\.config/(?:google-chrome|chromium|BraveSoftware)|\.gradle/gradle\.properties|\."
    r"subversion/auth|\.terraform\.d/credentials"
    r"|\.electrum|\.bitcoin|\.ethereum/keystore|\.config/solana|\.oci/|\.gsutil|\.fly/config|\.railway|\.vercel/auth"
    r"|\.config/(?:github-copilot/|filezilla/|Signal/)|\.(?:cache/)?huggingface/token|\.kaggle/kaggle\.json"
    r"|etc/(?:wireguard|openvpn|NetworkManager/system-connections)/.|etc/kubernetes/[\w-]+\.conf|etc/rancher/\w+/\w+\.yaml"
    r"|run/secrets/|var/run/secrets|config/master\.key|config/credentials)",
    re.IGNORECASE,
)
_SYSTEM_SECRETS = lazy_regex(
    r"^/(?:etc/(?:g?shadow-?|ssl/private|ssh/ssh_host_\w+_key)|proc/[^/]+/(?:environ|mem)|root/\."
    r"ssh)$|^/etc/ssl/private/"
)
_SSH_NO_SECRET = frozenset(("known_hosts", "config", "known_hosts.old", "environment", "allowed_signers"))
_SECRET_FOLDERS = frozenset(
    ("certs", "secrets", ".ssh", ".aws", ".gnupg", "credentials", "private", ".kube", ".secrets", "keys")
)

_SNELL_FILES = lazy_regex(
    r"(?:^|/)(?:\.snell(?:/|$)|\.config/snell(?:/|$)|\.local/(?:state|share)/snell(?:/|$)|\."
    r"cache/snell(?:/|$)|etc/snell(?:/|$)"
    r"|run/user/[^/]+/snell(?:/|$))"
    # Its programs in `bin` folders of the system or a home; a project may have files of that name.
    r"|^(?:/(?:usr/|usr/local/|opt/[^/]+/)?s?|/(?:home/[^/]+|Users/[^/]+|root)/(?:\.local/)?|.*/\.local/|\ue000.*/)"
    r"bin/snell(?:-hook)?[*?]*$|^\ue000/?snell-hook$"
)
PIPX_FOLDER = "pipx/venvs/snell"
# An installed Snell in any folder; a path whose beginning is only known at run time is matched by its end.
_SNELL_CODE = lazy_regex(
    r"/(?:site|dist)-packages/(?:snell(?:/|$)|_?snell[^/]*\.(?:pth|dist-info|egg-info|egg-link|data)(?:/|$)"
    r"|__editable__[^/]*snell[^/]*$)"
    rf"|/{PIPX_FOLDER}(?:/|$)|/uv/tools/snell(?:/|$)|^\ue000/?(?:venvs|tools)/snell(?:/|$)"
    r"|^\ue000/?(?:[^/]+/)*snell/(?:__init__\.py|cli|clients|coverage|daemon|embed|engine|handlers|llm|memory|model"
    r"|operations|packs|records|redact|runtime|sdk|settings|setup|shell|store|system|testing|ui|work)(?:/|$)"
)
_CLIENT_HOOKS = lazy_regex(
    r"(?:^|/)(?:\.claude/(?:settings(?:\.local)?\.json|hooks/|managed-settings\.json)"
    r"|\.codex/(?:hooks\.json|config\.toml)|\.cursor/hooks\.json|\.gemini/settings\.json|\.qwen/settings\.json"
    r"|\.factory/(?:hooks|settings)\.json|\.grok/(?:hooks/|config\.toml)|\.github/(?:hooks/|copilot/settings)"
    r"|\.copilot/(?:hooks/|settings\.json)|\.kimi-code/config\.toml|\.windsurf/hooks\.json|\."
    r"kiro/hooks/|\.clinerules/hooks/"
    r"|\.cline/hooks/|\.augment/settings|\.devin/hooks|\.opencode/plugins?/|\.config/opencode/plugins?/)"
)


_STARTUP_FILE = lazy_regex(
    r"/\.(?:bashrc|bash_profile|bash_login|profile|zshrc|zprofile|zshenv|zlogin|kshrc|cshrc|inputrc|"
    r"xprofile|xinitrc|gitconfig|config/fish/config\.fish)$"
    r"|/\.config/(?:autostart|systemd/user)/|/Library/Launch(?:Agents|Daemons)/|^/etc/(?:cron|profile"
    r"|rc\.local|init\.d|systemd/system|environment|bash)"
    r"|^/var/spool/cron|/\.git/hooks/(?!.*\.sample)|^/etc/ld\.so|/\.ssh/rc$"
)
_WORKFLOW = lazy_regex(
    r"(?:^|/)(?:\.(?:github|gitea|forgejo)/workflows/[^/]+\.ya?ml|\.gitlab-ci\.ya?ml|\.circleci/config\.ya?ml"
    r"|bitbucket-pipelines\.ya?ml|azure-pipelines\.ya?ml|jenkinsfile|\.travis\.ya?ml|\.drone\.ya?ml)$",
    re.IGNORECASE,
)


def is_workflow(path: str) -> bool:
    """Tell whether a build server runs what the file says as soon as it is pushed."""
    return _WORKFLOW.search(path) is not None


@lru_cache(maxsize=4096)
def secret_name(path: str, home: str = "") -> str:
    """Return the path, with `~` for home, if the file holds secrets; else an empty text."""
    name = path.rstrip("/").rpartition("/")[2]
    at_home = bool(home) and path == f"{home}/{name}"
    if not name or not (_holds_secret(path, name.lower()) or (at_home and name in (".npmrc", ".yarnrc.yml"))):
        return ""
    return "~" + path[len(home) :] if home and path.startswith(home + "/") else path


_PRIVATE = lazy_regex(
    r"^/etc/(?:passwd|group|hostname|machine-id|sudoers|ssh/)|/\.(?:bash_history|zsh_history|gitconfig)$|"
    r"/\.ssh/(?:config|known_hosts)$"
)


def is_private(path: str) -> bool:
    """Tell whether the file is private: fine to read here, not to send."""
    return _PRIVATE.search(path) is not None


def is_secret_folder(path: str) -> bool:
    """Tell whether a folder of this name is likely to hold only secrets."""
    return path.rstrip("/").rpartition("/")[2].lower() in _SECRET_FOLDERS


def is_snell_file(path: str) -> bool:
    """Tell whether the path is, or as a pattern matches, Snell's settings, trust, state or program."""
    if "snell" in path and _SNELL_FILES.search(path):
        return True
    return (
        "*" in path
        and len(path) < LONGEST_PATTERN
        and any("*" in part and part[:2] == ".s" and fnmatch.fnmatchcase(".snell", part) for part in path.split("/"))
    )


def is_snell_code(path: str) -> bool:
    """Tell whether the path belongs to an installed Snell."""
    return "snell" in path and _SNELL_CODE.search(path) is not None


def is_startup_file(path: str) -> bool:
    """Tell whether the content of the file runs automatically later."""
    return _STARTUP_FILE.search(path) is not None


PROXY = lazy_regex(
    r"(?:ProxyCommand|LocalCommand|KnownHostsCommand|exec)[ =]+\"?([^\n]+)"
)  # commands that `ssh` runs automatically


def is_system_program(path: str) -> bool:
    """Tell whether the file is in a `bin` folder outside a project."""
    return (path.startswith(("/usr/", "/bin/", "/opt/")) and "/bin/" in path) or "/.local/bin/" in path


def is_client_hook_file(path: str) -> bool:
    """Tell whether the file configures the hooks of a client."""
    return ("/." in path or path.startswith(".")) and _CLIENT_HOOKS.search(path) is not None


def _holds_secret(path: str, name: str) -> bool:
    if _SYSTEM_SECRETS.search(path):
        return True
    folder = path[: len(path) - len(name)]
    if "/.ssh/" in path or folder.rstrip("/").endswith(".ssh") or name == ".ssh":
        return not (name in _SSH_NO_SECRET or name.endswith(".pub") or name.startswith("known_hosts"))
    if _TEMPLATE.search(name):
        return False
    if name in _SECRET_NAMES or _SECRET_PATHS.search(path) or _ENV_FILE.search(name):
        return True
    if name in (".npmrc", ".yarnrc.yml"):
        in_home = re.fullmatch(r"/(?:home|Users)/[^/]+/", folder)
        return in_home is not None or folder.rstrip("/").endswith(("~", "/root"))
    if _KEY_FILE.search(name):
        return not _PUBLIC.search(name)
    is_pattern = len(path) < LONGEST_PATTERN and any(mark in path for mark in "*?[")
    return _PASSWORD_LIST.search(name) is not None or (is_pattern and _finds_secret(path.lower()))


_WELL_KNOWN = tuple(
    known.split("/")
    for known in name_set(
        ".env .env.local .env.production .netrc .git-credentials .pypirc .npmrc .pgpass .ssh/id_rsa "
        ".ssh/id_ed25519 .ssh/id_ecdsa "
        ".aws/credentials .kube/config .docker/config.json .gnupg/secring.gpg .config/gh/hosts.yml etc/shadow "
        "id_rsa id_ed25519 terraform.tfstate"
    )
)


def _finds_secret(pattern: str) -> bool:
    """Tell whether the pattern matches a well-known secret and has some letters of its name."""
    parts = pattern.split("/")
    for known in _WELL_KNOWN:
        tail = parts[-len(known) :]
        letters = sum(char not in "*?[]" for part in tail for char in part)
        if letters < 2 or len(tail) < len(known) or not any(mark in part for part in tail for mark in "*?["):
            continue
        hits = [fnmatch.fnmatchcase(a, b) and (a[0] != "." or b[0] in ".[") for a, b in zip(known, tail, strict=True)]
        if all(hits):
            return True
    return False
