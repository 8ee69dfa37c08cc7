//! Where the time went: the parts of response times, with those that the service reported.
//!
//! Percentiles do not add up, and the parts of one request do. So a row is about the requests around a quantile, and
//! each of its parts is a mean over them.

use statrs::distribution::{ContinuousCDF, StudentsT};
use truetail_model::record::{Outcome, RequestRecord, rank_of};
use truetail_run::{LedgerPart, LedgerRow, PartQuantile, ReportedPart, ReportedTimes, Run, ServerTiming};

use crate::part_names::{BEFORE, PARTS, UNATTRIBUTED};
use crate::support::{ONE_SIDE, QUANTILES, min_sample_size};

/// Quantiles with a row.
const ROWS: [f64; 3] = [0.5, 0.99, 0.999];
/// A row is about the requests within this share of its rank.
const AROUND: f64 = 0.005;

/// Returns the reported times by name, in the order of the run's names, without names that no kept answer has.
pub(crate) fn reported_parts(run: &Run) -> Vec<ReportedPart> {
    let Some(timing) = &run.facts.server_timing else { return Vec::new() };
    let answers: Vec<_> = answered(run).filter_map(|record| Some((record, timing.of(record.index)?))).collect();
    let part = |(place, name): (usize, &String)| {
        let of_name = answers.iter().filter_map(|(record, times)| Some((record, times.get(place)?)));
        let longer = of_name.clone().filter(|(record, time)| *time > record.service_time()).count();
        let mut sorted: Vec<u64> = of_name.map(|(_, time)| time.0).collect();
        sorted.sort_unstable();
        let count = sorted.len() as u64;
        let supported = QUANTILES.into_iter().filter(|q| count >= min_sample_size(*q));
        let value = |q| PartQuantile { q, value_ns: sorted[rank_of(q, count) as usize - 1] };
        Some(ReportedPart {
            name: name.clone(),
            count,
            mean_ns: mean(sorted.iter().map(|ns| *ns as f64)),
            max_ns: *sorted.last()?,
            quantiles: supported.map(value).collect(),
            longer_than_service: longer as u64,
        })
    };
    timing.names.iter().enumerate().filter_map(part).collect()
}

/// Returns the rows, for the quantiles that the run supports.
pub(crate) fn ledger(run: &Run) -> Vec<LedgerRow> {
    let Some(timing) = run.facts.server_timing.as_ref().filter(|timing| timing.answers > 0) else { return Vec::new() };
    let mut answers: Vec<&RequestRecord> = answered(run).collect();
    answers.sort_unstable_by_key(|record| (record.response_time(), record.index));
    let n = answers.len() as u64;
    let supported = ROWS.into_iter().filter(|q| n >= min_sample_size(*q));
    supported.map(|q| row(q, around(q, &answers), timing)).collect()
}

/// Returns the answers that the run keeps. If the times are from spans, those whose trace was asked for: a random part.
fn answered(run: &Run) -> impl Iterator<Item = &RequestRecord> {
    let has_spans = run.facts.server_timing.as_ref().is_some_and(|timing| timing.spans.is_some());
    let ids = run.facts.trace.as_ref().filter(|_| has_spans).and_then(|trace| trace.ids());
    let is_asked = move |record: &&RequestRecord| ids.is_none_or(|ids| ids.is_sampled(record.index));
    let even = run.snapshot.samples.even().iter();
    even.filter(|record| matches!(record.outcome, Outcome::Response { .. })).filter(is_asked)
}

/// Returns the answers around the rank of a quantile, at least the one of this rank.
pub(crate) fn around<'a>(q: f64, sorted: &'a [&'a RequestRecord]) -> &'a [&'a RequestRecord] {
    let n = sorted.len();
    let rank = rank_of(q, n as u64) as usize;
    let below = ((q - AROUND) * n as f64).ceil() as usize;
    let above = ((q + AROUND) * n as f64).floor() as usize;
    &sorted[below.clamp(1, rank) - 1..above.clamp(rank, n)]
}

fn row(q: f64, answers: &[&RequestRecord], timing: &ServerTiming) -> LedgerRow {
    let names = PARTS[..BEFORE].iter().copied().chain(timing.names.iter().map(String::as_str)).chain([UNATTRIBUTED]);
    let parts: Vec<Vec<f64>> = answers.iter().map(|record| parts(record, timing)).collect();
    let part = |(place, name): (usize, &str)| {
        let values: Vec<f64> = parts.iter().map(|parts| parts[place]).collect();
        let mean_ns = mean(values.iter().copied());
        let half = half_interval(&values, mean_ns);
        let ends = [half.map(|half| mean_ns - half), half.map(|half| mean_ns + half)];
        LedgerPart { name: name.to_owned(), mean_ns, low_ns: ends[0], high_ns: ends[1] }
    };
    let is_spent = |part: &LedgerPart| part.mean_ns != 0.0 || part.name == UNATTRIBUTED;
    LedgerRow {
        q,
        requests: answers.len() as u64,
        reported: answers.iter().filter(|record| timing.of(record.index).is_some()).count() as u64,
        response_time_ns: mean(answers.iter().map(|record| record.response_time().0 as f64)),
        parts: names.enumerate().map(part).filter(is_spent).collect(),
    }
}

/// Returns the parts of one response time, each without those inside it. They add up to it.
pub(crate) fn parts(record: &RequestRecord, timing: &ServerTiming) -> Vec<f64> {
    let delay = record.delay;
    let mut parts = vec![delay.generator_lag.0 as f64, delay.connection_wait.0 as f64, delay.connect.0 as f64];
    let none = ReportedTimes::none(record.index);
    let times = timing.of(record.index).unwrap_or(&none);
    let own = own_times(times, timing);
    let reported: f64 = own.iter().sum();
    parts.extend(own);
    parts.push(record.service_time().0 as f64 - reported);
    parts
}

/// Returns the time of each name without the parts inside it, in the order of the names.
fn own_times(times: &ReportedTimes, timing: &ServerTiming) -> Vec<f64> {
    let time = |place: usize| times.get(place).map(|time| time.0 as f64);
    let mut own: Vec<f64> = (0..timing.names.len()).map(|place| time(place).unwrap_or(0.0)).collect();
    for (place, name) in timing.names.iter().enumerate() {
        if let Some((outer, inner)) = outer_place(name, times, timing).zip(time(place)) {
            own[outer] -= inner;
        }
    }
    own
}

/// Returns the place of the nearest part around `name` that has a time.
fn outer_place(name: &str, times: &ReportedTimes, timing: &ServerTiming) -> Option<usize> {
    let mut inner = name;
    // An order may lead in a circle.
    for _ in 0..timing.names.len() {
        inner = timing.parent_of(inner)?;
        let place = timing.names.iter().position(|name| name == inner);
        if let Some(place) = place.filter(|place| times.get(*place).is_some()) {
            return Some(place);
        }
    }
    None
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

/// Returns half of the 95 % interval of a mean, by Student's t; `None` for fewer than two values.
fn half_interval(values: &[f64], mean: f64) -> Option<f64> {
    let n = values.len() as f64;
    let student = StudentsT::new(0.0, 1.0, n - 1.0).ok().filter(|_| n > 1.0)?;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Some(student.inverse_cdf(1.0 - ONE_SIDE) * (variance / n).sqrt())
}

#[cfg(test)]
mod tests {
    use truetail_model::arrival::Arrival;
    use truetail_model::time::{Nanos, Timestamp};

    use super::*;

    const MS: u64 = 1_000_000;

    fn timing(nesting: &str, times: &[(u64, &[u64])]) -> ServerTiming {
        let times = times.iter().map(|(index, of_names)| {
            let mut times = ReportedTimes::none(*index);
            of_names.iter().enumerate().for_each(|(place, ms)| times.add(place, Nanos(ms * MS)));
            times
        });
        ServerTiming {
            names: ["edge", "app", "db"].map(str::to_owned).to_vec(),
            nesting: vec![nesting.to_owned()],
            answers: 1,
            times: times.collect(),
            ..ServerTiming::default()
        }
    }

    fn answer(index: u64, service_ms: u64) -> RequestRecord {
        let arrival = Arrival { index, intended_start: Timestamp::ZERO };
        let start = Timestamp(2 * MS);
        let end = Timestamp(start.0 + service_ms * MS);
        let record = RequestRecord::new(arrival, start, end, Outcome::response(200));
        record.with_start_delay(Nanos(MS), None)
    }

    #[test]
    fn nested_parts_are_counted_once() {
        let in_ms = |timing: &ServerTiming| parts(&answer(4, 30), timing).iter().map(|ns| ns / 1e6).collect::<Vec<_>>();
        let nested = timing("edge > app > db", &[(4, &[25, 20, 15])]);
        assert_eq!(in_ms(&nested), [1.0, 1.0, 0.0, 5.0, 5.0, 15.0, 5.0]);
        let side_by_side = timing("", &[(4, &[5, 4, 3])]);
        assert_eq!(in_ms(&side_by_side), [1.0, 1.0, 0.0, 5.0, 4.0, 3.0, 18.0]);
        let unknown = timing("edge > app > db", &[]);
        assert_eq!(in_ms(&unknown), [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 30.0]);
        let circle = timing("edge > app > edge", &[(4, &[5, 4])]);
        assert_eq!(in_ms(&circle).iter().sum::<f64>(), 32.0);
    }

    #[test]
    fn a_part_around_one_that_was_not_reported_still_contains_it() {
        let mut timing = timing("edge > app > db", &[]);
        let mut times = ReportedTimes::none(0);
        times.add(0, Nanos(20 * MS));
        times.add(2, Nanos(15 * MS));
        timing.times.push(times);
        assert_eq!(own_times(&times, &timing), [5e6, 0.0, 15e6]);
    }

    #[test]
    fn a_row_is_about_the_requests_around_its_rank() {
        let records: Vec<RequestRecord> = (0..1_000).map(|index| answer(index, index + 1)).collect();
        let sorted: Vec<&RequestRecord> = records.iter().collect();
        let ranks = |q| (around(q, &sorted)[0].index + 1, around(q, &sorted).last().unwrap().index + 1);
        assert_eq!([ranks(0.5), ranks(0.99), ranks(0.999)], [(495, 505), (985, 995), (994, 1_000)]);
        let few = &sorted[..10];
        assert_eq!((around(0.5, few)[0].index, around(0.5, few).len()), (4, 1));
        let row = row(0.99, around(0.99, &sorted), &timing("", &[(990, &[7, 0, 3])]));
        let total: f64 = row.parts.iter().map(|part| part.mean_ns).sum();
        assert!((total - row.response_time_ns).abs() < 1.0, "{row:?}");
        assert_eq!((row.requests, row.reported), (11, 1));
        let edge = row.parts.iter().find(|part| part.name == "edge").unwrap();
        assert!(edge.low_ns.unwrap() < edge.mean_ns && edge.mean_ns < edge.high_ns.unwrap());
    }
}
