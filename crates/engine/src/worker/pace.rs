//! The trade-off of `--timing auto` between precision and processor time: the number of requests sent after one sleep.

use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{Ticks, Timing};

/// Assumed cost of a sleep until one is measured.
const FIRST_COST: Nanos = Nanos::from_micros(20);
/// Upper limit of a measured cost. A sleep that seems to cost more was disturbed.
const MAX_COST: Nanos = Nanos::from_micros(100);
/// One sleep in this many is measured, because reading the thread's processor time is a system call.
const MEASURED: u32 = 16;
/// A measurement has the weight 1 / 8 in the mean.
const WEIGHT: u64 = 8;
/// Arrivals over which the rate is measured, unless [`STRETCH`] ends first.
const ARRIVALS: u64 = 256;
const STRETCH: Nanos = Nanos::from_millis(20);

/// Upper limit of a tick at short gaps, exceeded by less than one gap. Sending the requests of a tick takes time too.
const SHORT_TICK: Nanos = Nanos::from_micros(120);

/// Returns the number of requests that are sent after one sleep, if a sleep takes `cost` and a request is due every
/// `gap`. This is the smallest number that keeps sleeps within 1 / [`Timing::AUTO_SHARE`] of a processor. It is limited
/// to the requests that are due within [`Timing::AUTO_TICK_NS`], and to the first that reach [`SHORT_TICK`].
fn requests_per_sleep(cost: Nanos, gap: Nanos) -> u64 {
    let gap = gap.0.max(1);
    let affordable = cost.0.saturating_mul(Timing::AUTO_SHARE).div_ceil(gap);
    let within_a_tick = (Timing::AUTO_TICK_NS / gap).min(SHORT_TICK.0.div_ceil(gap));
    affordable.clamp(1, within_a_tick + 1)
}

/// Returns how long the first request of a tick waits for the last.
fn tick(cost: Nanos, gap: Nanos) -> Nanos {
    Nanos((requests_per_sleep(cost, gap) - 1) * gap.0.max(1))
}

/// Returns true if a worker can afford to be woken by each answer in addition to a sleep for each request.
fn answers_may_wake(cost: Nanos, gap: Nanos) -> bool {
    cost.0.saturating_mul(2 * Timing::AUTO_SHARE) <= gap.0
}

/// Cost of a sleep and distance of arrivals, and the decisions that follow, in constant time and memory.
#[derive(Debug)]
pub(super) struct Pace {
    cost: Nanos,
    unmeasured: u32,
    /// Mean distance of arrivals at the last decision; [`Nanos::MAX`] before that.
    gap: Nanos,
    counted: u64,
    counted_from: Timestamp,
    tick: Nanos,
    answers_may_wake: bool,
    sent: Ticks,
}

impl Pace {
    pub(super) fn new() -> Pace {
        Pace {
            cost: FIRST_COST,
            unmeasured: 0,
            gap: Nanos::MAX,
            counted: 0,
            counted_from: Timestamp::ZERO,
            tick: Nanos::ZERO,
            answers_may_wake: true,
            sent: Ticks::default(),
        }
    }

    /// Returns how long the first request of a tick is held back; zero: each request is sent when it is due.
    #[inline]
    pub(super) fn tick(&self) -> Nanos {
        self.tick
    }

    /// Returns true if there is processor time enough to read each answer when it arrives.
    pub(super) fn answers_may_wake(&self) -> bool {
        self.answers_may_wake
    }

    #[inline]
    pub(super) fn count_start(&mut self, intended: Timestamp) {
        if !self.tick.is_zero() {
            self.sent.requests += 1;
            self.sent.longest_ns = self.sent.longest_ns.max(self.tick.0);
        }
        self.counted += 1;
        let stretch = intended.since(self.counted_from);
        if self.counted >= ARRIVALS || stretch >= STRETCH {
            self.gap = Nanos(stretch.0 / self.counted);
            (self.counted, self.counted_from) = (0, intended);
            self.decide();
        }
    }

    #[inline]
    pub(super) fn should_measure(&mut self) -> bool {
        self.unmeasured += 1;
        let measures = self.unmeasured == MEASURED;
        if measures {
            self.unmeasured = 0;
        }
        measures
    }

    pub(super) fn add_cost(&mut self, cost: Nanos) {
        let mean = (self.cost.0 * (WEIGHT - 1) + cost.0.min(MAX_COST.0)) / WEIGHT;
        self.cost = Nanos(mean.max(1));
    }

    fn decide(&mut self) {
        self.tick = tick(self.cost, self.gap);
        self.answers_may_wake = answers_may_wake(self.cost, self.gap);
    }

    pub(super) fn sent_in_ticks(&self) -> Option<Ticks> {
        (self.sent.requests > 0).then_some(self.sent)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SHARE: u64 = Timing::AUTO_SHARE;
    const LONGEST: u64 = Timing::AUTO_TICK_NS;

    fn at_rate(per_second: u64) -> Nanos {
        Nanos(1_000_000_000 / per_second)
    }

    #[test]
    fn the_number_of_requests_per_sleep_grows_with_the_rate() {
        let cost = Nanos::from_micros(20);
        let chosen = |rate| (requests_per_sleep(cost, at_rate(rate)), tick(cost, at_rate(rate)).0 / 1_000);
        for (rate, expected) in
            [(1_000, (1, 0)), (4_000, (1, 0)), (10_000, (3, 200)), (20_000, (4, 150)), (50_000, (7, 120))]
        {
            assert_eq!(chosen(rate), expected, "{rate}/s");
        }
        assert!(answers_may_wake(cost, at_rate(1_000)) && !answers_may_wake(cost, at_rate(4_000)));
    }

    proptest! {
        /// Covers gaps from zero to a day, and sleeps of up to a second.
        #[test]
        fn sleeps_stay_within_their_share_unless_requests_would_be_late(cost in 1u64..=1_000_000_000, gap in 0u64..=86_400_000_000_000) {
            let requests = requests_per_sleep(Nanos(cost), Nanos(gap));
            let tick = tick(Nanos(cost), Nanos(gap)).0;
            prop_assert!(tick <= LONGEST);
            let within = |requests: u64| u128::from(cost) * u128::from(SHARE) <= u128::from(requests) * u128::from(gap);
            let longer_is_too_late = tick >= SHORT_TICK.0 || tick + gap.max(1) > LONGEST;
            prop_assert!(within(requests) || longer_is_too_late || gap == 0, "{requests} requests a sleep");
            prop_assert!(requests == 1 || !within(requests - 1), "fewer would have been enough");
        }

        #[test]
        fn no_request_is_held_back_at_low_rates(cost in 1u64..=100_000, gap in 1u64..=10_000_000) {
            if cost * SHARE <= gap {
                prop_assert_eq!(tick(Nanos(cost), Nanos(gap)), Nanos::ZERO);
            }
            if answers_may_wake(Nanos(cost), Nanos(gap)) {
                prop_assert_eq!(tick(Nanos(cost), Nanos(gap)), Nanos::ZERO);
            }
        }

        #[test]
        fn dearer_sleeps_and_higher_rates_never_mean_fewer_requests_a_sleep(
            (cost, dearer) in (1u64..=200_000, 0u64..=200_000), (gap, shorter) in (1u64..=1_000_000, 0u64..=1_000_000),
        ) {
            let requests = requests_per_sleep(Nanos(cost), Nanos(gap));
            prop_assert!(requests_per_sleep(Nanos(cost + dearer), Nanos(gap)) >= requests);
            prop_assert!(requests_per_sleep(Nanos(cost), Nanos(gap.saturating_sub(shorter))) >= requests);
        }

        /// A change of rate is known after 256 arrivals, or after 20 ms and one arrival.
        #[test]
        fn it_follows_the_rate(before in 10u64..=100_000, after in 10u64..=100_000) {
            let mut pace = Pace::new();
            let mut now = Timestamp::ZERO;
            let mut offer = |pace: &mut Pace, gap: Nanos, arrivals| for _ in 0..arrivals {
                now = now + gap;
                pace.count_start(now);
            };
            offer(&mut pace, at_rate(before), 2 * ARRIVALS);
            offer(&mut pace, at_rate(after), 2 * ARRIVALS);
            prop_assert_eq!(pace.tick(), tick(FIRST_COST, at_rate(after)));
        }
    }

    #[test]
    fn some_sleeps_are_measured_and_disturbed_ones_count_little() {
        let mut pace = Pace::new();
        assert_eq!((0..10 * MEASURED).filter(|_| pace.should_measure()).count(), 10);
        pace.add_cost(Nanos::from_secs(1));
        assert!(pace.cost <= Nanos::from_micros(30));
        (0..200).for_each(|_| pace.add_cost(Nanos::from_micros(5)));
        assert!((4_900..=5_100).contains(&pace.cost.0), "{}", pace.cost);
    }

    #[test]
    fn what_was_sent_in_ticks_is_counted() {
        let mut pace = Pace::new();
        (1..=1_000).for_each(|k| pace.count_start(Timestamp(k * 1_000_000)));
        assert_eq!(pace.sent_in_ticks(), None);
        (1..=1_000).for_each(|k| pace.count_start(Timestamp(1_000_000_000 + k * 20_000)));
        let sent = pace.sent_in_ticks().unwrap();
        assert!(sent.longest_ns == SHORT_TICK.0 && sent.requests >= 1_000 - 2 * ARRIVALS, "{sent:?}");
    }
}
