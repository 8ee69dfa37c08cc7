"""Coroutines under load.

A native thread keeps the schedule. It never takes the interpreter's lock: it queues due calls, and a socket that becomes
readable wakes the loop.
"""

from __future__ import annotations

import asyncio
import inspect
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from typing import Any, Optional, Union

from truetail._interrupt import Interrupted, result_of
from truetail._native import AsyncCall, Bench, Result

PATIENCE_S = 5.0
"""How long coroutines that are cancelled at the end of a run may take to finish."""


class Arguments:
    """The arguments of each call: what ``setup`` returned, and the row of its number."""

    def __init__(self, setup: Optional[Callable[[], object]], rows: Optional[tuple[object, ...]]) -> None:
        self._setup, self._rows = setup, rows
        self._state: tuple[object, ...] = ()

    async def set_up(self) -> None:
        """Calls ``setup`` in the running loop, and awaits it if that is needed."""
        if self._setup is not None:
            value = self._setup()
            self._state = (await value if inspect.isawaitable(value) else value,)

    def of(self, call: AsyncCall) -> tuple[object, ...]:
        if self._rows is None:
            return self._state
        return (*self._state, self._rows[call.number % len(self._rows)])


class Coroutines:
    """What an ``async def`` function gives."""

    def __init__(self, fn: Callable[..., Awaitable[object]], arguments: Arguments, are_labelled: bool) -> None:
        self._fn, self.arguments, self._are_labelled = fn, arguments, are_labelled

    async def call(self, call: AsyncCall) -> None:
        answer = await self._fn(*self.arguments.of(call))
        if self._are_labelled:
            call.labelled(answer)


class Items:
    """What an ``async def`` function gives that yields."""

    def __init__(self, fn: Callable[..., AsyncIterator[object]], arguments: Arguments) -> None:
        self._fn, self.arguments = fn, arguments

    async def call(self, call: AsyncCall) -> None:
        """Takes all items, and tells of each."""
        items: Any = self._fn(*self.arguments.of(call))
        try:
            while True:
                following = _Next(items.__anext__())
                try:
                    await following
                except StopAsyncIteration:
                    return
                call.item(following.had_to_wait)
        finally:
            await items.aclose()


AsyncFunction = Union[Coroutines, Items]


class _Next:
    """Awaits the next item, and notices whether it was there already.

    A client that reads several items at once yields all but the first without giving the event loop a turn.
    """

    def __init__(self, item: Awaitable[object]) -> None:
        self._item: Any = item
        self.had_to_wait = False

    def __await__(self) -> Generator[Any, Any, Any]:
        steps = self._item.__await__()
        step, sent = steps.send, None
        while True:
            try:
                awaited = step(sent)
            except StopIteration as last:
                return last.value
            self.had_to_wait = True
            try:
                step, sent = steps.send, (yield awaited)
            except GeneratorExit:
                steps.close()
                raise
            except BaseException as error:
                step, sent = steps.throw, error


def bench_in_a_new_loop(plan: Bench, fn: AsyncFunction, name: Optional[str]) -> Result:
    """Runs in an event loop of its own. Ctrl-C drains the run; a second one ends it at once."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise RuntimeError("an event loop is running in this thread already; write: await truetail.bench_async(...)")
    return asyncio.run(_interruptible(plan, fn, name, _may_catch_ctrl_c()))


def _may_catch_ctrl_c() -> bool:
    in_main_thread = threading.current_thread() is threading.main_thread()
    return in_main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler


async def _interruptible(plan: Bench, fn: AsyncFunction, name: Optional[str], catch: bool) -> Result:
    interrupts = 0

    def interrupt() -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts == 1:
            plan.stop()
        else:
            plan.stop_now()

    loop = asyncio.get_running_loop()
    if catch:
        loop.add_signal_handler(signal.SIGINT, interrupt)
    try:
        result = result_of(await drive(plan, fn, name))
    finally:
        if catch:
            loop.remove_signal_handler(signal.SIGINT)
    if interrupts:
        raise Interrupted(result)
    return result


async def drive(
    plan: Bench, fn: AsyncFunction, name: Optional[str]
) -> tuple[Result, Optional[BaseException]]:
    """Sets up, and starts due calls in the running loop until the run is over."""
    await fn.arguments.set_up()
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()
    tasks: dict[asyncio.Task[None], AsyncCall] = {}
    pump = plan.pump(name)

    def start_due_calls() -> None:
        calls, last = pump.due()
        for call in calls:
            task = loop.create_task(_measured(call, fn, pump.timeout))
            tasks[task] = call
            task.add_done_callback(tasks.__delitem__)
        if last:
            loop.remove_reader(pump.fileno())
            if not over.done():
                over.set_result(None)

    loop.add_reader(pump.fileno(), start_due_calls)
    try:
        await over
    except asyncio.CancelledError:
        plan.stop_now()
        raise
    finally:
        loop.remove_reader(pump.fileno())
        await _cancel(tasks)
    return plan.finish(pump)


async def _cancel(tasks: dict[asyncio.Task[None], AsyncCall]) -> None:
    """Cancels calls that are in flight when the run ends; the pump has counted them already."""
    for task, call in tasks.items():
        call.cut_short()
        task.cancel()
    if tasks:
        await asyncio.wait(list(tasks), timeout=PATIENCE_S)


async def _measured(call: AsyncCall, fn: AsyncFunction, timeout: Optional[float]) -> None:
    call.begin()
    task, timer = asyncio.current_task(), None
    if timeout is not None and task is not None:
        timer = asyncio.get_running_loop().call_later(timeout, _time_out, call, task)
    try:
        await fn.call(call)
    except asyncio.CancelledError as error:
        # Has no effect on a call that timed out or was cut short.
        call.failed(error)
        raise
    except Exception as error:
        call.failed(error)
    else:
        call.answered()
    finally:
        if timer is not None:
            timer.cancel()


def _time_out(call: AsyncCall, task: asyncio.Task[Any]) -> None:
    call.timed_out()
    task.cancel()
