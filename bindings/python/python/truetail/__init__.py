"""A load tester whose tail latency is true.

    import truetail

    result = truetail.bench(send_order, rate=1000, duration="60s", warmup="10s")
    print(result.table())

Each call is measured from its intended start, so a pause shows in every call that it delayed. Times are in seconds,
except where a name ends in ``_ns``.
"""

from truetail._bench import bench, bench_async
from truetail._http import run
from truetail._interrupt import Interrupted
from truetail._native import Gate, Histogram, Quantile, Reason, Result, Server, Verdict, __version__, load
from truetail._scenarios import serve, simulate

__all__ = [
    "Gate",
    "Histogram",
    "Interrupted",
    "Quantile",
    "Reason",
    "Result",
    "Server",
    "Verdict",
    "__version__",
    "bench",
    "bench_async",
    "load",
    "run",
    "serve",
    "simulate",
]
