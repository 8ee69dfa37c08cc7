//! Example runs, and comparisons of runs.
#![allow(dead_code)] // Each test binary uses a part of it.

use proptest::prelude::*;
use tempfile::TempDir;
use truetail_model::arrival::{Arrival, ScheduleHash};
use truetail_model::record::{
    Cause, Histogram, Metric, Outcome, Recorder, RecorderOptions, RequestRecord, Samples, SamplesOptions, Snapshot,
    StartDelay, TargetTimes,
};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::trace::TraceFormat;
use truetail_model::workload::LoadModelKind;
use truetail_run::{
    ArrivalFidelity, CheckCounts, ClosedLoopShadow, Contribution, CpuContention, CpuTime, Dispersion, Distribution,
    EndClock, Exponential, Facts, FailedAnswer, FailedCheck, Findings, Gaps, GateFinding, GateState, GeneratorStats,
    HostInfo, LedgerPart, LedgerRow, Mix, MixTarget, OfferedLoad, PartQuantile, Pause, Quantile, Reason, ReportedPart,
    ReportedTimes, Run, RunSource, ServerTiming, Settling, SettlingState, ShadowQuantile, Shift, SlowRequest,
    TargetBooks, TargetFindings, TraceFacts, Uncertainty, Verdict, VerdictState, folder,
};

pub fn snapshot(options: RecorderOptions, records: &[RequestRecord]) -> Snapshot {
    let mut recorder = Recorder::new(options);
    let mut hash = ScheduleHash::default();
    for record in records {
        recorder.plan(record.intended_start);
        recorder.record(record);
        hash.add(Arrival { index: record.index, intended_start: record.intended_start });
    }
    recorder.finish(hash)
}

/// Returns reported times of the first two requests that are kept.
fn server_timing(snapshot: &Snapshot) -> ServerTiming {
    let mut indices: Vec<u64> = snapshot.samples.even().iter().map(|record| record.index).collect();
    indices.sort_unstable();
    let mut times: Vec<ReportedTimes> = indices.into_iter().take(2).map(ReportedTimes::none).collect();
    times.iter_mut().zip([1_000, 2_000]).for_each(|(times, ns)| times.add(1, Nanos(ns)));
    times.iter_mut().skip(1).for_each(|times| times.add(0, Nanos(7)));
    ServerTiming {
        sources: vec!["server-timing".to_owned(), "header:x-runtime:s".to_owned()],
        nesting: vec!["app > db".to_owned()],
        names: vec!["app".to_owned(), "db".to_owned()],
        answers: 2,
        without: 991,
        unread: 3,
        times,
    }
}

/// Returns an answer to this arrival that failed a check.
pub fn failed_answer(arrival: u64) -> FailedAnswer {
    FailedAnswer {
        arrival,
        intended_start_ns: arrival * 1_000_000,
        target: "GET http://127.0.0.1:8080/items/{{id}}".to_owned(),
        failed: vec![FailedCheck { check: "status == 200".to_owned(), why: "it is 503".to_owned() }],
        status: 503,
        headers: vec!["content-type: text/plain".to_owned()],
        body: "no \"room\"\n\u{fffd}".to_owned(),
        body_bytes: 40_000,
    }
}

/// Returns a run of these records, all for one target.
pub fn run(options: RecorderOptions, records: &[RequestRecord]) -> Run {
    let mut snapshot = snapshot(options, records);
    let mut times = TargetTimes::default();
    records
        .iter()
        .filter(|record| record.intended_start >= options.measure_from)
        .for_each(|record| times.record(record));
    snapshot.targets = vec![times];
    Run { facts: facts(&snapshot), snapshot }
}

/// Saves a run, with its example findings, in a new folder.
pub fn saved(run: &Run) -> TempDir {
    saved_with(run, &findings(run))
}

/// Saves a run in a new folder.
pub fn saved_with(run: &Run, findings: &Findings) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    folder::save(folder.path(), run, findings).unwrap();
    folder
}

/// Returns the run as its folder gives it back.
pub fn through_a_folder(run: &Run) -> Run {
    folder::load(saved(run).path()).unwrap().run
}

/// Returns two runs of a second that began at different times.
pub fn two_runs() -> [Run; 2] {
    [1, 2].map(|started| {
        let mut run = run(RecorderOptions::default(), &steady(1));
        run.facts.started_at_unix_ns = Some(started);
        run
    })
}

/// Asserts that a run in which any of these changes was made to `part` is refused when it is read, in one line that
/// contains `says`.
#[track_caller]
pub fn assert_refused<P>(
    (run, findings): (Run, Findings),
    part: fn(&mut Run) -> &mut P,
    says: &str,
    changes: &[fn(&mut P)],
) {
    for (number, change) in changes.iter().enumerate() {
        let mut run = run.clone();
        change(part(&mut run));
        let error =
            folder::load(saved_with(&run, &findings).path()).expect_err("a folder that no run writes").to_string();
        assert!(error.contains(says) && !error.contains('\n'), "{number}: {error}");
    }
}

/// Facts with every field in use.
pub fn facts(snapshot: &Snapshot) -> Facts {
    Facts {
        version: "0.1.0".to_owned(),
        source: RunSource::Sockets,
        started_at_unix_ns: Some(1_750_000_000_123_456_789),
        elapsed_ns: snapshot.last_end.0,
        offered: offered(),
        host: Some(HostInfo {
            os: "linux".to_owned(),
            kernel: Some("6.1.0".to_owned()),
            arch: "x86_64".to_owned(),
            cpu_model: Some("A processor".to_owned()),
            cpus: 2,
            memory_bytes: Some(4 << 30),
        }),
        generator: Some(generator()),
        interrupted: false,
        cut_short: Some(false),
        checkpoint: None,
        bytes_in: snapshot.bytes_in,
        notes: vec!["the preflight met status 404".to_owned()],
        command: Some("truetail run http://127.0.0.1:8080/api -r 1000 -d 20s".to_owned()),
        tags: [("build".to_owned(), "123".to_owned())].into(),
        claims: None,
        stripe: None,
        start: None,
        shards: None,
        trace: Some(TraceFacts::new(7, TraceFormat::W3c, 0.25, Some("http://127.0.0.1:16686/trace/{id}".to_owned()))),
        server_timing: Some(server_timing(snapshot)),
        by_target: vec![TargetBooks {
            method: "GET".to_owned(),
            url: "http://127.0.0.1:8080/api/{{id}}".to_owned(),
            tally: snapshot.tally,
            statuses: snapshot.statuses.clone(),
        }],
        checks: vec![CheckCounts { text: "status == 200".to_owned(), passed: 990, failed: 3 }],
        failed_answers: vec![failed_answer(7)],
        stream: None,
        sessions: None,
    }
}

pub fn offered() -> OfferedLoad {
    OfferedLoad {
        name: None,
        model: LoadModelKind::Open,
        url: Some("http://127.0.0.1:8080/api".to_owned()),
        method: Some("GET".to_owned()),
        mix: Some(mix()),
        profile: Some("1000/s".to_owned()),
        spacing: Some("even".to_owned()),
        seed: Some(1),
        duration_ns: Some(20_000_000_000),
        requests: None,
        users: None,
        requests_per_session: None,
        think_time_ns: None,
        connections: Some(64),
        connection_per_session: false,
        http2: Some(truetail_run::Http2Config { max_streams: Some(100) }),
        messages: Some(truetail_run::MessageConfig { framing: "line".to_owned(), matching: "order".to_owned() }),
        grpc: Some(truetail_run::GrpcConfig { kind: truetail_run::GrpcKind::Unary }),
        allow_errors: false,
        timeout_ns: Some(5_000_000_000),
        drain_ns: 30_000_000_000,
        warmup_ns: 0,
    }
}

pub fn mix() -> Mix {
    Mix {
        targets: vec![MixTarget {
            method: "GET".to_owned(),
            url: "http://127.0.0.1:8080/api/{{id}}".to_owned(),
            weight: 3,
            name: None,
        }],
        rows: 7,
        order: Some("random".to_owned()),
        seed: Some(1),
        hash: "0123456789abcdef".to_owned(),
    }
}

pub fn generator() -> GeneratorStats {
    GeneratorStats {
        threads: 2,
        cpu: CpuTime { user_ns: 1_000_000_000, system_ns: 2_000_000_000 },
        peak_memory_bytes: Some(10_000_000),
        pauses: vec![Pause { worker: 1, at_ns: 5_000_000_000, length_ns: 7_000_000 }],
        pause_count: 1,
        paused_ns: 7_000_000,
        connections_opened: 64,
        connections_peak: 64,
        connections_available: Some(1003),
        connections_limited_by: Some(truetail_run::MachineLimit::OpenFiles),
        streams: Some(truetail_run::Http2Stats { peak: 37, allowed: Some(128), sent_again: 5 }),
        stray_answers: 0,
        skipped_lines: None,
        messages: Some(truetail_run::MessageBooks {
            unmatched: 1,
            doubled: 2,
            pushes: 3,
            late: 4,
            error_replies: 5,
            channels_lost: 6,
            close_codes: [(1001, 7)].into_iter().collect(),
        }),
        timing: truetail_run::Timing::Auto,
        realtime: true,
        ticks: Some(truetail_run::Ticks { longest_ns: 180_000, requests: 900 }),
        clock_reading_ns: Some(21),
        end_clock: EndClock::Kernel,
        busiest_worker_cpu_ns: 700_000_000,
        surroundings: CpuContention { steal_ns: Some(10_000_000), throttled_ns: None, cpu_pressure_ns: Some(5_000) },
        unstamped: 3,
        clock_steps: 1,
        open_files_limit: Some(1024),
    }
}

/// Findings with every field in use. The numbers belong to no run.
pub fn findings(run: &Run) -> Findings {
    let distribution = Distribution {
        count: 1000,
        censored: 3,
        failed: 2,
        mean_ns: Some(1234.5),
        min_ns: Some(10),
        max_ns: Some(99_999),
        quantiles: vec![
            quantile(0.5, Some(1_000), None),
            Quantile { at_least: true, unresolved: true, ..quantile(0.999, Some(90_000), Some(10_000)) },
            Quantile { at_least: true, no_answer: true, ..quantile(1.0, None, None) },
        ],
        exact: true,
    };
    let numbers =
        [("pause_ns".to_owned(), serde_json::json!(7_000_000)), ("share".to_owned(), serde_json::json!(0.25))];
    let written = Metric::ALL.into_iter().filter(|metric| metric.is_written(0));
    Findings {
        verdict: Verdict {
            state: VerdictState::Suspect,
            reasons: vec![Reason {
                code: "generator_paused".to_owned(),
                state: VerdictState::Suspect,
                message: "the generator did not run for 7 ms".to_owned(),
                numbers: numbers.into_iter().collect(),
            }],
        },
        tally: run.snapshot.tally,
        response_time: distribution.clone(),
        response_time_success: Some(distribution.clone()),
        response_time_error_status: None,
        metrics: written.map(|metric| (metric, distribution.clone())).collect(),
        throughput_per_second: Some(995.5),
        offered_per_second: Some(1000.0),
        uncertainty: vec![Uncertainty {
            q: 0.5,
            value_ns: 1_000,
            sampling_ns: Some(10),
            histogram_ns: 1,
            clock_ns: 50,
            generator_lag_ns: Some(0),
            read_lag_ns: None,
            largest: Some(Contribution::Clock),
        }],
        settling: Settling {
            state: SettlingState::Settles,
            why: "the response time settled from 55.0 ms to 10.0 ms in the first 15 s".to_owned(),
            cut_ns: Some(15_000_000_000),
            cut_arrivals: Some(15_000),
            shift: Some(Shift {
                at_ns: 4_000_000_000,
                until_ns: 15_000_000_000,
                from_ns: Some(85_000_000),
                to_ns: Some(10_000_000),
                lowest_ns: Some(10_000_000),
                highest_ns: None,
            }),
        },
        arrival_fidelity: Some(arrival_fidelity()),
        reported_parts: vec![ReportedPart {
            name: "db".to_owned(),
            count: 2,
            mean_ns: 1_500.0,
            max_ns: 2_000,
            quantiles: vec![PartQuantile { q: 1.0, value_ns: 2_000 }],
            longer_than_service: 1,
        }],
        ledger: vec![LedgerRow {
            q: 0.5,
            requests: 10,
            reported: 2,
            response_time_ns: 9_000.5,
            parts: vec![LedgerPart {
                name: "db".to_owned(),
                mean_ns: 1_500.0,
                low_ns: Some(1_000.0),
                high_ns: Some(2_000.0),
            }],
        }],
        slowest: vec![SlowRequest {
            trace_id: Some("00000000000000075f2a1d0c3b4e9688".to_owned()),
            trace_sampled: true,
            target: Some("GET /items".to_owned()),
            index: 41,
            intended_start_ns: 41_000_000,
            response_time_ns: 99_999,
            service_time_ns: 90_000,
            outcome: "response".to_owned(),
            status: Some(200),
            parts: [("generator lag".to_owned(), 9_999), ("service".to_owned(), 90_000)].into_iter().collect(),
        }],
        closed_loop_shadow: Some(ClosedLoopShadow {
            users: 10,
            requests: 14_000,
            unanswered: 3,
            quantiles: vec![
                ShadowQuantile {
                    q: 0.5,
                    value_ns: Some(500),
                    omission_factor: Some(2.0),
                    at_least: false,
                    omission_low: Some(1.7),
                    omission_high: Some(2.3),
                },
                ShadowQuantile {
                    q: 0.9999,
                    value_ns: None,
                    omission_factor: None,
                    at_least: false,
                    omission_low: None,
                    omission_high: None,
                },
            ],
            one_in: 2,
            resolution_ns: 2_000_000,
        }),
        targets: vec![TargetFindings {
            name: "GET /items".to_owned(),
            tally: run.snapshot.tally,
            response_time: distribution.clone(),
        }],
        stream: None,
        sessions: None,
        gates: vec![
            GateFinding {
                text: "p99 > 50ms".to_owned(),
                state: GateState::Holds,
                value_ns: Some(1_000),
                limit_ns: Some(50_000_000),
                value: None,
                limit: None,
                message: "measured 1 µs".to_owned(),
            },
            GateFinding {
                text: "error-rate > 1%".to_owned(),
                state: GateState::Open,
                value_ns: None,
                limit_ns: None,
                value: Some(0.005),
                limit: Some(0.01),
                message: "measured 0.5 %".to_owned(),
            },
        ],
    }
}

fn arrival_fidelity() -> ArrivalFidelity {
    let exponential = Exponential { planned_distance: 0.004, actual_distance: 0.0125, critical_distance: 0.0055 };
    ArrivalFidelity {
        issued: 2_990,
        within_1ms: 0.999,
        mean_gap_ns: 1_000_000,
        within_tenth_of_gap: 0.75,
        displaced_by_generator: 2,
        gaps: Some(Gaps { count: 2_989, distance: 0.0125, tolerance_ns: 100_000, exponential: Some(exponential) }),
        dispersion: Some(Dispersion { window_ns: 10_000_000, planned: 1.0, actual: 1.25 }),
    }
}

fn quantile(q: f64, value_ns: Option<u64>, needs_n: Option<u64>) -> Quantile {
    Quantile {
        q,
        value_ns,
        low_ns: value_ns.map(|value| value - 10),
        high_ns: value_ns.map(|value| value + 10),
        at_least: false,
        no_answer: false,
        supported: needs_n.is_none(),
        needs_n,
        effective_n: needs_n.is_none().then_some(321),
        without_generator_ns: value_ns.map(|value| value - 20),
        unresolved: false,
    }
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    let cause = || proptest::sample::select(Cause::ALL);
    prop_oneof![
        6 => prop_oneof![Just(200u16), Just(503), Just(0), 100u16..600].prop_map(|status| Outcome::Response { status }),
        1 => cause().prop_map(Outcome::ConnectFailed),
        1 => cause().prop_map(Outcome::Reset),
        1 => cause().prop_map(Outcome::Malformed),
        1 => Just(Outcome::TimedOut),
        1 => Just(Outcome::InFlightAtEnd),
        1 => Just(Outcome::NeverIssued),
    ]
}

/// Times of all magnitudes up to 2^37 ns, which is 137 s.
fn times() -> impl Strategy<Value = Nanos> {
    (27u32..64, any::<u64>()).prop_map(|(shift, bits)| Nanos(bits >> shift))
}

/// One arrival within the first 20 s; `schedules` sets its index.
fn arrivals() -> impl Strategy<Value = RequestRecord> {
    let delay = (times(), times(), times());
    (0u64..20_000_000_000, delay, times(), any::<bool>(), outcomes(), 0u64..1 << 40).prop_map(
        |(intended, (lag, wait, connect), service, connected, outcome, bytes_in)| {
            let issued = outcome != Outcome::NeverIssued;
            let part = |time: Nanos| if issued { Nanos(time.0 >> 4) } else { Nanos::ZERO };
            let delay = StartDelay { generator_lag: part(lag), connection_wait: part(wait), connect: part(connect) };
            let actual_start = Timestamp(intended) + delay.total();
            let arrival = Arrival { index: 0, intended_start: Timestamp(intended) };
            let end = actual_start + if issued { service } else { Nanos::ZERO };
            RequestRecord {
                delay,
                connected: connected && issued,
                tls_handshake: (connected && issued).then_some(Nanos(delay.connect.0 / 2)),
                read_lag: (outcome.is_response() && connected).then_some(lag),
                knock_on: Nanos(if connected { 0 } else { lag.0 / 3 }),
                bytes_in,
                ..RequestRecord::new(arrival, actual_start, end, outcome)
            }
        },
    )
}

/// Up to `most` arrivals in order of intended start, with their indices.
pub fn schedules(most: usize) -> impl Strategy<Value = Vec<RequestRecord>> {
    proptest::collection::vec(arrivals(), 0..most).prop_map(|mut records| {
        records.sort_by_key(|record| record.intended_start);
        (0..).zip(&mut records).for_each(|(index, record)| record.index = index);
        records
    })
}

/// Options of a recorder, with samples that do and do not all fit.
pub fn options() -> impl Strategy<Value = RecorderOptions> {
    let samples = prop_oneof![
        Just(SamplesOptions { capacity: 1024, slowest: 1024 }),
        (1usize..40, 0usize..20).prop_map(|(capacity, slowest)| SamplesOptions { capacity, slowest }),
        Just(SamplesOptions::NONE),
    ];
    (samples, prop_oneof![Just(0u64), Just(2_500_000_000)], proptest::bool::weighted(0.8)).prop_map(
        |(samples, measure_from, per_second)| RecorderOptions {
            measure_from: Timestamp(measure_from),
            expected_seconds: 1,
            per_second,
            samples,
        },
    )
}

/// A thousand answers per second for `seconds`, 10 ms each, with a stall, 503 answers, and arrivals without an answer.
pub fn steady(seconds: u64) -> Vec<RequestRecord> {
    let record = |index: u64| {
        let intended = index * 1_000_000;
        let outcome = match index % 500 {
            7 => Outcome::TimedOut,
            8 => Outcome::Reset(Cause::ResetByPeer),
            9 => Outcome::Response { status: 503 },
            _ => Outcome::Response { status: 200 },
        };
        let generator_lag = Nanos(20_000 + (index * 7919) % 5_000);
        let actual_start = Timestamp(intended) + generator_lag;
        let stall = 300_000_000u64.saturating_sub(intended % 2_000_000_000);
        let arrival = Arrival { index, intended_start: Timestamp(intended) };
        let end = actual_start + Nanos(10_000_000 + stall + (index * 104_729) % 999_983);
        RequestRecord {
            connected: index < 64,
            tls_handshake: (index < 32).then_some(Nanos(90_000 + index)),
            read_lag: (index % 500 != 11).then_some(Nanos(3_000 + index % 700)),
            knock_on: Nanos(index % 3 * 400),
            bytes_in: 67,
            ..RequestRecord::new(arrival, actual_start, end, outcome)
        }
    };
    (0..seconds * 1000).map(record).collect()
}

/// One arrival per second for `seconds`. All are answered within a second, except every tenth.
pub fn slow(seconds: u64) -> Vec<RequestRecord> {
    let moved = |(index, record): (u64, RequestRecord)| {
        let by = index * 1_000_000_000 - record.intended_start.0;
        RequestRecord {
            intended_start: record.intended_start + Nanos(by),
            actual_start: record.actual_start + Nanos(by),
            end: record.end + Nanos(by),
            outcome: if index % 10 == 3 { Outcome::TimedOut } else { Outcome::Response { status: 200 } },
            ..record
        }
    };
    (0..seconds).zip(steady(seconds.div_ceil(1000))).map(moved).collect()
}

/// Asserts that two histograms have the same contents, regardless of their capacity.
#[track_caller]
pub fn assert_same_histogram(name: &str, a: &Histogram, b: &Histogram) {
    let figures = |h: &Histogram| (h.count(), h.sum_ns(), h.min(), h.max());
    assert_eq!(figures(a), figures(b), "{name}");
    assert!(a.buckets().eq(b.buckets()), "buckets of {name} differ");
}

/// Asserts that two samples have the same contents, in any order.
#[track_caller]
pub fn assert_same_samples(a: &Samples, b: &Samples) {
    let sorted = |mut records: Vec<RequestRecord>| {
        records.sort_by_key(|record| record.index);
        records
    };
    let parts = |samples: &Samples| {
        (sorted(samples.even().to_vec()), sorted(samples.slowest_left_out().copied().collect()), samples.one_in())
    };
    assert_eq!((a.offered(), a.options(), a.is_complete()), (b.offered(), b.options(), b.is_complete()));
    assert_eq!(parts(a), parts(b));
}

/// Asserts that two snapshots are equal except for their samples.
#[track_caller]
pub fn assert_same_counts(a: &Snapshot, b: &Snapshot) {
    assert_eq!((a.tally, a.warmup, &a.statuses, &a.causes), (b.tally, b.warmup, &b.statuses, &b.causes));
    let figures = |s: &Snapshot| (s.bytes_in, s.measure_from, s.last_end, s.schedule_hash);
    assert_eq!(figures(a), figures(b));
    for metric in Metric::ALL {
        assert_same_histogram(metric.name(), a.metric(metric), b.metric(metric));
    }
    assert_same_histogram("error_status_time", &a.error_status_time, &b.error_status_time);
    assert_eq!(a.seconds, b.seconds);
    assert_eq!(a.intervals, b.intervals);
    assert_eq!(a.targets, b.targets);
}

#[track_caller]
pub fn assert_same_snapshot(a: &Snapshot, b: &Snapshot) {
    assert_same_counts(a, b);
    assert_same_samples(&a.samples, &b.samples);
}
