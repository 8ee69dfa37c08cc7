//! The intervals of a log, in bounded memory.

use truetail_run::{ForeignHistogram, ForeignInterval};

/// Limit on the intervals. Beyond it, neighbours are joined.
const MAX_INTERVALS: usize = 256;

/// The intervals of a tag, and their sum.
pub(super) struct Intervals {
    sum: ForeignHistogram,
    /// Lines per interval, which grows if a log is long.
    lines_each: usize,
    /// Lines in the last interval.
    lines_in_last: usize,
    /// Start of the last line.
    last_from_ns: Option<u64>,
}

impl Default for Intervals {
    fn default() -> Intervals {
        Intervals { sum: ForeignHistogram::default(), lines_each: 1, lines_in_last: 0, last_from_ns: None }
    }
}

impl Intervals {
    pub(super) fn count(&self) -> u64 {
        self.sum.count()
    }

    /// Adds a line. A line with the same start as the previous one belongs to the same interval.
    pub(super) fn add(&mut self, line: ForeignInterval) {
        self.sum.whole.merge(&line.histogram);
        let is_full = self.lines_in_last == self.lines_each;
        let is_same = self.last_from_ns.replace(line.from_ns) == Some(line.from_ns);
        match self.sum.intervals.last_mut() {
            Some(last) if is_same => join(last, &line),
            Some(last) if !is_full => {
                join(last, &line);
                self.lines_in_last += 1;
            }
            Some(_) | None => {
                self.sum.intervals.push(line);
                self.lines_in_last = 1;
            }
        }
        if self.sum.intervals.len() > MAX_INTERVALS {
            self.halve();
        }
    }

    fn halve(&mut self) {
        let mut pairs: Vec<ForeignInterval> = Vec::with_capacity(MAX_INTERVALS);
        for (index, interval) in std::mem::take(&mut self.sum.intervals).into_iter().enumerate() {
            match pairs.last_mut().filter(|_| index % 2 == 1) {
                Some(last) => join(last, &interval),
                None => pairs.push(interval),
            }
        }
        self.sum.intervals = pairs;
        self.lines_each *= 2;
    }

    /// Returns the sum with its intervals. A single interval is dropped.
    pub(super) fn finish(mut self) -> ForeignHistogram {
        if self.sum.intervals.len() < 2 {
            self.sum.intervals.clear();
        }
        self.sum
    }
}

fn join(last: &mut ForeignInterval, later: &ForeignInterval) {
    last.histogram.merge(&later.histogram);
    last.from_ns = last.from_ns.min(later.from_ns);
    last.to_ns = last.to_ns.max(later.to_ns);
}

#[cfg(test)]
mod tests {
    use super::*;
    use truetail_model::record::Histogram;
    use truetail_model::time::Nanos;

    fn line(second: u64) -> ForeignInterval {
        let mut histogram = Histogram::new();
        histogram.record_n(Nanos::from_millis(1), second + 1);
        ForeignInterval { from_ns: second * 1_000_000_000, to_ns: (second + 1) * 1_000_000_000, histogram }
    }

    /// Logs of any length give few intervals without a gap or loss.
    #[test]
    fn a_long_log_has_few_intervals() {
        for lines in [1u64, 2, 256, 257, 1_000, 10_000] {
            let mut intervals = Intervals::default();
            (0..lines).for_each(|second| intervals.add(line(second)));
            // Two shards may write the same interval.
            intervals.add(line(lines - 1));
            let whole = intervals.finish();
            assert_eq!(whole.count(), lines * (lines + 1) / 2 + lines);
            let list = &whole.intervals;
            assert!(list.len() <= MAX_INTERVALS && (lines == 1) == list.is_empty(), "{lines}: {}", list.len());
            assert!(lines < 256 || list.len() > MAX_INTERVALS / 2 - 1, "{lines}: {}", list.len());
            assert!(list.windows(2).all(|pair| pair[0].to_ns == pair[1].from_ns), "{lines}");
            let parts: u64 = list.iter().map(|one| one.histogram.count()).sum();
            assert!(list.is_empty() || parts == whole.count(), "{lines}");
        }
    }
}
