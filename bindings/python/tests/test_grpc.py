"""``truetail.run`` calls methods of gRPC, with the books of the command line."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Optional

import grpc  # type: ignore[import-untyped]
import pytest

import truetail
from test_messages import by_command

LOAD: dict[str, Any] = {"rate": 200, "requests": 40, "connections": 2, "drain": "5s"}
PROTO = """
syntax = "proto3";
package test;
message Text { string text = 1; }
service Echo {
  rpc Say(Text) returns (Text);
  rpc Count(Text) returns (stream Text);
  rpc Collect(stream Text) returns (Text);
  rpc Talk(stream Text) returns (stream Text);
}
"""


def field(number: int, content: bytes) -> bytes:
    """A field of protobuf with a length."""
    return bytes([number << 3 | 2, len(content)]) + content


def descriptor_set() -> bytes:
    """What ``protoc --descriptor_set_out`` writes for the service with its first method."""
    text = field(1, b"text") + bytes([3 << 3, 1, 4 << 3, 1, 5 << 3, 9])
    message = field(1, b"Text") + field(2, text)
    method = field(1, b"Say") + field(2, b".test.Text") + field(3, b".test.Text")
    service = field(1, b"Echo") + field(2, method)
    file = field(1, b"echo.proto") + field(2, b"test") + field(4, message) + field(6, service) + field(12, b"proto3")
    return field(1, file)


class Echo:
    """Fails for ``no``, and never answers ``never``. Messages are bytes of protobuf."""

    def __init__(self) -> None:
        self.calls: list[bytes] = []
        self.tags: list[str] = []

    def say(self, message: bytes, context: Any) -> bytes:
        metadata = dict(context.invocation_metadata())
        if "truetail-preflight" not in metadata:
            self.calls.append(message)
            self.tags.append(metadata.get("tag", ""))
        if message.endswith(b"no"):
            context.abort(grpc.StatusCode.UNAVAILABLE, "not now")
        while message.endswith(b"never") and context.is_active():
            time.sleep(0.01)
        return message

    def count(self, message: bytes, _: Any) -> Iterator[bytes]:
        yield from [message] * 3

    def collect(self, messages: Iterator[bytes], context: Any) -> bytes:
        return self.say(b"|".join(messages), context)[-3:]

    def talk(self, messages: Iterator[bytes], _: Any) -> Iterator[bytes]:
        yield from messages


@pytest.fixture
def service() -> Iterator[tuple[str, Echo]]:
    echo = Echo()
    handlers = {
        "Say": grpc.unary_unary_rpc_method_handler(echo.say),
        "Count": grpc.unary_stream_rpc_method_handler(echo.count),
        "Collect": grpc.stream_unary_rpc_method_handler(echo.collect),
        "Talk": grpc.stream_stream_rpc_method_handler(echo.talk),
    }
    server = grpc.server(ThreadPoolExecutor(8), handlers=[grpc.method_handlers_generic_handler("test.Echo", handlers)])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"grpc://127.0.0.1:{port}/test.Echo", echo
    server.stop(None).wait()


@pytest.fixture
def proto(tmp_path: Path) -> Path:
    file = tmp_path / "echo.proto"
    file.write_text(PROTO)
    return file


def test_calls_are_counted_by_status(service: tuple[str, Echo], proto: Path, tmp_path: Path) -> None:
    url, echo = service
    rows = tmp_path / "rows.csv"
    rows.write_text("text\na\nb\nc\nno\n")
    calls: dict[str, Any] = {"data": '{"text":"{{text}}"}', "data_from": rows, "headers": {"tag": "x"}}
    checks = ["grpc-status == OK", 'message.text != "b"']
    result = truetail.run(f"{url}/Say", **LOAD, **calls, proto=proto, checks=checks, fail_if=["error-rate > 30%"])
    assert result.grpc == {"statuses": {"OK": 30, "UNAVAILABLE": 10}}
    assert result.statuses == {200: 30, 1014: 10} and result.messages is None
    assert [check["failed"] for check in result.checks] == [10, 20], "an answer without a message fails the second one too"
    assert [gate.state for gate in result.gates] == ["holds"]
    assert len(echo.calls) == 40 and set(echo.tags) == {"x"}
    sent = ["--proto", str(proto), "--data", '{"text":"{{text}}"}', "--data-from", str(rows)]
    run = by_command([f"{url}/Say", *sent])
    assert (run["grpc"], run["tally"]) == (result.grpc, result.tally)


def test_a_compiled_schema_is_enough(service: tuple[str, Echo], tmp_path: Path) -> None:
    url, echo = service
    protoset = tmp_path / "echo.pb"
    protoset.write_bytes(descriptor_set())
    result = truetail.run(f"{url}/Say", **LOAD, data=b'{"text":"hi"}', protoset=protoset)
    assert result.grpc == {"statuses": {"OK": 40}}
    assert set(echo.calls) == {b"\x0a\x02hi"}


def test_messages_of_a_streamed_call_are_events(service: tuple[str, Echo], proto: Path) -> None:
    url, _ = service
    result = truetail.run(f"{url}/Count", **LOAD, data='{"text":"hi"}', proto=[proto], stall="1h")
    assert result.streams is not None and result.grpc == {"statuses": {"OK": 40}}
    assert result.streams["kind"] == "messages" and result.streams["events"] == 120
    assert result.streams["tally"]["complete"] == 40


@pytest.mark.parametrize("gap", [None, "5ms"])
def test_a_call_sends_a_stream_of_messages(service: tuple[str, Echo], proto: Path, gap: Optional[str]) -> None:
    url, echo = service
    calls: dict[str, Any] = {"data": '[{"text":"a"},{"text":"b"},{"text":"c"}]', "proto": proto, "message_gap": gap}
    result = truetail.run(f"{url}/Collect", **LOAD, **calls, checks=['message.text == "c"'])
    assert result.grpc == {"statuses": {"OK": 40}} and result.streams is None
    assert echo.calls == [b"\x0a\x01a|\x0a\x01b|\x0a\x01c"] * 40
    assert result.checks[0]["failed"] == 0
    result = truetail.run(f"{url}/Talk", **LOAD, **calls)
    assert result.streams is not None and result.grpc == {"statuses": {"OK": 40}}
    assert result.streams["events"] == 120 and result.streams["tally"]["complete"] == 40


def test_a_deadline_is_a_timeout(service: tuple[str, Echo], proto: Path) -> None:
    url, _ = service
    load = {**LOAD, "requests": 4, "preflight": False}
    result = truetail.run(f"{url}/Say", **load, data='{"text":"never"}', proto=proto, import_path=proto.parent, deadline=0.3)
    assert result.tally["timed_out"] + result.tally["responses"] == 4
    assert sum((result.grpc or {"statuses": {}})["statuses"].values()) == result.tally["responses"]


@pytest.mark.parametrize(
    ("method", "arguments", "says"),
    [
        ("Say", {"data": '{"tex":"a"}'}, "it has: text"),
        ("Sing", {}, "Say"),
        ("Collect", {"data": '[{"text":"a"},{"tex":"a"}]'}, "message 2: no field 'tex' in Text; it has: text"),
        ("Say", {"message_gap": "5ms"}, "message_gap: test.Echo/Say takes one message; leave message_gap out"),
        ("Say", {"user": ("a", "b")}, "user is for HTTP, and a grpc:// URL names a method to call"),
        ("Say", {"protoset": "x"}, "proto cannot be used with protoset"),
        ("Say", {"deadline": 0}, "deadline: '0ns' is zero"),
        ("Say", {"framing": "line"}, "framing is for messages on a channel"),
        ("Say", {"data": b"\xff"}, "data: a message for gRPC is JSON"),
    ],
)
def test_what_is_refused(method: str, arguments: dict[str, Any], says: str, proto: Path) -> None:
    with pytest.raises(ValueError) as raised:
        truetail.run(f"grpc://127.0.0.1:1/test.Echo/{method}", **LOAD, **{"proto": proto, **arguments})
    assert says in str(raised.value) and "--" not in str(raised.value), raised.value


def test_a_server_without_reflection_needs_a_schema(service: tuple[str, Echo]) -> None:
    url, _ = service
    with pytest.raises(OSError, match="has no reflection; give the schema with proto='FILE' or protoset='FILE'"):
        truetail.run(f"{url}/Say", **LOAD)
