//! The schedule: every intended start of a run, computed and never stored.

use serde::{Deserialize, Serialize};

use super::renewal::RenewalPoints;
use super::{Profile, RateProfile, Spacing};
use crate::random::mix64;
use crate::time::{NANOS_PER_SECOND, Nanos, Timestamp};

/// One planned request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Place in the whole schedule, from 0, regardless of its stripe.
    pub index: u64,
    /// Intended start.
    pub intended_start: Timestamp,
}

/// Consecutive arrivals of one stripe, counted together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArrivalBlock {
    /// First arrival of the block.
    pub first: Arrival,
    /// Intended start of the last arrival.
    pub last_start: Timestamp,
    /// Number of arrivals, at least 1.
    pub count: u64,
    /// Distance from the index of one arrival to the next.
    pub stride: u64,
}

impl ArrivalBlock {
    /// Returns the indices of the arrivals.
    pub fn indices(&self) -> impl Iterator<Item = u64> + use<> {
        let first = self.first.index;
        let stride = self.stride;
        (0..self.count).map(move |nth| first + nth * stride)
    }

    /// Returns the instant halfway between the first and the last intended start.
    pub fn middle(&self) -> Timestamp {
        let first = self.first.intended_start;
        first + Nanos(self.last_start.since(first).0 / 2)
    }
}

/// End of a schedule: the first limit that is reached. Without a limit the schedule never ends.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Horizon {
    /// Arrivals are strictly before this time.
    pub duration: Option<Nanos>,
    /// Maximum number of arrivals.
    pub requests: Option<u64>,
}

/// Every intended start, from (profile, spacing, seed, horizon).
#[derive(Clone, PartialEq, Debug)]
pub struct Schedule {
    /// The rate over time.
    pub profile: Profile,
    /// Spacing of arrivals at the given rate.
    pub spacing: Spacing,
    /// Seed of the spacing; even spacing does not use it.
    pub seed: u64,
    /// End of the schedule.
    pub horizon: Horizon,
}

impl Schedule {
    /// Returns all arrivals, in order.
    pub fn arrivals(&self) -> Arrivals {
        self.stripe(0, 1)
    }

    /// Returns arrivals i, i + n, i + 2n … of worker `i` of `n`. All stripes together are exactly the whole schedule.
    ///
    /// # Panics
    /// If `i >= n`.
    pub fn stripe(&self, i: u64, n: u64) -> Arrivals {
        assert!(i < n, "stripe {i} of {n}");
        self.every_nth_from(i, n)
    }

    /// Returns arrivals `first`, `first + stride`, `first + 2 stride` …
    fn every_nth_from(&self, first: u64, stride: u64) -> Arrivals {
        Arrivals {
            profile: self.profile.clone(),
            horizon: self.horizon,
            points: match self.spacing {
                Spacing::Even => Points::Even,
                Spacing::Poisson => Points::Random(Box::new(RenewalPoints::from(None, self.seed, first))),
                Spacing::Gamma(shape) => Points::Random(Box::new(RenewalPoints::from(Some(shape), self.seed, first))),
            },
            next_index: first,
            stride,
            last: Timestamp::ZERO,
        }
    }

    /// Returns the number of arrivals; `None` if the horizon has no limit. Finds it by bisection.
    pub fn count(&self) -> Option<u64> {
        self.is_limited().then(|| self.bisected())
    }

    /// Returns the last arrival; `None` if the schedule is empty or endless. Takes as long as [`Schedule::count`].
    pub fn last_arrival(&self) -> Option<Arrival> {
        self.every_nth_from(self.count()?.checked_sub(1)?, 1).next()
    }

    fn is_limited(&self) -> bool {
        self.horizon != Horizon::default()
    }

    fn bisected(&self) -> u64 {
        let exists = |index: u64| self.every_nth_from(index, 1).next().is_some();
        let most = self.horizon.requests.unwrap_or(u64::MAX);
        if most == 0 || exists(most - 1) {
            return most;
        }
        let mut count = 0;
        let mut too_many = most;
        while count + 1 < too_many {
            let middle = count + (too_many - count) / 2;
            if exists(middle - 1) { count = middle } else { too_many = middle }
        }
        count
    }

    /// Returns the hash of every (index, intended start). Takes as long as walking the schedule.
    pub fn hash(&self) -> ScheduleHash {
        let mut hash = ScheduleHash::default();
        self.arrivals().for_each(|arrival| hash.add(arrival));
        hash
    }
}

/// Positions of arrivals on the axis L(t).
#[derive(Clone, Debug)]
enum Points {
    Even,
    Random(Box<RenewalPoints>),
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
    /// Returns the distance from the index of one arrival to the next.
    pub fn stride(&self) -> u64 {
        self.stride
    }

    fn instant_of(&mut self, index: u64) -> Option<Timestamp> {
        match (&mut self.points, &self.profile) {
            (Points::Even, Profile::Trace(trace)) => trace.exact(index),
            (Points::Even, profile) => instant_at(profile, index as f64),
            (Points::Random(points), profile) => {
                let instant = instant_at(profile, points.at(index))?;
                // Stripes must agree on the order, so neighbours of the whole schedule decide it.
                let before = points.close_before(index).filter_map(|before| instant_at(profile, before));
                Some(before.fold(instant, Timestamp::max))
            }
        }
    }
}

impl Arrivals {
    /// Takes all arrivals that are due before `end`, in about log2 of their number steps; `None` if nothing is due.
    pub fn take_before(&mut self, end: Timestamp) -> Option<ArrivalBlock> {
        let is_taken = |place: u64| self.start_of(place).is_some_and(|start| start < end);
        if !is_taken(0) {
            return None;
        }
        let mut last = 0u64;
        let mut step = 1u64;
        while is_taken(last.saturating_add(step)) {
            last += step;
            step *= 2;
        }
        while step > 1 {
            step /= 2;
            last += if is_taken(last.saturating_add(step)) { step } else { 0 };
        }
        let first = Arrival { index: self.next_index, intended_start: self.start_of(0)? };
        self.last = self.start_of(last)?;
        self.next_index = self.next_index.saturating_add((last + 1).saturating_mul(self.stride));
        Some(ArrivalBlock { first, last_start: self.last, count: last + 1, stride: self.stride })
    }

    /// Returns the intended start of the arrival at `place` among the remaining arrivals, from 0.
    fn start_of(&self, place: u64) -> Option<Timestamp> {
        let next_index = self.next_index.checked_add(place.checked_mul(self.stride)?)?;
        let arrival = Arrivals { next_index, ..self.clone() }.next()?;
        Some(arrival.intended_start)
    }
}

/// Solves L(t) = `count`; `None` beyond 2^63 ns (292 years).
fn instant_at(profile: &Profile, count: f64) -> Option<Timestamp> {
    let nanos = profile.inverse(count)? * NANOS_PER_SECOND as f64;
    (nanos < (1u64 << 63) as f64).then(|| Timestamp(rounded(nanos)))
}

/// Rounds `nanos`, below 2^63, like `f64::round` (halves up), which is a library call on plain x86-64.
#[inline]
fn rounded(nanos: f64) -> u64 {
    let whole = nanos as i64;
    // The difference is exact: both are multiples of the last bit of `nanos`.
    whole as u64 + u64::from(nanos - whole as f64 >= 0.5)
}

impl Iterator for Arrivals {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let index = self.next_index;
        if self.horizon.requests.is_some_and(|limit| index >= limit) {
            return None;
        }
        // Rounding in the last bits of a profile must not turn time back.
        let intended_start = self.instant_of(index)?.max(self.last);
        if self.horizon.duration.is_some_and(|end| intended_start.0 >= end.0) {
            return None;
        }
        self.last = intended_start;
        self.next_index = index.saturating_add(self.stride);
        Some(Arrival { index, intended_start })
    }
}

/// Hash of a set of arrivals that does not depend on their order: the hashes of all workers and machines add up to the
/// hash of the whole schedule. It is the wrapping sum of mixed (index, intended start). It tells schedules apart, but
/// does not resist deliberate collisions.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rounding_equals_the_library(bits in 0u64..(1f64.to_bits() + (62 << 52)), whole in 0u64..1 << 50, step in -2i64..=2) {
            let any = f64::from_bits(bits);
            prop_assert_eq!(rounded(any), any.round() as u64);
            let near_a_half = f64::from_bits((whole as f64 + 0.5).to_bits().wrapping_add_signed(step));
            prop_assert_eq!(rounded(near_a_half), near_a_half.round() as u64);
        }
    }
}
