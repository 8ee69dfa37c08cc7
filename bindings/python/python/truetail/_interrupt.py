"""Runs that are ended early."""

from __future__ import annotations

from typing import Optional

from truetail._native import Result


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run. What was measured until then is in ``result``, with balanced books."""

    result: Result

    def __init__(self, result: Result) -> None:
        super().__init__(f"interrupted after {result.count} arrivals; what was measured is in .result")
        self.result = result


def result_of(outcome: tuple[Result, Optional[BaseException]]) -> Result:
    """The result, unless something ended the run: then that is raised."""
    result, ended_by = outcome
    if ended_by is None:
        return result
    if type(ended_by) is KeyboardInterrupt:
        raise Interrupted(result) from ended_by
    raise ended_by
