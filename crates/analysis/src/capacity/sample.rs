//! The bad requests of a probe, by stretch.

use crate::confidence_interval::less_rare;

/// At most this many stretches: four for each cosine that is used.
const MAX_STRETCHES: usize = 120;
/// At least this many requests in a stretch.
const SMALLEST_STRETCH: usize = 4;
/// This part of a probe is left out at its beginning: the queues of the service have to fill first.
const LEAD_IN: usize = 10;

/// The requests of one stretch of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stretch {
    /// How many there are.
    pub requests: u64,
    /// How many are bad.
    pub bad: u64,
    /// How many are bad even without what the generator may have added.
    pub surely_bad: u64,
    /// How many lie beyond a level that about ten times as many requests reach as may be bad. They show how requests depend
    /// on each other where bad ones are rare.
    pub near: u64,
}

/// The requests of a probe so far, in the order of their intended starts, by stretch.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Sample {
    /// The requests that have ended.
    pub stretches: Vec<Stretch>,
    /// Requests that are due and have not ended.
    pub outstanding: u64,
    /// How many of these have waited so long that they are bad already.
    pub overdue: u64,
}

impl Sample {
    /// Of times in nanoseconds, in the order of the intended starts: a request is bad from `bad_from` on, and `allowed` of
    /// them, in (0, 1), may be. `surely` holds the same times without what the generator may have added. The first tenth is
    /// left out.
    pub fn of_times(times: &[u64], surely: &[u64], bad_from: u64, allowed: f64) -> Sample {
        let lead_in = times.len() / LEAD_IN;
        let (times, surely) = (&times[lead_in..], &surely[lead_in.min(surely.len())..]);
        let near_from = near_level(times, allowed).min(bad_from);
        let count = (times.len() / SMALLEST_STRETCH).min(MAX_STRETCHES);
        let mut stretches = vec![Stretch::default(); count];
        if count > 0 {
            for (i, (time, surely)) in times.iter().zip(surely).enumerate() {
                let stretch = &mut stretches[i * count / times.len()];
                stretch.requests += 1;
                stretch.bad += u64::from(*time >= bad_from);
                stretch.surely_bad += u64::from(*surely >= bad_from);
                stretch.near += u64::from(*time >= near_from);
            }
        }
        Sample { stretches, outstanding: 0, overdue: 0 }
    }

    /// Rows, one an interval of equal length, joined so that there are not too many. The first tenth is left out.
    pub fn of_rows(rows: &[Stretch]) -> Sample {
        let rows = &rows[rows.len() / LEAD_IN..];
        let count = rows.len().min(MAX_STRETCHES);
        let mut stretches = vec![Stretch::default(); count];
        for (i, row) in rows.iter().enumerate() {
            stretches[i * count / rows.len()].add(row);
        }
        Sample { stretches, outstanding: 0, overdue: 0 }
    }

    /// How many requests have ended.
    pub fn requests(&self) -> u64 {
        self.stretches.iter().map(|stretch| stretch.requests).sum()
    }

    /// The share of requests that are bad, in [0, 1]. Those that have not ended count if they are bad already.
    pub fn share(&self) -> f64 {
        let bad = self.stretches.iter().map(|stretch| stretch.bad).sum::<u64>() + self.overdue;
        bad as f64 / (self.requests() + self.overdue).max(1) as f64
    }
}

impl Stretch {
    fn add(&mut self, other: &Stretch) {
        self.requests += other.requests;
        self.bad += other.bad;
        self.surely_bad += other.surely_bad;
        self.near += other.near;
    }
}

/// The smallest level that at most ten times the allowed share of the requests reach; at least 1.
fn near_level(times: &[u64], allowed: f64) -> u64 {
    let mut sorted = times.to_vec();
    let rank = (less_rare(1.0 - allowed) * sorted.len() as f64) as usize;
    if rank >= sorted.len() {
        return u64::MAX;
    }
    (*sorted.select_nth_unstable(rank).1).max(1)
}
