"""Match passwords in the arguments of programs."""

import re
from collections.abc import Callable

from snell.redact.format_rules import Span, known_format
from snell.redact.value_shape import is_blank

Match = Callable[[str, int], Span | None]

# How the patterns below begin.
WORDS = (
    *("mysql", "mariadb", "sshpass", "redis-cli", "curl", "wget", "docker", "podman", "sqlcmd", "isql", "bcp", "mongo"),
    *("htpasswd", "ldap", "smbclient", "openssl", "unzip", "zip", "7z", "sqlplus", "machine", "jdbc:oracle", "lftp"),
    *(
        "keytool",
        "rabbitmqctl",
        "http -a",
        "az login",
        "twine",
        "cargo login",
        "vault login",
        "net use",
        "snmp",
        "requirepass",
        "masterauth",
        "identified",
        "mnemonic",
        "phrase",
    ),
)
_OPTION = r"""[\s=]{0,3}["']?([^\s"';|&]{2,128})"""
# SNMP has two passphrases; the second is included if it follows.
_PHRASE = r"""\s{0,3}["']?[^\s"';|&-][^\s"';|&]{7,127}"""
_SNMP_VALUE = r"""\s{0,3}["']?([^\s"';|&-][^\s"';|&]{7,127}(?:[^\n;|&]{0,80}?\s(?-i:-[AX])""" + _PHRASE + ")?)"
PROGRAMS = re.compile(
    rf"""(?:mysql\w{{0,10}}|mariadb)\b[^\n;|&]{{0,200}}?\s-p["']?([^\s"';|&]{{2,128}})"""
    rf"""|sshpass\s{{1,3}}-p{_OPTION}"""
    rf"""|redis-cli\b[^\n;|&]{{0,100}}?\s(?:-a|--pass){_OPTION}"""
    rf"""|(?:curl|wget)\b[^\n;|]{{0,400}}?\s(?:-[a-z]{{0,4}}u|--user"""
    rf"""|--proxy-user)[\s=]{{0,3}}["']?[^\s:"'<$]{{1,64}}:([^\s"']{{1,128}})"""
    rf"""|(?:docker|podman)\s{{1,3}}login\b[^\n;|&]{{0,200}}?\s-p\s{{1,3}}["']?([^\s"';|&]{{3,512}})"""
    rf"""|(?:sqlcmd|isql|bcp)\b[^\n;|&]{{0,200}}?\s-P{_OPTION}"""
    rf"""|mongo(?:sh|dump|restore|export|import)?\b[^\n;|&]{{0,200}}?\s-p{_OPTION}"""
    rf"""|htpasswd\s{{1,3}}-\w{{0,4}}b\w{{0,4}}\s{{1,3}}\S{{1,200}}\s{{1,3}}\S{{1,64}}\s{{1,3}}["']?([^\s"';"""
    rf"""|&]{{2,128}})"""
    rf"""|ldap(?:search|add)\b[^\n;|&]{{0,300}}?\s-w{_OPTION}"""
    rf"""|smbclient\b[^\n;|&]{{0,200}}?\s(?:-U|--user)[\s=]["']?[^\s%"']{{1,64}}%([^\s"';|&]{{2,128}})"""
    rf"""|openssl\b[^\n;|]{{0,300}}?\s-(?:passin|passout|pass|k)\s{{1,3}}["']?(?!env:|file:|fd:|stdin\b)(?:pass:)?([^\s"';|&:]{{4,128}})"""
    rf"""|(?:unzip|zip)\b[^\n;|&]{{0,200}}?\s(?-i:-P)\s?["']?([^\s"';|&]{{4,128}})"""
    rf"""|7z\w?\b[^\n;|&]{{0,200}}?\s-p["']?([^\s"';|&]{{4,128}})"""
    rf"""|sqlplus\s{{1,3}}(?:-\w\s{{1,3}})?["']?[^\s/"']{{1,64}}/([^\s@"']{{2,128}})@"""
    rf"""|machine\s{{1,3}}\S{{1,256}}\s{{1,8}}login\s{{1,3}}\S{{1,128}}\s{{1,8}}password\s{{1,3}}(\S{{1,256}})"""
    rf"""|lftp\b[^\n;|&]{{0,200}}?\s(?:-u|--user)[\s=]{{0,3}}["']?[^\s,"']{{1,64}},([^\s"';|&]{{2,128}})"""
    rf"""|keytool\b[^\n;|&]{{0,300}}?\s-(?:store|key|deststore|srcstore)pass{_OPTION}"""
    rf"""|rabbitmqctl\s{{1,3}}(?:add_user|change_password)\s{{1,3}}\S{{1,64}}\s{{1,3}}["']?([^\s"';|&]{{3,128}})"""
    rf"""|(?:requirepass|masterauth)\s{{1,3}}["']?([^\s"']{{3,256}})"""
    rf"""|identified\s{{1,3}}by\s{{1,3}}(?:password\s{{1,3}})?\\{{0,3}}["']([^\s"'\\]{{0,64}}[^\s"'\\A-Za-z_-][^\n"'\\]{{0,64}})"""
    rf"""|(?:mnemonic|phrase)["'\\]{{0,4}}\s{{0,3}}[:=]\s{{0,3}}["'\\]{{0,4}}"""
    rf"""([a-z]{{3,8}}(?:[ ,]{{1,2}}[a-z]{{3,8}}){{11,23}})(?![a-z ,])"""
    rf"""|jdbc:oracle:\w{{1,10}}:[^\s/@"']{{1,64}}/([^\s@"']{{2,128}})@"""
    rf"""|sig(?:nature)?(?:=|%3d)((?=[A-Za-z%+/_-]{{0,60}}[0-9])[A-Za-z0-9%+/_-]{{16,512}}={{0,2}})"""
    rf"""|http\s-a\s{{1,3}}["']?[^\s:"'<$]{{1,64}}:([^\s"']{{1,128}})"""
    rf"""|(?:az\slogin|twine)\b[^\n;|&]{{0,200}}?\s-p{_OPTION}"""
    rf"""|(?:cargo|vault)\slogin\s{{1,3}}(?!-)([^\s"';|&]{{12,512}})"""
    rf"""|net\suse\b[^\n;|&]{{0,200}}?\s/user:\S{{1,64}}\s{{1,3}}(?!/)([^\s"';|&]{{4,128}})"""
    rf"""|net\suse\s[^\n;|&]{{0,20}}?\\\\\S{{1,128}}\s{{1,3}}(?![/*])([^\s"';|&]{{4,128}})\s{{1,3}}/user:"""
    rf"""|snmp[a-z]{{3,10}}\b[^\n;|&]{{0,200}}?\s(?-i:-[AX]){_SNMP_VALUE}"""
    rf"""|--from-literal[= ]["']?[\w.-]{{1,80}}=["']?([^\s"']{{3,512}})""",
    re.IGNORECASE,
)
# A line of `.pgpass`, from its port on.
PGPASS = re.compile(r""":\d{4}:[^:\s]{1,64}:[^:\s]{1,64}:((?:\\:|[^\s"'\\]){3,256})""")
# The data source name of Go's MySQL driver, up to the `@tcp(`.
DSN = re.compile(r"""(?<![\w:/.-])[\w.-]{1,64}:([^\s"'`/:@]{3,128})\Z""")
TO_CHPASSWD = re.compile(r"""["']?[\w.-]{1,40}:([^\s"':|]{3,128})["']?\s{0,3}\Z""")
SECURE_STRING = re.compile(
    r"""ConvertTo-SecureString\s[^\n]{0,40}?["']([^\n"']{3,128})["'][^\n]{0,20}\Z""", re.IGNORECASE
)
PIPED = re.compile(
    r"""(?:echo|printf)\s{1,3}(?:-n\s{1,3}|"?%s(?:\\n)?"?\s{1,3})?["']?([^\s"'|]{6,4096})["']?\s{0,3}\|[^\n"""
    r"""|]{0,200}\Z"""
)


def capture_matcher(pattern: re.Pattern[str], kind: str) -> Match:
    """Return a matcher for the last group of a pattern that begins at the position."""

    def match(text: str, at: int) -> Span | None:
        found = pattern.match(text, at)
        if not found or not found.lastindex or is_blank(found[found.lastindex]):
            return None
        start, end = found.span(found.lastindex)
        known = known_format(text, start)
        return (start, max(end, known[1]), known[2]) if known else (start, end, kind)

    return match


def value_before_matcher(pattern: re.Pattern[str]) -> Match:
    """Return a matcher for a value before the position on the same line: `echo x | docker login --password-stdin`."""

    def match(text: str, at: int) -> Span | None:
        line = text.rfind("\n", max(0, at - 1_000), at) + 1
        found = pattern.search(text, max(line, at - 1_000), at)
        if not found or is_blank(found[1]):
            return None
        return found.start(1), found.end(1), "password"

    return match
