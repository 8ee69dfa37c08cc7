//! Live figures of a run: each worker writes its own, and any thread reads them.
//!
//! A worker is the only writer of its figures, so it loads and stores without locked instructions. A reader sees each
//! figure as it was a moment ago, which is enough for progress. Results never come from here.

use std::sync::atomic::{AtomicU64, Ordering};

use truetail_model::record::{Outcome, RequestRecord};
use truetail_model::time::Nanos;

/// log2 of the number of buckets in each power of two, which keeps values to about 3 %.
const SUB_BITS: u32 = 5;
const BUCKETS: usize = ((64 - SUB_BITS as usize) << SUB_BITS) + (1 << SUB_BITS);

/// The figures of one worker. The alignment to two cache lines, which processors fetch together, keeps one worker's
/// writes from slowing down another worker's reads.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Live {
    sent: AtomicU64,
    responses: AtomicU64,
    unanswered: AtomicU64,
    error_status: AtomicU64,
    cancelled: AtomicU64,
    times: Box<[AtomicU64]>,
}

impl Default for Live {
    fn default() -> Live {
        Live {
            sent: AtomicU64::new(0),
            responses: AtomicU64::new(0),
            unanswered: AtomicU64::new(0),
            error_status: AtomicU64::new(0),
            cancelled: AtomicU64::new(0),
            times: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

/// Adds one. Correct only for a single writer.
fn bump(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

fn bucket_of(value: u64) -> usize {
    let linear = 1u64 << (SUB_BITS + 1);
    let shift = 63 - (value | (linear - 1)).leading_zeros() - SUB_BITS;
    ((shift as usize) << SUB_BITS) + (value >> shift) as usize
}

fn highest_of(bucket: usize) -> u64 {
    let shift = (bucket >> SUB_BITS).saturating_sub(1);
    let sub = (bucket - (shift << SUB_BITS)) as u64;
    (sub << shift) + ((1u64 << shift) - 1)
}

impl Live {
    pub(crate) fn count_start(&self) {
        bump(&self.sent);
    }

    /// Counts the end of a request that was chosen to be cancelled.
    pub(crate) fn count_end_of_chosen(&self, record: &RequestRecord) {
        if record.outcome == Outcome::TimedOut { bump(&self.cancelled) } else { self.count_end(record) }
    }

    pub(crate) fn count_end(&self, record: &RequestRecord) {
        match record.outcome {
            Outcome::Response { .. } => {
                bump(&self.responses);
                bump(&self.times[bucket_of(record.response_time().0)]);
                if record.outcome.has_error_status() {
                    bump(&self.error_status);
                }
            }
            _ => bump(&self.unanswered),
        }
    }
}

/// Progress of a run.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Progress {
    /// Arrivals that were issued.
    pub issued: u64,
    /// Complete answers.
    pub responses: u64,
    /// Answers with a status of 400 or above.
    pub error_status: u64,
    /// Issued arrivals that ended without an answer, and were not cancelled on purpose.
    pub unanswered: u64,
    /// Requests that were cancelled on purpose.
    pub cancelled: u64,
    /// Arrivals that were issued and have not ended.
    pub in_flight: u64,
    /// Median response time of the answers so far, to about 3 %.
    pub p50: Option<Nanos>,
    /// 99th percentile of the response time of the answers so far, to about 3 %.
    pub p99: Option<Nanos>,
}

impl Progress {
    /// Returns the number of issued arrivals that have ended.
    pub fn ended(&self) -> u64 {
        self.responses + self.unanswered + self.cancelled
    }

    pub(crate) fn from_workers<'a>(workers: impl Iterator<Item = &'a Live>) -> Progress {
        let mut progress = Progress::default();
        let mut times = vec![0u64; BUCKETS];
        for live in workers {
            progress.issued += live.sent.load(Ordering::Relaxed);
            progress.responses += live.responses.load(Ordering::Relaxed);
            progress.unanswered += live.unanswered.load(Ordering::Relaxed);
            progress.cancelled += live.cancelled.load(Ordering::Relaxed);
            progress.error_status += live.error_status.load(Ordering::Relaxed);
            times.iter_mut().zip(&live.times).for_each(|(sum, one)| *sum += one.load(Ordering::Relaxed));
        }
        progress.in_flight = progress.issued.saturating_sub(progress.ended());
        progress.p50 = quantile(&times, 0.5);
        progress.p99 = quantile(&times, 0.99);
        progress
    }
}

fn quantile(counts: &[u64], q: f64) -> Option<Nanos> {
    let total: u64 = counts.iter().sum();
    let rank = (q * total as f64).ceil() as u64;
    let mut seen = 0;
    counts.iter().enumerate().find_map(|(bucket, count)| {
        seen += count;
        (seen >= rank && seen > 0).then(|| Nanos(highest_of(bucket)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_hold_their_values() {
        for value in
            (0..63).flat_map(|shift| [1u64 << shift, (1 << shift) + 1, (1 << shift) * 3 / 2]).chain([0, u64::MAX])
        {
            let bucket = bucket_of(value);
            let highest = highest_of(bucket);
            assert!(bucket < BUCKETS && highest >= value && bucket_of(highest) == bucket, "{value}");
            assert!((highest - value) as f64 <= value as f64 / 32.0, "{value} {highest}");
        }
    }
}
