"""Async generators under load, item by item."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any

import pytest

import truetail
from test_bench import balanced


async def slow_words() -> AsyncIterator[str]:
    """The first item after 50 ms, one 20 ms later together with a third, and a stall of 150 ms before the last."""
    await asyncio.sleep(0.05)
    yield "a"
    await asyncio.sleep(0.02)
    yield "slow"
    yield "little"
    await asyncio.sleep(0.15)
    yield "word"


def streams(result: truetail.Result) -> dict[str, Any]:
    """The streams of a balanced run, whose books balance too."""
    balanced(result)
    found = result.streams
    assert found is not None and found["kind"] == "items" and found["bytes"] is None
    tally = found["tally"]
    assert tally["planned"] == result.tally["planned"] == sum(tally.values()) - tally["planned"]
    return found


def test_items_are_timed_from_the_intended_start_and_gaps_between_them() -> None:
    result = truetail.bench(slow_words, rate=100, duration="400ms", warmup="100ms", stall="100ms")
    found = streams(result)
    assert (found["tally"]["complete"], found["events"], found["coalesced_gaps"], found["stalls"]) == (40, 160, 40, 40)
    times = {name: found[name] for name in ("first_event_time", "event_gap", "longest_gap", "last_event_time")}
    assert {name: time["count"] for name, time in times.items()} == {
        "first_event_time": 40, "event_gap": 80, "longest_gap": 40, "last_event_time": 40}
    # No wait of an event loop is shorter than was asked for, but for the millisecond in which it counts.
    assert times["first_event_time"]["min_ns"] >= 49_000_000 and times["longest_gap"]["min_ns"] >= 149_000_000
    assert times["event_gap"]["min_ns"] >= 19_000_000 and times["last_event_time"]["min_ns"] >= 218_000_000
    # What comes last is the end of the call.
    assert times["last_event_time"]["max_ns"] <= result.hist().high_ns[-1]
    assert result.quantile_ns(1, "first-event") == times["first_event_time"]["max_ns"]
    frame = result.to_pandas()
    first = frame["first_event_ns"] - frame["intended_start_ns"]
    assert (first.min(), first.max()) == (times["first_event_time"]["min_ns"], times["first_event_time"]["max_ns"])
    assert [len(gaps) for gaps in frame["gaps_ns"]] == [2] * 40 and "output_tokens" not in frame
    assert "first event" in result.table() and "160 items" in result.table()


def test_a_loop_that_is_late_makes_first_items_late() -> None:
    async def blocking() -> AsyncIterator[int]:
        threading.Event().wait(0.02)
        yield 1

    found = streams(truetail.bench(blocking, rate=100, duration="100ms"))
    # Ten calls of 20 ms each, due every 10 ms: the last item comes some 110 ms after it was due.
    assert found["first_event_time"]["max_ns"] >= 100_000_000


def test_every_end_of_a_generator_has_its_place() -> None:
    numbers: Iterator[int] = iter(range(1_000))
    closed: list[int] = []

    async def call() -> AsyncIterator[int]:
        number = next(numbers)
        try:
            if number == 1:
                raise ConnectionResetError("before the first item")
            if number != 2:
                yield 1
            if number == 3:
                raise ConnectionResetError("after the first item")
            if number == 4:
                await asyncio.sleep(60)
        finally:
            closed.append(number)

    result = truetail.bench(call, rate=100, duration="100ms", timeout="2s")
    tally = streams(result)["tally"]
    assert (tally["complete"], tally["failed"], tally["cut"], tally["timed_out"]) == (7, 1, 1, 1)
    assert result.exceptions == {"ConnectionResetError": 2} and sorted(closed) == list(range(10))


def test_what_is_in_flight_at_the_end_or_never_began_is_counted() -> None:
    async def endless() -> AsyncIterator[int]:
        yield 1
        await asyncio.sleep(60)

    found = streams(truetail.bench(endless, rate=100, duration="100ms", in_flight=4, drain="100ms"))
    assert (found["tally"]["in_flight_at_end"], found["tally"]["never_issued"], found["events"]) == (4, 6, 4)


def test_what_a_generator_does_with_its_loop_goes_through() -> None:
    async def outer() -> AsyncIterator[int]:
        queue: asyncio.Queue[int] = asyncio.Queue()
        asyncio.get_running_loop().call_later(0.01, queue.put_nowait, 7)
        async with asyncio.timeout(0.5):
            yield await queue.get()
        try:
            async with asyncio.timeout(0.01):
                await asyncio.sleep(60)
        except TimeoutError:
            yield 8

    async def main() -> truetail.Result:
        return await truetail.bench_async(partial(outer), requests=5, duration=None, rate=50)

    found = streams(asyncio.run(main()))
    assert (found["tally"]["complete"], found["events"], found["coalesced_gaps"]) == (5, 10, 0)


def test_what_has_no_items_is_refused() -> None:
    with pytest.raises(ValueError, match="^metric: this run has no 'first-event'; only the items of an 'async def' function that yields"):
        truetail.bench(lambda: None, rate=100, duration="20ms").quantile(0.5, "first-event")
    with pytest.raises(ValueError, match="^stall: it is about the items of an async generator"):
        truetail.bench(lambda: None, rate=10, stall="1s")
    with pytest.raises(TypeError, match="^fn: this is a generator, which runs once"):
        truetail.bench(slow_words(), rate=10)  # type: ignore[arg-type]
