//! The median response time over the intended starts of the arrivals.

use truetail_model::record::{Distributions, Metric, RequestRecord, SecondCounts, Snapshot, rank_of};
use truetail_model::time::NANOS_PER_SECOND;

/// Approximate maximum number of values. A longer run is cut into longer stretches.
const MAX_STRETCHES: u64 = 300;
/// Minimum average number of arrivals in a stretch. The median of fewer says too little.
const ARRIVALS: u64 = 5;
/// A run shorter than this is cut into parts of a second, if single requests are known.
const SHORT_NS: u64 = 30 * NANOS_PER_SECOND;
/// Parts of a second that a short run may be cut into, and about how many of them at most.
const PARTS_NS: [u64; 5] = [50_000_000, 100_000_000, 200_000_000, 250_000_000, 500_000_000];
const MAX_PARTS: u64 = 120;

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct MedianSeries {
    /// The natural logarithm of the median response time in nanoseconds, over all arrivals intended in the stretch. An
    /// arrival without an answer counts with the time waited for it. A failed arrival is slower than everything.
    pub(crate) values: Vec<f64>,
    /// Start of the first stretch, from the origin.
    pub(crate) from_ns: u64,
    pub(crate) width_ns: u64,
    /// Value of a median that failed: twice the slowest time seen.
    failed: f64,
}

struct SeriesRange {
    from_ns: u64,
    /// From `from_ns` to the last intended start.
    length_ns: u64,
    arrivals: u64,
    /// Stretches can be cut at a multiple of this: a second, or the length of an interval.
    grain_ns: u64,
}

impl MedianSeries {
    /// Returns the series of a run. Returns `None` if nothing was planned, or if neither single requests nor the
    /// distributions of the intervals are known. `every` holds all arrivals in order, if each was kept.
    pub(crate) fn new(snapshot: &Snapshot, every: Option<&[RequestRecord]>) -> Option<MedianSeries> {
        let extent = SeriesRange::new(snapshot, every)?;
        let failed = slowest(snapshot).saturating_mul(2).max(2);
        let width_ns = extent.width_ns(every.is_some());
        let count = extent.length_ns / width_ns + 1;
        let medians = match every {
            Some(records) => record_medians(records, extent.from_ns, width_ns, count, failed),
            None => interval_medians(snapshot, extent.from_ns, width_ns, count, failed)?,
        };
        let values = filled(medians, extent.arrivals / count / 2);
        let ln = |median: u64| libm::log(median.max(1) as f64);
        Some(MedianSeries {
            values: values.into_iter().map(ln).collect(),
            from_ns: extent.from_ns,
            width_ns,
            failed: ln(failed),
        })
    }

    /// Converts a level to a time. Returns `None` if no answer came.
    pub(crate) fn level_ns(&self, ln: f64) -> Option<u64> {
        (ln < self.failed - 1e-9).then(|| libm::exp(ln).round() as u64)
    }

    pub(crate) fn begin_ns(&self, i: usize) -> u64 {
        self.from_ns + i as u64 * self.width_ns
    }

    pub(crate) fn end_ns(&self) -> u64 {
        self.begin_ns(self.values.len())
    }

    #[cfg(test)]
    pub(super) fn from_values(values: Vec<f64>) -> MedianSeries {
        MedianSeries { values, from_ns: 0, width_ns: NANOS_PER_SECOND, failed: f64::INFINITY }
    }
}

impl SeriesRange {
    fn new(snapshot: &Snapshot, every: Option<&[RequestRecord]>) -> Option<SeriesRange> {
        let (first_ns, last_ns) = match every {
            Some(records) => (records.first()?.intended_start.0, records.last()?.intended_start.0),
            None => {
                let busy = |row: &SecondCounts| row.planned > 0;
                let first = snapshot.seconds.iter().position(busy)?;
                let last = snapshot.seconds.iter().rposition(busy)?;
                (first as u64 * NANOS_PER_SECOND, last as u64 * NANOS_PER_SECOND)
            }
        };
        let grain_s = if every.is_some() { 1 } else { snapshot.intervals.width_s() };
        let grain_ns = grain_s * NANOS_PER_SECOND;
        let from_ns = first_ns - first_ns % grain_ns;
        Some(SeriesRange { from_ns, length_ns: last_ns - from_ns, arrivals: snapshot.tally.planned.max(1), grain_ns })
    }

    fn width_ns(&self, single_requests: bool) -> u64 {
        let enough_ns = self.length_ns.max(1).saturating_mul(ARRIVALS).div_ceil(self.arrivals);
        let part = |width_ns: &&u64| **width_ns >= enough_ns && self.length_ns / **width_ns <= MAX_PARTS;
        if single_requests
            && self.length_ns < SHORT_NS
            && let Some(width_ns) = PARTS_NS.iter().find(part)
        {
            return *width_ns;
        }
        enough_ns.max(self.length_ns / MAX_STRETCHES).div_ceil(self.grain_ns).max(1) * self.grain_ns
    }
}

fn slowest(snapshot: &Snapshot) -> u64 {
    let seen = [Metric::ResponseTime, Metric::Censored, Metric::Failed];
    seen.iter().filter_map(|metric| snapshot.metric(*metric).max()).map(|max| max.0).max().unwrap_or(0)
}

type Medians = Vec<(Option<u64>, u64)>;

/// Computes the medians of `records`, which are in the order of their intended start.
fn record_medians(records: &[RequestRecord], from_ns: u64, width_ns: u64, count: u64, failed: u64) -> Medians {
    let time = |record: &RequestRecord| if record.outcome.is_failed() { failed } else { record.response_time().0 };
    let begin = |i: u64| records.partition_point(|record| record.intended_start.0 < from_ns + i * width_ns);
    let mut times = Vec::new();
    let mut median = |i: u64| {
        times.clear();
        times.extend(records[begin(i)..begin(i + 1)].iter().map(time));
        let n = times.len() as u64;
        let middle = rank_of(0.5, n).checked_sub(1)? as usize;
        Some((*times.select_nth_unstable(middle).1, n))
    };
    (0..count).map(|i| median(i).map_or((None, 0), |(median, n)| (Some(median), n))).collect()
}

/// Returns `None` if the run kept no distributions over time. `from_ns` and `width_ns` are multiples of an interval.
fn interval_medians(snapshot: &Snapshot, from_ns: u64, width_ns: u64, count: u64, failed: u64) -> Option<Medians> {
    let from = (from_ns / NANOS_PER_SECOND) as usize;
    let width = (width_ns / NANOS_PER_SECOND) as usize;
    let intervals = &snapshot.intervals;
    let stretch = |i: u64| {
        let begin = from + i as usize * width;
        let end = from + (i as usize + 1) * width;
        let seconds = part(&snapshot.seconds, begin, end);
        let rows = part(intervals.rows(), intervals.interval_of(begin), intervals.interval_of(end));
        median_of_rows(rows, seconds.iter().map(|row| row.planned).sum(), failed)
    };
    (0..count).map(stretch).collect()
}

/// Returns the existing rows from `begin` to before `end`.
fn part<T>(rows: &[T], begin: usize, end: usize) -> &[T] {
    &rows[begin.min(rows.len())..end.min(rows.len())]
}

fn median_of_rows(rows: &[Distributions], planned: u64, failed: u64) -> Option<(Option<u64>, u64)> {
    let mut times: Vec<(u64, u64)> = Vec::new();
    for row in rows {
        let known = [Metric::ResponseTime, Metric::Censored].map(|metric| row.metric(metric).buckets());
        times.extend(known.into_iter().flatten().map(|(value, count)| (value.0, count)));
        times.push((failed, row.metric(Metric::Failed).count()));
    }
    let n: u64 = times.iter().map(|(_, count)| count).sum();
    times.sort_unstable();
    let rank = rank_of(0.5, n);
    let mut seen = 0;
    let middle = times.iter().find(|(_, count)| {
        seen += count;
        n > 0 && seen >= rank
    });
    (n == planned).then_some((middle.map(|(time, _)| *time), n))
}

/// Gives stretches without arrivals the value of the stretch before them. Leaves out a last stretch with fewer than
/// `fewest` arrivals, because the schedule ended in the middle of it.
fn filled(mut medians: Medians, fewest: u64) -> Vec<u64> {
    if medians.len() > 1 && medians.last().is_some_and(|(_, n)| *n < fewest) {
        medians.pop();
    }
    let mut before = medians.iter().find_map(|(median, _)| *median).unwrap_or(0);
    let mut fill = |median: Option<u64>| {
        before = median.unwrap_or(before);
        before
    };
    medians.into_iter().map(|(median, _)| fill(median)).collect()
}
