//! Comparison of the actual arrivals with the plan.
//!
//! Gaps are compared by the Kolmogorov–Smirnov distance of their two distributions. Gaps count as equal if they differ
//! by at most a tenth of the mean gap: even spacing has only one gap, and without a tolerance the least jitter would
//! give the largest distance. The gaps of a Poisson process are measured on a time scale with a rate of 1 (the time
//! change of Brown et al., *Neural Computation* 14, 2002). They are exponential if the starts are as planned.

use truetail_model::arrival::{Profile, RateProfile};
use truetail_model::record::{Metric, Outcome, RequestRecord, SecondCounts, Snapshot};
use truetail_model::time::{NANOS_PER_SECOND, Nanos};
use truetail_model::workload::LoadModelKind;
use truetail_run::{ArrivalFidelity, Dispersion, Exponential, Gaps, Run};

use crate::throughput;
use crate::verdict::thresholds::DISPLACED_NS;

/// An arrival is on time within this many nanoseconds …
const ON_TIME_NS: u64 = 1_000_000;
/// … and within this share of the mean gap, which leaves the order and the rhythm of arrivals as they are.
const ON_TIME_SHARE: u64 = 10;
const FEWEST: usize = 20;
/// Average number of arrivals in a window of the dispersion.
const WINDOW_ARRIVALS: u64 = 10;
/// The Kolmogorov–Smirnov distance of n values from their distribution exceeds this / √n in 5 % of samples (large n).
const SMIRNOV_5_PERCENT: f64 = 1.3581;

/// Returns how closely the arrivals of a run followed its schedule. Returns `None` if no arrival was issued or no rate
/// was offered, and for a closed loop, which has no schedule. `every` holds all arrivals in order, if each was kept.
pub(crate) fn arrival_fidelity(run: &Run, every: Option<&[RequestRecord]>) -> Option<ArrivalFidelity> {
    let snapshot = &run.snapshot;
    let issued = snapshot.metric(Metric::StartDelay).count();
    let offered = throughput::offered_per_second(run, every)?;
    if issued == 0 || offered <= 0.0 || run.facts.offered.model == LoadModelKind::Closed {
        return None;
    }
    let mean_gap_ns = (NANOS_PER_SECOND as f64 / offered).round() as u64;
    let within = |limit_ns: u64| beyond(snapshot, every, Metric::StartDelay, limit_ns);
    let share = |limit_ns: u64| (issued - within(limit_ns)) as f64 / issued as f64;
    Some(ArrivalFidelity {
        issued,
        within_1ms: share(ON_TIME_NS),
        mean_gap_ns,
        within_tenth_of_gap: share(mean_gap_ns / ON_TIME_SHARE),
        displaced_by_generator: beyond(snapshot, every, Metric::GeneratorLag, mean_gap_ns.max(DISPLACED_NS)),
        gaps: every.and_then(|records| gaps(run, records, mean_gap_ns / ON_TIME_SHARE)),
        dispersion: match every {
            Some(records) => record_dispersion(records, mean_gap_ns.saturating_mul(WINDOW_ARRIVALS)),
            None => second_dispersion(&snapshot.seconds),
        },
    })
}

/// Counts the issued arrivals with a start delay, or generator lag, above `limit_ns` (to 0.1 % from histograms).
fn beyond(snapshot: &Snapshot, every: Option<&[RequestRecord]>, metric: Metric, limit_ns: u64) -> u64 {
    match every {
        Some(records) => {
            let values = records.iter().filter_map(metric.reader());
            values.filter(|value| value.0 > limit_ns).count() as u64
        }
        None => snapshot.metric(metric).count() - snapshot.metric(metric).count_at_or_below(Nanos(limit_ns)),
    }
}

fn issued(records: &[RequestRecord]) -> impl Iterator<Item = &RequestRecord> {
    records.iter().filter(|record| record.outcome != Outcome::NeverIssued)
}

fn gaps(run: &Run, records: &[RequestRecord], tolerance_ns: u64) -> Option<Gaps> {
    let intended: Vec<u64> = issued(records).map(|record| record.intended_start.0).collect();
    let mut actual: Vec<u64> = issued(records).map(|record| record.actual_start.0).collect();
    actual.sort_unstable();
    if actual.len() <= FEWEST {
        return None;
    }
    let exponential = poisson_profile(run).map(|profile| Exponential {
        planned_distance: distance_from_exponential(&profile, &intended),
        actual_distance: distance_from_exponential(&profile, &actual),
        critical_distance: SMIRNOV_5_PERCENT / ((actual.len() - 1) as f64).sqrt(),
    });
    let distance = distance(&sorted_gaps(&intended), &sorted_gaps(&actual), tolerance_ns);
    Some(Gaps { count: actual.len() as u64 - 1, distance, tolerance_ns, exponential })
}

/// Returns the profile of an open schedule with exponential gaps, if it can be parsed from the facts.
fn poisson_profile(run: &Run) -> Option<Profile> {
    // Each gap of a stripe is a sum of several gaps of the schedule.
    let offered = Some(&run.facts.offered).filter(|_| run.facts.stripe.is_none())?;
    let is_poisson = offered.model == LoadModelKind::Open && offered.spacing.as_deref() == Some("poisson");
    offered.profile.as_ref().filter(|_| is_poisson)?.parse().ok()
}

pub(crate) fn sorted_gaps(starts: &[u64]) -> Vec<u64> {
    let mut gaps: Vec<u64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_unstable();
    gaps
}

/// Returns the largest difference of the distribution functions of two sorted samples. Values that differ by no more
/// than `tolerance` count as equal. Without a tolerance, this is the Kolmogorov–Smirnov distance.
pub(crate) fn distance(a: &[u64], b: &[u64], tolerance: u64) -> f64 {
    ahead(a, b, tolerance).max(ahead(b, a, tolerance))
}

/// The largest excess of the distribution function of `a` over that of `b`.
fn ahead(a: &[u64], b: &[u64], tolerance: u64) -> f64 {
    let mut passed = 0;
    let mut ahead = 0.0_f64;
    for (i, value) in a.iter().enumerate() {
        while passed < b.len() && b[passed] <= value.saturating_add(tolerance) {
            passed += 1;
        }
        ahead = ahead.max((i + 1) as f64 / a.len() as f64 - passed as f64 / b.len() as f64);
    }
    ahead
}

/// Returns the Kolmogorov–Smirnov distance of the gaps between `starts` from the exponential distribution with mean 1.
/// The gaps are measured on a time scale with a rate of 1.
fn distance_from_exponential(profile: &Profile, starts: &[u64]) -> f64 {
    let seconds = |ns: &u64| *ns as f64 / NANOS_PER_SECOND as f64;
    let changed: Vec<f64> = starts.iter().map(|start| profile.cumulative(seconds(start))).collect();
    let mut gaps: Vec<f64> = changed.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_unstable_by(f64::total_cmp);
    let n = gaps.len() as f64;
    let apart = |(i, gap): (usize, &f64)| {
        let expected = -libm::expm1(-gap);
        (expected - i as f64 / n).max((i + 1) as f64 / n - expected)
    };
    gaps.iter().enumerate().map(apart).fold(0.0, f64::max)
}

/// Computes the dispersion of `records`, which are in the order of their intended start. Returns `None` if there are
/// more windows than arrivals, as in a file whose duration does not come from its requests.
fn record_dispersion(records: &[RequestRecord], window_ns: u64) -> Option<Dispersion> {
    let first = records.first()?.intended_start.0;
    let last = records.last()?.intended_start.0;
    let windows = ((last - first) / window_ns.max(1)) as usize;
    if windows > records.len() {
        return None;
    }
    let mut planned = vec![0; windows];
    let mut actual = vec![0; windows];
    let count = |counts: &mut Vec<u64>, at: u64| {
        if let Some(count) = counts.get_mut((at.saturating_sub(first) / window_ns.max(1)) as usize) {
            *count += 1;
        }
    };
    for record in issued(records) {
        count(&mut planned, record.intended_start.0);
        count(&mut actual, record.actual_start.0);
    }
    dispersion(window_ns, &planned, &actual)
}

/// The dispersion of whole seconds, without the first and the last with arrivals, which may be partial.
fn second_dispersion(rows: &[SecondCounts]) -> Option<Dispersion> {
    let busy = |row: &SecondCounts| row.planned > 0;
    let rows = rows.get(rows.iter().position(busy)? + 1..rows.iter().rposition(busy)?)?;
    let (planned, actual): (Vec<u64>, Vec<u64>) = rows.iter().map(|row| (row.planned, row.sent)).unzip();
    dispersion(NANOS_PER_SECOND, &planned, &actual)
}

fn dispersion(window_ns: u64, planned: &[u64], actual: &[u64]) -> Option<Dispersion> {
    let enough = planned.len() >= FEWEST;
    enough.then(|| Dispersion { window_ns, planned: dispersion_index(planned), actual: dispersion_index(actual) })
}

/// Returns the variance divided by the mean, or 0 if the mean is 0.
pub(crate) fn dispersion_index(counts: &[u64]) -> f64 {
    let n = counts.len() as f64;
    let mean = counts.iter().sum::<u64>() as f64 / n;
    let variance = counts.iter().map(|count| (*count as f64 - mean).powi(2)).sum::<f64>() / (n - 1.0);
    if mean > 0.0 { variance / mean } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use truetail_model::arrival::Arrival;
    use truetail_model::random::Random;
    use truetail_model::time::{Rate, Timestamp};

    /// The distance by its definition, evaluated at every point that can have the maximum.
    fn by_definition(a: &[u64], b: &[u64], tolerance: u64) -> f64 {
        let share = |values: &[u64], x: u64| values.iter().filter(|v| **v <= x).count() as f64 / values.len() as f64;
        let shifted = |values: &[u64], x: u64| x.checked_sub(tolerance).map_or(0.0, |x| share(values, x));
        let points = a.iter().chain(b).flat_map(|v| [*v, v + tolerance]);
        points.map(|x| (shifted(a, x) - share(b, x)).max(shifted(b, x) - share(a, x))).fold(0.0, f64::max)
    }

    proptest! {
        #[test]
        fn the_distance_is_as_defined(
            mut a in proptest::collection::vec(0u64..50, 1..40),
            mut b in proptest::collection::vec(0u64..50, 1..40),
            tolerance in 0u64..10,
        ) {
            a.sort_unstable();
            b.sort_unstable();
            prop_assert!((distance(&a, &b, tolerance) - by_definition(&a, &b, tolerance)).abs() < 1e-12);
            prop_assert_eq!(distance(&a, &a, tolerance), 0.0);
            prop_assert!(distance(&a, &b, tolerance) <= distance(&a, &b, 0));
        }
    }

    #[test]
    fn exponential_gaps_are_told_from_others() {
        let profile = Profile::constant(Rate::per_second(1000.0).unwrap());
        let starts = |seed: u64, gap: fn(&mut Random) -> f64| {
            let mut random = Random::new(seed, 3);
            let mut at = 0.0;
            let mut next = || {
                at += gap(&mut random) * 1e6;
                at as u64
            };
            (0..5_000).map(|_| next()).collect::<Vec<u64>>()
        };
        let critical = SMIRNOV_5_PERCENT / 4_999f64.sqrt();
        let refused = |gap: fn(&mut Random) -> f64| {
            (0..200).filter(|seed| distance_from_exponential(&profile, &starts(*seed, gap)) > critical).count()
        };
        let healthy = refused(Random::exponential);
        assert!((2..=20).contains(&healthy), "{healthy} of 200 at the 5 % level");
        assert_eq!(refused(|random| random.exponential().max(0.1)), 200);
        assert_eq!(refused(|_| 1.0), 200);
    }

    #[test]
    fn dispersion_tells_a_metronome_from_bursts() {
        assert_eq!(dispersion_index(&[10, 10, 10]), 0.0);
        assert_eq!(dispersion_index(&[0, 20, 0, 20]), 400.0 / 3.0 / 10.0);
        assert_eq!(dispersion_index(&[0, 0]), 0.0);
    }

    #[test]
    fn windows_that_no_arrivals_can_fill_are_not_counted() {
        let record = |index: u64, ns: u64| {
            let arrival = Arrival { index, intended_start: Timestamp(ns) };
            RequestRecord::never_issued(arrival, Timestamp(ns))
        };
        let evenly: Vec<RequestRecord> = (0..400).map(|i| record(i, i * 10)).collect();
        assert!(record_dispersion(&evenly, 100).is_some());
        assert!(record_dispersion(&[record(0, 0), record(1, 1 << 60)], 1).is_none());
    }
}
