//! The delay that a late request passes on to later requests.

use crate::time::{Nanos, Timestamp};

/// For this many requests after the system was empty, every lag is passed on to all following requests.
const SINCE_EMPTY: u32 = 256;
/// Later in a busy period, a lag is passed on to at least this many requests, and to at most twice as many.
const REQUESTS: u32 = 16;
/// A long lag may be passed on for this many times its length. After a standstill of length L, a queue at load ρ needs
/// about L·ρ/(1 − ρ) to recover, and by chance several times as much. At 80 % load, ten times L was too short in 5 of
/// 100 simulated runs, and 25 times L in no run.
const TIMES_ITS_LENGTH: u64 = 25;

/// Upper bound on the delay of a request that is due to the lag of earlier requests.
///
/// In a first-in-first-out queue with one server or several, a request that is late by l delays itself by at most l,
/// and passes on at most l. Let L be the largest lag since the system was last empty. With one server, request i ends
/// at max(start of i, end of i − 1) + its service. Both times are later by at most L, so the end is too. No request is
/// therefore delayed by more than L.
///
/// A busy server may never look empty from outside, because it answers many requests at once. After [`SINCE_EMPTY`]
/// requests, a lag counts only for the next [`REQUESTS`] to twice as many, and at least for [`TIMES_ITS_LENGTH`] times
/// its length.
#[derive(Clone, Copy, Default, Debug)]
pub struct KnockOn {
    /// Largest lag of the requests counted in `count`.
    current: Nanos,
    /// Largest lag of the group of requests before.
    previous: Nanos,
    count: u32,
    /// True after the first [`SINCE_EMPTY`] requests.
    is_long: bool,
    /// Lag that is passed on until `long_until`, to any number of requests.
    long: Nanos,
    long_until: Timestamp,
    /// Largest lag since `long`, which it replaces after `long_until`.
    next: Nanos,
    next_until: Timestamp,
}

impl KnockOn {
    /// Starts a request at `now`, late by `lag`; `is_idle` means that no other request is in flight. Returns the
    /// largest lag that may delay it, its own included.
    #[inline]
    pub fn start(&mut self, now: Timestamp, lag: Nanos, is_idle: bool) -> Nanos {
        if is_idle {
            *self = KnockOn::default();
        }
        if self.count == if self.is_long { REQUESTS } else { SINCE_EMPTY } {
            (self.previous, self.current, self.count) = (self.current, Nanos::ZERO, 0);
            self.is_long = true;
        }
        self.current = self.current.max(lag);
        self.count += 1;
        self.add_long(now, lag);
        self.current.max(self.previous).max(self.long)
    }

    #[inline]
    fn add_long(&mut self, now: Timestamp, lag: Nanos) {
        if now >= self.long_until {
            (self.long, self.long_until) = (self.next, self.next_until);
            (self.next, self.next_until) = (Nanos::ZERO, now);
        }
        let until = now + Nanos(lag.0.saturating_mul(TIMES_ITS_LENGTH));
        if lag >= self.long || now >= self.long_until {
            (self.long, self.long_until) = (lag, until);
            (self.next, self.next_until) = (Nanos::ZERO, now);
        } else if lag >= self.next || now >= self.next_until {
            (self.next, self.next_until) = (lag, until);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn nothing_is_passed_on_when_nothing_is_in_flight() {
        let mut knock_on = KnockOn::default();
        assert_eq!(knock_on.start(Timestamp(0), Nanos(5 * MS), true), Nanos(5 * MS));
        assert_eq!(knock_on.start(Timestamp(MS), Nanos(7), false), Nanos(5 * MS));
        assert_eq!(knock_on.start(Timestamp(2 * MS), Nanos(7), true), Nanos(7));
    }

    #[test]
    fn a_short_lag_is_passed_on_to_a_limited_number_of_requests() {
        let mut knock_on = KnockOn::default();
        knock_on.start(Timestamp(0), Nanos(9), true);
        let mut at = 0;
        let mut after = |knock_on: &mut KnockOn, n: u32| {
            let mut next = || {
                at += MS;
                knock_on.start(Timestamp(at), Nanos(1), false)
            };
            (0..n).map(|_| next()).collect::<Vec<_>>()
        };
        let first = after(&mut knock_on, SINCE_EMPTY + REQUESTS - 1);
        assert!(first.iter().all(|lag| *lag == Nanos(9)));
        let rest = after(&mut knock_on, SINCE_EMPTY);
        assert!(rest[2 * REQUESTS as usize..].iter().all(|lag| *lag == Nanos(1)));
        // 527 requests came before.
        knock_on.start(Timestamp(527 * MS), Nanos(7), false);
        let passed = after(&mut knock_on, 3 * REQUESTS);
        assert!(passed[..REQUESTS as usize].iter().all(|lag| *lag == Nanos(7)));
        assert!(passed[2 * REQUESTS as usize..].iter().all(|lag| *lag == Nanos(1)));
    }

    #[test]
    fn a_long_lag_is_passed_on_for_25_times_its_length() {
        let mut knock_on = KnockOn::default();
        knock_on.start(Timestamp(0), Nanos(20 * MS), true);
        let mut lag_at = |us: u64| knock_on.start(Timestamp(us * 1_000), Nanos(10), false);
        let passed: Vec<Nanos> = (1..6_000).map(|i| lag_at(i * 100)).collect();
        assert!(passed[..4_998].iter().all(|lag| *lag == Nanos(20 * MS)), "until 500 ms");
        assert!(passed[5_000..].iter().all(|lag| *lag == Nanos(10)));
    }

    #[test]
    fn a_lag_during_a_longer_one_has_its_own_time() {
        let mut knock_on = KnockOn::default();
        // A busy system, for longer than any lag counts.
        for _ in 0..SINCE_EMPTY + REQUESTS {
            knock_on.start(Timestamp(0), Nanos(10), false);
        }
        knock_on.start(Timestamp(MS), Nanos(20 * MS), false);
        knock_on.start(Timestamp(491 * MS), Nanos(19 * MS), false);
        let mut lag_at = |ms: u64| knock_on.start(Timestamp((ms + 1) * MS), Nanos(10), false);
        let passed: Vec<Nanos> = (491..1_100).map(&mut lag_at).collect();
        assert!(passed[..9].iter().all(|lag| *lag == Nanos(20 * MS)), "until 500 ms");
        // The 20 ms also count for the next requests, at most 32.
        assert!(passed[32..474].iter().all(|lag| *lag == Nanos(19 * MS)), "until 965 ms");
        assert!(passed[474 + 32..].iter().all(|lag| *lag == Nanos(10)));
    }
}
