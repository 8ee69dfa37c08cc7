"""The pytest plugin of truetail: the fixture ``truetail_bench``.

pytest imports it in each session, so that it imports ``truetail`` only once a test measures something.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from truetail import Gate, Result

__all__ = ["TruetailBench", "truetail_bench"]

PROPERTY = "truetail"
"""Name of the property of a test, also in JUnit's XML, that has a measured run in one line."""


class TruetailBench:
    """Measures callables for one test, like :func:`truetail.bench`, and fails the test if a gate fails."""

    def __init__(self, node: pytest.Item) -> None:
        self._node = node

    def __call__(self, fn: Any, *load: Any, allow_open: bool = False, **more: Any) -> Result:
        """Takes what ``truetail.bench`` takes, and returns the result.

        The test fails if a gate of ``fail_if`` or ``slo`` fails. It also fails if a gate is open or the verdict is INVALID, unless
        ``allow_open`` is true.
        """
        __tracebackhide__ = True
        from truetail import bench

        result = bench(fn, *load, **more)
        self._node.add_report_section("call", "truetail", result.table())
        self._node.user_properties.append((PROPERTY, _line(result)))
        problems = _problems(result, allow_open)
        if problems:
            pytest.fail("\n".join(problems))
        return result


@pytest.fixture
def truetail_bench(request: pytest.FixtureRequest) -> TruetailBench:
    """Measures a callable under load: takes what truetail.bench takes, and fails the test if a gate fails."""
    return TruetailBench(request.node)


def _problems(result: Result, allow_open: bool) -> list[str]:
    failed = [_sentence("failed", gate) for gate in result.gates if gate.state == "fails"]
    if allow_open:
        return failed
    undecided = [_sentence("not decided", gate) for gate in result.gates if gate.state == "open"]
    verdict = result.verdict
    reasons = [f"INVALID: {reason.message}" for reason in verdict.reasons if reason.state == "INVALID"]
    return failed + undecided + (reasons if verdict.state == "INVALID" else [])


def _sentence(state: str, gate: Gate) -> str:
    return f"{state}: {gate.text}: {gate.message}"


def _line(result: Result) -> str:
    """``send_order: VALID, 1000 arrivals at 1000/s, p50 1.2ms``."""
    return repr(result).removeprefix("<truetail.Result").removesuffix(">").strip(" :")


def _measured(reports: Iterator[Any]) -> Iterator[tuple[str, str]]:
    """Test and run of each measurement. The report of a test's teardown has all its properties."""
    for report in reports:
        if getattr(report, "when", None) == "teardown":
            yield from ((report.nodeid, str(value)) for name, value in report.user_properties if name == PROPERTY)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Prints a line for each measured run, if there is any."""
    measured = list(_measured(report for reports in terminalreporter.stats.values() for report in reports))
    if measured:
        terminalreporter.section("truetail")
    for test, line in measured:
        terminalreporter.write_line(f"{test}  {line}")
