"""Classify what a command prints: secrets, personal data, or shell code for `eval`."""

import re

from snell.model.tool_names import name_set
from snell.system.lazy_regex import lazy_regex

SECRET_PRINTERS = name_set(
    "security secret-tool gh gcloud aws vault gopass pass kubectl oc az heroku doppler bw op gpg keyring git "
    "mimikatz lazagne npm gcore procdump gdb docker-credential-desktop infisical chamber lpass "
    "keepassxc-cli railway netlify fly flyctl sops age docker podman nerdctl"
)
_PRINTS = lazy_regex(
    r"^(?:security (?:dump-keychain|find-(?:generic|internet)-password|export)\b|"
    r"secret-tool (?:lookup|search)\b|gh auth (?:token\b|status\b.*(?:-t\b|--show-token))|"
    r"npm config get \S*_auth|keepassxc-cli (?:show|export|clip)|railway variables|netlify env:(?:list|get)"
    r"|gcloud auth (?:application-default )?print-(?:access|identity)-token|"
    r"gcloud iam service-accounts keys create|"
    r"aws secretsmanager (?:batch-)?get-secret-value|aws configure get \w*(?:secret|token)"
    r"|aws sts get-(?:session|federation)-token|aws ec2 get-password-data|aws kms decrypt"
    r"|aws ssm get-parameters?\S*\b.*--with-decryption|aws configure export-credentials|vault (?:kv get|"
    r"read)\b|vault print token|gopass show|pass show|pass [\w/-]+$|lpass show|chamber (?:read|export)|infisical export"
    r"|(?:kubectl|oc) (?:.* )?get secrets?\b.*(?:-o|--output|--template)|az keyvault (?:secret|key) (?:show|download)|"
    r"(?:kubectl|oc) config view\b.*--raw|oc whoami (?:-t|--show-token)|"
    r"az account get-access-token|az ad sp create-for-rbac|az storage account keys list|az acr credential show|"
    r"heroku config\b|heroku auth:token|(?:fly|flyctl) auth token|doppler secrets (?:get|download)"
    r"|bw (?:get|export|list)\b|op (?:read|item get .*--reveal)|op item get .*--fields|gpg .*--export-secret|"
    r"security (?:delete|add)-\w+|security (?:authorizationdb|set-\w+)|reg save|gcloud secrets versions access|"
    r"keyring get|sops (?:-d|--decrypt|decrypt)\b|age (?:-d|--decrypt)\b|"
    r"git credential(?:-\w+)? (?:fill|get)\b|mimikatz|lazagne"
    r"|npm token (?:list|create)|gcore\b|procdump\b|gdb .*(?:generate-core-file|gcore|dump memory)|"
    r"docker-credential-\w+ get|(?:docker|podman|nerdctl) (?:container )?inspect .*\.Env\b|"
    r"chrome-?pass|firefox_decrypt|hashdump)",
    re.IGNORECASE,
)
_PERSONAL = lazy_regex(
    r"^(?:history\b(?! -)|fc -l|pbpaste\b|wl-paste\b|xclip\b.*-o\b|xsel\b.*(?:-o|-b|--output)\b|"
    r"screencapture\b|scrot\b|grim\b|gnome-screenshot\b|import -window\b|maim\b|ffmpeg .*(?:x11grab|avfoundation)|"
    r"arecord\b|compgen -v|declare -p|last\b|w$|who$|crontab -l|atuin )"
)
_PERSONAL_PROGRAMS = name_set(
    "history fc pbpaste wl-paste xclip xsel screencapture scrot grim gnome-screenshot import maim ffmpeg arecord "
    "compgen last w who crontab atuin"
)


def prints_secret(program: str, args: tuple[str, ...]) -> bool:
    """Tell whether the command prints secrets of a store, or a tool's own token."""
    return program in SECRET_PRINTERS and _PRINTS.match(" ".join((program, *args))) is not None


def prints_personal(program: str, args: tuple[str, ...]) -> bool:
    """Tell whether the command prints personal data: fine to read here, not to send."""
    return program in _PERSONAL_PROGRAMS and _PERSONAL.match(" ".join((program, *args))) is not None


# Always, and only when a word says so.
_INITS = name_set(
    "ssh-agent gpg-agent keychain direnv brew pyenv rbenv nodenv jenv goenv plenv phpenv swiftenv starship opam zoxide "
    "fzf mise rtx asdf fnm nvm volta conda mamba micromamba pixi dircolors lesspipe luarocks thefuck atuin navi resize "
    "register-python-argcomplete oh-my-posh sheldon antidote antibody tset locale dbus-launch spack modulecmd "
    "apt-config "
    "dpkg-architecture dpkg-buildflags getopt emsdk devbox guix scmpuff sdk jabba ghcup docker-machine"
)
_INITS_BY_WORD = name_set(
    "gh glab kubectl helm docker podman minikube kind go cargo rustup npm pnpm pip pip3 pipenv poetry uv nix perl "
    "stack "
    "rustc tmux hub deno bun aws gcloud terraform vault eksctl flux argocd git hatch pdm just task"
)
_INIT_WORD = lazy_regex(
    r"(?:completions?|shellenv|init|hook|env|docker-env|podman-env|print-dev-env|activate|"
    r"generate-shell-completion|alias"
    r"|show-environment|-Mlocal::lib.*|-I.*|export-credentials|--completion.*|shell-hook)$"
)


def prints_shell_code(program: str, args: list[str]) -> bool:
    """Tell whether the output is made for the calling shell to run: `eval "$(ssh-agent)"`."""
    return program in _INITS or (program in _INITS_BY_WORD and any(map(_INIT_WORD.match, args[:3])))
