//! A run whose warm-up was cut equals the run that would have been recorded with that warm-up.

use crate::support::{scenario, simulated, without_samples};
use truetail_analysis::{WarmupCutError, findings, settling, without_warmup};
use truetail_model::record::{Histogram, Metric, Outcome, RequestRecord, SamplesOptions, Snapshot};
use truetail_model::scenario::Scenario;
use truetail_model::service::{Fault, Selector};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::trace::TraceFormat;
use truetail_run::{ReportedTimes, Run, ServerTiming, SpanBooks, TraceFacts, VerdictState};
use truetail_sim::{SimOptions, simulate};

const S: u64 = 1_000_000_000;

/// A service that settles after 15 s, with all sorts of ends: refusals, timeouts, resets.
fn mixed() -> Scenario {
    let every = |n| Selector { every: Some(n), ..Selector::default() };
    let mut mixed = scenario("01");
    mixed.service.baseline = Nanos::from_millis(100);
    mixed.service.faults = vec![
        Fault::Ramp { from: Timestamp::ZERO, to: Timestamp(15 * S), target: Nanos::from_millis(10) },
        Fault::BlackHole { select: every(97) },
        Fault::Reset { select: every(101) },
        Fault::ErrorStatus { status: 503, immediately: true, select: every(20) },
    ];
    mixed.workload.limits.timeout = Some(Nanos::from_secs(3));
    mixed
}

fn with_warmup(mut scenario: Scenario, until: Timestamp, options: SimOptions) -> Run {
    scenario.workload.warmup = until.since_origin();
    simulate(&scenario, options).unwrap()
}

fn buckets(histogram: &Histogram) -> Vec<(Nanos, Nanos, u64)> {
    histogram.buckets().collect()
}

fn assert_same_counts(cut: &Snapshot, measured: &Snapshot) {
    assert_eq!((cut.tally, cut.warmup), (measured.tally, measured.warmup));
    assert_eq!((&cut.statuses, &cut.causes), (&measured.statuses, &measured.causes));
    for metric in Metric::ALL {
        assert_eq!(buckets(cut.metric(metric)), buckets(measured.metric(metric)), "{}", metric.name());
    }
    assert_eq!(buckets(&cut.error_status_time), buckets(&measured.error_status_time));
    let planned = |snapshot: &Snapshot| snapshot.seconds.iter().map(|row| row.planned).collect::<Vec<_>>();
    assert_eq!(planned(cut), planned(measured));
    assert_eq!(cut.intervals, measured.intervals);
    assert_eq!(cut.books, measured.books);
    assert_eq!(
        (cut.bytes_in, cut.measure_from, cut.last_end),
        (measured.bytes_in, measured.measure_from, measured.last_end)
    );
    assert_eq!((cut.schedule_hash, cut.samples.offered()), (measured.schedule_hash, measured.samples.offered()));
}

#[test]
fn from_every_request_it_is_exact() {
    let scenario = mixed();
    let from = Timestamp(15 * S);
    for from in [from, Timestamp(15 * S + 123_456_789)] {
        let cut = without_warmup(&simulated(&scenario), from).unwrap();
        let measured = with_warmup(scenario.clone(), from, SimOptions::default());
        assert_same_counts(&cut.snapshot, &measured.snapshot);
        assert_eq!(cut.snapshot.seconds, measured.snapshot.seconds);
        assert_eq!(cut.facts.offered, measured.facts.offered);
        let cut = findings(&cut);
        let measured = findings(&measured);
        assert_eq!(cut, measured);
    }
}

#[test]
fn from_seconds_it_is_the_same_to_the_resolution() {
    let scenario = mixed();
    let from = Timestamp(15 * S);
    for samples in [SamplesOptions::NONE, SamplesOptions { capacity: 5_000, slowest: 500 }] {
        let options = SimOptions { samples, ..SimOptions::default() };
        let cut = without_warmup(&simulate(&scenario, options).unwrap(), from).unwrap();
        let measured = with_warmup(scenario.clone(), from, options);
        assert_same_counts(&cut.snapshot, &measured.snapshot);
        let cut = findings(&cut);
        let measured = findings(&measured);
        assert_eq!(cut.response_time.quantiles.len(), measured.response_time.quantiles.len());
        for (cut, measured) in cut.response_time.quantiles.iter().zip(&measured.response_time.quantiles) {
            let a = cut.value_ns.unwrap() as f64;
            let b = measured.value_ns.unwrap() as f64;
            assert!((a / b - 1.0).abs() < 0.002, "{}: {a} {b}", cut.q);
        }
        let mean = |found: &truetail_run::Findings| found.response_time.mean_ns.unwrap();
        assert!((mean(&cut) / mean(&measured) - 1.0).abs() < 0.002);
        assert_eq!(cut.verdict.state, measured.verdict.state);
    }
}

/// `--warmup auto`: find the cut, make it, and judge the rest.
#[test]
fn what_remains_is_valid_and_says_what_was_cut() {
    let mut warming = mixed();
    warming.service.faults.truncate(1);
    for run in [simulated(&warming), without_samples(&warming)] {
        let found = settling(&run);
        let cut = without_warmup(&run, Timestamp(found.cut_ns.unwrap())).unwrap();
        let rest = findings(&cut);
        assert_eq!(rest.verdict.state, VerdictState::Valid, "{:?}", rest.verdict);
        assert_eq!(Some(cut.snapshot.warmup.planned), found.cut_arrivals);
        assert!(cut.facts.notes[0].contains("the first 15 s were cut off"), "{:?}", cut.facts.notes);
        assert_eq!(settling(&cut).cut_ns, None);
    }
}

#[test]
fn a_cut_within_the_warm_up_changes_nothing() {
    let run = with_warmup(mixed(), Timestamp(5 * S), SimOptions::default());
    let same = without_warmup(&run, Timestamp(3 * S)).unwrap();
    assert_eq!((same.snapshot.tally, same.facts), (run.snapshot.tally, run.facts.clone()));
    let further = without_warmup(&run, Timestamp(7 * S)).unwrap();
    assert_eq!(further.snapshot.warmup.planned, 7_000, "the warm-up before it is not forgotten");
}

#[test]
fn what_is_not_known_is_refused() {
    let thinned = without_samples(&mixed());
    assert_eq!(
        without_warmup(&thinned, Timestamp(S + 1)).unwrap_err(),
        WarmupCutError::WithinAnInterval { width_s: 1 }
    );
    let mut loaded = thinned;
    loaded.snapshot.books = Default::default();
    let refused = without_warmup(&loaded, Timestamp(S)).unwrap_err();
    assert_eq!(refused, WarmupCutError::NothingByInterval);
    assert!(!refused.to_string().contains('\n'));
}

/// Returns times of each third request that was answered.
fn reported_times(run: &Run) -> Vec<ReportedTimes> {
    let is_reported = |record: &&RequestRecord| record.index.is_multiple_of(3) && is_answer(record);
    let times = |record: &RequestRecord| {
        let mut times = ReportedTimes::of_spans(record.index, 4);
        times.add(0, Nanos(5));
        times
    };
    let mut all: Vec<ReportedTimes> = run.snapshot.samples.even().iter().filter(is_reported).map(times).collect();
    all.sort_by_key(ReportedTimes::index);
    all
}

fn is_answer(record: &RequestRecord) -> bool {
    matches!(record.outcome, Outcome::Response { .. })
}

#[test]
fn reported_times_of_the_warmup_are_cut_too() {
    let from = Timestamp(15 * S);
    let mut run = simulated(&mixed());
    let times = reported_times(&run);
    let all = times.len() as u64;
    let with = |run: &mut Run, spans, sampled| {
        let trace = TraceFacts::new(7, TraceFormat::W3c, sampled, None);
        let ids = trace.ids().unwrap();
        run.facts.trace = Some(trace);
        let names = vec!["app".to_owned()];
        run.facts.server_timing = Some(ServerTiming {
            names,
            answers: 9_999,
            without: 9_999,
            spans,
            times: times.clone(),
            ..ServerTiming::default()
        });
        let cut = without_warmup(run, from).unwrap();
        let later: Vec<&RequestRecord> =
            cut.snapshot.samples.even().iter().filter(|record| is_answer(record)).collect();
        let timing = cut.facts.server_timing.clone().unwrap();
        let asked = later.iter().filter(|record| timing.spans.is_none() || ids.is_sampled(record.index));
        let (with, without): (Vec<u64>, Vec<u64>) =
            asked.map(|record| record.index).partition(|index| index.is_multiple_of(3));
        assert_eq!((timing.answers, timing.without), (with.len() as u64, without.len() as u64));
        let left = later.iter().filter(|record| record.index.is_multiple_of(3)).count();
        assert!(left > 0 && left < all as usize && timing.times.len() == left, "{left} of {all}");
        timing
    };
    with(&mut run, None, 1.0);
    for sampled in [1.0, 0.3] {
        let books = SpanBooks { received: 4 * all + 1, used: 4 * all, damaged: 1, ..SpanBooks::default() };
        let timing = with(&mut run, Some(books), sampled);
        let books = timing.spans.as_ref().unwrap();
        assert_eq!((books.used, books.damaged), (4 * timing.times.len() as u64, 1));
        assert_eq!((books.used + books.not_kept, books.imbalance()), (4 * all, None));
    }
}
