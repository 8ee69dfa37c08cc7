"""Scenarios, in virtual time and as a server."""

from __future__ import annotations

from typing import Literal, Optional, Union, cast, overload

from truetail import _native
from truetail._native import Result, Server
from truetail._types import Path, Time

Lab = Literal["freeze", "every-nth", "order-router"]


@overload
def simulate(scenario: Lab) -> dict[str, Result]: ...  # type: ignore[overload-overlap]
@overload
def simulate(scenario: Path, duration: Optional[Time] = None) -> Result: ...
def simulate(scenario: Path, duration: Optional[Time] = None) -> Union[Result, dict[str, Result]]:
    """What an ideal client would measure in a scenario, to the nanosecond, in virtual time.

    ``scenario``    the name of a built-in scenario, or its beginning (``"02"``); a TOML file; or the text of one, if it
                    contains a line break. The labs ``"freeze"``, ``"every-nth"`` and ``"order-router"`` give
                    several results, by the name of the series
    ``duration``    scales the scenario to this length
    """
    return cast("Union[Result, dict[str, Result]]", _native.simulate(scenario, duration))


def serve(
    scenario: Path = "01-healthy",
    *,
    duration: Optional[Time] = None,
    baseline: Optional[Time] = None,
    host: str = "127.0.0.1",
    port: int = 0,
    truth: Optional[Path] = None,
) -> Server:
    """A server in this process that misbehaves as a scenario says, until ``stop()`` or the end of its ``with`` block.

        with truetail.serve("02-single-hiccup") as server:
            result = truetail.run(server.url, rate=1000, duration="60s")

    ``duration``    scales the scenario, as in :func:`simulate`
    ``baseline``    service time of a request, instead of the scenario's
    ``port``        0: any that is free
    ``truth``       write the server's truth log to this file, as CSV
    """
    return Server(scenario, duration=duration, baseline=baseline, host=host, port=port, truth=truth)
