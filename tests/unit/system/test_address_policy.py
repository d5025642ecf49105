"""Which addresses may be called: over 150 URLs, none of which reaches a canary."""

import socket
import threading

import pytest

from snell.system.address_policy import RefusedError, Target, allowed_entry, check_url
from snell.system.deadline import Deadline
from snell.system.http_client import Call, HttpError, send_request

PUBLIC = "93.184.215.14"
# What names resolve to in these tests. A list of lists is a name that answers differently every time.
NAMES: dict[str, list[str]] = {
    "public.example": [PUBLIC],
    "public6.example": ["2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
    "loop.example": ["127.0.0.1"],
    "loop6.example": ["::1"],
    "both.example": [PUBLIC, "127.0.0.1"],
    "private.example": ["10.0.0.7"],
    "inner.example": ["192.168.1.20"],
    "cgnat.example": ["100.64.0.1"],
    "linklocal.example": ["169.254.10.10"],
    "imds.example": ["169.254.169.254"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "nat64.example": ["64:ff9b::7f00:1"],
    "sixtofour.example": ["2002:7f00:1::"],
    "ula.example": ["fd00::1"],
    "zone.example": ["fe80::1%eth0"],
    "zero.example": ["0.0.0.0"],
    "multicast.example": ["224.0.0.1"],
    "nothing.example": [],
    "localhost.evil.example": ["127.0.0.1"],
    "127.0.0.1.nip.example": ["127.0.0.1"],
    "metadata.google.internal": ["169.254.169.254"],
    # Refused by their names alone, whatever they resolve to.
    "metadata": [PUBLIC],
    "metadata.goog": [PUBLIC],
    "metadata.azure.internal": [PUBLIC],
    "metadata.azure.com": [PUBLIC],
    "instance-data": [PUBLIC],
    "instance-data.ec2.internal": [PUBLIC],
}


def resolve(host: str, port: int) -> list[str]:
    if host not in NAMES:
        raise OSError("name or service not known")
    return NAMES[host]


LOOPBACK_FORMS = (
    "127.0.0.1", "127.0.0.2", "127.1", "127.0.1", "127.255.255.254", "0177.0.0.1", "0177.0.0.01", "0x7f.0.0.1",
    "0x7f.0x0.0x0.0x1", "0x7f000001", "0x7F000001", "2130706433", "017700000001", "00000177.0.0.1", "127.0.0.01",
    "127.00.0.1", "0x7f.1", "0177.1", "127.0x1", "4294967297", "0", "0.0.0.0", "00.00.00.00", "0x0", "127.0.0.1.",
    "127.0.0.1..", "1.0.0.127.in-addr", "[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]", "[::ffff:0:127.0.0.1]", "[::127.0.0.1]", "[::7f00:1]", "[64:ff9b::127.0.0.1]",
    "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2002:7f00:0001::1]", "[2001:0:7f00:1::]",
    "[fe80::5efe:7f00:1]", "[2001:db8::5efe:127.0.0.1]", "[::1%lo]", "[::1%25lo]",
    "[0000:0000:0000:0000:0000:0000:0000:0001]", "[::ffff:127.1]", "[::ffff:0x7f.1]", "[127.0.0.1]", "[localhost]",
    "localhost", "LOCALHOST", "LocalHost", "localhost.", "loop.example", "loop6.example", "both.example",
    "mapped.example", "nat64.example", "sixtofour.example", "zero.example", "localhost.evil.example",
    "127.0.0.1.nip.example", "①②⑦.⓪.⓪.①", "127。0。0。1", "１２７.0.0.1", "127.0.0.1%00", "127.0.0.1%2f",
    "%31%32%37.0.0.1", "localhost%00.example", "localho\u017ft", "ⓛocalhost", "127.0.0.1#@public.example",
)  # fmt: skip
INNER_FORMS = (
    "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255", "100.64.0.1",
    "100.127.255.255", "169.254.0.1", "169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16",
    "192.0.0.192", "192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.255",
    "240.0.0.1", "255.255.255.255", "0.1.2.3", "192.88.99.1", "0xa9fea9fe", "2852039166", "0251.0376.0251.0376",
    "169.254.43518", "169.16689662", "0xa9.0xfe.0xa9.0xfe", "0x0a000001", "167772161", "012.0.0.1", "3232235521",
    "[fc00::1]", "[fd00::1]", "[fd00:ec2::254]", "[fd20:ce::254]", "[fe80::1]", "[febf::1]", "[fec0::1]",
    "[ff02::1]", "[2001:db8::1]", "[100::1]", "[::ffff:10.0.0.1]", "[::ffff:169.254.169.254]",
    "[::169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::]", "[2001:0:0:0:0:0:5601:5601]", "[3fff::1]",
    "[5f00::1]", "[2001::1]", "[2620:4f:8000::1]", "private.example", "inner.example", "cgnat.example",
    "linklocal.example", "imds.example", "ula.example", "zone.example", "multicast.example", "nothing.example",
    "metadata.google.internal", "metadata", "instance-data", "metadata.goog", "METADATA.google.internal",
    "metadata.azure.internal", "metadata.azure.com", "instance-data.ec2.internal", "unknown.example",
)  # fmt: skip
OTHER_FORMS = (
    "file:///etc/passwd", "gopher://127.0.0.1:{port}/", "ftp://127.0.0.1:{port}/", "dict://127.0.0.1:{port}/",
    "ws://127.0.0.1:{port}/", "unix:/tmp/x", "javascript:alert(1)", "data:text/plain,x", "http:127.0.0.1:{port}/",
    "http:/127.0.0.1:{port}/", "//127.0.0.1:{port}/", "127.0.0.1:{port}", "", " ", "http://", "https://",
    "http:///x", "https://:{port}/", "https://public.example:0/", "https://public.example:{port}x/",
    "https://public.example:/", "https://public.example:99999/", "https://public.example:-1/",
    "https://user@127.0.0.1:{port}/", "https://public.example@127.0.0.1:{port}/",
    "https://127.0.0.1:{port}@public.example/", "https://a:b@public.example/",
    "https://public.example\\@127.0.0.1:{port}/", "https://127.0.0.1:{port}\\public.example/",
    "https:\\\\127.0.0.1:{port}", "https://public.example\t/", "https://public.example/\r\nHost: 127.0.0.1",
    "https://public.example\n.evil/", " https://127.0.0.1:{port}/", "https://127.0.0.1 :{port}/",
    "https://127.0.0.1\x00:{port}/", "https://[::1/", "https://::1:{port}/", "https://[::1]:{port}x/",
    "https://[::1]x:{port}/", "https://-bad.example/", "https://a..b/", "https://.example/",
    "https://" + "a" * 64 + ".example/", "https://" + "a." * 130 + "example/",
    "https://public.example/" + "a" * 3000, "http://public.example/", "http://93.184.215.14/",
    "HTTP://public.example/", "hTTpS://127.0.0.1:{port}/", "https://127.0.0.1:{port}?@public.example/",
    "https://127.0.0.1:{port};x@public.example",
)  # fmt: skip


def urls(port: int) -> list[str]:
    hosts = [*LOOPBACK_FORMS, *INNER_FORMS]
    found = [f"{scheme}://{host}:{port}/hook" for scheme in ("http", "https") for host in hosts]
    return [*found, *(form.replace("{port}", str(port)) for form in OTHER_FORMS)]


@pytest.fixture
def canary():
    """A listener on every loopback address that says whether a client connected."""
    listener = (
        socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True)
        if socket.has_dualstack_ipv6()
        else socket.create_server(("", 0))
    )
    visits: list[str] = []
    listener.settimeout(0.05)
    done = threading.Event()

    def listen() -> None:
        while not done.is_set():
            try:
                visitor, where = listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            visits.append(str(where))
            visitor.close()

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    yield listener.getsockname()[1], visits
    done.set()
    thread.join(5)
    listener.close()


def called(url: str, **options) -> None:
    with send_request(Call("POST", check_url(url, resolve=resolve, **options)), Deadline(0.5)) as response:
        response.read_all(10)


@pytest.mark.proves("S1-78")
def test_no_url_of_the_collection_reaches_the_canary(canary):
    port, visits = canary
    tried = urls(port)
    assert len(set(tried)) >= 300
    accepted = []
    for url in tried:
        try:
            called(url)
        except RefusedError:
            continue
        except HttpError:
            pass
        accepted.append(url)
    assert (accepted, visits) == ([], [])


def test_with_loopback_granted_only_its_plain_forms_are_accepted(canary):
    port, visits = canary
    tried = [url for url in urls(port) if not url.startswith("https")]
    accepted = []
    for url in tried:
        try:
            accepted.append(check_url(url, loopback=True, resolve=resolve).host)
        except RefusedError:
            continue
    assert sorted(set(accepted)) == [
        "0000:0000:0000:0000:0000:0000:0000:0001",
        "0:0:0:0:0:0:0:1",
        "127.0.0.1",
        "127.0.0.2",
        "127.255.255.254",
        "::1",
        "localhost",
    ]
    assert visits == []


def test_a_name_is_resolved_once_and_the_connection_goes_to_what_was_looked_at(canary):
    """A resolver that answers with loopback the second time is not asked a second time."""
    port, visits = canary
    asked = []

    def rebinding(host: str, _port: int) -> list[str]:
        asked.append(host)
        return ["192.0.2.1" if len(asked) > 1 else PUBLIC]

    target = check_url(f"https://rebind.example:{port}/x", resolve=rebinding)
    assert (target, asked, visits) == (Target("https", "rebind.example", port, "/x", (PUBLIC,)), ["rebind.example"], [])


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://public.example", Target("https", "public.example", 443, "/", (PUBLIC,))),
        ("https://PUBLIC.example:8443/a?b=c", Target("https", "public.example", 8443, "/a?b=c", (PUBLIC,))),
        ("https://93.184.215.14/x#frag", Target("https", PUBLIC, 443, "/x", (PUBLIC,))),
        (
            "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/",
            Target(
                "https",
                "2606:2800:21f:cb07:6820:80da:af6b:8b2c",
                443,
                "/",
                ("2606:2800:21f:cb07:6820:80da:af6b:8b2c",),
            ),
        ),
    ],
)
def test_public_addresses_may_be_called(url, expected):
    assert check_url(url, resolve=resolve) == expected


@pytest.mark.proves("S1-78")
@pytest.mark.parametrize(
    ("url", "allowed", "is_accepted"),
    [
        ("https://private.example/", ["private.example"], True),
        ("http://private.example/", ["private.example"], True),
        ("http://private.example:81/", ["private.example:80"], False),
        ("http://private.example/", ["private.example:80"], True),
        ("http://10.0.0.9/", ["10.0.0.0/8"], True),
        ("http://10.0.0.9/", ["10.0.0.0/24:8080"], False),
        ("http://11.0.0.9/", ["10.0.0.0/8"], False),
        ("https://[fd00::1]/", ["fd00::/8"], True),
        ("https://[fd00::1]:444/", ["[fd00::1]:444"], True),
        ("https://imds.example/", ["imds.example"], False),  # a name is no reason to call a metadata service
        ("http://169.254.169.254/", ["169.254.169.254"], True),  # a user who writes this address means it
        ("https://loop.example/", ["loop.example"], False),
        ("https://mapped.example/", ["mapped.example"], False),
        ("https://linklocal.example/", ["linklocal.example"], False),
        ("https://inner.example/", ["private.example"], False),
        ("https://cgnat.example/", ["cgnat.example"], True),
        ("http://cgnat.example/", ["CGNAT.example:80"], True),
        ("https://zero.example/", ["zero.example"], False),  # that is this machine
        ("https://multicast.example/", ["multicast.example"], False),
        ("http://private.example/", ["private.example:eighty"], False),  # a port that is none is not any port
        ("http://private.example:81/", ["private.example:"], False),
        ("https://private.example/", ["*.example"], False),
        ("https://private.example/", ["https://private.example"], False),
        ("http://10.0.0.9/", ["10.0.0.9/8"], False),
    ],
)
def test_what_the_settings_allow_may_be_called_and_nothing_beside_it(url, allowed, is_accepted):
    try:
        check_url(url, allowed=allowed, resolve=resolve)
    except RefusedError:
        assert not is_accepted
    else:
        assert is_accepted


READABLE = (
    *("build.internal", "Build.Internal:8080", "localhost", "a_b", "10.0.0.7", "10.0.0.0/8", "10.0.0.0/8:8080"),
    *("::1", "fd00::/8", "[fd00::1]", "[fd00::1]:443", "[fd00::/8]:443", "0.0.0.0/0", "1.example"),
)
UNREADABLE = (
    *("", " ", "*", "*.internal", "a b", "https://build.internal", "build.internal/path", "build.internal:"),
    *("build.internal:http", "build.internal:0", "build.internal:65536", "build.internal:-1", "build.internal:80:81"),
    *("10.0.0.9/8", "10.0.0.0/33", "10.0.0", "010.0.0.1", "0x7f000001", "2130706433", "fd00::1/8", "fd00:::1"),
    *("[10.0.0.1]", "[fd00::1", "[fd00::1]443", "[]", "[fd00::1]:x", "user@host", "-a.example", "a..b", "münchen"),
    *("a.example.", "x" * 64, ".".join(["x" * 60] * 5)),
)


@pytest.mark.parametrize("text", READABLE)
def test_entries_of_the_allow_list_are_names_addresses_and_networks(text):
    assert allowed_entry(text)


@pytest.mark.parametrize("text", UNREADABLE)
def test_an_entry_that_means_nothing_is_told_and_allows_nothing(text):
    with pytest.raises(ValueError, match=r"it is neither|is not a port|hold no IPv6"):
        allowed_entry(text)
    with pytest.raises(RefusedError):
        check_url("https://private.example/", allowed=[text], resolve=resolve)


def test_the_reason_says_what_is_wrong():
    with pytest.raises(RefusedError, match=r"`private\.example` is 10\.0\.0\.7, which is private or reserved"):
        check_url("https://private.example/", resolve=resolve)
    with pytest.raises(RefusedError, match="unusual notation of an address"):
        check_url("https://2130706433/", resolve=resolve)
