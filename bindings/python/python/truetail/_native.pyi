"""The native half of truetail."""

from collections.abc import Callable
from typing import Any, Literal, Optional, Union, final

import numpy
import pandas

from truetail._types import GrpcBooks, LabelTimes, MessageBooks, Metric, Path, Rate, State, Time

__all__ = [
    "AsyncCall",
    "Bench",
    "FlowRun",
    "Gate",
    "Histogram",
    "HttpRun",
    "Pump",
    "Quantile",
    "Reason",
    "Result",
    "Server",
    "Verdict",
    "__version__",
    "command",
    "load",
    "nanoseconds",
    "part",
    "restored",
    "simulate",
]

__version__: str

@final
class Quantile:
    """One quantile of a distribution, with its confidence interval and what limits it."""

    @property
    def q(self) -> float:
        """In [0, 1]."""
    @property
    def value(self) -> Optional[float]:
        """Seconds; a lower bound where `at_least`; `None` where the sample is too small."""
    @property
    def value_ns(self) -> Optional[int]:
        """As `value`, in nanoseconds."""
    @property
    def low(self) -> Optional[float]:
        """Lower end of the 95 % confidence interval, seconds."""
    @property
    def low_ns(self) -> Optional[int]:
        """As `low`, in nanoseconds."""
    @property
    def high(self) -> Optional[float]:
        """Upper end of the 95 % confidence interval, seconds; `None` where it has none."""
    @property
    def high_ns(self) -> Optional[int]:
        """As `high`, in nanoseconds."""
    @property
    def at_least(self) -> bool:
        """It falls among arrivals without an answer: the truth is at least `value`."""
    @property
    def no_answer(self) -> bool:
        """It falls among arrivals that failed: no answer would ever have come."""
    @property
    def supported(self) -> bool:
        """The sample is large enough to support it."""
    @property
    def needs_n(self) -> Optional[int]:
        """How many arrivals would support it, where the sample is too small."""
    @property
    def unresolved(self) -> bool:
        """The generator's own lag is too large a share of it."""
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Reason:
    """One reason against a run, with the numbers that triggered it."""

    @property
    def code(self) -> str:
        """Snake case, such as `generator_paused`."""
    @property
    def state(self) -> State:
        """How bad this reason alone makes it."""
    @property
    def message(self) -> str:
        """A sentence with its numbers, and what to do about it."""
    @property
    def numbers(self) -> dict[str, Any]:
        """The numbers, by name; names end in their unit."""
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Verdict:
    """The worst state among the reasons, and the reasons."""

    @property
    def state(self) -> State:
        """`VALID`, `SUSPECT` or `INVALID`."""
    @property
    def reasons(self) -> list[Reason]:
        """Worst first."""
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Gate:
    """A gate, and what the run says of it."""

    @property
    def text(self) -> str:
        """The condition as it was written: `p99 > 50ms`."""
    @property
    def state(self) -> Literal["holds", "fails", "open"]:
        """`holds`: the service passed; `fails`; or `open`: the run cannot tell."""
    @property
    def value(self) -> Optional[float]:
        """What was measured: seconds, a share in [0, 1], or a rate per second; `None` where there is no value."""
    @property
    def limit(self) -> Optional[float]:
        """The limit, in the unit of `value`."""
    @property
    def message(self) -> str:
        """What was measured, and for an open gate what would decide it."""
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Histogram:
    """The used buckets of an HdrHistogram with three significant digits, ascending."""

    @property
    def low_ns(self) -> list[int]:
        """The lowest value of each bucket."""
    @property
    def high_ns(self) -> list[int]:
        """The highest value of each bucket."""
    @property
    def count(self) -> list[int]:
        """How many values each bucket holds."""
    def __len__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Result:
    """A measured run and its findings.

    Times are seconds; nanoseconds stand only behind names that end in `_ns`.
    """

    def quantile(self, q: float, metric: Metric = "response_time") -> Optional[float]:
        """Quantile `q` in [0, 1] of `metric` in seconds.

        Infinite where it falls among arrivals without an answer, `None` where the sample is too small to carry it. A time of
        streams that this run does not have is a `ValueError`.
        """
    def quantile_ns(self, q: float, metric: Metric = "response_time") -> Optional[int]:
        """Quantile `q` in [0, 1] of `metric` in nanoseconds.

        `None` where it falls among arrivals without an answer, and where the sample is too small to carry it.
        """
    def quantile_info(self, q: float, metric: Metric = "response_time") -> Quantile:
        """Everything about quantile `q` in [0, 1] of `metric`."""
    @property
    def name(self) -> Optional[str]:
        """What was measured: the name of the scenario or of the callable."""
    @property
    def model(self) -> Literal["open", "closed", "partly-open"]:
        """The load model: who decides when the next request comes."""
    @property
    def count(self) -> int:
        """Arrivals that were planned and measured, with and without an answer."""
    @property
    def tally(self) -> dict[str, int]:
        """The tally: planned = issued + never_issued, and the outcomes of the issued."""
    @property
    def warmup_tally(self) -> dict[str, int]:
        """The tally of the warm-up, which no other figure includes."""
    @property
    def streams(self) -> Optional[dict[str, Any]]:
        """The streams, as ``stream`` in run.json has them; ``None`` where answers were not read as such."""
    @property
    def messages(self) -> Optional[MessageBooks]:
        """The books of messages besides their replies, as ``messages`` in run.json has them; ``None`` without messages."""
    @property
    def grpc(self) -> Optional[GrpcBooks]:
        """Calls by the name of their status, as ``grpc`` in run.json has them; ``None`` without gRPC calls."""
    @property
    def sessions(self) -> Optional[dict[str, Any]]:
        """The sessions, as ``sessions`` in run.json has them; ``None`` where there was no flow."""
    @property
    def statuses(self) -> dict[int, int]:
        """Answers by HTTP status; empty for callables."""
    @property
    def causes(self) -> dict[str, int]:
        """Failures by cause."""
    @property
    def exceptions(self) -> dict[str, int]:
        """How many exceptions a callable, or the function of a session, raised, by type, warm-up included."""
    @property
    def first_exception(self) -> Optional[BaseException]:
        """The first exception that it raised, with its traceback."""
    @property
    def labels(self) -> dict[str, LabelTimes]:
        """Measured answers by the label that `label` gave them: their number, and response times in seconds."""
    @property
    def verdict(self) -> Verdict:
        """Whether the figures can be trusted, and if not, why."""
    @property
    def gates(self) -> list[Gate]:
        """The gates of `slo` and `fail_if`, and what the run says of each."""
    @property
    def checks(self) -> list[dict[str, Any]]:
        """The checks, and how many answers passed and failed each."""
    @property
    def offered_per_second(self) -> Optional[float]:
        """Planned arrivals per second of the schedule; None for fewer than two without a given duration."""
    @property
    def throughput_per_second(self) -> Optional[float]:
        """Answers per second of the schedule, or until the last answer where some came later; None for fewer than two arrivals."""
    @property
    def interrupted(self) -> bool:
        """The run was ended early."""
    @property
    def notes(self) -> list[str]:
        """Notes that belong to no figure."""
    @property
    def lacking(self) -> list[str]:
        """What could not be read of a saved run, because its file is missing."""
    @property
    def one_in(self) -> int:
        """`to_numpy` holds one arrival in this many."""
    def table(self, *, width: int = 100, color: bool = False, unicode: bool = True) -> str:
        """The whole tail on one screen, as the command line prints it."""
    def hist(self, metric: Metric = "response_time") -> Histogram:
        """The distribution of `metric` by bucket. That of `response_time` holds the answered arrivals, that of a time of streams
        the values that came."""
    def to_numpy(self, *, slowest: bool = False) -> numpy.ndarray[Any, numpy.dtype[numpy.void]]:
        """Single arrivals in the order of their intended start, as a structured array.

        All where they fit, else an even part of them (see `one_in`). `slowest=True` adds those that were kept only
        because they are slow. `status` is NaN where there is none. If a request has them, there are further columns of
        samples.csv: `first_byte_ns`, `send_wait_ns`, `knock_on_ns`, `target`, `session`, `turn`, `row` and `connection`, NaN
        where there is none, and `trace_id`. A run of streams also has the columns of samples.csv about them, such as
        `first_content_ns` and `output_tokens`: NaN, or an empty text, where they are unknown.
        """
    def to_pandas(self, *, slowest: bool = False) -> pandas.DataFrame:
        """The same as `to_numpy`, as a data frame. `status` is NA where there is none, and `target` is the name of the
        target. Of streams, `gaps_ns` has the list of the gaps of each, None where they are not kept."""
    def to_dict(self) -> dict[str, Any]:
        """The content of `run.json`."""
    def save(self, path: Path, *, force: bool = False) -> None:
        """Saves the run and its page (report.html) in this folder, which must be new or empty. With `force=True` it may hold an
        earlier run, which is replaced."""
    def __copy__(self) -> Result: ...
    def __deepcopy__(self, _memo: object, /) -> Result: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def _repr_html_(self) -> str: ...

@final
class Server:
    """A server that misbehaves as its scenario says, until `stop()` or the end of its `with` block."""

    def __new__(
        cls,
        scenario: Path,
        *,
        duration: Optional[Time],
        baseline: Optional[Time],
        host: str,
        port: int,
        truth: Optional[Path],
    ) -> Server: ...
    @property
    def url(self) -> str:
        """The URL to send load to, with the path of the scenario."""
    @property
    def host(self) -> str:
        """The address it listens on."""
    @property
    def port(self) -> int:
        """The port it listens on."""
    @property
    def admitted(self) -> int:
        """Requests that have arrived so far, without health checks."""
    def stop(self) -> None:
        """Closes all connections and completes the truth log. Does nothing the second time."""
    def __enter__(self) -> Server: ...
    def __exit__(self, kind: object, error: object, traceback: object) -> None: ...

@final
class AsyncCall:
    """One call of a coroutine function or an async generator. Only the first reported outcome counts."""

    @property
    def number(self) -> int: ...
    def begin(self) -> None: ...
    def item(self, had_to_wait: bool) -> None: ...
    def labelled(self, answer: object) -> None: ...
    def answered(self) -> None: ...
    def failed(self, error: BaseException) -> None: ...
    def timed_out(self) -> None: ...
    def cut_short(self) -> None: ...

@final
class Pump:
    """Hands due calls to an event loop that waits until `fileno()` is readable."""

    def fileno(self) -> int: ...
    @property
    def timeout(self) -> Optional[float]: ...
    def due(self) -> tuple[list[AsyncCall], bool]: ...

@final
class Bench:
    """The plan of a run of a callable, and its controls."""

    def __new__(
        cls,
        *,
        kind: Literal["function", "coroutine", "generator"],
        rate: Optional[Rate],
        duration: Optional[Time],
        warmup: Time,
        requests: Optional[int],
        spacing: str,
        seed: int,
        model: str,
        users: Optional[Union[int, str]],
        think_time: Optional[Time],
        session_length: Optional[int],
        workers: Optional[int],
        waiting: str,
        in_flight: Optional[int],
        timeout: Optional[Time],
        drain: Time,
        max_failures: Optional[int],
        stall: Optional[Time],
        slo: list[str],
        fail_if: list[str],
        label: Optional[Callable[[Any], Optional[str]]],
        rows: Optional[tuple[object, ...]],
        realtime: bool,
    ) -> Bench: ...
    def call(
        self,
        function: Any,
        name: Optional[str],
        setup: Optional[Callable[[], object]],
    ) -> tuple[Result, Optional[BaseException]]: ...
    def pump(self, name: Optional[str]) -> Pump: ...
    def finish(self, pump: Pump) -> tuple[Result, Optional[BaseException]]: ...
    def stop(self) -> None: ...
    def stop_now(self) -> None: ...
    def progress_text(self) -> str: ...

@final
class HttpRun:
    """The plan of a run over real sockets, and its controls."""

    def __new__(
        cls,
        *,
        request: dict[str, Any],
        channel: dict[str, Any],
        tls: dict[str, Any],
        streams: dict[str, Any],
        rate: Optional[Rate],
        duration: Optional[Time],
        warmup: Time,
        requests: Optional[int],
        spacing: str,
        seed: int,
        model: str,
        users: Optional[Union[int, str]],
        think_time: Optional[Time],
        session_length: Optional[int],
        connections: Optional[int],
        connection_per_session: bool,
        max_streams: Optional[int],
        timeout: Optional[Time],
        drain: Time,
        threads: Optional[int],
        preflight: bool,
        fail_if: list[str],
        checks: list[str],
        allow_errors: bool,
    ) -> HttpRun: ...
    def run(self) -> tuple[Result, Optional[BaseException]]: ...
    def progress_text(self) -> str: ...

@final
class FlowRun:
    """The plan of a run of sessions that a coroutine function leads, and its controls."""

    def __new__(
        cls,
        *,
        session: dict[str, Any],
        tls: dict[str, Any],
        rate: Optional[Rate],
        duration: Optional[Time],
        warmup: Time,
        sessions: Optional[int],
        spacing: str,
        seed: int,
        connections: Optional[int],
        connection_per_session: bool,
        max_streams: Optional[int],
        timeout: Optional[Time],
        drain: Time,
        threads: int,
        preflight: bool,
        slo: list[str],
        fail_if: list[str],
        allow_errors: bool,
    ) -> FlowRun: ...
    def run(self) -> tuple[Result, Optional[BaseException]]: ...
    def progress_text(self) -> str: ...

def nanoseconds(name: str, given: Time) -> int:
    """The nanoseconds of a time, which is the argument `name`."""

def load(path: Path) -> Result:
    """Loads the run that was saved in this folder."""

def part(kind: str, text: str) -> Any:
    """Makes a pickled part of a result again."""

def restored(path: Path, by_type: dict[str, int], first: Optional[BaseException], labels: str, lacking: list[str]) -> Result:
    """Loads a pickled result: the packed run in a file, and what Python knows of it besides."""

def simulate(scenario: Path, duration: Optional[Time] = None) -> Any: ...
def command(arguments: list[str]) -> int:
    """Runs the command line (the program's name first) and returns its exit code."""
