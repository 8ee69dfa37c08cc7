//! The schedule: every intended start of a run, computed and never stored.

use serde::{Deserialize, Serialize};

use super::{Profile, RateProfile, Spacing};
use crate::random::{Random, mix64};
use crate::time::{NANOS_PER_SECOND, Nanos, Timestamp};

/// The stream of [`Random`] that spacing draws from.
const SPACING_STREAM: u64 = 0x5350_4143;

/// One planned request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Its place in the whole schedule, from 0, whatever stripe it was dealt to.
    pub index: u64,
    /// When it should start.
    pub intended_start: Timestamp,
}

/// Where a schedule ends. The first limit that is reached counts; without any it goes on for ever.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Horizon {
    /// Arrivals are strictly before this much time.
    pub duration: Option<Nanos>,
    /// At most this many arrivals.
    pub requests: Option<u64>,
}

/// Every intended start, from (profile, spacing, seed, horizon).
#[derive(Clone, PartialEq, Debug)]
pub struct Schedule {
    /// How the rate moves.
    pub profile: Profile,
    /// How arrivals lie, given the rate.
    pub spacing: Spacing,
    /// Seed of the spacing; even spacing does not use it.
    pub seed: u64,
    /// Where it ends.
    pub horizon: Horizon,
}

impl Schedule {
    /// All arrivals, in order.
    pub fn arrivals(&self) -> Arrivals {
        self.stripe(0, 1)
    }

    /// The arrivals dealt to hand `i` of `n`: indices i, i + n, i + 2n … The stripes of all hands together are the
    /// whole schedule, exactly, whatever n is.
    ///
    /// # Panics
    /// When `i >= n`.
    pub fn stripe(&self, i: u64, n: u64) -> Arrivals {
        assert!(i < n, "stripe {i} of {n}");
        Arrivals {
            profile: self.profile.clone(),
            horizon: self.horizon,
            points: match self.spacing {
                Spacing::Even => Points::Even,
                Spacing::Poisson => {
                    Points::Poisson { random: Random::new(self.seed, SPACING_STREAM), sum: 0.0, drawn: 0 }
                }
            },
            next_index: i,
            stride: n,
            last: Timestamp::ZERO,
        }
    }

    /// The hash of every (index, intended start). It takes as long as walking the schedule.
    pub fn hash(&self) -> ScheduleHash {
        let mut hash = ScheduleHash::default();
        self.arrivals().for_each(|arrival| hash.add(arrival));
        hash
    }
}

/// Where arrival k lies on the axis L(t).
#[derive(Clone, Debug)]
enum Points {
    Even,
    Poisson { random: Random, sum: f64, drawn: u64 },
}

/// The arrivals of one stripe, in order of time. Constant memory.
#[derive(Clone, Debug)]
pub struct Arrivals {
    profile: Profile,
    horizon: Horizon,
    points: Points,
    next_index: u64,
    stride: u64,
    last: Timestamp,
}

impl Arrivals {
    fn instant_of(&mut self, index: u64) -> Option<Timestamp> {
        let point = match &mut self.points {
            Points::Even => {
                if let Profile::Trace(trace) = &self.profile {
                    return trace.exact(index);
                }
                index as f64
            }
            Points::Poisson { random, sum, drawn } => {
                while *drawn <= index {
                    *sum += random.exponential();
                    *drawn += 1;
                }
                *sum
            }
        };
        let nanos = self.profile.inverse(point)? * NANOS_PER_SECOND as f64;
        // Beyond 2^63 ns (292 years) there is no schedule.
        (nanos < (1u64 << 63) as f64).then(|| Timestamp(nanos.round() as u64))
    }
}

impl Iterator for Arrivals {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let index = self.next_index;
        if self.horizon.requests.is_some_and(|limit| index >= limit) {
            return None;
        }
        // Rounding may not turn time back, whatever the profile's arithmetic does in the last bit.
        let intended_start = self.instant_of(index)?.max(self.last);
        if self.horizon.duration.is_some_and(|end| intended_start.0 >= end.0) {
            return None;
        }
        self.last = intended_start;
        self.next_index = index.saturating_add(self.stride);
        Some(Arrival { index, intended_start })
    }
}

/// A hash of a set of arrivals that does not depend on the order in which they are added, so that workers and machines
/// hash what they were dealt and the sums add up to the hash of the whole schedule.
///
/// It is the wrapping sum of a mixed (index, intended start): it tells two schedules apart, and is not meant to
/// withstand somebody who wants them to collide.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ScheduleHash(pub u64);

impl ScheduleHash {
    /// Adds one arrival.
    pub fn add(&mut self, arrival: Arrival) {
        self.0 = self.0.wrapping_add(mix64(mix64(arrival.index.wrapping_add(1)) ^ arrival.intended_start.0));
    }

    /// Adds the arrivals of another stripe.
    pub fn merge(&mut self, other: ScheduleHash) {
        self.0 = self.0.wrapping_add(other.0);
    }
}

impl std::fmt::Display for ScheduleHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
