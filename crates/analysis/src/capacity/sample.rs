//! Bad requests of a probe, by stretch.

use crate::confidence_interval::less_rare;

/// Limit on the stretches: four for each cosine in use.
const MAX_STRETCHES: usize = 120;
/// Fewest requests in a stretch.
const SMALLEST_STRETCH: usize = 4;
/// The first tenth of a probe is skipped, because the queues of the service have to fill first.
const LEAD_IN: usize = 10;

/// Requests of one stretch of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stretch {
    /// Number of requests.
    pub requests: u64,
    /// Number of bad requests.
    pub bad: u64,
    /// Number of bad requests even without what the generator may have added.
    pub surely_bad: u64,
    /// Number of requests beyond a level that about ten times the allowed share reaches. They show how requests depend
    /// on each other if bad ones are rare.
    pub near: u64,
}

/// Requests of a probe until now, by stretch and in the order of their intended starts.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Sample {
    /// Requests that have ended.
    pub stretches: Vec<Stretch>,
    /// All requests that have ended, with the first tenth, which no stretch has.
    pub whole: Stretch,
    /// Requests that are due and have not ended.
    pub outstanding: u64,
    /// Outstanding requests that have waited long enough to be bad.
    pub overdue: u64,
}

impl Sample {
    /// Creates a sample from times in nanoseconds, in the order of the intended starts. Times from `bad_from` on are
    /// bad, and the share `allowed` in (0, 1) may be. `surely` holds the times without what the generator may have
    /// added. The first tenth is skipped.
    pub fn from_times(times: &[u64], surely: &[u64], bad_from: u64, allowed: f64) -> Sample {
        let lead_in = times.len() / LEAD_IN;
        let near_from = near_level(&times[lead_in..], allowed).min(bad_from);
        let each = times.iter().zip(surely).map(|(time, surely)| Stretch {
            requests: 1,
            bad: u64::from(*time >= bad_from),
            surely_bad: u64::from(*surely >= bad_from),
            near: u64::from(*time >= near_from),
        });
        let count = ((times.len() - lead_in) / SMALLEST_STRETCH).min(MAX_STRETCHES);
        Sample::merged(each, times.len(), count)
    }

    /// Creates a sample from rows of equal time. Merges rows if there are too many, and skips the first tenth.
    pub fn from_rows(rows: &[Stretch]) -> Sample {
        let count = (rows.len() - rows.len() / LEAD_IN).min(MAX_STRETCHES);
        Sample::merged(rows.iter().copied(), rows.len(), count)
    }

    /// Merges `len` parts into `count` stretches, without the first tenth.
    fn merged(parts: impl Iterator<Item = Stretch>, len: usize, count: usize) -> Sample {
        let lead_in = len / LEAD_IN;
        let mut sample = Sample { stretches: vec![Stretch::default(); count], ..Sample::default() };
        for (i, part) in parts.enumerate() {
            sample.whole.add(&part);
            if i >= lead_in && count > 0 {
                sample.stretches[(i - lead_in) * count / (len - lead_in)].add(&part);
            }
        }
        sample
    }

    /// Number of ended requests.
    pub fn requests(&self) -> u64 {
        self.stretches.iter().map(|stretch| stretch.requests).sum()
    }

    /// Share of bad requests, in [0, 1]. Requests that have not ended count if they are already bad.
    pub fn share(&self) -> f64 {
        let bad = self.stretches.iter().map(|stretch| stretch.bad).sum::<u64>() + self.overdue;
        bad as f64 / (self.requests() + self.overdue).max(1) as f64
    }
}

impl Stretch {
    /// Counts `bad` of `requests`, and it is not known whether `unknown` of these are bad.
    pub(super) fn of_share(requests: u64, bad: u64, unknown: u64) -> Stretch {
        Stretch { requests, bad, surely_bad: bad.saturating_sub(unknown), near: bad }
    }

    fn add(&mut self, other: &Stretch) {
        self.requests += other.requests;
        self.bad += other.bad;
        self.surely_bad += other.surely_bad;
        self.near += other.near;
    }
}

/// Lowest possible start of the bucket that holds `value`. Buckets are a thousandth wide.
pub(super) fn below_bucket(value: u64) -> u64 {
    value - value / 1_024
}

/// Smallest level that at most ten times the allowed share of requests reaches, at least 1.
fn near_level(times: &[u64], allowed: f64) -> u64 {
    let mut sorted = times.to_vec();
    let rank = (less_rare(1.0 - allowed) * sorted.len() as f64) as usize;
    if rank >= sorted.len() {
        return u64::MAX;
    }
    (*sorted.select_nth_unstable(rank).1).max(1)
}
