//! Counters of a bin of time.

use super::bins::Cell;

#[derive(Clone, Debug)]
pub(super) struct Events {
    pub(super) starts: u32,
    pub(super) ends: u32,
    /// Nanoseconds, or `u64::MAX` if nothing started.
    pub(super) first_start: u64,
    pub(super) last_start: u64,
    /// Nanoseconds, or `u64::MAX` if nothing ended.
    pub(super) first_end: u64,
    pub(super) last_end: u64,
}

impl Default for Events {
    fn default() -> Events {
        Events { starts: 0, ends: 0, first_start: u64::MAX, last_start: 0, first_end: u64::MAX, last_end: 0 }
    }
}

impl Events {
    #[inline]
    pub(super) fn start(&mut self, at: u64) {
        self.starts = self.starts.saturating_add(1);
        self.first_start = self.first_start.min(at);
        self.last_start = self.last_start.max(at);
    }

    #[inline]
    pub(super) fn end(&mut self, at: u64) {
        self.ends = self.ends.saturating_add(1);
        self.first_end = self.first_end.min(at);
        self.last_end = self.last_end.max(at);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.starts == 0 && self.ends == 0
    }

    pub(super) fn first(&self) -> u64 {
        self.first_start.min(self.first_end)
    }

    pub(super) fn last(&self) -> u64 {
        self.last_start.max(self.last_end)
    }
}

impl Cell for Events {
    fn absorb(&mut self, later: &Events) {
        self.starts = self.starts.saturating_add(later.starts);
        self.ends = self.ends.saturating_add(later.ends);
        self.first_start = self.first_start.min(later.first_start);
        self.last_start = self.last_start.max(later.last_start);
        self.first_end = self.first_end.min(later.first_end);
        self.last_end = self.last_end.max(later.last_end);
    }
}

/// Number of buckets, two for each power of two.
const BUCKETS: usize = 128;

fn bucket_of(duration: u64) -> usize {
    let value = duration.max(2);
    let log2 = 63 - value.leading_zeros();
    (2 * log2 + ((value >> (log2 - 1)) & 1) as u32) as usize
}

/// Geometric middle of a bucket in nanoseconds.
fn middle_of(bucket: usize) -> u64 {
    let low = (1u64 << (bucket / 2)) as f64;
    (if bucket.is_multiple_of(2) { low * 1.2247 } else { low * 1.7321 }) as u64
}

/// Durations of the requests that started in a longer bin, in coarse buckets.
#[derive(Clone, Debug)]
pub(super) struct Durations {
    counts: [u32; BUCKETS],
    pub(super) longest: u64,
}

impl Default for Durations {
    fn default() -> Durations {
        Durations { counts: [0; BUCKETS], longest: 0 }
    }
}

impl Durations {
    #[inline]
    pub(super) fn record(&mut self, duration: u64) {
        let count = &mut self.counts[bucket_of(duration)];
        *count = count.saturating_add(1);
        self.longest = self.longest.max(duration);
    }

    pub(super) fn count(&self) -> u64 {
        self.counts.iter().map(|count| u64::from(*count)).sum()
    }

    /// Number of durations in the bucket of `duration` and above.
    pub(super) fn at_least(&self, duration: u64) -> u64 {
        self.counts[bucket_of(duration)..].iter().map(|count| u64::from(*count)).sum()
    }

    /// Sum of the durations above the bucket of `from` and below the bucket of `to`, in nanoseconds.
    pub(super) fn time_between(&self, from: u64, to: u64) -> f64 {
        let buckets = bucket_of(from) + 1..bucket_of(to).max(bucket_of(from) + 1);
        buckets.map(|bucket| f64::from(self.counts[bucket]) * middle_of(bucket) as f64).sum()
    }

    /// Median, to within a quarter of its value. `None` if nothing was recorded.
    pub(super) fn median(&self) -> Option<u64> {
        let half = self.count().div_ceil(2);
        let mut seen = 0;
        let bucket = self.counts.iter().position(|count| {
            seen += u64::from(*count);
            seen >= half && half > 0
        });
        bucket.map(middle_of)
    }
}

impl Cell for Durations {
    fn absorb(&mut self, later: &Durations) {
        for (mine, theirs) in self.counts.iter_mut().zip(&later.counts) {
            *mine = mine.saturating_add(*theirs);
        }
        self.longest = self.longest.max(later.longest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_right_to_a_quarter() {
        for value in [2u64, 3, 10, 1_000, 10_000_000, 999_999_999, u64::MAX / 2] {
            let mut durations = Durations::default();
            (0..11).for_each(|_| durations.record(value));
            (0..10).for_each(|_| durations.record(u64::MAX));
            let median = durations.median().unwrap() as f64;
            assert!((median / value as f64 - 1.0).abs() < 0.26, "{value}: {median}");
            assert_eq!(durations.at_least(value), 21);
        }
        assert_eq!(Durations::default().median(), None);
    }
}
