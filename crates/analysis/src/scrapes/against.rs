//! Comparison of a percentile of a service with the one of its users.

use truetail_run::{ScrapeFinding, ServiceQuantile};

/// A service does not see the network and the kernel: users may wait longer than it says by this factor …
const FACTOR: f64 = 1.25;
/// … or by this time, whichever is longer.
const ALLOWED_NS: f64 = 2e6;

/// Result for a percentile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Agrees,
    Understates,
    Overstates,
    /// Its bucket has no upper bound, and the users' percentile is above the lower one.
    Open,
}

impl Side {
    pub(super) fn finding(self) -> ScrapeFinding {
        match self {
            Side::Agrees => ScrapeFinding::Agrees,
            Side::Understates => ScrapeFinding::Understates,
            Side::Overstates => ScrapeFinding::Overstates,
            Side::Open => ScrapeFinding::CannotTell,
        }
    }
}

/// Compares with the users' percentile: its lower end, and its upper one if known.
pub(super) fn side(service: &ServiceQuantile, (low, high): (Option<u64>, Option<u64>)) -> Side {
    let is_beyond = |larger: u64, smaller: u64| {
        let smaller = smaller as f64;
        larger as f64 > (smaller * FACTOR).max(smaller + ALLOWED_NS)
    };
    let Some(low) = low else { return Side::Open };
    match service.high_ns {
        Some(most) if is_beyond(low, most) => Side::Understates,
        _ if high.is_some_and(|high| is_beyond(service.low_ns, high)) => Side::Overstates,
        Some(_) if high.is_none() => Side::Open,
        Some(_) => Side::Agrees,
        None => Side::Open,
    }
}

/// Returns the result of all percentiles together.
pub(super) fn together(sides: impl Iterator<Item = Side> + Clone) -> ScrapeFinding {
    let has = |side| sides.clone().any(|one| one == side);
    match (has(Side::Understates), has(Side::Overstates)) {
        (true, true) => ScrapeFinding::CannotTell,
        (true, false) => ScrapeFinding::Understates,
        (false, true) => ScrapeFinding::Overstates,
        (false, false) if has(Side::Agrees) => ScrapeFinding::Agrees,
        (false, false) => ScrapeFinding::CannotTell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn side_of(low: u64, high: Option<u64>, users: (u64, Option<u64>)) -> Side {
        let high_ns = high.map(|high| high * MS);
        let service = ServiceQuantile { q: 0.99, low_ns: low * MS, high_ns, dashboard_ns: low * MS, users_ns: None };
        side(&service, (Some(users.0 * MS), users.1.map(|ms| ms * MS)))
    }

    #[test]
    fn the_network_has_some_room() {
        assert_eq!(side_of(0, Some(5), (7, Some(7))), Side::Agrees);
        assert_eq!(side_of(0, Some(5), (8, Some(8))), Side::Understates);
        assert_eq!(side_of(50, Some(100), (124, Some(130))), Side::Agrees);
        assert_eq!(side_of(50, Some(100), (126, Some(130))), Side::Understates);
        assert_eq!(side_of(500, Some(1_000), (100, Some(110))), Side::Overstates);
        // The generator may have added the difference.
        assert_eq!(side_of(50, Some(100), (90, Some(400))), Side::Agrees);
    }

    #[test]
    fn what_has_no_bound_stays_open() {
        assert_eq!(side_of(1_000, None, (3_000, Some(3_000))), Side::Open);
        assert_eq!(side_of(1_000, None, (10, Some(10))), Side::Overstates);
        // No answer: users waited at least the time limit.
        assert_eq!(side_of(0, Some(100), (30_000, None)), Side::Understates);
        assert_eq!(side_of(0, Some(100), (90, None)), Side::Open);
    }

    #[test]
    fn one_percentile_decides_and_two_that_contradict_do_not() {
        use ScrapeFinding as Finding;
        for (sides, finding) in [
            (vec![Side::Agrees, Side::Understates, Side::Open], Finding::Understates),
            (vec![Side::Agrees, Side::Open], Finding::Agrees),
            (vec![Side::Overstates, Side::Agrees], Finding::Overstates),
            (vec![Side::Overstates, Side::Understates], Finding::CannotTell),
            (vec![Side::Open], Finding::CannotTell),
        ] {
            assert_eq!(together(sides.iter().copied()), finding, "{sides:?}");
        }
    }
}
