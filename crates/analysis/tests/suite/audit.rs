//! Audits of simulated clients whose truth is known: small, seeded parts of the study of `docs/audit.md`.

#[allow(dead_code, reason = "shared with the study")]
#[path = "../../examples/audit_study/loads.rs"]
pub(crate) mod loads;

use loads::{OPEN_LOADS, closed, file, open_load, scenario, service, stall, stalled_loop};
use truetail_analysis::audit::{Audit, AuditFinding, Auditor, Corrector};
use truetail_model::record::{Histogram, Outcome, RequestRecord};
use truetail_model::service::{Fault, Gate, Service, Variation};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::LoadModelKind;
use truetail_run::{
    ClaimedQuantile, Claims, ForeignLoad, ForeignRequest, ForeignRun, ForeignView, LatencyFrom, UnusedRows,
};
use truetail_sim::{FaultClockStart, Simulation, Sink};

fn is_alarm(audit: &Audit) -> bool {
    matches!(audit.finding, AuditFinding::Likely | AuditFinding::Certain)
}

fn codes(audit: &Audit) -> Vec<&str> {
    audit.evidence.iter().map(|evidence| evidence.code).collect()
}

/// Scenario 02: the truth at p99 is 410 ms, and the closed loop reports 10 ms.
#[test]
fn a_stall_that_ten_users_hide_is_certain_and_corrected() {
    for resolution in [1, 100_000, 1_000_000, 1_000_000_000] {
        let audit = scenario("02", Some(10)).audit(resolution);
        assert_eq!(audit.finding, AuditFinding::Certain, "{resolution}: {audit:?}");
        let reported = audit.reported.iter().find(|one| one.q == 0.99).unwrap();
        assert!(reported.value_ns < 11_000_000, "{reported:?}");
        let corrected = audit.corrected.iter().find(|one| one.q == 0.99).unwrap();
        assert!((corrected.value_ns as f64 / 410e6 - 1.0).abs() < 0.15, "{resolution}: {corrected:?}");
        assert!(corrected.low_ns <= corrected.value_ns && corrected.value_ns <= corrected.high_ns);
        let missing = audit.missing_arrivals.unwrap();
        assert!((900..=1_100).contains(&missing), "{missing}");
        assert_eq!(audit.users, (resolution <= 1_000_000).then_some(10));
    }
}

/// The stall of scenario 02 is at 30 s, for 1 s.
#[test]
fn the_timeline_shows_where_sending_stopped() {
    for resolution in [1, 1_000_000, 1_000_000_000] {
        let audit = scenario("02", Some(10)).audit(resolution);
        let timeline = audit.timeline.as_ref().expect("a file with starts");
        let columns = timeline.in_flight.len();
        assert!((30..=300).contains(&columns), "{resolution}: {columns}");
        let lengths = [timeline.starts_per_s.len(), timeline.median_ns.len(), timeline.longest_ns.len()];
        assert_eq!(lengths, [columns; 3]);
        let [stop] = audit.stops.as_slice() else { panic!("{resolution}: {:?}", audit.stops) };
        assert_eq!(stop.is_silence, resolution <= 1_000_000);
        let seconds = |ns: u64| (ns - timeline.from_ns) as f64 / 1e9;
        let off = (seconds(stop.from_ns) - 30.0).abs().max((seconds(stop.to_ns) - 31.0).abs());
        assert!(off <= if stop.is_silence { 0.2 } else { 1.5 }, "{resolution}: {stop:?}");
        // The sum of the rates is the number of requests, without partial columns.
        let width = timeline.column_ns as f64 / 1e9;
        let started: f64 = timeline.starts_per_s.iter().flatten().map(|rate| rate * width).sum();
        let all = audit.requests.expect("requests") as f64;
        assert!(started <= all + 0.5 && started >= all * 0.95, "{resolution}: {started} of {all}");
        let longest = timeline.longest_ns.iter().flatten().max().expect("requests");
        assert_eq!(Some(*longest), audit.reported.last().map(|max| max.value_ns));
    }
}

#[test]
fn a_healthy_file_has_a_timeline_without_stops() {
    let audit = scenario("01", Some(10)).audit(1);
    assert!(audit.stops.is_empty() && audit.timeline.is_some());
    let nothing = audit_of(&[], &summary(LatencyFrom::Send));
    assert!(nothing.stops.is_empty() && nothing.timeline.is_none());
}

#[test]
fn a_schedule_a_healthy_service_and_a_lasting_slowdown_raise_no_alarm() {
    for (name, users) in [("01", Some(10)), ("03", Some(10)), ("02", None), ("04", None)] {
        for audit in scenario(name, users).audits(&[1, 1_000_000_000]) {
            assert_eq!(audit.finding, AuditFinding::NoneSeen, "{name}, {users:?}: {audit:?}");
            assert_eq!(audit.missing_arrivals, Some(0));
        }
    }
}

#[test]
fn schedules_raise_no_alarm_however_irregular() {
    for (kind, name) in OPEN_LOADS.iter().enumerate() {
        for audit in open_load(kind, kind as u64).audits(&[1, 1_000_000]) {
            assert!(!is_alarm(&audit), "{name}: {audit:?}");
        }
    }
}

#[test]
fn a_stall_of_a_200th_of_the_run_is_found() {
    for users in [1, 3, 20] {
        for seed in 1..=2 {
            let run = stalled_loop(users, Nanos::ZERO, Variation::Exponential, Nanos::from_secs(20), 0.005, seed);
            for audit in run.audits(&[1, 1_000_000]) {
                assert!(is_alarm(&audit), "{users} users, seed {seed}: {audit:?}");
            }
        }
    }
}

#[derive(Default)]
struct Rows(Vec<ForeignRequest>);

impl Sink for Rows {
    fn planned(&mut self, _: Timestamp) {}

    fn ended(&mut self, record: &RequestRecord) {
        if record.outcome != Outcome::NeverIssued {
            self.0.push(ForeignRequest::new(
                Some(record.actual_start.0),
                record.end.since(record.actual_start),
                record.outcome,
            ));
        }
    }
}

fn rows(service: &Service, users: u32, seconds: u64) -> Vec<ForeignRequest> {
    let mut rows = Rows::default();
    let load = closed(users, Nanos::ZERO, Nanos::from_secs(seconds));
    Simulation::new(service, &load, FaultClockStart::FirstRequest).unwrap().run(&mut rows).unwrap();
    rows.0
}

fn audit_of(rows: &[ForeignRequest], run: &ForeignRun) -> Audit {
    let mut auditor = Auditor::new();
    rows.iter().for_each(|row| auditor.request(row));
    auditor.finish(run, None, None)
}

/// Ten seconds at 100/s through `places` places. Requests take 10 ms, and 400 ms in the fifth second.
fn behind_a_limit(places: usize) -> Vec<ForeignRequest> {
    let mut free = vec![0_u64; places];
    let request = |i: u64| {
        let due = i * 10_000_000;
        let place = free.iter_mut().min().expect("a place");
        let start = due.max(*place);
        let duration = if (4_000_000_000..5_000_000_000).contains(&start) { 400_000_000 } else { 10_000_000 };
        *place = start + duration;
        ForeignRequest {
            waited: Nanos(start - due),
            ..ForeignRequest::new(Some(start), Nanos(duration), Outcome::response(200))
        }
    };
    (0..1_000).map(request).collect()
}

#[test]
fn what_waited_in_the_client_is_certain_and_corrected_exactly() {
    let rows = behind_a_limit(5);
    let audit = audit_of(&rows, &file(1));
    assert_eq!((audit.finding, audit.evidence[0].code), (AuditFinding::Certain, "waited_in_client"), "{audit:?}");
    let mut truth = Histogram::new();
    rows.iter().for_each(|row| truth.record(row.duration + row.waited));
    for q in [0.5, 0.9, 0.99, 1.0] {
        let corrected = audit.corrected_at(q).expect("a correction");
        let exact = truth.quantile(q).expect("requests").0;
        assert_eq!((corrected.value_ns, corrected.low_ns, corrected.high_ns), (exact, exact, exact), "{q}");
    }
    assert!(audit.corrected_at(0.99).expect("it").value_ns > 2 * audit.reported_at(0.99).expect("it"), "{audit:?}");
    assert_eq!(audit_of(&behind_a_limit(500), &file(1)).finding, AuditFinding::NoneSeen, "nobody waits");
    let short: Vec<_> =
        rows.iter().map(|row| ForeignRequest { waited: row.waited.min(Nanos(900_000)), ..*row }).collect();
    assert!(!codes(&audit_of(&short, &file(1))).contains(&"waited_in_client"), "a task needs as long to wake up");
    // A file without starts still has its waits.
    let without: Vec<_> = rows.iter().map(|row| ForeignRequest { start_ns: None, ..*row }).collect();
    assert_eq!(audit_of(&without, &file(1)).corrected_at(0.99), audit.corrected_at(0.99));
}

/// Files are ordered by start, by end, by duration (ab), or not at all.
#[test]
fn the_order_of_the_rows_does_not_matter() {
    let case = stalled_loop(7, Nanos::ZERO, Variation::Exponential, Nanos::from_secs(10), 0.03, 5);
    let by_end = rows(&case.service, 7, 10);
    let expected = audit_of(&by_end, &file(1));
    assert_eq!(expected.finding, AuditFinding::Certain);
    let sorted = |key: fn(&ForeignRequest) -> u64| {
        let mut rows = by_end.clone();
        rows.sort_by_key(key);
        rows
    };
    let backwards: Vec<ForeignRequest> = by_end.iter().rev().copied().collect();
    for rows in [sorted(|row| row.start_ns.unwrap()), sorted(|row| row.duration.0), backwards] {
        let audit = audit_of(&rows, &file(1));
        assert_eq!((audit.finding, audit.missing_arrivals), (expected.finding, expected.missing_arrivals));
    }
}

/// A row that could not be read is not a request that was never sent, but may be a slow request.
#[test]
fn rows_that_were_left_out_are_not_taken_for_a_stop() {
    let case = stalled_loop(7, Nanos::ZERO, Variation::Exponential, Nanos::from_secs(10), 0.03, 5);
    let all = rows(&case.service, 7, 10);
    let missing = audit_of(&all, &file(1)).missing_arrivals.expect("a number");
    let damaged =
        |rows_left_out| ForeignRun { damage: UnusedRows { rows_left_out, ..UnusedRows::default() }, ..file(1) };
    for few in [1, missing / 10] {
        assert_eq!(audit_of(&all, &damaged(few)).finding, AuditFinding::Certain, "{few} of {missing}");
    }
    let audit = audit_of(&all, &damaged(missing));
    assert_eq!((audit.finding, audit.missing_arrivals), (AuditFinding::CannotTell, None));
    assert_eq!((audit.evidence[0].code, audit.corrected.len(), audit.users), ("rows_left_out", 0, None));
    // The rows that were read show nothing, but the rows that were left out could.
    let healthy = rows(&Service::healthy(Nanos::from_millis(10)), 1, 10);
    assert_eq!(audit_of(&healthy, &damaged(1)).finding, AuditFinding::NoneSeen);
    assert_eq!(audit_of(&healthy, &damaged(10)).finding, AuditFinding::CannotTell);
}

/// The freeze of the laboratory: 10 ms, a pause from 2.5 to 3 s, 450 requests of one user. HdrHistogram's correction
/// with an expected interval of 10 ms, applied to snapshots of 1 s, gives 460 ms at p99 of the whole run.
#[test]
fn the_freeze_of_the_laboratory_is_corrected_to_460_ms() {
    let stall = Fault::Stall { at: Timestamp(2_500_000_000), length: Nanos::from_millis(500), gate: Gate::Arrivals };
    let service = Service { faults: vec![stall], ..Service::healthy(Nanos::from_millis(10)) };
    let rows = rows(&service, 1, 5);
    assert_eq!(rows.len(), 450);
    let mut whole = truetail_model::record::Histogram::new();
    let mut added = 0;
    for second in 0..5 {
        let mut corrector = Corrector::new(Nanos::from_millis(10));
        let end = |row: &ForeignRequest| row.start_ns.unwrap() + row.duration.0;
        let within = rows.iter().filter(|row| (end(row) - 1) / 1_000_000_000 == second);
        within.for_each(|row| corrector.record(row.start_ns, row.duration));
        let corrected = corrector.finish().whole;
        whole.merge(&corrected.after);
        added += corrected.added;
    }
    let p99 = whole.quantile(0.99).unwrap().as_millis_f64();
    assert!((p99 / 460.0 - 1.0).abs() < 0.001, "{p99}");
    assert_eq!((added, whole.count()), (50, 500));
}

/// The output of ab for scenario 02: 10 users, p99 11 ms, longest 1010 ms.
fn summary(latency_from: LatencyFrom) -> ForeignRun {
    let quantile = |q: f64, ms: u64| ClaimedQuantile { q, value_ns: ms * 1_000_000, printed: true };
    let claims = Claims {
        quantiles: vec![quantile(0.5, 10), quantile(0.9, 11), quantile(0.99, 11)],
        max_ns: Some(1_010_000_000),
        measured: Some(58_000),
        rate_per_second: Some(970.0),
        ..Claims::silent(latency_from)
    };
    let load = ForeignLoad { users: Some(10), model: Some(LoadModelKind::Closed), ..ForeignLoad::default() };
    ForeignRun { claims, load, ..file(1) }
}

#[test]
fn a_summary_of_users_who_wait_tells_some_of_it() {
    let audit = audit_of(&[], &summary(LatencyFrom::Send));
    assert_eq!((audit.finding, codes(&audit)), (AuditFinding::Likely, vec!["users_held_up"]), "{audit:?}");
    let p99 = audit.corrected.iter().find(|one| one.q == 0.99).unwrap();
    assert!(p99.low_ns < 20_000_000 && (p99.value_ns as f64 / 410e6 - 1.0).abs() < 0.15, "{p99:?}");

    let mut detailed = summary(LatencyFrom::Send);
    detailed.claims.quantiles.push(ClaimedQuantile { q: 0.9999, value_ns: 1_009_000_000, printed: true });
    assert_eq!(audit_of(&[], &detailed).finding, AuditFinding::Certain, "five requests or more were slow");

    let mut healthy = summary(LatencyFrom::Send);
    healthy.claims.max_ns = Some(30_000_000);
    assert_eq!(audit_of(&[], &healthy).finding, AuditFinding::NoneSeen);
}

#[test]
fn what_a_summary_cannot_tell_is_said() {
    for (latency_from, finding, code) in [
        (LatencyFrom::Intended, AuditFinding::NoneSeen, "from_intended_start"),
        (LatencyFrom::BackFilled, AuditFinding::CannotTell, "back_filled"),
    ] {
        let audit = audit_of(&[], &summary(latency_from));
        assert_eq!((audit.finding, codes(&audit)), (finding, vec![code]));
    }
    let mut unknown = summary(LatencyFrom::Send);
    unknown.load.model = None;
    let audit = audit_of(&[], &unknown);
    assert_eq!((audit.finding, codes(&audit)), (AuditFinding::CannotTell, vec!["no_starts"]));
    assert_eq!((audit.missing_arrivals, audit.corrected.len()), (None, 0));
    unknown.claims.dropped = Some(1_000);
    let audit = audit_of(&[], &unknown);
    assert_eq!((audit.finding, audit.missing_arrivals), (AuditFinding::Certain, Some(1_000)));
    let mut with_rows = file(1);
    with_rows.claims.dropped = Some(1_000);
    let rows = rows(&Service::healthy(Nanos::from_millis(10)), 2, 5);
    let audit = audit_of(&rows, &with_rows);
    assert_eq!((audit.finding, audit.missing_arrivals, audit.corrected.len()), (AuditFinding::Certain, Some(1_000), 0));
    let nothing = audit_of(&[], &file(1));
    assert_eq!((nothing.finding, nothing.requests), (AuditFinding::CannotTell, None));
}

/// Ten seconds of one user with ten stops of 100 ms, repeated a day later, or with a row of 1970.
#[test]
fn a_file_in_which_stops_do_not_show_cannot_tell() {
    let stops = |at: u64| stall(Nanos::from_millis(500 + at * 1_000), Nanos::from_millis(100));
    let service = service(Variation::Constant, 1, (0..10).map(stops).collect());
    let once = rows(&service, 1, 10);
    assert_eq!(audit_of(&once, &file(1)).finding, AuditFinding::Certain);
    let moved = |row: &ForeignRequest, by: u64| ForeignRequest { start_ns: row.start_ns.map(|at| at + by), ..*row };
    let day = 86_400_000_000_000;
    let epoch = 1_700_000_000_000_000_000;
    let appended: Vec<_> = once.iter().copied().chain(once.iter().map(|row| moved(row, day))).collect();
    let mut of_1970: Vec<_> = once.iter().map(|row| moved(row, epoch)).collect();
    of_1970[3].start_ns = Some(0);
    for rows in [&appended, &of_1970] {
        let audit = audit_of(rows, &file(1));
        assert_eq!((audit.finding, codes(&audit)), (AuditFinding::CannotTell, vec!["coarse_starts"]), "{audit:?}");
    }
    assert_eq!(audit_of(&once, &file(1_000_000_000)).finding, AuditFinding::CannotTell);
    assert_eq!(audit_of(&once[..40], &file(1)).finding, AuditFinding::CannotTell);
}

/// In a healthy file of a day the shortest stops do not show, but nothing in it could hide one.
#[test]
fn a_long_healthy_file_shows_none() {
    let once = rows(&Service::healthy(Nanos::from_millis(10)), 2, 10);
    let again =
        once.iter().map(|row| ForeignRequest { start_ns: row.start_ns.map(|at| at + 86_400_000_000_000), ..*row });
    let audit = audit_of(&once.iter().copied().chain(again).collect::<Vec<_>>(), &file(1));
    assert_eq!(audit.finding, AuditFinding::NoneSeen, "{audit:?}");
}

#[test]
fn times_at_the_end_of_all_clocks_are_judged_too() {
    let row = |start_ns: u64, duration: u64| ForeignRequest {
        worker: Some(0),
        ..ForeignRequest::new(Some(start_ns), Nanos(duration), Outcome::response(200))
    };
    for (start, duration) in
        [(u64::MAX - 1_000, 10), (0, u64::MAX), (u64::MAX, u64::MAX), (i64::MAX as u64 - 1_000, 10)]
    {
        let mut rows: Vec<_> = (0..100).map(|at| row(start.saturating_sub(at * 1_000), duration)).collect();
        rows.push(row(5, 5));
        for resolution in [1, 1_000_000_000] {
            audit_of(&rows, &file(resolution));
        }
    }
}

/// A stop in an access log may be one of the server.
#[test]
fn an_access_log_never_shows_for_certain_what_clients_did() {
    let stall = stall(Nanos::from_secs(5), Nanos::from_secs(1));
    let rows = rows(&service(Variation::Constant, 1, vec![stall]), 5, 10);
    assert_eq!(audit_of(&rows, &file(1)).finding, AuditFinding::Certain);
    let audit = audit_of(&rows, &ForeignRun { view: ForeignView::Server, ..file(1) });
    assert_eq!((audit.finding, audit.missing_arrivals, audit.users), (AuditFinding::Likely, None, None));
    assert_eq!((codes(&audit), audit.corrected.len()), (vec!["sends_stop_while_slow", "server_view"], 0));
}

/// 0.1 % of all requests may have taken 110 ms, and so hidden 1 % more.
#[test]
fn a_summary_does_not_rule_out_many_short_stalls() {
    let mut run = summary(LatencyFrom::Send);
    run.claims.max_ns = Some(120_000_000);
    let audit = audit_of(&[], &run);
    assert_eq!((audit.finding, codes(&audit)), (AuditFinding::CannotTell, vec!["slow_not_counted"]));
    run.load.model = None;
    let audit = audit_of(&[], &run);
    assert_eq!((audit.finding, codes(&audit)), (AuditFinding::CannotTell, vec!["no_starts"]));
    run.claims.max_ns = Some(12_000_000);
    let audit = audit_of(&[], &run);
    assert_eq!((audit.finding, codes(&audit)), (AuditFinding::NoneSeen, vec!["nothing_slow"]));
}

#[test]
fn what_a_file_does_not_say_is_not_zero() {
    let mut rows = rows(&Service::healthy(Nanos::from_millis(10)), 2, 5);
    rows.iter_mut().for_each(|row| row.outcome = Outcome::ANSWERED);
    assert_eq!(audit_of(&rows, &file(1)).failed, None);
    rows[0].outcome = Outcome::response(200);
    assert_eq!(audit_of(&rows, &file(1)).failed, Some(0));
    let mut run = summary(LatencyFrom::Send);
    run.claims.measured = None;
    let audit = audit_of(&[], &run);
    assert_eq!((audit.requests, codes(&audit)), (None, vec!["no_count"]));
    run.claims = Claims { measured: Some(0), requests: Some(600), ..run.claims };
    let audit = audit_of(&[], &run);
    assert_eq!((audit.requests, codes(&audit)), (Some(600), vec!["nothing_measured"]));
}

/// k6 drops iterations. A few of them say nothing about the requests.
#[test]
fn dropped_iterations_are_no_requests() {
    let mut run = ForeignRun { tool: Some("k6"), ..summary(LatencyFrom::Send) };
    run.claims.dropped = Some(1_000);
    let audit = audit_of(&[], &run);
    assert_eq!((audit.finding, audit.missing_arrivals), (AuditFinding::Certain, None));
    assert!(audit.evidence[0].message.contains("1000 iterations"), "{audit:?}");
    run.claims.dropped = Some(1);
    assert_eq!(codes(&audit_of(&[], &run)), ["users_held_up"]);
}
