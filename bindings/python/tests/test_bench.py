"""Functions under load. Only counts, tallies and orderings are asserted, because the machine may stall."""

import functools
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import truetail

TENTH_OF_A_SECOND_NS = 100_000_000


def balanced(result: truetail.Result) -> truetail.Result:
    for tally in (result.tally, result.warmup_tally):
        answered_or_not = ("responses", "connect_failed", "reset", "malformed", "timed_out", "in_flight_at_end")
        assert tally["issued"] == sum(tally[outcome] for outcome in answered_or_not), tally
        assert tally["planned"] == tally["issued"] + tally["never_issued"], tally
    return result


def test_every_planned_call_is_made_and_the_warmup_is_apart() -> None:
    calls: list[None] = []
    result = balanced(truetail.bench(lambda: calls.append(None), rate=500, duration="400ms", warmup=0.2))
    assert (result.tally["responses"], result.warmup_tally["responses"], len(calls)) == (200, 100, 300)
    assert result.count == 200 and result.tally["responses"] == 200 and result.statuses == {}
    assert numpy.isnan(result.to_numpy()["status"]).all() and result.to_pandas()["status"].isna().all()


@pytest.mark.parametrize("waiting", ["sleep", "spin"])
def test_no_call_begins_before_it_is_due(waiting: Any) -> None:
    samples = truetail.bench(lambda: None, rate=500, duration="200ms", waiting=waiting).to_numpy()
    assert (samples["actual_start_ns"] >= samples["intended_start_ns"]).all()
    assert (samples["end_ns"] >= samples["actual_start_ns"]).all()


def test_a_pause_shows_in_every_call_that_it_held_up() -> None:
    calls = iter(range(1_000_000))

    def pausing() -> None:
        if next(calls) == 50:
            time.sleep(0.2)

    samples = balanced(truetail.bench(pausing, rate=500, duration="400ms")).to_numpy()
    # 200 ms at 500/s delay a hundred calls, of which the first fifty wait for more than half of it.
    assert (samples["service_time_ns"] > TENTH_OF_A_SECOND_NS).sum() == 1, "a naive loop sees one"
    assert (samples["response_time_ns"] > TENTH_OF_A_SECOND_NS).sum() >= 50
    assert (samples["connection_wait_ns"] > TENTH_OF_A_SECOND_NS).sum() >= 49, "they waited for their worker"


def test_one_worker_is_the_calling_thread() -> None:
    threads = set[int]()
    truetail.bench(lambda: threads.add(threading.get_ident()), rate=200, duration="100ms")
    assert threads == {threading.get_ident()}
    connection = sqlite3.connect(":memory:")
    result = truetail.bench(lambda: connection.execute("select 1").fetchall(), rate=200, duration="100ms")
    assert result.exceptions == {}, "sqlite refuses other threads than its own"
    connection.close()


def test_a_worker_keeps_what_its_thread_keeps() -> None:
    local = threading.local()
    homes: list[object] = []

    def call() -> None:
        if not hasattr(local, "home"):
            local.home = object()
            homes.append(local.home)

    result = balanced(truetail.bench(call, rate=600, duration="200ms", workers=3))
    assert result.tally["responses"] == 120 and len(homes) == 3


def test_the_interpreter_is_free_between_calls() -> None:
    over = threading.Event()
    turns = 0

    def count() -> None:
        nonlocal turns
        while not over.is_set():
            turns += 1

    counter = threading.Thread(target=count)
    counter.start()
    before = turns
    result = truetail.bench(lambda: None, rate=20, duration="500ms")
    counted = turns - before
    over.set()
    counter.join()
    # If the lock were held while waiting, the counter would run only at the ten calls.
    assert result.tally["responses"] == 10 and counted > 1000 * result.count


def test_exceptions_are_counted_by_type_and_the_first_is_kept() -> None:
    calls = iter(range(1_000_000))

    def refuse_order() -> None:
        match = next(calls) % 4
        if match == 1:
            raise ValueError("bad price")
        if match == 2:
            raise sqlite3.OperationalError("locked")

    result = balanced(truetail.bench(refuse_order, rate=400, duration="100ms"))
    assert result.exceptions == {"ValueError": 10, "sqlite3.OperationalError": 10}
    assert (result.tally["responses"], result.tally["malformed"], result.causes) == (20, 20, {"raised": 20})
    first = result.first_exception
    assert isinstance(first, ValueError) and str(first) == "bad price" and first.__traceback__ is not None
    assert first.__traceback__.tb_frame.f_code.co_name == "refuse_order"
    assert result.quantile(0.9) == float("inf"), "a failure is slower than every answer"
    info = result.quantile_info(0.9)
    assert info.at_least and info.no_answer and result.quantile_ns(0.9) is None
    words = result.table() + result._repr_html_()
    assert "20 exceptions" in words and "malformed" not in words.lower()
    assert "the callable raised ValueError (10 calls), sqlite3.OperationalError (10 calls); first: ValueError: bad price" in result.notes


def fails() -> None:
    raise RuntimeError("never works")


def test_a_callable_that_always_fails_ends_the_run() -> None:
    result = balanced(truetail.bench(fails, rate=1000, duration="60s", max_failures=30))
    assert result.exceptions == {"RuntimeError": 30} and result.tally["malformed"] == 30
    assert result.interrupted and any("max_failures" in note for note in result.notes)
    assert result.verdict.state == "INVALID"


def test_unless_told_to_go_on() -> None:
    result = balanced(truetail.bench(fails, rate=500, duration="100ms", max_failures=None))
    assert result.exceptions == {"RuntimeError": 50} and not result.interrupted


def test_a_rate_that_cannot_be_held_ends_on_time_and_is_told_with_both_numbers() -> None:
    result = balanced(truetail.bench(lambda: time.sleep(0.005), rate=1000, duration="2s", drain="100ms"))
    assert result.tally["planned"] == 2000 and result.tally["issued"] <= 421, "2.1 s at 5 ms or more each"
    assert result.quantile(0.99) == float("inf") and result.quantile_info(0.99).at_least
    (reason,) = (reason for reason in result.verdict.reasons if reason.code == "saturated")
    assert reason.numbers["offered_per_second"] == pytest.approx(1000, rel=0.01)
    assert 0 < reason.numbers["capacity_per_second"] <= 210
    assert "offered" in reason.message and "answered" in reason.message and result.verdict.state == "INVALID"


def test_the_closed_model_calls_back_to_back() -> None:
    threads = set[int]()
    result = balanced(
        truetail.bench(
            lambda: threads.add(threading.get_ident()), model="closed", users=2, requests=2000, duration=None
        )
    )
    assert (result.model, result.tally["responses"], len(threads)) == ("closed", 2000, 2)


def test_users_join_and_leave() -> None:
    result = balanced(
        truetail.bench(lambda: None, model="closed", users="steps:2/50ms,0/50ms,1/50ms", think_time="10s", duration=None)
    )
    # Two begin and leave while they think, and one of them begins again.
    assert (result.model, result.tally["responses"]) == ("closed", 3)


def test_sessions_follow_each_other() -> None:
    result = balanced(
        truetail.bench(lambda: None, rate=50, duration="200ms", model="partly-open", session_length=3, workers=2)
    )
    assert (result.model, result.tally["responses"]) == ("partly-open", 30)


def test_the_seed_makes_the_schedule() -> None:
    def intended(seed: int) -> list[int]:
        result = truetail.bench(lambda: None, rate=500, duration="100ms", spacing="poisson", seed=seed)
        return [int(instant) for instant in result.to_numpy()["intended_start_ns"]]

    assert intended(7) == intended(7) != intended(8)


def test_what_leaves_the_callable_for_good_leaves_the_bench() -> None:
    with pytest.raises(SystemExit):
        truetail.bench(sys.exit, rate=100, duration="60s")


def test_what_calling_does_not_run_is_refused() -> None:
    async def coroutine() -> None: ...

    def generator() -> Iterator[int]:
        yield 1

    with pytest.raises(TypeError, match="^fn: it returned an awaitable"):
        truetail.bench(lambda: coroutine(), rate=100, duration="60s")
    with pytest.raises(TypeError, match="^fn: this is a coroutine"):
        truetail.bench(coroutine(), rate=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="^fn: this is a generator function"):
        truetail.bench(functools.partial(generator), rate=1)
    with pytest.raises(TypeError, match="^fn: 'int' is not callable"):
        truetail.bench(3, rate=1)  # type: ignore[arg-type]


def test_progress_is_told_on_standard_error(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("truetail._progress.LINE_S", 0.1)
    truetail.bench(lambda: None, rate=100, duration="1s", progress=True)
    told = capsys.readouterr()
    assert "in flight 0" in told.err and "p99" in told.err and told.out == ""


def test_a_profile_ends_where_it_ends(tmp_path: Path) -> None:
    arrivals = tmp_path / "arrivals.txt"
    arrivals.write_text("0\n0.01\n0.25\n")
    assert truetail.bench(lambda: None, rate=f"trace:{arrivals}").count == 3
    steps = "steps:100/50ms,200/50ms"
    counts = [truetail.bench(lambda: None, rate=steps, **end).count for end in ({}, {"duration": "60ms"}, {"requests": 3})]
    assert counts == [15, 7, 3]
    arrivals.write_text("0\nx\n")
    with pytest.raises(ValueError, match="^rate: .*arrivals.txt: "):
        truetail.bench(lambda: None, rate=f"trace:{arrivals}")
