"""Coroutines under load."""

import asyncio
import threading
from functools import partial

import pytest

import truetail
from test_bench import balanced


async def nap() -> None:
    await asyncio.sleep(0.2)


def test_calls_overlap_and_all_are_measured() -> None:
    result = balanced(truetail.bench(nap, rate=250, duration="400ms", warmup="80ms"))
    assert (result.tally["responses"], result.warmup_tally["responses"]) == (100, 20)
    # In sequence they would take 24 s; 5 s allows for a slow machine.
    samples = result.to_numpy()
    assert (samples["response_time_ns"] >= 199_000_000).all() and (samples["response_time_ns"] < 5e9).all()
    assert (samples["actual_start_ns"] >= samples["intended_start_ns"]).all()
    assert result.name == "nap"


def test_in_the_loop_that_runs_already() -> None:
    async def main() -> tuple[truetail.Result, bool]:
        here = asyncio.get_running_loop()
        loops = set[asyncio.AbstractEventLoop]()

        async def call() -> None:
            loops.add(asyncio.get_running_loop())

        result = await truetail.bench_async(call, rate=500, duration="100ms")
        with pytest.raises(RuntimeError, match="await truetail.bench_async"):
            truetail.bench(call, rate=100)
        return result, loops == {here}

    result, in_this_loop = asyncio.run(main())
    assert balanced(result).tally["responses"] == 50 and in_this_loop


def test_what_the_loop_takes_to_get_round_to_a_call_is_lag() -> None:
    async def blocking() -> None:
        threading.Event().wait(0.02)

    samples = truetail.bench(blocking, rate=100, duration="100ms").to_numpy()
    # Ten calls of 20 ms each, due every 10 ms: the loop gets to the last one some 100 ms late.
    assert samples["generator_lag_ns"].max() >= 80_000_000
    assert (samples["service_time_ns"] >= 19_000_000).all()


def test_a_cap_a_timeout_and_failures_are_told_apart() -> None:
    numbers = iter(range(1_000_000))
    at_once = most = 0

    async def call() -> None:
        nonlocal at_once, most
        number = next(numbers)
        at_once += 1
        most = max(most, at_once)
        try:
            if number == 3:
                await asyncio.sleep(60)
            if number == 7:
                raise ConnectionResetError("gone")
            await asyncio.sleep(0)
        finally:
            at_once -= 1

    result = balanced(truetail.bench(call, rate=200, duration="200ms", in_flight=2, timeout="2s"))
    tally = result.tally
    assert (tally["planned"], tally["responses"], tally["timed_out"], tally["malformed"]) == (40, 38, 1, 1)
    assert result.exceptions == {"ConnectionResetError": 1} and most <= 2
    assert isinstance(result.first_exception, ConnectionResetError) and result.first_exception.__traceback__


def test_what_hangs_is_in_flight_at_the_end_and_cancelled() -> None:
    cancelled: list[None] = []

    async def hang() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(None)
            raise

    result = balanced(truetail.bench(hang, rate=100, duration="100ms", drain="2s"))
    assert result.tally["in_flight_at_end"] == 10 and len(cancelled) == 10 and result.exceptions == {}


def test_a_callable_that_always_fails_ends_the_run() -> None:
    async def fails() -> None:
        raise RuntimeError("never works")

    result = balanced(truetail.bench(fails, rate=1000, duration="60s", max_failures=30))
    assert result.exceptions["RuntimeError"] >= 30 and result.tally["planned"] < 60_000
    assert any("max_failures" in note for note in result.notes)


def test_a_run_that_is_cancelled_leaves_nothing_behind() -> None:
    async def main() -> None:
        run = asyncio.ensure_future(truetail.bench_async(nap, rate=100, duration="60s"))
        await asyncio.sleep(0.1)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_async_callables_by_any_other_form() -> None:
    class Client:
        async def send(self, times: int) -> None:
            await asyncio.sleep(0)

        async def __call__(self) -> None:
            await asyncio.sleep(0)

    for fn in (partial(Client().send, 2), Client()):
        assert balanced(truetail.bench(fn, rate=200, duration="50ms")).tally["responses"] == 10


def test_arguments_that_belong_to_functions() -> None:
    with pytest.raises(ValueError, match="^workers: async calls share one event loop"):
        truetail.bench(nap, rate=1, workers=2)
    with pytest.raises(ValueError, match="^in_flight: a function has as many calls in flight as it has workers"):
        truetail.bench(lambda: None, rate=1, in_flight=2)
    with pytest.raises(ValueError, match="^timeout: a call of a function cannot be cancelled"):
        truetail.bench(lambda: None, rate=1, timeout="1s")

    async def not_async() -> None:
        await truetail.bench_async(print)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="^fn: expected an async function"):
        asyncio.run(not_async())
