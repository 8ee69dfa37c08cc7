"""A callable under load."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Any, Literal, Optional, Union

from truetail import _aio
from truetail import _placement as placement
from truetail._arguments import refuse_other_signature, refuse_uncallable, row_tuple, texts
from truetail._interrupt import result_of
from truetail._native import Bench, Result
from truetail._placement import Cpus
from truetail._progress import shown
from truetail._types import Model, Rate, Spacing, Time, Waiting


def bench(
    fn: Union[Callable[..., object], Callable[..., Awaitable[object]], Callable[..., AsyncIterator[object]]],
    rate: Optional[Rate] = None,
    duration: Optional[Time] = None,
    warmup: Time = 0,
    workers: Optional[int] = None,
    *,
    requests: Optional[int] = None,
    spacing: Spacing = "even",
    seed: int = 1,
    model: Model = "open",
    users: Optional[Union[int, str]] = None,
    think_time: Optional[Time] = None,
    session_length: Optional[int] = None,
    waiting: Waiting = "sleep",
    in_flight: Optional[int] = None,
    timeout: Optional[Time] = None,
    drain: Time = "30s",
    max_failures: Optional[int] = 1000,
    stall: Optional[Time] = None,
    setup: Optional[Callable[[], object]] = None,
    rows: Optional[Sequence[object]] = None,
    slo: Iterable[str] = (),
    fail_if: Iterable[str] = (),
    label: Optional[Callable[[Any], Optional[str]]] = None,
    cpus: Optional[Cpus] = None,
    realtime: bool = False,
    progress: bool = False,
) -> Result:
    """Calls ``fn`` on a schedule, and measures each call from its intended start.

    A function is called on this thread, one call at a time; further ``workers`` are further threads. The interpreter's
    lock is held during a call and free between calls. Calls of an ``async def`` function overlap, in a new event loop;
    where a loop is already running, use ``await bench_async(...)``. If it yields, each item is measured too:
    ``Result.streams`` has the time to the first item, from the intended start, and the gaps between items.

    ``rate``            calls per second: ``1000``, ``"1.5k"``, ``"60/m"``; or a rate profile such as
                        ``"ramp:100..2000/60s"``. Required, except in the closed model
    ``duration``        measured time. Default: up to the last of ``requests``, or the end of a profile that has one, or 60 s
    ``warmup``          time before it, whose calls are not measured
    ``workers``         threads that call (default 1; in the closed model one per user)
    ``requests``        maximum number of calls, including those of the warm-up
    ``spacing``         ``"even"``, ``"poisson"`` for random gaps, or ``"gamma:0.5"`` for bursts, drawn from ``seed``
    ``model``           ``"open"``: calls are due on a schedule. ``"closed"``: each of ``users`` calls, waits for the end,
                        pauses for ``think_time``, and calls again. ``"partly-open"``: sessions begin at ``rate``, and
                        each makes ``session_length`` calls, one after the other
    ``users``           their number in the closed model: ``10``, or stages such as ``"0..50/10s,50/30s,50..0/10s"``
    ``waiting``         ``"sleep"``, or ``"spin"`` for less lag at the cost of a busy CPU
    ``in_flight``       maximum number of concurrent async calls; a call beyond it waits, and the wait counts
    ``timeout``         an async call that takes longer is cancelled and counted as timed out
    ``drain``           how long to wait for outstanding calls at the end
    ``max_failures``    stop after this many failures in a row on one worker; ``None``: never
    ``stall``           of an async generator: gaps between items of at least this are counted as stalls
    ``setup``           called once on each worker's own thread before the schedule begins, such as to connect a client; its value
                        is the first argument of ``fn``. For an ``async def`` function it is called once, and awaited in the loop.
                        If it raises, so does ``bench``, and nothing is measured
    ``rows``            objects, one of which is the next argument of ``fn``: call number n gets ``rows[n % len(rows)]``, in each run
                        the same
    ``slo``             what must hold, such as ``"p99 < 50ms"``; ``Result.gates`` says which do, and nothing is raised
    ``fail_if``         the opposite, such as ``"p99 > 50ms"``
    ``label``           called with what ``fn`` returned, after the end of the call; returns a text such as ``"rejected"``, or ``None``.
                        ``Result.labels`` has the calls and times of each. If it raises, the call failed
    ``cpus``            processors for this thread and all threads of the run, until it ends: ``"2-3"`` or ``[2, 3]``. Linux only
    ``realtime``        real-time priority for the same threads, so that other programs do not delay them. Linux; needs root or
                        CAP_SYS_NICE
    ``progress``        print progress on standard error

    An exception in ``fn`` is a failed call. ``Result.exceptions`` counts them by type, ``Result.first_exception`` is the
    first one, and ``Result.notes`` names it. Ctrl-C raises :class:`Interrupted` with what was measured so far.
    """
    kind = _kind_of(fn)
    row_list = row_tuple(rows)
    refuse_uncallable(setup=setup, label=label)
    refuse_other_signature(fn, setup, row_list)
    processors = placement.numbers(cpus)
    if realtime and waiting == "spin" and (workers or 1) >= placement.count(processors):
        raise ValueError("realtime: with waiting='spin' the workers would let nothing else run; use fewer workers, or waiting='sleep'")
    plan = Bench(
        kind=kind,
        rate=rate,
        duration=duration,
        warmup=warmup,
        requests=requests,
        spacing=spacing,
        seed=seed,
        model=model,
        users=users,
        think_time=think_time,
        session_length=session_length,
        workers=workers,
        waiting=waiting,
        in_flight=in_flight,
        timeout=timeout,
        drain=drain,
        max_failures=max_failures,
        stall=stall,
        slo=texts("slo", slo, "p99 < 50ms"),
        fail_if=texts("fail_if", fail_if, "p99 > 50ms"),
        label=label,
        rows=row_list,
        realtime=realtime,
    )
    with placement.placed(processors, realtime), shown(plan, progress):
        if kind != "function":
            return _aio.bench_in_a_new_loop(plan, _calls(kind, fn, _aio.Arguments(setup, row_list), label is not None), _name_of(fn))
        return result_of(plan.call(fn, _name_of(fn), setup))


async def bench_async(
    fn: Union[Callable[..., Awaitable[object]], Callable[..., AsyncIterator[object]]],
    rate: Optional[Rate] = None,
    duration: Optional[Time] = None,
    warmup: Time = 0,
    *,
    requests: Optional[int] = None,
    spacing: Spacing = "even",
    seed: int = 1,
    model: Model = "open",
    users: Optional[Union[int, str]] = None,
    think_time: Optional[Time] = None,
    session_length: Optional[int] = None,
    in_flight: Optional[int] = None,
    timeout: Optional[Time] = None,
    drain: Time = "30s",
    max_failures: Optional[int] = 1000,
    stall: Optional[Time] = None,
    setup: Optional[Callable[[], object]] = None,
    rows: Optional[Sequence[object]] = None,
    slo: Iterable[str] = (),
    fail_if: Iterable[str] = (),
    label: Optional[Callable[[Any], Optional[str]]] = None,
    progress: bool = False,
) -> Result:
    """Like :func:`bench`, in the event loop that is running: for clients that belong to it, and for notebooks.

    A native thread keeps the schedule. A call begins when its coroutine takes its first step. The time until the loop
    gets to it is generator lag, and part of the response time. The thread of the loop is the caller's, so there is no
    ``cpus`` and no ``realtime``.
    """
    kind = _kind_of(fn)
    if kind == "function":
        raise TypeError("fn: expected an async function; bench(fn) is for others")
    row_list = row_tuple(rows)
    refuse_uncallable(setup=setup, label=label)
    refuse_other_signature(fn, setup, row_list)
    plan = Bench(
        kind=kind,
        rate=rate,
        duration=duration,
        warmup=warmup,
        requests=requests,
        spacing=spacing,
        seed=seed,
        model=model,
        users=users,
        think_time=think_time,
        session_length=session_length,
        workers=None,
        waiting="sleep",
        in_flight=in_flight,
        timeout=timeout,
        drain=drain,
        max_failures=max_failures,
        stall=stall,
        slo=texts("slo", slo, "p99 < 50ms"),
        fail_if=texts("fail_if", fail_if, "p99 > 50ms"),
        label=label,
        rows=row_list,
        realtime=False,
    )
    with shown(plan, progress):
        return result_of(await _aio.drive(plan, _calls(kind, fn, _aio.Arguments(setup, row_list), label is not None), _name_of(fn)))


_Kind = Literal["function", "coroutine", "generator"]


def _calls(kind: _Kind, fn: Any, arguments: _aio.Arguments, are_labelled: bool) -> _aio.AsyncFunction:
    return _aio.Items(fn, arguments) if kind == "generator" else _aio.Coroutines(fn, arguments, are_labelled)


def _kind_of(fn: Any) -> _Kind:
    """What ``fn()`` gives. Refuses objects that a call would not run."""
    if asyncio.iscoroutine(fn):
        fn.close()
        raise TypeError("fn: this is a coroutine, which runs once; pass the async function itself, without ()")
    if inspect.isasyncgen(fn):
        raise TypeError("fn: this is a generator, which runs once; pass the async function itself, without ()")
    if not callable(fn):
        raise TypeError(f"fn: {type(fn).__name__!r} is not callable; pass the function itself, without ()")
    target = fn
    while isinstance(target, functools.partial):
        target = target.func
    kinds = [target, getattr(target, "__call__", None)]
    if any(inspect.isgeneratorfunction(kind) for kind in kinds):
        raise TypeError("fn: this is a generator function; calling it runs nothing of it. One that is 'async def' can be measured")
    if any(inspect.isasyncgenfunction(kind) for kind in kinds):
        return "generator"
    return "coroutine" if any(inspect.iscoroutinefunction(kind) for kind in kinds) else "function"


def _name_of(fn: object) -> Optional[str]:
    name = getattr(fn, "__name__", None)
    return None if name in (None, "<lambda>") else str(name)
