"""Attacks by raw socket: each is refused, and the server goes on as if nothing had been."""

import socket

import pytest
import torch

from tests.studio.listening import CANARY, Answer, Plain, get, listening, received, talk


@pytest.fixture(scope="module")
def studio():
    with listening([Plain(torch.rand(40, 50))]) as found:
        yield found


HOST = "Host: 127.0.0.1:{port}\r\n"
WITH = HOST + "Cookie: {cookie}\r\n"
TILE = "/tile?map=0&r0=0&r1=40&c0=0&c1=50"
END = "\r\n"


def ask(path="/", headers=WITH, method="GET", version="HTTP/1.1"):
    return f"{method} {path} {version}\r\n{headers}{END}"


def changed(*lines, path="/"):
    """A good request with more headers."""
    return ask(path, WITH + "".join(f"{line}\r\n" for line in lines))


def hosted(host, path="/"):
    return ask(path, f"Host: {host}\r\nCookie: {{cookie}}\r\n")


ATTACKS = {
    # a foreign page whose name was made to point here
    "foreign Host": (hosted("evil.example"), 403),
    "foreign Host, our port": (hosted("evil.example:{port}"), 403),
    "our address as a part of another": (hosted("127.0.0.1.evil.example:{port}"), 403),
    "localhost as a part of another": (hosted("localhost.evil.example:{port}"), 403),
    "ours behind another": (hosted("evil.example#127.0.0.1:{port}"), 403),
    "no port": (hosted("127.0.0.1"), 403),
    "another port": (hosted("127.0.0.1:1"), 403),
    "a port with zeros before it": (hosted("127.0.0.1:0{port}"), 403),
    "no Host": (ask(headers="Cookie: {cookie}\r\n"), 400),
    "empty Host": (hosted(""), 403),
    "two Hosts": (ask(headers=WITH + HOST), 400),
    "a second, foreign Host": (ask(headers=WITH + "Host: evil.example\r\n"), 400),
    "Host with a user": (hosted("127.0.0.1:{port}@evil.example"), 403),
    "Host with a user before ours": (hosted("evil@127.0.0.1:{port}"), 403),
    "all addresses": (hosted("0.0.0.0:{port}"), 403),
    "short address": (hosted("127.1:{port}"), 403),
    "address as a number": (hosted("2130706433:{port}"), 403),
    "IPv6, all addresses": (hosted("[::]:{port}"), 403),
    "IPv6, mapped": (hosted("[::ffff:127.0.0.1]:{port}"), 403),
    "IPv6, another way to write it": (hosted("[0:0:0:0:0:0:0:1]:{port}"), 403),
    "IPv6 without brackets": (hosted("::1:{port}"), 403),
    "capitals": (hosted("LOCALHOST:{port}"), 403),
    "a dot at its end": (hosted("localhost.:{port}"), 403),
    "forwarded": (
        changed("X-Forwarded-Host: 127.0.0.1:{port}").replace(HOST, "Host: evil.example\r\n"),
        403,
    ),
    "absolute form": (ask("http://127.0.0.1:{port}/"), 400),
    "absolute form, foreign": (ask("http://evil.example/"), 400),
    "absolute form, foreign Host": (
        ask("http://127.0.0.1:{port}/", "Host: evil.example\r\nCookie: {cookie}\r\n"),
        400,
    ),
    # another page in the reader's browser
    "foreign Origin": (changed("Origin: http://evil.example", path=TILE), 403),
    "null Origin": (changed("Origin: null", path=TILE), 403),
    "Origin with another port": (changed("Origin: http://127.0.0.1:1", path=TILE), 403),
    "Origin with https": (changed("Origin: https://127.0.0.1:{port}", path=TILE), 403),
    "Origin with another of our names": (changed("Origin: http://localhost:{port}"), 403),
    "Origin with a path": (changed("Origin: http://127.0.0.1:{port}/"), 403),
    "two Origins": (changed("Origin: http://127.0.0.1:{port}", "Origin: http://evil.example"), 400),
    "cross-site": (changed("Sec-Fetch-Site: cross-site"), 403),
    "same-site": (changed("Sec-Fetch-Site: same-site"), 403),
    "an unknown site": (changed("Sec-Fetch-Site: x"), 403),
    "own site and foreign": (
        changed("Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site"),
        400,
    ),
    # no token, no cookie, or another
    "nothing": (ask(headers=HOST), 403),
    "nothing, a tile": (ask(TILE, HOST), 403),
    "wrong token": (ask("/?token=" + "A" * 43, HOST), 403),
    "empty token": (ask("/?token=", HOST), 403),
    "token of another name": (ask("/?Token={token}", HOST), 403),
    "part of the token": (ask("/?token={start}", HOST), 403),
    "token and more": (ask("/?token={token}A", HOST), 403),
    "token in other case": (ask("/?token={swapped}", HOST), 403),
    "token twice": (ask("/?token={token}&token={token}", HOST), 403),
    "wrong token, then the right one": (ask("/?token=A&token={token}", HOST), 403),
    "escaped token": (ask("/?token=%{first}", HOST), 403),
    "huge token": (ask("/?token=" + "A" * 5000, HOST), 414),
    "token with a bracket": (ask("/?token[]={token}", HOST), 403),
    "token for a tile": (ask("/tile?token={token}", HOST), 403),
    "token as a header": (ask(headers=HOST + "Authorization: Bearer {token}\r\n"), 403),
    "token as the cookie": (ask(headers=HOST + "Cookie: {name}={token}\r\n"), 403),
    "wrong cookie": (ask(headers=HOST + "Cookie: {name}=" + "A" * 43 + "\r\n"), 403),
    "empty cookie": (ask(headers=HOST + "Cookie: {name}=\r\n"), 403),
    "cookie of another server": (ask(headers=HOST + "Cookie: {others}\r\n"), 403),
    "cookie twice": (ask(headers=HOST + "Cookie: {cookie}; {cookie}\r\n"), 403),
    "a second cookie": (ask(headers=HOST + "Cookie: {cookie}\r\nCookie: {name}=A\r\n"), 403),
    "cookie with letters no cookie has": (ask(headers=HOST + "Cookie: {name}=\xff\xfe\r\n"), 403),
    "foreign Host with the token": (ask("/?token={token}", "Host: evil.example\r\n"), 403),
    "cross-site with the token": (
        ask("/?token={token}", HOST + "Sec-Fetch-Site: cross-site\r\n"),
        403,
    ),
    # paths
    "a path up": (ask("/../../etc/passwd"), 404),
    "a path up, escaped": (ask("/%2e%2e/%2e%2e/etc/passwd"), 404),
    "a path up, escaped twice": (ask("/%252e%252e%252fetc/passwd"), 404),
    "a path up, with backslashes": (ask("/..%5c..%5cetc%5cpasswd"), 404),
    "overlong UTF-8": (ask("/%c0%ae%c0%ae/etc/passwd"), 404),
    "two slashes": (ask("//evil.example/"), 404),
    "a slash too many": (ask("/tile/"), 404),
    "a slash before": (ask("//"), 404),
    "a file": (ask("/etc/passwd"), 404),
    "a source file": (ask("/app.py"), 404),
    "escaped route": (ask("/%74ile?map=0&r0=0&r1=1&c0=0&c1=1"), 404),
    "capital route": (ask("/TILE?map=0&r0=0&r1=1&c0=0&c1=1"), 404),
    "route with a parameter": (ask("/tile;x=1?map=0&r0=0&r1=1&c0=0&c1=1"), 404),
    "NUL, escaped": (ask("/%00"), 404),
    "path from nowhere": (ask("tile"), 400),
    "a star": (ask("*"), 400),
    "a long path": (ask("/" + "a" * 5000), 414),
    "a long query": (ask(TILE + "&x=" + "1" * 5000), 414),
    # methods and bodies
    "POST": (ask(method="POST"), 405),
    "POST with a form": (ask(headers=WITH + "Content-Length: 3\r\n", method="POST") + "a=b", 405),
    "PUT": (ask(method="PUT"), 405),
    "DELETE": (ask(method="DELETE"), 405),
    "PATCH": (ask(method="PATCH"), 405),
    "TRACE": (ask(method="TRACE"), 405),
    "OPTIONS": (ask(method="OPTIONS"), 405),
    "OPTIONS *": (ask("*", method="OPTIONS"), 405),
    "preflight": (
        ask(headers=WITH + "Access-Control-Request-Method: GET\r\n", method="OPTIONS"),
        405,
    ),
    "CONNECT": (ask("127.0.0.1:{port}", method="CONNECT"), 405),
    "unknown method": (ask(method="BREW"), 405),
    "small letters": (ask(method="get"), 405),
    "a method made of marks": (ask(method="G(T"), 400),
    "a body": (changed("Content-Length: 5") + "hello", 400),
    "a huge body": (changed("Content-Length: 10737418240"), 400),
    "a body of no length": (changed("Content-Length: 0"), 400),
    "a negative length": (changed("Content-Length: -1"), 400),
    "a length of words": (changed("Content-Length: five"), 400),
    "chunks": (changed("Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n", 400),
    "endless chunks": (changed("Transfer-Encoding: chunked") + "5\r\nhello\r\n" * 5000, 400),
    "a bad chunk": (changed("Transfer-Encoding: chunked") + "zz\r\nhello\r\n", 400),
    "waiting to send": (changed("Content-Length: 5", "Expect: 100-continue"), 400),
    # two readings of one text
    "length and chunks": (
        changed("Content-Length: 4", "Transfer-Encoding: chunked") + "0\r\n\r\n" + ask(),
        400,
    ),
    "two lengths": (changed("Content-Length: 0", "Content-Length: 44") + ask(), 400),
    "chunks in disguise": (changed("Transfer-Encoding: xchunked") + "0\r\n\r\n" + ask(), 400),
    "chunks with a space": (changed("Transfer-Encoding : chunked") + "0\r\n\r\n" + ask(), 400),
    "a request in a body": (
        changed(f"Content-Length: {len(ask('/', HOST))}") + ask("/", HOST),
        400,
    ),
    "refused, then a good one behind it": (ask(headers=HOST) + ask(), 403),
    "a folded header": (changed("X: a", " b: c", "Content-Length: 1"), 400),
    # no HTTP/1.1
    "HTTP/1.0": (ask(version="HTTP/1.0"), 505),
    "HTTP/0.9": ("GET /\r\n\r\n", 400),
    "HTTP/2": (ask(version="HTTP/2.0"), 505),
    "HTTP/2, its own words": ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    "HTTP/9.9": (ask(version="HTTP/9.9"), 505),
    "HTTP/11": (ask(version="HTTP/11"), 400),
    "another protocol": (ask(version="ICY/1.1"), 400),
    "no version": ("GET / \r\n" + WITH + END, 400),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"a" * 300 + b"\n", 400),
    "nothing but line ends": ("\r\n" * 40 + END, 400),
    "bytes": (bytes(range(1, 256)) * 4, 400),
    "NUL in the path": (ask("/\0"), 400),
    "NUL in a header": (changed("X: a\0b"), 400),
    "line feeds alone": (ask().replace("\r\n", "\n"), 400),
    "one line feed alone": (ask(headers=WITH + "X: a\n"), 400),
    "a carriage return in a header": (changed("X: a\rb"), 400),
    "a tab in the request line": (ask().replace("GET /", "GET\t/"), 400),
    "a space before a header": (ask(headers=" " + WITH), 400),
    "a header without a colon": (changed("nothing"), 400),
    "letters beyond ASCII in the path": (ask("/\xe9"), 400),
    "a websocket": (
        changed(
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
            "Sec-WebSocket-Version: 13",
        ),
        400,
    ),
    "a websocket from elsewhere": (
        changed("Upgrade: websocket", "Connection: Upgrade", "Origin: http://evil.example"),
        400,
    ),
    "h2c": (changed("Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings"), 400),
    # too much
    "a huge header": (changed("X: " + "a" * 1_000_000), 400),
    "a huge cookie": (ask(headers=HOST + "Cookie: {cookie}; x=" + "a" * 20_000 + "\r\n"), 431),
    "many headers": (changed(*(f"X{i}: a" for i in range(100))), 431),
    "very many headers": (changed(*(f"X{i}: a" for i in range(100_000))), 400),
    "an endless request line": ("GET /" + "a" * 1_000_000, 400),
}


def filled(studio, text):
    """The words of an attack for this server; 0x7b and 0x7d are braces in no attack."""
    if isinstance(text, bytes):
        return text
    token = studio.address.rpartition("=")[2]
    words = {
        "port": studio.port,
        "cookie": studio.cookie,
        "name": studio.cookie.partition("=")[0],
        "others": studio.cookie.replace(str(studio.port), "1"),
        "token": token,
        "start": token[:20],
        "swapped": token.swapcase(),
        "first": f"{ord(token[0]):02x}{token[1:]}",
    }
    for name, word in words.items():
        text = text.replace(f"{{{name}}}", str(word))
    return text


def fine(studio):
    """It answers who may ask as it always did."""
    page = get(studio, "/")
    assert (page.status, CANARY.encode() in page.body) == (200, True)
    assert get(studio, TILE).body[:4] == b"RGT1"


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(studio, name):
    text, status = ATTACKS[name]
    got = talk(studio, filled(studio, text))
    answer = Answer(got)
    assert answer.status == status
    for content in (CANARY.encode(), b"RGT1", b"set-cookie", b"root:", b"Traceback"):
        assert content not in got
    assert answer.body.count(b"\n") == 1  # one line, in words
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in answer.headers
    assert "server" not in answer.headers
    fine(studio)


def test_there_are_enough_of_them():
    assert len(ATTACKS) >= 120


def test_after_a_refusal_the_connection_is_closed(studio):
    """What came behind it, perhaps meant for somebody else, is not read."""
    with socket.create_connection(("127.0.0.1", studio.port), timeout=5) as line:
        line.sendall(filled(studio, ask(headers=HOST) + ask() * 3).encode())
        got = b""
        while more := line.recv(1 << 16):
            got += more
    assert got.count(b"HTTP/1.1 ") == 1
    assert CANARY.encode() not in got


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_the_names_of_this_machine(studio, host):
    text = ask(headers=f"Host: {host}:{{port}}\r\nCookie: {{cookie}}\r\n")
    assert Answer(talk(studio, filled(studio, text))).status == 200


def test_a_reader_is_let_in_once_and_known_by_a_cookie(studio):
    path = studio.address.partition(str(studio.port))[2]
    answer = get(studio, path, cookie=False)
    assert (answer.status, answer.body, answer.headers["location"]) == (303, b"", "/")
    name, *rest = answer.headers["set-cookie"].split("; ")
    assert rest == ["HttpOnly", "SameSite=Strict", "Path=/"]
    assert name.startswith(f"regard-{studio.port}=")
    assert len(name.partition("=")[2]) == len(path.partition("=")[2]) == 43  # 32 bytes
    assert path.partition("=")[2] not in name  # the address is in the history, the cookie nowhere


def test_a_ticket_is_good_once(studio):
    ticket = studio._app.guard.ticket()
    assert get(studio, f"/?token={ticket}", cookie=False).status == 303
    assert get(studio, f"/?token={ticket}", cookie=False).status == 403


def test_two_servers_do_not_share_what_they_know(studio):
    with listening([Plain(torch.rand(2, 2))]) as other:
        assert other.cookie.partition("=")[0] != studio.cookie.partition("=")[0]
        assert get(other, "/", f"Cookie: {studio.cookie}", cookie=False).status == 403
        renamed = studio.cookie.replace(str(studio.port), str(other.port))
        assert get(other, "/", f"Cookie: {renamed}", cookie=False).status == 403
        both = f"Cookie: {studio.cookie}; {other.cookie}"  # as a browser sends them
        assert get(other, "/", both, cookie=False).status == 200


def test_what_our_own_page_sends_is_answered(studio):
    own = (f"Origin: http://127.0.0.1:{studio.port}", "Sec-Fetch-Site: same-origin")
    assert get(studio, TILE, *own).status == 200
    assert get(studio, "/", "Sec-Fetch-Site: none").status == 200


def test_every_answer_is_protected(studio):
    for path, status in (("/", 200), (TILE, 200), ("/tile", 400), ("/x", 404)):
        answer = get(studio, path)
        assert answer.status == status
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; ")
        assert answer.headers["content-security-policy"].endswith("; frame-ancestors 'none'")
    assert "connect-src 'self'" in get(studio, "/").headers["content-security-policy"]


def test_the_head_alone(studio):
    head = f"HEAD / HTTP/1.1\r\n{WITH}{END}"
    with socket.create_connection(("127.0.0.1", studio.port), timeout=1) as line:
        line.sendall(filled(studio, head).encode())
        got = received(line)
    assert got.startswith(b"HTTP/1.1 200")
    assert got.endswith(b"\r\n\r\n")


def test_several_requests_at_once_are_answered_in_their_order(studio):
    with socket.create_connection(("127.0.0.1", studio.port), timeout=5) as line:
        last = changed("Connection: close", path="/nothing")
        line.sendall(filled(studio, ask() + ask(TILE) + last).encode())
        got = b""
        while more := line.recv(1 << 16):
            got += more
    places = [got.index(x) for x in (CANARY.encode(), b"RGT1", b"HTTP/1.1 404")]
    assert places == sorted(places)
    assert got.count(b"HTTP/1.1 ") == 3
