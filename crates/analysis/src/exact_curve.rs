//! Percentile curves of what is known exactly: of a run in virtual time, and of the truth of a scenario. Unlike the
//! curve of a measured run, they extend to the slowest answer, because nothing about them is estimated.

use truetail_model::record::rank_of;
use truetail_run::{Quantile, Run};

use crate::metric_distributions::response_time_population;
use crate::population::{Estimate, Population};
use crate::series::{CurveKind, CurvePoint, PercentileCurve, curve_places};
use crate::support::QUANTILES;
use crate::truth::Truth;

/// The response time of a run in virtual time.
#[derive(Clone, PartialEq, Debug)]
pub struct ExactTimes {
    /// The curve, with the quantiles of every table. It ends with the largest answer or at the first missing one.
    pub curve: PercentileCurve,
    /// The quantiles of every table: p50, p90, p95, p99, p99.9, p99.99 and the largest. Each has at least a bound.
    pub quantiles: Vec<Quantile>,
}

/// Returns the response time of a simulated `run`, over all planned arrivals. `kind` names its curve.
pub fn exact_times(kind: CurveKind, run: &Run) -> ExactTimes {
    let samples = &run.snapshot.samples;
    let holds_all = samples.is_complete() && samples.even().len() as u64 == run.snapshot.tally.planned;
    let arrivals = match holds_all {
        true => Population::unordered(samples.even()),
        false => response_time_population(&run.snapshot, None),
    };
    let count = arrivals.count();
    let unanswered = arrivals.censored() + arrivals.failed();
    let value = |rank| Some(arrivals.at(rank)).filter(|found| !found.at_least).map(|found| found.value);
    let curve = curve(kind, count, unanswered, value);
    let at = |q| exact(q, (count > 0).then(|| arrivals.at(rank_of(q, count))));
    ExactTimes { curve, quantiles: QUANTILES.into_iter().map(at).collect() }
}

fn exact(q: f64, found: Option<Estimate>) -> Quantile {
    Quantile {
        q,
        value_ns: found.map(|found| found.value),
        low_ns: None,
        high_ns: None,
        at_least: found.is_some_and(|found| found.at_least),
        no_answer: found.is_some_and(|found| found.no_answer),
        supported: true,
        needs_n: None,
        effective_n: None,
        without_generator_ns: None,
        unresolved: false,
    }
}

/// Returns the curve of the truth.
pub fn truth_curve(truth: &Truth) -> PercentileCurve {
    let value = |rank: u64| truth.answered().get(rank as usize - 1).map(|time| time.0);
    curve(CurveKind::Truth, truth.count(), truth.unanswered(), value)
}

/// Builds a curve. `value` maps a rank from 1 to `count` to its value, or to `None` without an answer.
fn curve(kind: CurveKind, count: u64, unanswered: u64, value: impl Fn(u64) -> Option<u64>) -> PercentileCurve {
    let unanswered_share = if count == 0 { 0.0 } else { unanswered as f64 / count as f64 };
    let point = |q| {
        let value_ns = value(rank_of(q, count))?;
        Some(CurvePoint { q, value_ns, low_ns: None, high_ns: None, without_generator_ns: None })
    };
    PercentileCurve {
        kind,
        points: curve_quantiles(count).into_iter().map_while(point).collect(),
        count,
        unanswered_share,
    }
}

/// Returns the q values of a curve over `count` arrivals, ascending. The last one is in the middle of the range of q
/// that has the largest value.
fn curve_quantiles(count: u64) -> Vec<f64> {
    if count == 0 {
        return Vec::new();
    }
    let last = 1.0 - 0.5 / count as f64;
    curve_places().into_iter().filter(|q| *q < last).chain([last]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn curve_from_values(values: &[u64], unanswered: u64) -> PercentileCurve {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let value = |rank: u64| sorted.get(rank as usize - 1).copied();
        curve(CurveKind::Truth, values.len() as u64 + unanswered, unanswered, value)
    }

    #[test]
    fn nothing_has_no_curve() {
        assert_eq!(curve_from_values(&[], 0).points, []);
        assert_eq!(curve_from_values(&[], 7).points, []);
        assert_eq!(curve_from_values(&[], 7).unanswered_share, 1.0);
    }

    #[test]
    fn one_value_is_a_line() {
        let curve = curve_from_values(&[5], 0);
        assert!(curve.points.iter().all(|point| point.value_ns == 5));
        assert_eq!(curve.points.last().unwrap().q, 0.5);
    }

    proptest! {
        #[test]
        fn it_rises_to_the_largest_and_stops_at_the_unanswered(
            values in proptest::collection::vec(0u64..1_000, 1..3_000),
            unanswered in 0u64..300,
        ) {
            let curve = curve_from_values(&values, unanswered);
            prop_assert!(curve.points.is_sorted_by(|a, b| a.q < b.q && a.value_ns <= b.value_ns));
            prop_assert!(curve.points.iter().all(|point| point.q < 1.0 - curve.unanswered_share + 1e-9));
            if unanswered == 0 {
                prop_assert_eq!(curve.points.last().unwrap().value_ns, *values.iter().max().unwrap());
            }
        }

        #[test]
        fn it_holds_the_quantiles_of_every_table(values in proptest::collection::vec(0u64..1_000, 1..3_000)) {
            let curve = curve_from_values(&values, 0);
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let last = curve.points.last().unwrap().q;
            for q in QUANTILES.into_iter().filter(|q| *q < last) {
                let point = curve.points.iter().find(|point| point.q == q).unwrap();
                prop_assert_eq!(point.value_ns, sorted[rank_of(q, values.len() as u64) as usize - 1]);
            }
        }
    }
}
