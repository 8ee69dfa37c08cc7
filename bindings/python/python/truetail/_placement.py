"""Processors and priority of the threads of a run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Optional, Union

Cpus = Union[str, Iterable[int]]
"""Numbers of processors: ``"0,2-3"`` or ``[0, 2, 3]``."""

PRIORITY = 1
"""Real-time priority, the lowest, as of the workers of ``truetail run --realtime``."""
LAST_CPU = 8191
"""Highest number of a processor that Linux may have."""


@contextmanager
def placed(cpus: Optional[set[int]], realtime: bool) -> Iterator[None]:
    """Gives these processors and real-time priority to this thread, from which new threads inherit them, and takes them
    back."""
    if cpus is None and not realtime:
        yield
        return
    if sys.platform != "linux":
        raise ValueError(f"{'realtime' if realtime else 'cpus'}: only Linux has it")
    allowed, policy, param = os.sched_getaffinity(0), os.sched_getscheduler(0), os.sched_getparam(0)
    wanted = allowed if cpus is None else cpus
    if not wanted <= allowed:
        given = ", ".join(map(str, sorted(allowed)))
        raise ValueError(f"cpus: this process may not use {min(wanted - allowed)}; it may use {given}")
    try:
        os.sched_setaffinity(0, wanted)
        if realtime:
            _run_at_real_time()
        yield
    finally:
        os.sched_setscheduler(0, policy, param)
        os.sched_setaffinity(0, allowed)


def count(cpus: Optional[set[int]]) -> int:
    """The number of processors that the run may use."""
    if sys.platform != "linux":
        return os.cpu_count() or 1
    return len(os.sched_getaffinity(0) if cpus is None else cpus)


def _run_at_real_time() -> None:
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))
    except OSError as error:
        raise PermissionError(
            f"realtime: this process may not use real-time priority ({error.strerror}); run it as root or with CAP_SYS_NICE"
        ) from None


def numbers(cpus: Optional[Cpus]) -> Optional[set[int]]:
    """The processors that were given."""
    if cpus is None:
        return None
    found = _parsed(cpus) if isinstance(cpus, str) else set(cpus)
    if not found or not all(isinstance(number, int) and 0 <= number <= LAST_CPU for number in found):
        raise ValueError(f"cpus: {cpus!r} names no processors; write numbers such as '0,2-3' or [0, 2, 3]")
    return found


def _parsed(text: str) -> set[int]:
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        numbers = [first.strip(), (last or first).strip()]
        if not all(number.isdecimal() and int(number) <= LAST_CPU for number in numbers):
            return set()
        found.update(range(int(numbers[0]), int(numbers[1]) + 1))
    return found
