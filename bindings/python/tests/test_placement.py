"""``cpus`` and ``realtime`` of ``bench``."""

import os
import threading
from typing import Any

import pytest

import truetail
from test_bench import balanced

ALLOWED = os.sched_getaffinity(0)
FIRST = min(ALLOWED)


def test_all_threads_of_a_run_have_the_processors_until_it_ends() -> None:
    seen: dict[int, set[int]] = {}

    def call() -> None:
        seen[threading.get_ident()] = os.sched_getaffinity(0)

    balanced(truetail.bench(call, rate=400, duration="200ms", workers=2, cpus=str(FIRST)))
    assert list(seen.values()) == [{FIRST}] * 2 and os.sched_getaffinity(0) == ALLOWED


def test_they_are_given_back_after_a_failure_and_in_a_loop() -> None:
    def fails() -> None:
        raise OSError("no database")

    with pytest.raises(OSError, match="no database"):
        truetail.bench(lambda _: None, rate=100, duration="100ms", setup=fails, cpus=[FIRST])
    assert os.sched_getaffinity(0) == ALLOWED
    seen: list[set[int]] = []

    async def call() -> None:
        seen.append(os.sched_getaffinity(0))

    balanced(truetail.bench(call, rate=100, duration="100ms", cpus=[FIRST]))
    assert seen == [{FIRST}] * 10 and os.sched_getaffinity(0) == ALLOWED


def test_real_time_priority_is_had_or_refused() -> None:
    before = os.sched_getscheduler(0)
    policies: list[int] = []
    run: dict[str, Any] = {"rate": 100, "duration": "100ms", "workers": 2}
    try:
        result = truetail.bench(lambda: policies.append(os.sched_getscheduler(0)), **run, realtime=True)
    except PermissionError as error:
        assert "CAP_SYS_NICE" in str(error) and policies == []
    else:
        assert policies == [os.SCHED_RR] * 10 and result.to_dict()["generator"]["realtime"] is True
    assert os.sched_getscheduler(0) == before
    assert "realtime" not in truetail.bench(lambda: None, **run).to_dict()["generator"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"cpus": ""}, "cpus: '' names no processors"),
        ({"cpus": "a"}, "cpus: 'a' names no processors"),
        ({"cpus": "3-1"}, "cpus: '3-1' names no processors"),
        ({"cpus": "0-99999999999"}, "names no processors"),
        ({"cpus": [-1]}, r"cpus: \[-1\] names no processors"),
        ({"cpus": [8191]}, "cpus: this process may not use 8191; it may use "),
        ({"realtime": True, "waiting": "spin", "workers": 8191}, "would let nothing else run"),
    ],
)
def test_what_cannot_be_is_refused(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        truetail.bench(lambda: None, rate=100, duration="100ms", **arguments)
    assert os.sched_getaffinity(0) == ALLOWED
