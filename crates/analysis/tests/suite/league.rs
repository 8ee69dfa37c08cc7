//! The league on invented tools: their reports against what the server saw.

use truetail_analysis::league::{
    GeneratorKind, LeagueRow, ObservedModel, ReportView, ServerView, StreamTrial, StreamView, ToolState, ToolUnderTest,
    Trial, certify, rank, row, stream_row, window,
};
use truetail_analysis::truth::{StreamTruth, truth};
use truetail_model::record::{Histogram, Metric, Snapshot};
use truetail_model::scenario::{Scenario, builtin};
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::LoadModelKind;
use truetail_run::{ClaimedQuantile, Claims, GapMeaning, LatencyFrom, StreamClaims};

const MS: u64 = 1_000_000;

fn scenario(name: &str) -> Scenario {
    builtin::find(name).unwrap()
}

/// 60 s of a metronome at 1000/s, without the arrivals of a stretch.
fn metronome(but_from: u64, but_to: u64) -> ServerView {
    let at = (0..60_000).map(|n| n * MS).filter(|at| *at < but_from || *at >= but_to);
    ServerView::new(at.map(|at| (at, Some(at + 10 * MS))).collect())
}

fn claims(latency_from: LatencyFrom, quantiles: &[(f64, u64)]) -> Claims {
    let quantiles = quantiles.iter().map(|(q, ms)| ClaimedQuantile { q: *q, value_ns: ms * MS, printed: true });
    Claims { quantiles: quantiles.collect(), measured: Some(59_000), ..Claims::silent(latency_from) }
}

fn row_of(tool: &str, saw: &ServerView, claims: &Claims, data: &Snapshot) -> LeagueRow {
    let scenario = scenario("02");
    let subject = ToolUnderTest {
        tool,
        version: Some("1"),
        label_model: LoadModelKind::Closed,
        state: ToolState::Ok,
        message: None,
        server_view: Some(saw),
        report: Some(ReportView { claims, data, notes: &[] }),
        cpu_seconds: Some(1.0),
        peak_memory_bytes: None,
    };
    row(&subject, &truth(&scenario).unwrap(), Rate::per_second(1000.0).unwrap(), &window(&scenario, 10))
}

fn open() -> ServerView {
    metronome(0, 0)
}

fn closed() -> ServerView {
    metronome(30_000 * MS, 31_000 * MS)
}

#[test]
fn errors_are_against_the_truth_of_the_plan() {
    let said = claims(LatencyFrom::Intended, &[(0.5, 10), (0.99, 410), (0.999, 950)]);
    let exact = row_of("exact", &open(), &said, &Snapshot::default());
    assert_eq!((exact.error_p99_pct, exact.error_p999_pct), (Some(0.0), Some(0.0)));
    assert_eq!(
        (exact.observed_model, exact.arrivals_in_fault, exact.planned_in_fault),
        (Some(ObservedModel::Open), Some(1000), 1000)
    );
    assert_eq!((exact.not_sent, exact.left_out), (Some(0), Some(1000)));
    let said = claims(LatencyFrom::Send, &[(0.99, 12)]);
    let blind = row_of("blind", &closed(), &said, &Snapshot::default());
    assert_eq!((blind.observed_model, blind.arrivals_in_fault), (Some(ObservedModel::Closed), Some(0)));
    assert!((blind.error_p99_pct.unwrap() + 97.073).abs() < 0.01, "{:?}", blind.error_p99_pct);
    assert!((blind.omission_factor_p99.unwrap() - 410.0 / 12.0).abs() < 1e-9);
    assert_eq!((blind.not_sent, blind.left_out), (Some(1000), Some(0)));
}

#[test]
fn quantiles_that_a_tool_does_not_print_are_computed_and_marked() {
    let mut data = Snapshot::default();
    let mut times = Histogram::new();
    times.record_n(Nanos(10 * MS), 95);
    times.record_n(Nanos(400 * MS), 5);
    data.metrics[Metric::ResponseTime as usize] = times;
    let row = row_of("mixed", &open(), &claims(LatencyFrom::Send, &[(0.5, 11)]), &data);
    let reported = row.reported.unwrap();
    let p50 = reported.quantile(0.5).unwrap();
    let p99 = reported.quantile(0.99).unwrap();
    let max = reported.quantile(1.0).unwrap();
    assert_eq!((p50.value_ns, p50.printed), (11 * MS, true));
    assert!(!p99.printed && p99.value_ns.abs_diff(400 * MS) < MS && max.value_ns == 400 * MS, "{p99:?} {max:?}");
    let silent = row_of("silent", &open(), &claims(LatencyFrom::Send, &[]), &Snapshot::default());
    assert!(silent.reported.unwrap().quantiles.is_empty() && silent.error_p99_pct.is_none(), "nothing is filled in");
}

#[test]
fn a_right_tail_by_back_fill_stays_visible() {
    let said = claims(LatencyFrom::BackFilled, &[(0.99, 402)]);
    let row = row_of("wrk", &closed(), &said, &Snapshot::default());
    assert!(row.error_p99_pct.unwrap().abs() < 2.0);
    assert!(row.is_back_filled() && row.observed_model == Some(ObservedModel::Closed));
}

#[test]
fn rows_are_in_order_of_honesty() {
    let with = |tool: &str, p99: u64, p999: u64| {
        let said = claims(LatencyFrom::Send, &[(0.99, p99), (0.999, p999)]);
        row_of(tool, &open(), &said, &Snapshot::default())
    };
    let silent = row_of("silent", &open(), &claims(LatencyFrom::Send, &[(0.5, 10)]), &Snapshot::default());
    let state = |tool: &str, state| LeagueRow { state, ..with(tool, 410, 950) };
    let mut rows = vec![
        state("a-missing", ToolState::Missing),
        state("b-hung", ToolState::Hung),
        state("c-failed", ToolState::Failed),
        silent,
        with("low", 12, 20),
        with("high", 500, 950),
        with("tail-off", 410, 900),
        with("right", 410, 950),
        with("also-right", 410, 950),
    ];
    rank(&mut rows);
    let order: Vec<&str> = rows.iter().map(|row| row.tool.as_str()).collect();
    let expected = ["also-right", "right", "tail-off", "high", "low", "silent", "c-failed", "b-hung", "a-missing"];
    assert_eq!(order, expected);
}

#[test]
fn nobody_is_judged_where_nothing_can_be_seen() {
    let healthy = scenario("01");
    let said = claims(LatencyFrom::Send, &[(0.99, 10)]);
    let saw = open();
    let subject = ToolUnderTest {
        tool: "x",
        version: None,
        label_model: LoadModelKind::Open,
        state: ToolState::Ok,
        message: None,
        server_view: Some(&saw),
        report: Some(ReportView { claims: &said, data: &Snapshot::default(), notes: &[] }),
        cpu_seconds: None,
        peak_memory_bytes: None,
    };
    let rate = Rate::per_second(1000.0).unwrap();
    let row = row(&subject, &truth(&healthy).unwrap(), rate, &window(&healthy, 10));
    assert_eq!(
        (row.observed_model, row.arrivals_in_fault, row.planned_in_fault),
        (Some(ObservedModel::NotShown), Some(0), 0)
    );
    assert_eq!((row.error_p99_pct, row.notes.len()), (Some(0.0), 0));
    let said = claims(LatencyFrom::Send, &[(0.99, 14)]);
    let off = ToolUnderTest { report: Some(ReportView { claims: &said, ..subject.report.unwrap() }), ..subject };
    let row = truetail_analysis::league::row(&off, &truth(&healthy).unwrap(), rate, &window(&healthy, 10));
    assert!(row.notes[0].contains("4.0ms off") && row.notes[0].contains("p99 of 10.0ms"), "{:?}", row.notes);
}

fn kind_of(saw: &ServerView, latency_from: LatencyFrom) -> GeneratorKind {
    let row = row_of("x", saw, &claims(latency_from, &[(0.99, 410)]), &Snapshot::default());
    let trial = Trial { scenario: "02".to_owned(), planned: 60_000, truth_p99_ns: Some(410 * MS), row, streams: None };
    let certificate = certify(vec![trial]);
    let told = certificate.kind != GeneratorKind::Unknown;
    assert_eq!(certificate.kept_schedule, told.then_some(certificate.kind == GeneratorKind::Open));
    assert!(certificate.evidence.iter().any(|sentence| sentence.contains("1000 requests were due")), "{certificate:?}");
    certificate.kind
}

/// 1000 requests at the beginning of each second. Whether a stall meets a burst must not matter.
#[test]
fn bursts_are_no_schedule() {
    let healthy = scenario("01");
    let bursts = ServerView::new((0..60_000).map(|n| (n / 1_000 * 1_000 * MS + n % 1_000 * 1_000, None)).collect());
    let said = claims(LatencyFrom::Send, &[]);
    let data = Snapshot::default();
    let subject = ToolUnderTest {
        tool: "x",
        version: None,
        label_model: LoadModelKind::Open,
        state: ToolState::Ok,
        message: None,
        server_view: Some(&bursts),
        report: Some(ReportView { claims: &said, data: &data, notes: &[] }),
        cpu_seconds: None,
        peak_memory_bytes: None,
    };
    let rate = Rate::per_second(1000.0).unwrap();
    let trial = |scenario: &Scenario, row| Trial {
        scenario: scenario.name.clone(),
        planned: 60_000,
        truth_p99_ns: None,
        row,
        streams: None,
    };
    let well = trial(&healthy, row(&subject, &truth(&healthy).unwrap(), rate, &window(&healthy, 10)));
    for stall in [open(), closed()] {
        let stalled = trial(&scenario("02"), row_of("x", &stall, &said, &data));
        let certificate = certify(vec![well.clone(), stalled]);
        assert_eq!((certificate.kind, certificate.kept_schedule), (GeneratorKind::Bursts, Some(false)));
        assert!(certificate.evidence.iter().any(|sentence| sentence.contains("bursts")), "{certificate:?}");
    }
}

#[test]
fn what_is_reported_of_tokens_stands_beside_the_truth() {
    let at = |q, ms| ClaimedQuantile { q, value_ns: ms * MS, printed: true };
    let truth = StreamTruth {
        first_event: vec![Nanos(5_000 * MS); 10],
        without_event: 0,
        gaps: vec![Nanos(50 * MS); 10],
        events: 20,
    };
    let said = StreamClaims {
        first: vec![at(0.99, 50)],
        first_max_ns: None,
        measured: Some(7),
        gaps: vec![at(0.99, 40)],
        gap_max_ns: None,
        gap_of: GapMeaning::Event,
    };
    let means = StreamClaims { gap_of: GapMeaning::Answer, ..said.clone() };
    let view = StreamView { first: Vec::new(), gaps: Vec::new(), requests: 10 };
    let evidence = |said: &StreamClaims| {
        let whole = row_of("x", &open(), &claims(LatencyFrom::Send, &[(0.99, 410)]), &Snapshot::default());
        let streams = Some(StreamTrial::new(stream_row(&whole, Some(said), Some(&view), &truth), &truth));
        let trial = Trial { scenario: "06".to_owned(), planned: 10, truth_p99_ns: None, row: whole, streams };
        certify(vec![trial]).evidence.join("\n")
    };
    let of_gaps = evidence(&said);
    for sentence in [
        "06: it reports a p99 of the time to the first token of 50.0ms; the truth is 5000.0ms (-99.0%)",
        "06: it reports a p99 of the gaps between tokens of 40.0ms; the truth is 50.0ms (-20.0%)",
        "06: the server saw 3 requests that are in none of its times to the first token",
    ] {
        assert!(of_gaps.contains(sentence), "{sentence} is missing in {of_gaps}");
    }
    assert!(
        evidence(&means).contains("the mean of each answer") && !evidence(&means).contains("gaps between tokens of")
    );
}

#[test]
fn kinds_of_generator() {
    assert_eq!(kind_of(&open(), LatencyFrom::Send), GeneratorKind::Open);
    assert_eq!(kind_of(&closed(), LatencyFrom::Send), GeneratorKind::Closed);
    assert_eq!(kind_of(&closed(), LatencyFrom::BackFilled), GeneratorKind::ClosedAndFilled);
    assert_eq!(kind_of(&metronome(30_400 * MS, 31_000 * MS), LatencyFrom::Send), GeneratorKind::PartlyOpen);
    // A tenth of the requests is missing, all of them outside the stall.
    assert_eq!(kind_of(&metronome(40_000 * MS, 46_000 * MS), LatencyFrom::Send), GeneratorKind::OffRate);
    assert_eq!(kind_of(&ServerView::default(), LatencyFrom::Send), GeneratorKind::Unknown);
}
