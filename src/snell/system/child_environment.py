"""The environment of a hook's process: all variables except those that would load other code into it."""

from collections.abc import Mapping

import msgspec


class Dropped(msgspec.Struct, frozen=True):
    names: tuple[str, ...]  # a trailing `*` stands for any ending
    reason: str


DROPPED = (
    Dropped(
        ("LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "LD_ORIGIN_PATH", "LD_PROFILE*", "LD_DEBUG*"),
        "the Linux loader takes code from them, or writes files named by them",
    ),
    Dropped(("DYLD_*",), "the macOS loader takes code from them"),
    Dropped(("GCONV_PATH", "GLIBC_TUNABLES", "LOCPATH", "NLSPATH"), "the C library loads files named by them"),
    Dropped(
        (
            "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONUSERBASE", "PYTHONEXECUTABLE",
            "PYTHONPLATLIBDIR", "PYTHONPYCACHEPREFIX", "PYTHONWARNINGS", "PYTHONBREAKPOINT", "PYTHONCASEOK",
            "__PYVENV_LAUNCHER__",
        ),
        "Python takes modules or its own place from them",
    ),
    Dropped(("NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE"), "Node.js takes modules from them"),
    Dropped(("BASH_ENV", "ENV", "ZDOTDIR"), "a shell runs the file named by it before the script"),
    Dropped(("BASH_FUNC_*", "SHELLOPTS", "BASHOPTS", "PS4"), "bash takes functions, modes or commands from them"),
    Dropped(("PERL5OPT", "PERL5LIB", "PERLLIB", "PERL5DB"), "Perl takes modules or commands from them"),
    Dropped(("RUBYOPT", "RUBYLIB"), "Ruby takes modules from them"),
    Dropped(("LUA_INIT*", "LUA_PATH*", "LUA_CPATH*"), "Lua takes modules or commands from them"),
    Dropped(("PHPRC", "PHP_INI_SCAN_DIR"), "PHP reads settings that can run a file from there"),
    Dropped(
        ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_OPTS"), "Java takes agents from them"
    ),
    Dropped(("DOTNET_STARTUP_HOOKS", "CORECLR_*", "COR_*"), ".NET takes code from them"),
    Dropped(
        (
            "GIT_EXTERNAL_DIFF", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND", "GIT_EXEC_PATH",
            "GIT_TEMPLATE_DIR", "GIT_CONFIG", "GIT_CONFIG_*",
        ),
        "git runs programs named by them, or takes settings that name some",
    ),
    Dropped(("LESSOPEN", "LESSCLOSE"), "less runs the command in it"),
)  # fmt: skip

_NAMES = frozenset(name for row in DROPPED for name in row.names if not name.endswith("*"))
_PREFIXES = tuple(name[:-1] for row in DROPPED for name in row.names if name.endswith("*"))


def environment(parent: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    """Return the parent's variables without those of `DROPPED`, plus all of `extra`, which the caller vouches for."""
    kept = {name: value for name, value in parent.items() if not is_dropped(name)}
    return {**kept, **extra}


def is_dropped(name: str) -> bool:
    """Whether a variable of this name could load other code into the process that gets it."""
    return name in _NAMES or name.startswith(_PREFIXES)
