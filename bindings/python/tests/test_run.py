"""``truetail.run`` has what the command line has: requests, passwords, TLS, HTTP/2."""

import http.server
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from serving import serving

import truetail

HERE = Path(__file__).parent
# Self-signed for 127.0.0.1 and marked as an authority's, as `openssl req -x509` makes them. It secures nothing.
CERTIFICATE, KEY = HERE / "localhost.pem", HERE / "localhost-key.pem"
LOAD: dict[str, Any] = {"rate": 200, "requests": 4, "duration": None, "preflight": False}


class Echo(http.server.BaseHTTPRequestHandler):
    """Remembers method, path, headers and body of each request."""

    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        self.server.seen.append((self.command, self.path, dict(self.headers), self.rfile.read(length)))  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *_: object) -> None: ...


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Echo)
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Server()) as server:
        yield server


@pytest.fixture
def secure_server() -> Iterator[Server]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)
    server = Server()
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.url = server.url.replace("http:", "https:")
    with serving(server):
        yield server


def test_a_body_implies_post_unless_a_method_is_given(server: Server) -> None:
    truetail.run(server.url, data="x=1", **LOAD)
    truetail.run(server.url, data=b"x=2", method="PUT", **LOAD)
    truetail.run(server.url, **LOAD)
    assert [(seen[0], seen[3]) for seen in server.seen] == [("POST", b"x=1")] * 4 + [("PUT", b"x=2")] * 4 + [("GET", b"")] * 4


def test_a_password_is_sent_and_not_kept(server: Server, tmp_path: Path) -> None:
    for arguments in ({"user": ("me", "secret")}, {"url": server.url.replace("//", "//me:secret@")}):
        result = truetail.run(**{"url": server.url, **arguments, **LOAD})
        assert server.seen[-1][2]["Authorization"] == "Basic bWU6c2VjcmV0"
        result.save(tmp_path / str(len(server.seen)))
    texts = [repr(result), result.table(), str(result.to_dict())]
    texts += [path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file()]
    assert len(texts) > 3 and not any("secret" in text or "bWU6" in text for text in texts)


def test_targets_and_rows(server: Server, tmp_path: Path) -> None:
    targets, rows = tmp_path / "targets.txt", tmp_path / "rows.csv"
    targets.write_text(f"GET {server.url}/items/{{{{id}}}}\nX-Name: {{{{name}}}}\n")
    rows.write_text("id,name\n1,one\n2,two\n")
    result = truetail.run(targets=targets, data_from=str(rows), headers={"X-All": "yes"}, **LOAD)
    assert result.statuses == {200: 4}
    seen = sorted((path, headers["X-Name"], headers["X-All"]) for _, path, headers, _ in server.seen)
    assert seen == [("/items/1", "one", "yes")] * 2 + [("/items/2", "two", "yes")] * 2
    samples, frame = result.to_numpy(), result.to_pandas()
    assert list(samples["row"]) == [0, 1, 0, 1] and set(samples["connection"]) <= {0, 1, 2, 3} and "target" not in frame
    assert list(frame["row"]) == [0, 1, 0, 1] and frame["row"].dtype == frame["first_byte_ns"].dtype == "Int64"
    targets.write_text(f"GET {server.url}/items/{{{{id}}}}\n\nPOST {server.url}/login\n")
    mixed = truetail.run(targets=targets, data_from=str(rows), **{**LOAD, "requests": 40}).to_pandas()
    assert set(mixed["target"].cat.categories) == set(mixed["target"]) and mixed["target"].str.startswith("POST").any()
    assert (mixed["row"].isna() == mixed["target"].str.startswith("POST")).all(), "the other target takes no row"
    port = server.server_port
    truetail.run(f"http://named.test:{port}/", resolve=[f"named.test:{port}:127.0.0.1"], keepalive=False, **LOAD)
    assert server.seen[-1][2]["Host"] == f"named.test:{port}" and server.seen[-1][2]["Connection"] == "close"


def test_whom_tls_trusts(secure_server: Server) -> None:
    url = secure_server.url
    assert truetail.run(url, ca=CERTIFICATE, **LOAD).statuses == {200: 4}
    unverified = truetail.run(url, insecure=True, **LOAD)
    assert unverified.statuses == {200: 4} and "insecure=True: certificates were not verified" in unverified.notes[0]
    checked = {**LOAD, "preflight": True}
    with pytest.raises(ConnectionError, match="its certificate is for 127.0.0.1, not for localhost"):
        truetail.run(url.replace("127.0.0.1", "localhost"), ca=CERTIFICATE, resolve=["*:%d:127.0.0.1" % secure_server.server_port], **checked)
    with pytest.raises(ConnectionError, match="it does not speak HTTP/2|alert"):
        truetail.run(url, ca=CERTIFICATE, http2=True, **checked)


def test_gates_and_checks(server: Server, tmp_path: Path) -> None:
    load = {**LOAD, "requests": 40}
    result = truetail.run(
        server.url, slo=["p50 < 1h", "max < 1us"], fail_if=["check-failures > 0%"], checks=["status == 200", "status == 404"], **load
    )
    assert [(gate.text, gate.state) for gate in result.gates][:2] == [("p50 < 1h", "holds"), ("max < 1us", "fails")]
    holds, fails, checks = result.gates
    assert holds.limit == 3600.0 and holds.value is not None and holds.value < 3600 and fails.message
    assert checks.state == "fails"
    assert [(check["text"], check["passed"], check["failed"]) for check in result.checks] == [
        ("status == 200", 40, 0),
        ("status == 404", 0, 40),
    ]
    result.save(tmp_path / "run")
    again = truetail.load(tmp_path / "run")
    assert [(gate.text, gate.state) for gate in again.gates] == [(gate.text, gate.state) for gate in result.gates]
    with pytest.raises(ValueError, match="^fail_if: 'p99.99 > 1s' cannot be decided"):
        truetail.run(server.url, fail_if=["p99.99 > 1s"], **load)


@pytest.mark.parametrize(
    ("arguments", "kind", "says"),
    [
        ({"url": None}, ValueError, "url: none given; write url="),
        ({"targets": "t"}, ValueError, "targets: it contradicts url"),
        ({"url": None, "targets": "t", "method": "GET"}, ValueError, "method: it needs url"),
        ({"url": None, "targets": "/no/such/file"}, FileNotFoundError, "cannot read /no/such/file"),
        ({"data_from": "rows.txt"}, ValueError, "data_from: rows.txt: the name of the file must end in .csv"),
        ({"feed": "sideways"}, ValueError, "feed: there is no 'sideways'"),
        ({"http2": True, "keepalive": False}, ValueError, "http2: it contradicts keepalive=False"),
        ({"insecure": True}, ValueError, "insecure: it is for TLS, and http://127.0.0.1:1 has none"),
        ({"url": "https://127.0.0.1:1", "cert": "c"}, ValueError, "cert: it needs its private key"),
        ({"url": "https://127.0.0.1:1", "ca": KEY}, ValueError, "ca: it holds no certificate"),
        ({"url": "https://127.0.0.1:1", "ca": "/no/such"}, FileNotFoundError, "cannot read /no/such"),
        ({"resolve": ["a:80"]}, ValueError, "resolve: 'a:80' is not of the form"),
        ({"fail_if": ["p99"]}, ValueError, "fail_if: 'p99'"),
        ({"fail_if": ["p99 < 1s"]}, ValueError, "fail_if: 'p99 < 1s' would fail a good service"),
        ({"slo": ["p99 > 1s"]}, ValueError, "slo: 'p99 > 1s' is not met by a good service"),
        ({"checks": ["nonsense"]}, ValueError, "checks: "),
        ({"unix_socket": "/no/such"}, ConnectionError, "unix_socket: /no/such"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], kind: type[Exception], says: str) -> None:
    with pytest.raises(kind) as raised:
        truetail.run(**{"url": "http://127.0.0.1:1", **LOAD, **arguments})
    assert str(raised.value).startswith(says), raised.value


class Failing(http.server.BaseHTTPRequestHandler):
    """Answers every request with status 503."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


def test_a_service_that_only_fails_is_measured_when_that_is_wanted() -> None:
    with serving(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Failing)) as server:
        url = f"http://127.0.0.1:{server.server_port}/"
        for allowed in (False, True):
            result = truetail.run(url, **LOAD, allow_errors=allowed)
            codes = [reason.code for reason in result.verdict.reasons]
            assert ("all_failed" in codes) is not allowed, codes
