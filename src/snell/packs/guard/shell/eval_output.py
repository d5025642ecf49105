"""Programs whose output is made to be run by the shell that started them: `eval "$(ssh-agent)"`."""

from snell.model.tool_names import names
from snell.system.lazy_regex import lazy_regex

# Always, and only when a word says so.
_INITS = names(
    "ssh-agent gpg-agent keychain direnv brew pyenv rbenv nodenv jenv goenv plenv phpenv swiftenv starship opam zoxide "
    "fzf mise rtx asdf fnm nvm volta conda mamba micromamba pixi dircolors lesspipe luarocks thefuck atuin navi resize "
    "register-python-argcomplete oh-my-posh sheldon antidote antibody tset locale dbus-launch spack modulecmd "
    "apt-config "
    "dpkg-architecture dpkg-buildflags getopt emsdk devbox guix scmpuff sdk jabba ghcup docker-machine"
)
_INITS_BY_WORD = names(
    "gh glab kubectl helm docker podman minikube kind go cargo rustup npm pnpm pip pip3 pipenv poetry uv nix perl "
    "stack "
    "rustc tmux hub deno bun aws gcloud terraform vault eksctl flux argocd git hatch pdm just task"
)
_INIT_WORD = lazy_regex(
    r"(?:completions?|shellenv|init|hook|env|docker-env|podman-env|print-dev-env|activate|"
    r"generate-shell-completion|alias"
    r"|show-environment|-Mlocal::lib.*|-I.*|export-credentials|--completion.*|shell-hook)$"
)


def is_init(program: str, args: list[str]) -> bool:
    return program in _INITS or (program in _INITS_BY_WORD and any(map(_INIT_WORD.match, args[:3])))
