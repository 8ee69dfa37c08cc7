"""Reads an HdrHistogram log with the reference port for Python and prints, as JSON, what it finds in it.

    read_hlog.py LOG FROM_SECOND TO_SECOND < queries

Queries are a JSON object {tag: [rank, ...]}. The answer has, for the whole log and for the intervals that begin in
[FROM_SECOND, TO_SECOND] after the start, by tag: the count, the buckets in use as [highest value, count], and the value
at each rank that was asked for. It also has the times of the log itself.
"""

import json
import sys

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

HIGHEST = 1 << 44


def intervals(path, first, last):
    """Each interval of the log that begins in the range, and the reader, which knows the start time."""
    reader = HistogramLogReader(path, HdrHistogram(1, HIGHEST, 3))
    try:
        while interval := reader.get_next_interval_histogram(first, last):
            yield interval, reader
    finally:
        reader.close()


def by_tag(path, first, last):
    """The intervals of a range, added up by tag."""
    sums = {}
    for interval, _ in intervals(path, first, last):
        sums.setdefault(interval.get_tag(), HdrHistogram(1, HIGHEST, 3)).add(interval)
    return sums


def value_at_rank(histogram, rank):
    """This port rounds count * percentile / 100 to the nearest rank, so a rank is asked for by its own percentile."""
    return histogram.get_value_at_percentile(100 * rank / histogram.get_total_count())


def describe(histogram, ranks):
    buckets = [
        [histogram.get_highest_equivalent_value(item.value_iterated_to), item.count_at_value_iterated_to]
        for item in histogram.get_recorded_iterator()
    ]
    ranks = [rank for rank in ranks if rank <= histogram.get_total_count()]
    return {
        "count": histogram.get_total_count(),
        "buckets": buckets,
        "ranks": [[rank, value_at_rank(histogram, rank)] for rank in ranks],
    }


def times(path):
    """When the log, its first interval and its last interval begin or end."""
    found = [
        (interval.get_start_time_stamp(), interval.get_end_time_stamp(), reader.get_start_time_sec())
        for interval, reader in intervals(path, 0, sys.maxsize)
    ]
    return {
        "first_start_ms": found[0][0],
        "last_end_ms": max(end for _, end, _ in found),
        "start_time_s": found[0][2],
    }


def main():
    path, first, last = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    queries = json.load(sys.stdin)

    def described(sums):
        return {tag: describe(histogram, queries.get(tag, [])) for tag, histogram in sums.items()}

    whole, part = by_tag(path, 0, sys.maxsize), by_tag(path, first, last)
    json.dump({"whole": described(whole), "range": described(part), **times(path)}, sys.stdout)


main()
