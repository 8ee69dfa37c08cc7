"""A load tester whose tail latency is true.

    import truetail

    result = truetail.bench(send_order, rate=1000, duration="60s", warmup="10s")
    print(result.table())

Each call is measured from the instant at which it should have begun, so a pause shows in every call that it held up.
Times are seconds; nanoseconds stand only behind names that end in ``_ns``.
"""

from truetail._bench import bench, bench_async
from truetail._http import run
from truetail._interrupt import Interrupted
from truetail._native import Histogram, Quantile, Reason, Result, Server, Verdict, __version__, load
from truetail._scenarios import serve, simulate

__all__ = [
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
