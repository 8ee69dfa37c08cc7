"""A load tester whose tail latency is true.

    import truetail

    result = truetail.bench(send_order, rate=1000, duration="60s", warmup="10s")
    print(result.table())

Each call is measured from its intended start, so a pause shows in every call that it delayed. Times are in seconds,
except where a name ends in ``_ns``.
"""

from truetail._bench import bench, bench_async
from truetail._flow import flow
from truetail._http import run
from truetail._interrupt import Interrupted
from truetail._native import Gate, Histogram, Quantile, Reason, Result, Server, Verdict, __version__, load
from truetail._scenarios import serve, simulate
from truetail._session import BodyTooLong, Headers, Response, Session, StatusError

__all__ = [
    "BodyTooLong",
    "Gate",
    "Headers",
    "Histogram",
    "Interrupted",
    "Quantile",
    "Reason",
    "Response",
    "Result",
    "Server",
    "Session",
    "StatusError",
    "Verdict",
    "__version__",
    "bench",
    "bench_async",
    "flow",
    "load",
    "run",
    "serve",
    "simulate",
]
