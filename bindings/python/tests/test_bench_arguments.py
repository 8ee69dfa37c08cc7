"""``setup``, ``rows`` and gates of ``bench``."""

import asyncio
import pickle
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

import truetail
from test_bench import balanced


def nothing(*_: object) -> None: ...


def test_gates_are_judged() -> None:
    gates: dict[str, Any] = {"slo": ["p50 < 1h", "error-rate < 1%"], "fail_if": ["p50 > 1ns", "throughput < 1/s"]}
    result = balanced(truetail.bench(nothing, rate=500, duration="200ms", **gates))
    assert [gate.text for gate in result.gates] == [*gates["slo"], *gates["fail_if"]]
    assert [gate.state for gate in result.gates][:3] == ["holds", "holds", "fails"]
    assert "p50 > 1ns" in result.table()


@pytest.mark.parametrize(
    ("gates", "says"),
    [
        ({"fail_if": ["p99 >"]}, "fail_if: "),
        ({"fail_if": ["p99.9 > 1s"]}, "fail_if: 'p99.9 > 1s' cannot be decided: it needs "),
        ({"slo": ["event-gap p99 < 1s"]}, "slo: 'event-gap p99 < 1s' is about the items of an async generator"),
        ({"slo": ["check-failures < 1%"]}, "slo: 'check-failures < 1%' is about something that a callable does not have"),
        ({"slo": ["p50{a} < 1s"]}, "slo: 'p50{a} < 1s'"),
    ],
)
def test_a_gate_that_no_call_could_decide_is_refused(gates: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError) as raised:
        truetail.bench(nothing, rate=100, duration="100ms", **gates)
    said = str(raised.value)
    assert said.startswith(says) and "\n" not in said and " -d " not in said and "--" not in said, said


def test_the_remedy_is_written_as_python_has_it() -> None:
    for load, remedy in [({"duration": "1s"}, "use duration='"), ({"requests": 5}, "use requests=")]:
        with pytest.raises(ValueError, match=remedy):
            truetail.bench(nothing, rate=10, fail_if=["p99 > 1s"], **load)  # type: ignore[arg-type]


def test_each_worker_sets_up_on_its_own_thread_before_the_first_call() -> None:
    made: list[int] = []
    seen: list[tuple[int, int, int]] = []

    def setup() -> int:
        # The last worker is ready long after the others.
        threading.Event().wait(0.05 * len(made))
        made.append(threading.get_ident())
        return threading.get_ident()

    def call(home: int) -> None:
        seen.append((home, threading.get_ident(), len(made)))

    result = balanced(truetail.bench(call, rate=600, duration="100ms", workers=3, setup=setup))
    assert result.tally["responses"] == 60 and len(set(made)) == 3 and threading.get_ident() in made
    assert {(home == here, ready) for home, here, ready in seen} == {(True, 3)}


@pytest.mark.parametrize("workers", [1, 3])
def test_what_setup_raises_is_raised_and_nothing_is_measured(workers: int) -> None:
    calls: list[object] = []
    homes: list[int] = []

    def setup() -> None:
        homes.append(threading.get_ident())
        if len(homes) == workers:
            raise ConnectionRefusedError("no server")

    with pytest.raises(ConnectionRefusedError, match="^no server$"):
        truetail.bench(calls.append, rate=100, duration="60s", workers=workers, setup=setup)
    assert calls == []


def test_rows_go_by_the_number_of_the_call() -> None:
    seen: list[tuple[object, str]] = []
    result = truetail.bench(
        lambda state, row: seen.append((state, row)), rate=500, duration="20ms", workers=2, rows=["a", "b", "c"], setup=dict
    )
    assert result.count == 10 and sorted(row for _, row in seen) == list("aaaabbbccc")
    only_rows: list[object] = []
    truetail.bench(only_rows.append, rate=500, duration="10ms", warmup="4ms", rows=(1, None, [2]))
    assert only_rows == [1, None, [2], 1, None, [2], 1]
    assert list(result.to_numpy()["row"]) == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]


def test_async_functions_are_set_up_once_in_their_loop() -> None:
    seen: list[tuple[bool, int]] = []

    async def setup() -> asyncio.AbstractEventLoop:
        await asyncio.sleep(0)
        return asyncio.get_running_loop()

    async def call(loop: asyncio.AbstractEventLoop, row: int) -> None:
        seen.append((loop is asyncio.get_running_loop(), row))

    async def items(row: int) -> AsyncIterator[int]:
        seen.append((True, row))
        yield row

    async def main() -> truetail.Result:
        return await truetail.bench_async(call, rate=500, duration="12ms", setup=setup, rows=range(3), fail_if=["p50 > 1h"])

    result = truetail.bench(call, rate=500, duration="10ms", setup=setup, rows=[0, 1, 2])
    assert balanced(result).exceptions == {} and seen == [(True, row) for row in (0, 1, 2, 0, 1)]
    assert [gate.state for gate in asyncio.run(main()).gates] == ["holds"] and seen[5:] == [(True, row) for row in (0, 1, 2, 0, 1, 2)]
    truetail.bench(items, rate=500, duration="10ms", rows=[7])
    assert seen[11:] == [(True, 7)] * 5


def test_an_async_setup_that_raises_is_raised() -> None:
    async def setup() -> None:
        raise ConnectionRefusedError("no server")

    async def call(_: None) -> None: ...

    with pytest.raises(ConnectionRefusedError):
        truetail.bench(call, rate=10, duration="60s", setup=setup)
    with pytest.raises(TypeError, match="^setup: it returned an awaitable, and fn is no async function"):
        truetail.bench(nothing, rate=10, duration="60s", setup=setup)


@pytest.mark.parametrize(
    ("fn", "arguments", "kind", "says"),
    [
        (nothing, {"rows": []}, ValueError, "rows: it is empty"),
        (nothing, {"rows": "abc"}, TypeError, "rows: expected a sequence such as a list, not str"),
        (nothing, {"rows": 5}, TypeError, "rows: expected a sequence such as a list, not int"),
        (nothing, {"rows": {"a": 1}}, TypeError, "rows: expected a sequence such as a list, not dict"),
        (nothing, {"label": "kind"}, TypeError, "label: 'str' is not callable"),
        (nothing, {"setup": 5}, TypeError, "setup: 'int' is not callable"),
        (lambda: None, {"rows": [1]}, TypeError, "fn: it is called with a row: too many positional arguments"),
        (lambda one: one, {"rows": [1], "setup": dict}, TypeError, "fn: it is called with the value of setup and a row: "),
    ],
)
def test_what_does_not_fit_is_refused(fn: Callable[..., None], arguments: dict[str, Any], kind: Any, says: str) -> None:
    with pytest.raises(kind) as raised:
        truetail.bench(fn, rate=10, duration="60s", **arguments)
    assert str(raised.value).startswith(says) and "\n" not in str(raised.value), raised.value


def test_answers_have_labels() -> None:
    kinds = ["filled", "rejected", "filled", None]
    load: dict[str, Any] = {"rate": 500, "duration": "80ms", "warmup": "40ms", "rows": kinds}

    async def later(kind: object) -> object:
        await asyncio.sleep(0)
        return kind

    for fn in (lambda kind: kind, later):
        result = balanced(truetail.bench(fn, **load, label=lambda kind: kind))
        assert {label: found["calls"] for label, found in result.labels.items()} == {"filled": 20, "rejected": 10}
        filled = result.labels["filled"]
        assert filled["p99"] is None and 0 < (filled["p50"] or 0) <= (filled["max"] or 0) <= (result.quantile(1) or 0)
        assert "labels: filled (20 calls), rejected (10 calls)" in result.notes
        assert pickle.loads(pickle.dumps(result)).labels == result.labels
    assert truetail.bench(nothing, rate=100, duration="20ms").labels == {}


def test_a_label_that_raises_or_is_no_text_is_a_failed_call() -> None:
    result = balanced(truetail.bench(lambda row: row, rate=500, duration="20ms", rows=[{}, {"kind": 5}], label=lambda row: row["kind"]))
    assert result.exceptions == {"KeyError": 5, "TypeError": 5} and result.labels == {}


def test_labels_are_bounded() -> None:
    result = truetail.bench(lambda row: row, rate=2000, duration="100ms", rows=range(200), label=str)
    assert len(result.labels) == 65 and result.labels["other"]["calls"] == 136
    with pytest.raises(ValueError, match="^label: it is about the value that fn returns"):
        truetail.bench(generator, rate=10, label=str)


async def generator() -> AsyncIterator[int]:
    yield 1


async def session(_: truetail.Session) -> None: ...


LISTS: list[tuple[str, str, str]] = [
    ("bench", "fail_if", "p99 > 1s"), ("bench", "slo", "p99 < 1s"), ("run", "fail_if", "p99 > 1s"), ("run", "slo", "p99 < 1s"),
    ("run", "checks", "status == 200"), ("run", "resolve", "a:1:127.0.0.1"), ("run", "headers", "A: b"), ("run", "user", "me"),
    ("flow", "fail_if", "p99 > 1s"), ("flow", "slo", "p99 < 1s"), ("flow", "steps", "login"), ("flow", "resolve", "a:1:127.0.0.1"),
    ("flow", "headers", "A: b"),
]


@pytest.mark.parametrize(("function", "name", "text"), LISTS)
def test_a_text_in_place_of_a_list_is_refused(function: str, name: str, text: str) -> None:
    call: dict[str, Callable[..., object]] = {
        "bench": lambda **more: truetail.bench(nothing, rate=1, **more),
        "run": lambda **more: truetail.run("http://127.0.0.1:1", rate=1, **more),
        "flow": lambda **more: truetail.flow(session, "http://127.0.0.1:1", rate=1, **{"steps": ["a"], **more}),
    }
    for wrong in (text, text.encode(), 5, [5]):
        with pytest.raises(TypeError) as raised:
            call[function](**{name: wrong})
        assert str(raised.value).startswith(f"{name}: expected ") and "\n" not in str(raised.value), raised.value
