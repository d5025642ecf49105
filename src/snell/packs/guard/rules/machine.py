"""Stop commands that stop the machine, its services, its network, or processes of other users."""

import re
from collections.abc import Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.arguments import parse_arguments
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import Finding, Rule
from snell.packs.guard.shell.shell_state import CONTAINER, Step
from snell.packs.guard.triggers import Trigger
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="machine",
    family="system",
    instead="stop one process by its id, or let the user do it",
    flagged=(
        "shutdown -h now",
        "kill -9 -1",
        "iptables -F",
        "systemctl stop sshd",
        "sysctl -w kernel.panic=1",
        "rmmod ext4",
        "killall -9 python",
        "ufw disable",
        "pkill -u $USER",
        "loginctl terminate-user me",
    ),
    fine=("kill 1234", "pkill node", "systemctl status nginx", "iptables -L", "sysctl -a", "kill %1"),
)

_POWER = frozenset(("shutdown", "reboot", "poweroff", "halt", "init", "telinit"))
_GUARDS = lazy_regex(
    r"(?:sshd?|auditd|firewalld|ufw|apparmor|fail2ban|falcon\S*|clamav\S*|rsyslog|systemd-\S+|dbus|network\S*)(?:\.|$)",
    re.IGNORECASE,
)
_ESSENTIAL = lazy_regex(
    r"^(?:libc6|libc-bin|glibc|bash|coreutils|systemd|kernel\S*|linux-image\S*|sudo|openssh-server|python3|dpkg|"
    r"apt|init|udev|\.?\*)$"
)
_REMOVES = lazy_regex(
    r"(?:apt(?:-get)?|dnf|yum|zypper|apk|pacman|dpkg|rpm|snap|brew) .*?(?:\b(?:remove|purge|erase|del|uninstall)\b|"
    r"-R\w*|-e\b|-r\b)"
)
_KERNEL = frozenset(("rmmod", "insmod", "modprobe", "kexec", "dmsetup"))
_SERVICE_VERBS = frozenset(
    ("stop", "disable", "mask", "kill", "isolate", "poweroff", "reboot", "halt", "emergency", "rescue", "suspend")
)
_TEXTS = lazy_regex(
    r"^(?:iptables .*(?:-F|--flush|-X|-P \w+ ACCEPT)|ip6tables .*-F|nft (?:flush|delete)|"
    r"ufw (?:disable|reset)|pfctl .*-[dF]|setenforce 0|sysctl (?:.*-w )?kernel\.(?:panic|core_pattern|"
    r"modules|kexec|sysrq|randomize)"
    r"|ip link set .* down|ifconfig .* down|nmcli (?:networking off|con(?:nection)? (?:delete|down))|"
    r"csrutil disable|spctl --master-disable"
    r"|fdesetup disable|tmutil (?:disable|delete\w*)|tccutil reset|nvram (?!-p)|kextload|kextunload|"
    r"profiles (?:remove|-R)|bless |"
    r"systemsetup .*-set|"
    r"pmset .*(?:sleepnow|disablesleep)|scutil --set|softwareupdate --schedule off|authselect|grub-install|"
    r"update-grub|efibootmgr|"
    r"defaults (?:write|delete) (?:/Library/|com\.apple\.(?:LaunchServices|loginwindow|screensaver|security|alf|"
    r"Safari))|"
    r"defaults delete|nginx -s (?:stop|quit)|initctl stop|update-rc\.d \S+ |chkconfig \S+ o|rc-update (?:add|del)|"
    r"dpkg (?:.* )?--force|aa-(?:disable|teardown|complain)|fwupdmgr|flashrom|usermod|chattr .*\+i /etc|"
    r"osascript .*(?:login item|System Events.*(?:delete|shut down|restart))|route (?:del|flush)|ip route (?:del|"
    r"flush)|"
    r"killall5|resolvectl|networksetup -set|firewall-cmd .*(?:--remove|--panic|--set-default|--add-port=\d+-\d+|"
    r"--zone=trusted)|crictl rm|dmesg -[cC]"
    r"|loginctl (?:terminate|kill|disable)-|"
    r"mount (?:.* )?--?(?:r?bind|move) .*/(?:etc|usr|bin|sbin|lib\w*|boot)(?:/|$)|"
    r"update-alternatives .*(?:/tmp/|/dev/shm/)|wg-quick down|tailscale (?:down|logout)|"
    r"brew uninstall .*--(?:force|ignore-dependencies)|timedatectl (?:set-time|set-ntp)|"
    r"hostnamectl set-hostname|apparmor_parser -R|auditctl -[De]|"
    r"history -c|mount -o remount|umount (?:-\w+ )*(?:-[alf]*a|/(?:home|usr|var|boot)?/?$)"
    r"|apt(?:-get)? (?:.* )?(?:purge|autoremove --purge)|dpkg (?:.* )?--purge|dnf (?:.* )?remove|"
    r"yum (?:.* )?(?:remove|erase)|pacman -R\w*)"
)


_PROGRAMS = name_set(
    "iptables ip6tables nft ufw pfctl setenforce sysctl ip ifconfig nmcli csrutil spctl swapoff timedatectl "
    "tmutil fdesetup tccutil nvram kextload kextunload profiles bless systemsetup pmset scutil softwareupdate "
    "authselect "
    "grub-install "
    "update-grub efibootmgr defaults nginx initctl update-rc.d chkconfig rc-update aa-disable aa-teardown "
    "aa-complain fwupdmgr "
    "flashrom chattr osascript route networksetup firewall-cmd crictl dmesg "
    "loginctl update-alternatives wg-quick tailscale brew "
    "killall5 hostnamectl apparmor_parser auditctl history mount umount apt apt-get dpkg dnf yum pacman"
)
_HARD = name_set(
    "killall5 loginctl iptables ip6tables nft ufw pfctl setenforce csrutil spctl auditctl sysctl nvram fdesetup "
    "tccutil kextload flashrom"
)
_PACKAGE_MANAGERS = name_set("apt apt-get dnf yum zypper apk pacman dpkg rpm snap brew")
_KILLERS = frozenset(("kill", "pkill", "killall", "skill"))
_SERVICES = frozenset(("systemctl", "service", "rc-service"))
TRIGGER = Trigger(programs=_POWER | _KERNEL | _KILLERS | _SERVICES | _PACKAGE_MANAGERS | _PROGRAMS)


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    if step.where == CONTAINER:
        return
    program, args = step.program, step.args
    if program in _POWER:
        if not parse_arguments(args).has("--help", "-c") and _changes_power(program, args):
            yield RULE.deny(f"`{program}` stops the machine")
    elif program in _KERNEL:
        if args and not parse_arguments(args).has("-n", "--dry-run", "-l"):
            yield RULE.ask(f"`{program}` changes the running kernel")
    elif program in _KILLERS:
        yield from _kill(step)
    elif program in _SERVICES:
        yield from _service(args)
    else:
        yield from _settings(step)


def _changes_power(program: str, args: tuple[str, ...]) -> bool:
    return program not in ("init", "telinit") or args[:1] in (("0",), ("6",), ("1",))


def _service(args: tuple[str, ...]) -> Iterator[Finding]:
    verb = next((arg for arg in args if arg in _SERVICE_VERBS), "")
    if verb and "--user" not in args:
        critical = verb in ("poweroff", "reboot", "halt", "emergency", "rescue") or any(map(_GUARDS.match, args))
        yield (RULE.deny if critical else RULE.ask)(f"it runs `{verb}` on a system service")


def _settings(step: Step) -> Iterator[Finding]:
    text = " ".join((step.program, *step.args))
    if any(map(_ESSENTIAL.match, step.args)) and _REMOVES.match(text):
        yield RULE.deny(f"`{step.text}` removes a package that the system needs")
    elif step.program in _PROGRAMS and _TEXTS.match(text):
        yield (RULE.deny if step.program in _HARD else RULE.ask)(f"`{step.text}` changes the machine for all its users")


def _kill(step: Step) -> Iterator[Finding]:
    args = step.args
    if step.program == "kill":
        targets = [arg for arg in args if re.fullmatch(r"-?\d+|\$\$", arg)]
        if ("-1" in targets[-1:] and len(args) > 1) or args[-1:] == ("1",):
            yield RULE.deny("it kills all processes of the user, or process 1")
    elif parse_arguments(args, "-u -U -f").has("-u", "-U") and not _names_program(args):
        yield RULE.deny(f"it kills all processes of a user: `{step.text}`")
    elif any(arg in ("-9", "-KILL", "-SIGKILL") for arg in args):
        if step.program == "killall" or parse_arguments(args, "-u -U -f").has("-u", "-U"):
            yield RULE.ask(f"it kills all processes of that name or user, not only your own: `{step.text}`")
        elif not any(not arg.startswith("-") for arg in args) or args[-1] in (".", ".*", ""):
            yield RULE.deny("it kills all processes")
        elif "-f" in args:
            yield RULE.ask(f"it kills by a pattern that may match other processes: `{step.text}`")


def _names_program(args: tuple[str, ...]) -> bool:
    return bool(parse_arguments(args, "-u -U --euid --uid").operands)
