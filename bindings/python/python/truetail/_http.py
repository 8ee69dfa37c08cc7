"""HTTP under load."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Optional, Union

from truetail._interrupt import result_of
from truetail._native import HttpRun, Result
from truetail._progress import shown
from truetail._types import Model, Rate, Spacing, Time


def run(
    url: str,
    rate: Optional[Rate] = None,
    duration: Optional[Time] = "10s",
    warmup: Time = 0,
    *,
    requests: Optional[int] = None,
    spacing: Spacing = "even",
    seed: int = 1,
    model: Model = "open",
    users: Optional[int] = None,
    think_time: Optional[Time] = None,
    session_length: Optional[int] = None,
    method: str = "GET",
    headers: Union[Mapping[str, str], Iterable[tuple[str, str]]] = (),
    data: Union[str, bytes, None] = None,
    connections: Optional[int] = None,
    timeout: Optional[Time] = "30s",
    drain: Time = "30s",
    threads: Optional[int] = None,
    preflight: bool = True,
    progress: bool = False,
) -> Result:
    """Offers HTTP requests to ``url`` on a schedule, and measures each from its intended start.

    The engine is that of ``truetail run``, on native threads. ``rate``, ``duration``,
    ``warmup``, ``requests``, ``spacing`` and the load models are those of :func:`bench`.

    ``connections``     connections at most; an arrival that finds none free waits and keeps its intended start
    ``timeout``         how long a request may take from its actual start; ``None``: for ever
    ``threads``         default: as many as the load needs, at most one for each processor
    ``preflight``       send one request before the load, and raise ``ConnectionError`` if it is not answered
    """
    plan = HttpRun(
        url,
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
        method=method,
        headers=list(headers.items() if isinstance(headers, Mapping) else headers),
        data=data,
        connections=connections,
        timeout=timeout,
        drain=drain,
        threads=threads,
        preflight=preflight,
    )
    with shown(plan, progress):
        return result_of(plan.run())
