//! Percentile curves.

use truetail_model::record::{Metric, RequestRecord, Snapshot, rank_of};
use truetail_run::{Findings, Quantile, Run};

use super::data::{CurveKind, CurvePoint, PercentileCurve};
use crate::bracket::WithoutGenerator;
use crate::distribution::{estimate_of, quantile_beside_table};
use crate::metric_distributions::response_time_population;
use crate::shadow;
use crate::sorted_values::SortedValues;
use crate::support::{QUANTILES, min_sample_size};

/// Points per additional nine.
const PER_NINE: i32 = 40;
/// One of this many points has an interval, about eight per additional nine. The quantiles of the table also have one.
const INTERVAL_EVERY: i32 = 5;
/// No curve extends beyond 1 − 10⁻⁹.
const MAX_NINES: i32 = 9;

#[derive(Clone, Copy, PartialEq, Debug)]
struct CurveQuantile {
    q: f64,
    has_interval: bool,
}

pub(super) fn curves(run: &Run, findings: &Findings, every: Option<&[RequestRecord]>) -> Vec<PercentileCurve> {
    let places = places();
    let mut curves = vec![response_time(run, findings, every, &places), service_time(&run.snapshot, every, &places)];
    curves.extend(closed_loop_shadow(run, findings, &places));
    curves.retain(|curve| !curve.points.is_empty());
    curves
}

/// Quantiles evenly spaced on the axis of 1/(1 − q), plus the quantiles of the table, in ascending order.
fn places() -> Vec<CurveQuantile> {
    let nth = |k: i32| {
        let decimals = libm::pow(10.0, f64::from(4 + k / PER_NINE));
        let q = match k % PER_NINE {
            0 => (libm::pow(10.0, f64::from(k / PER_NINE)) - 1.0) / libm::pow(10.0, f64::from(k / PER_NINE)),
            _ => 1.0 - libm::pow(10.0, -f64::from(k) / f64::from(PER_NINE)),
        };
        CurveQuantile { q: (q * decimals).round() / decimals, has_interval: k % INTERVAL_EVERY == 0 }
    };
    let of_table = QUANTILES.iter().filter(|q| **q < 1.0).map(|q| CurveQuantile { q: *q, has_interval: true });
    let mut places: Vec<CurveQuantile> = (1..=PER_NINE * MAX_NINES).map(nth).chain(of_table).collect();
    // Of two equal quantiles, the one of the table stays.
    places.sort_by(|a, b| a.q.total_cmp(&b.q).then(b.has_interval.cmp(&a.has_interval)));
    places.dedup_by(|later, kept| later.q == kept.q);
    places
}

pub(crate) fn curve_places() -> Vec<f64> {
    places().into_iter().map(|place| place.q).collect()
}

/// Returns the quantiles that a sample of `n` arrivals supports.
fn carried(places: &[CurveQuantile], n: u64) -> impl Iterator<Item = &CurveQuantile> {
    places.iter().filter(move |place| n >= min_sample_size(place.q))
}

fn response_time(
    run: &Run,
    findings: &Findings,
    every: Option<&[RequestRecord]>,
    places: &[CurveQuantile],
) -> PercentileCurve {
    let population = response_time_population(&run.snapshot, every);
    let without = WithoutGenerator::new(&run.snapshot, every);
    let table = &findings.response_time.quantiles;
    let count = population.count();
    let quantile = |place: &CurveQuantile| {
        let mut quantile = match place.has_interval {
            true => quantile_beside_table(&population, place.q, table),
            false => estimate_of(&population, place.q),
        };
        without.set_lower_partner(&mut quantile);
        quantile
    };
    let unanswered = population.censored() + population.failed();
    PercentileCurve {
        kind: CurveKind::ResponseTime,
        points: until_unanswered(carried(places, count).map(quantile)).collect(),
        count,
        unanswered_share: if count > 0 { unanswered as f64 / count as f64 } else { 0.0 },
    }
}

/// Returns the quantiles that are numbers, as points. Stops at the first quantile above the median that is not a
/// number. Below the median, such quantiles are only skipped: one arrival shortly before the end of the run can cause
/// one.
fn until_unanswered(quantiles: impl Iterator<Item = Quantile>) -> impl Iterator<Item = CurvePoint> {
    let is_number = |quantile: &Quantile| !quantile.at_least && !quantile.no_answer && quantile.value_ns.is_some();
    quantiles.take_while(move |quantile| quantile.q < 0.5 || is_number(quantile)).filter(is_number).filter_map(point)
}

fn point(quantile: Quantile) -> Option<CurvePoint> {
    Some(CurvePoint {
        q: quantile.q,
        value_ns: quantile.value_ns?,
        low_ns: quantile.low_ns,
        high_ns: quantile.high_ns,
        without_generator_ns: quantile.without_generator_ns,
    })
}

fn bare(q: f64, value_ns: u64) -> CurvePoint {
    CurvePoint { q, value_ns, low_ns: None, high_ns: None, without_generator_ns: None }
}

fn service_time(snapshot: &Snapshot, every: Option<&[RequestRecord]>, places: &[CurveQuantile]) -> PercentileCurve {
    let metric = Metric::ServiceTime;
    let times = match every {
        Some(records) => SortedValues::each(records.iter().filter_map(metric.reader()).map(|time| time.0).collect()),
        None => SortedValues::buckets(snapshot.metric(metric).clone()),
    };
    let count = times.count();
    let point = |place: &CurveQuantile| bare(place.q, times.at(rank_of(place.q, count)).high);
    PercentileCurve {
        kind: CurveKind::ServiceTime,
        points: carried(places, count).map(point).collect(),
        count,
        unanswered_share: 0.0,
    }
}

fn closed_loop_shadow(run: &Run, findings: &Findings, places: &[CurveQuantile]) -> Option<PercentileCurve> {
    let users = findings.closed_loop_shadow.as_ref()?.users;
    let qs: Vec<f64> = places.iter().map(|place| place.q).collect();
    let (count, values) = shadow::quantiles(run, users, &qs)?;
    let points = qs.iter().zip(values).filter_map(|(q, value)| Some(bare(*q, value?))).collect();
    Some(PercentileCurve { kind: CurveKind::ClosedLoopShadow, points, count, unanswered_share: 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantiles_of_the_table_are_places() {
        let places = places();
        assert!(places.is_sorted_by(|a, b| a.q < b.q), "{places:?}");
        for q in QUANTILES.into_iter().filter(|q| *q < 1.0) {
            assert!(places.contains(&CurveQuantile { q, has_interval: true }), "{q}");
        }
        let within = |from: f64, to: f64| places.iter().filter(move |place| place.q > from && place.q <= to);
        assert_eq!(within(0.99, 0.999).count(), 40);
        assert_eq!(within(0.99, 0.999).filter(|place| place.has_interval).count(), 8);
    }

    #[test]
    fn a_small_sample_carries_the_middle_only() {
        let places = places();
        let carried = |n: u64| carried(&places, n).map(|place| place.q).collect::<Vec<f64>>();
        assert_eq!(carried(5), [0.0; 0]);
        assert_eq!(carried(6).len(), 4, "{:?}", carried(6));
        assert!(carried(6).contains(&0.5));
        assert!(carried(100)[0] < 0.06);
        assert!(*carried(368).last().unwrap() >= 0.99 && *carried(367).last().unwrap() < 0.99);
    }
}
