"""``truetail.run`` sends messages on channels, with the books of the command line."""

import json
import socketserver
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import truetail

HERE = Path(__file__).parent
CERTIFICATE, KEY = HERE / "localhost.pem", HERE / "localhost-key.pem"
AWAIT_S = 120
LOAD: dict[str, Any] = {"rate": 200, "requests": 40, "connections": 2, "drain": "5s"}
NOTHING = {"unmatched": 0, "doubled": 0, "pushes": 0, "late": 0, "error_replies": 0, "channels_lost": 0}
NOTHING["channels_opened_before"] = 2

Answer = Callable[[bytes], list[bytes]]


class Lines(socketserver.ThreadingTCPServer):
    """Answers each line with the lines that ``answer`` says."""

    daemon_threads = True

    def __init__(self, answer: Answer, greeting: bytes = b"", over: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), Channel)
        self.answer, self.greeting = answer, greeting
        self.seen: list[bytes] = []
        if over:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATE, KEY)
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.address = f"127.0.0.1:{self.server_address[1]}"


class Channel(socketserver.StreamRequestHandler):
    server: Lines

    def handle(self) -> None:
        self.wfile.write(self.server.greeting)
        try:
            for line in self.rfile:
                self.server.seen.append(line)
                self.wfile.write(b"".join(self.server.answer(line)))
        except OSError:
            pass


@contextmanager
def lines(answer: Answer, greeting: bytes = b"", over: bool = False) -> Iterator[Lines]:
    with Lines(answer, greeting, over) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def echo(line: bytes) -> list[bytes]:
    return [line]


def by_command(arguments: list[str]) -> dict[str, Any]:
    """The run.json of the command line."""
    common = ["-r", "200", "-n", "40", "-c", "2", "--drain", "5s", "--no-save", "--quiet", "--json"]
    told = subprocess.run(
        [sys.executable, "-m", "truetail", "run", *arguments, *common], capture_output=True, text=True, timeout=AWAIT_S
    )
    run: dict[str, Any] = json.loads(told.stdout)
    return run


def test_a_web_socket_answers_each_message() -> None:
    with truetail.serve(baseline="1ms") as server:
        url = f"ws://{server.host}:{server.port}/"
        text = truetail.run(url, **LOAD, data='{"id":{{seq}}}', match="json:/id", checks=["body contains id"])
        binary = truetail.run(url, **LOAD, data=b"\xff\x00")
        assert server.admitted == 80
    for result in (text, binary):
        assert result.tally["responses"] == result.tally["planned"] == 40
        assert result.messages == NOTHING and result.grpc is None and result.streams is None
        assert result.to_dict()["messages"] == NOTHING
    assert text.checks[0]["passed"] == 40


def odd(line: bytes) -> list[bytes]:
    """No reply to one message in ten, two to another, and one that nobody asked for with a third."""
    kind = json.loads(line)["id"] % 10
    if kind == 3:
        return []
    return [line, line] if kind == 5 else [b'{"id":-1}\n', line] if kind == 7 else [line]


def test_the_books_are_those_of_the_command_line() -> None:
    with lines(odd) as server:
        url = f"tcp://{server.address}"
        result = truetail.run(
            url, **LOAD, framing="line", data='{"id":{{seq}}}', match="json:/id", timeout="500ms", fail_if=["error-rate > 50%"]
        )
        sent = ["--framing", "line", "--data", '{"id":{{seq}}}', "--match", "json:/id", "--timeout", "500ms"]
        run = by_command([url, *sent])
        assert len(server.seen) == 80
    assert result.messages == {**NOTHING, "unmatched": 4, "doubled": 4}
    assert (result.tally["responses"], result.tally["timed_out"]) == (36, 4)
    assert (result.messages, result.tally) == (run["messages"], run["tally"])
    assert [gate.state for gate in result.gates] == ["holds"]


def test_messages_go_over_tls() -> None:
    with lines(echo, over=True) as server:
        url = f"tls://{server.address}"
        result = truetail.run(url, **LOAD, framing="line", data="a", ca=CERTIFICATE)
        unverified = truetail.run(url, **LOAD, framing="line", data_hex="62", insecure=True)
    assert result.tally["responses"] == unverified.tally["responses"] == 40
    assert "insecure=True: certificates were not verified" in unverified.notes[0]
    assert set(server.seen) == {b"a\n", b"b\n"}


def redis(line: bytes) -> list[bytes]:
    """Answers the third line of ``GET x``, and fails for the key 7."""
    return [] if not line.startswith(b"key") else [b"-ERR no\r\n" if line == b"key:7\r\n" else b"$2\r\nok\r\n"]


def test_an_error_of_redis_is_an_error(tmp_path: Path) -> None:
    rows = tmp_path / "ids.csv"
    rows.write_text("id\n" + "".join(f"{number}\n" for number in range(10)))
    with lines(redis) as server:
        result = truetail.run(f"redis://{server.address}", **LOAD, command="GET key:{{id}}", data_from=rows)
    assert result.messages == {**NOTHING, "error_replies": 4}
    assert result.tally["responses"] == 40


def feed(line: bytes) -> list[bytes]:
    """Three pushes for a subscription and for each ping, with the time of this clock in microseconds."""
    stamp = b'{"ts":%d}\n' % (time.time_ns() // 1000)
    return [b"welcome\n"] if line == b"me\n" else [b"subscribed\n"] if line == b"ticks\n" else [stamp] * 3


def test_pushes_are_a_stream_with_delays(tmp_path: Path) -> None:
    login, ticks = tmp_path / "login.txt", tmp_path / "ticks.txt"
    login.write_text("expect hello\nsend me\nawait welcome\n")
    ticks.write_text("send ticks\nexpect subscribed\n")
    with lines(feed, greeting=b"hello\n") as server:
        url = f"tcp://{server.address}"
        sent: dict[str, Any] = {"framing": "line", "data": "ping", "match": "none", "hello": login, "subscribe": ticks}
        result = truetail.run(url, **LOAD, **sent, stamp="json:/ts", stamp_unit="us", stall="1h", fail_if=["incomplete-streams > 1%"])
    streams, messages = result.streams, result.messages
    assert streams is not None and messages is not None
    assert streams["kind"] == "pushes" and streams["tally"]["planned"] == 2
    # The last ones may come after the end of the load.
    assert 0 < streams["events"] <= messages["pushes"] <= 120
    assert streams["push_delay"]["count"] > 0 and streams["stamps"]["contradictory"] == 0
    assert any("match='none'" in note for note in result.notes)
    assert [gate.state for gate in result.gates] == ["holds"]
    assert all(server.seen.count(line) >= 2 for line in (b"me\n", b"ticks\n"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "a message on a TCP channel needs an end; add framing='line', crlf, nul"),
        ({"framing": "lines"}, "framing: 'lines' is no framing"),
        ({"framing": "line", "match": "fix:11"}, "match='fix:TAG' compares fields of FIX; add framing='fix'"),
        ({"framing": "line", "headers": {"A": "b"}}, "headers is for HTTP and ws:// URLs"),
        ({"framing": "line", "method": "GET"}, "method is for HTTP, and messages are sent on a channel"),
        ({"framing": "line", "http2": True}, "http2=True is for HTTP"),
        ({"framing": "line", "keepalive": False}, "keepalive=False is for HTTP"),
        ({"framing": "line", "stream": "sse"}, "stream is for HTTP"),
        ({"framing": "line", "match": "none", "checks": ["body contains x"]}, "checks looks into replies, and with match='none' there are none"),
        ({"framing": "line", "stamp": "json:/ts"}, "stamp is read in pushes; ask for them with subscribe='FILE'"),
        ({"framing": "line", "clock_bound": "2ms"}, "clock_bound is about the sender's time; add stamp='json:/ts'"),
        ({"framing": "line", "stamp_unit": "days"}, "invalid value 'days' for stamp_unit [possible values: ns, us, ms, s]"),
        ({"framing": "line", "clock_bound": []}, "clock_bound: expected a time"),
        ({"framing": "line", "data": b"a", "data_hex": "00"}, "data_hex: it contradicts data"),
        ({"framing": "line", "data": "a", "data_hex": "00"}, "data_hex and data contradict each other"),
        ({"framing": "line", "slo": ["ttft < 500ms"]}, "slo: it is about answers of language models; add llm='openai-chat'"),
        ({"framing": "line", "stall": "1s"}, "stall is about streams; add stream='sse', stream='chunks' or llm, or subscribe on a channel"),
        ({"framing": "line", "deadline": "1s"}, "deadline is for gRPC; write a URL such as grpc://"),
        ({"url": "tcp://127.0.0.1", "framing": "line"}, "'tcp://127.0.0.1' is"),
        ({"url": "redis://127.0.0.1:1"}, "a redis URL needs a command; add command='GET key'"),
        ({"url": "http://127.0.0.1:1", "match": "order"}, "match is for messages on a channel; write a URL such as tcp://"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises((ValueError, TypeError)) as raised:
        truetail.run(**{"url": "tcp://127.0.0.1:1", **LOAD, **arguments})
    assert says in str(raised.value) and "--" not in str(raised.value), raised.value


def test_a_channel_that_does_not_open_is_found_before_the_load(tmp_path: Path) -> None:
    login = tmp_path / "login.txt"
    login.write_text("send me\nexpect welcome\n")
    with lines(echo) as server, pytest.raises(ConnectionError, match="check the file of hello, and what the server answers"):
        truetail.run(f"tcp://{server.address}", **LOAD, framing="line", data="a", hello=login)
    with pytest.raises(OSError, match="^cannot read /no/such/file"):
        truetail.run("tcp://127.0.0.1:1", **LOAD, framing="line", data="a", hello="/no/such/file")
