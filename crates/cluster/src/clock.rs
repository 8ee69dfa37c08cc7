//! The offset between a pod's clock and ours, estimated from exchanges of timestamps.

/// A question for the time of a pod, and its answer. All times are in nanoseconds since 1970 UTC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exchange {
    /// Time of the question, by our clock.
    pub asked: u64,
    /// Time in the answer, by the pod's clock.
    pub theirs: u64,
    /// Arrival of the answer, by our clock.
    pub answered: u64,
}

/// Offset of a pod's clock from ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockOffset {
    /// Nanoseconds that the pod's clock is ahead; negative if it is behind.
    pub ahead_ns: i64,
    /// Largest error of the offset: half of the round trip.
    pub plus_minus_ns: u64,
}

impl ClockOffset {
    /// Estimates the offset from the quickest exchange; `None` without exchanges.
    pub fn estimate(exchanges: &[Exchange]) -> Option<ClockOffset> {
        let quickest = exchanges.iter().min_by_key(|exchange| exchange.answered.saturating_sub(exchange.asked))?;
        let half = quickest.answered.saturating_sub(quickest.asked).div_ceil(2);
        let middle = quickest.asked.saturating_add(half);
        let ahead = i128::from(quickest.theirs) - i128::from(middle);
        Some(ClockOffset { ahead_ns: i64::try_from(ahead).ok()?, plus_minus_ns: half })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quickest_exchange_says_most() {
        let slow = Exchange { asked: 0, theirs: 900, answered: 1_000 };
        let quick = Exchange { asked: 2_000, theirs: 2_500, answered: 2_100 };
        assert_eq!(ClockOffset::estimate(&[slow, quick]), Some(ClockOffset { ahead_ns: 450, plus_minus_ns: 50 }));
        let behind = Exchange { asked: 1_000, theirs: 10, answered: 1_000 };
        assert_eq!(ClockOffset::estimate(&[behind]), Some(ClockOffset { ahead_ns: -990, plus_minus_ns: 0 }));
        assert_eq!(ClockOffset::estimate(&[]), None);
    }
}
