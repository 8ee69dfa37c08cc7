"""Bad input: the error names the argument, says what is wrong, and what to write instead."""

from datetime import timedelta
from typing import Any

import pytest

import truetail


def nothing() -> None: ...


def usual_rate(arguments: dict[str, Any]) -> dict[str, Any]:
    """A rate for a test of other arguments, where the load model has one."""
    return {} if arguments.get("model") == "closed" else {"rate": 100}


def test_a_rate_is_asked_for() -> None:
    models: list[dict[str, Any]] = [{}, {"model": "partly-open", "session_length": 2}]
    for model in models:
        with pytest.raises(ValueError, match="^rate: none given; write calls per second, such as rate=100$"):
            truetail.bench(nothing, **model)


@pytest.mark.parametrize(
    ("arguments", "kind", "says"),
    [
        ({"rate": "fast"}, ValueError, "rate: 'fast' is not a rate; write requests per second"),
        ({"rate": 0}, ValueError, "rate: '0' is out of range"),
        ({"rate": -5}, ValueError, "rate: '-5' is out of range"),
        ({"rate": float("nan")}, ValueError, "rate: 'NaN' is out of range"),
        ({"rate": True}, TypeError, "rate: expected a rate such as 1000, '1k' or '60/m', not bool"),
        ({"rate": []}, TypeError, "rate: expected a rate such as 1000, '1k' or '60/m', not list"),
        ({"rate": "ramp:1..2"}, ValueError, "rate: profile 'ramp:1..2': no duration"),
        ({"duration": "10"}, ValueError, "duration: '10' has no unit"),
        ({"duration": "-1s"}, ValueError, "duration: '-1s' is out of range"),
        ({"duration": -1}, ValueError, "duration: -1 seconds is out of range"),
        ({"duration": float("inf")}, ValueError, "duration: inf seconds is out of range"),
        ({"duration": 0}, ValueError, "duration: it is zero"),
        ({"duration": timedelta(seconds=-1)}, ValueError, "duration: -1 seconds is out of range"),
        ({"duration": object()}, TypeError, "duration: expected a time such as '10ms'"),
        ({"rate": "trace:/nowhere.txt"}, FileNotFoundError, ""),
        ({"warmup": "soon"}, ValueError, "warmup: 'soon' is not a duration"),
        ({"warmup": None}, TypeError, "warmup: expected a time"),
        ({"drain": "x"}, ValueError, "drain: "),
        ({"workers": 0}, ValueError, "workers: 0 is not a whole number from 1"),
        ({"workers": -1}, ValueError, "workers: -1 is not a whole number from 1"),
        ({"workers": 1.5}, TypeError, "workers: expected a whole number from 1, not float"),
        ({"workers": True}, TypeError, "workers: expected a whole number from 1, not bool"),
        ({"workers": 2**40}, ValueError, "workers: 1099511627776 is too many"),
        ({"workers": 2**80}, ValueError, "workers: 1208925819614629174706176 is not a whole number from 1"),
        ({"seed": -1}, ValueError, "seed: -1 is not a whole number from 0"),
        ({"seed": "x"}, TypeError, "seed: expected a whole number from 0, not str"),
        ({"spacing": "random"}, ValueError, "spacing: \"random\" is unknown; use even, poisson, or gamma:SHAPE"),
        ({"waiting": "busy"}, ValueError, "waiting: there is no 'busy'; choose one of 'sleep', 'spin'"),
        ({"model": "half"}, ValueError, "model: there is no 'half'; choose one of 'open', 'closed', 'partly-open'"),
        ({"model": "closed"}, ValueError, "users: model='closed' needs the number of users"),
        ({"model": "closed", "users": 1, "rate": 5}, ValueError, "rate: it has no meaning with model='closed'"),
        ({"users": 3}, ValueError, "users: it has no meaning with model='open'; use it with model='closed'"),
        ({"model": "closed", "users": "1..x/5s"}, ValueError, "users: stages '1..x/5s': 'x' is not a number"),
        ({"model": "closed", "users": "many"}, ValueError, "users: 'many' is not a number of users"),
        ({"model": "closed", "users": "1..5/5s", "requests": 9}, ValueError, "requests: it cannot be dealt out to users"),
        ({"model": "partly-open"}, ValueError, "session_length: model='partly-open' needs"),
        ({"think_time": "1s"}, ValueError, "think_time: it has no meaning with model='open'"),
        ({"requests": 0}, ValueError, "requests: 0 is not a whole number from 1"),
        ({"max_failures": 0}, ValueError, "max_failures: 0 is not a whole number from 1"),
    ],
)
def test_bench(arguments: dict[str, Any], kind: type[Exception], says: str) -> None:
    with pytest.raises(kind) as raised:
        truetail.bench(nothing, **{**usual_rate(arguments), **arguments})
    assert str(raised.value).startswith(says) and "\n" not in str(raised.value), raised.value


@pytest.mark.parametrize(
    ("arguments", "kind", "says"),
    [
        ({}, ValueError, "rate: none given"),
        ({"url": "here", "rate": 1}, ValueError, "url: 'here' is not a URL"),
        ({"url": "ftp://127.0.0.1", "rate": 1}, ValueError, "url: 'ftp://127.0.0.1': unknown scheme 'ftp'"),
        ({"rate": 1, "method": "GE T"}, ValueError, "method: 'GE T' is not a method"),
        ({"rate": 1, "headers": {"a b": "c"}}, ValueError, "headers: 'a …' is not a header"),
        ({"rate": 1, "data": 5}, TypeError, "data: expected str or bytes, not int"),
        ({"rate": 1, "connections": 0}, ValueError, "connections: 0 is not a whole number from 1"),
        ({"rate": 1, "timeout": 0}, ValueError, "timeout: it is zero"),
        ({"rate": 1, "threads": "two"}, TypeError, "threads: expected a whole number from 1, not str"),
        ({"rate": 1, "connection_per_session": True}, ValueError, "connection_per_session: only sessions have"),
        (
            {"rate": 1, "connection_per_session": True, "model": "partly-open", "session_length": 2, "keepalive": False},
            ValueError,
            "connection_per_session: it contradicts keepalive=False",
        ),
    ],
)
def test_run(arguments: dict[str, Any], kind: type[Exception], says: str) -> None:
    with pytest.raises(kind) as raised:
        truetail.run(**{"url": "http://127.0.0.1:1/", **arguments})
    assert str(raised.value).startswith(says) and "\n" not in str(raised.value), raised.value


def test_quantiles_and_metrics() -> None:
    result = truetail.bench(nothing, rate=100, duration="50ms")
    for q, says in [(99, "q: 99 is not a quantile in [0, 1]; write 0.99 for p99"), (-0.1, "q: -0.1"), (float("nan"), "q: NaN")]:
        with pytest.raises(ValueError) as raised:
            result.quantile(q)
        assert str(raised.value).startswith(says), raised.value
    with pytest.raises(ValueError, match="^metric: there is no 'latency'; choose one of 'response_time'"):
        result.quantile(0.5, "latency")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="^metric: "):
        result.hist("latency")  # type: ignore[arg-type]


@pytest.mark.parametrize("duration", ["50ms", 0.05, timedelta(milliseconds=50)])
def test_times_in_every_form(duration: Any) -> None:
    assert truetail.bench(nothing, rate="6000/m", duration=duration).count == 5


def test_a_rate_that_moves() -> None:
    assert truetail.bench(nothing, rate="steps:100/100ms,300/100ms", duration="200ms").count == 40
