//! Outcomes of requests, limits, and the order of records.

use crate::common::*;
use truetail_model::arrival::{Horizon, Spacing};
use truetail_model::record::{Cause, Metric, Outcome, RequestRecord};
use truetail_model::scenario::Scenario;
use truetail_model::service::{Fault, Selector, Service};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::users::Users;
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_run::{Run, RunSource};
use truetail_sim::{FaultClockStart, SimError, SimOptions, Simulation, simulate};

const EVERY_FIFTH: Selector = Selector { every: Some(5), share: None, at: None, length: None };

/// Returns every record, by index.
fn records(scenario: &Scenario) -> Vec<RequestRecord> {
    let mut records = run(scenario).snapshot.samples.even().to_vec();
    records.sort_by_key(|record| record.index);
    records
}

/// Returns twenty requests, one every 100 ms; every fifth meets `fault`.
fn twenty(fault: Fault, limits: Limits) -> Scenario {
    let service = Service { faults: vec![fault], ..Service::healthy(ms(10)) };
    scenario(service, workload(even(10.0, for_requests(20)), limits))
}

fn assert_every_fifth(fault: Fault, limits: Limits, outcome: Outcome, response_time: Nanos) {
    for (i, record) in records(&twenty(fault, limits)).iter().enumerate() {
        let (expected, time) =
            if (i + 1) % 5 == 0 { (outcome, response_time) } else { (Outcome::response(200), ms(10)) };
        assert_eq!((record.outcome, record.response_time()), (expected, time), "request {i}");
    }
}

#[test]
fn faults_end_as_a_real_client_would_see_them() {
    let limits = Limits::default();
    let select = EVERY_FIFTH;
    let reset = Outcome::Reset(Cause::ResetByPeer);
    assert_every_fifth(Fault::Reset { select }, limits, reset, ms(10));
    let truncated = Outcome::Malformed(Cause::Truncated);
    assert_every_fifth(Fault::ShortBody { select }, limits, truncated, ms(10));
    let garbage = Outcome::Malformed(Cause::BadHead);
    assert_every_fifth(Fault::Garbage { select }, limits, garbage, ms(10));
    let slow = Outcome::response(200);
    assert_every_fifth(Fault::SlowBody { over: ms(70), select }, limits, slow, ms(80));
    let error = Outcome::response(503);
    assert_every_fifth(Fault::ErrorStatus { status: 503, immediately: false, select }, limits, error, ms(10));
    assert_every_fifth(Fault::ErrorStatus { status: 503, immediately: true, select }, limits, error, Nanos::ZERO);
}

#[test]
fn a_black_hole_is_the_timeout_or_the_end() {
    let select = EVERY_FIFTH;
    let hole = Fault::BlackHole { select };
    let limits = Limits { timeout: Some(ms(300)), ..Limits::default() };
    assert_every_fifth(hole.clone(), limits, Outcome::TimedOut, ms(300));

    // The last request is intended at 1.9 s, and the drain counts from just after it.
    let no_timeout = Limits { timeout: None, drain: ms(500), connections: None, ..Limits::default() };
    let held: Vec<_> =
        records(&twenty(hole, no_timeout)).into_iter().filter(|r| r.outcome == Outcome::InFlightAtEnd).collect();
    assert_eq!(held.iter().map(|r| r.index).collect::<Vec<_>>(), [4, 9, 14, 19]);
    assert!(held.iter().all(|record| record.end == Timestamp(at_ms(2_400).0 + 1)));
}

#[test]
fn a_slow_body_beyond_the_timeout_has_timed_out() {
    let fault = Fault::SlowBody { over: ms(70), select: EVERY_FIFTH };
    let limits = Limits { timeout: Some(ms(50)), ..Limits::default() };
    assert_every_fifth(fault, limits, Outcome::TimedOut, ms(50));
}

#[test]
fn a_cap_makes_arrivals_wait_and_keeps_their_intended_start() {
    // 10 ms of service through one connection at 200/s: each arrival waits 5 ms longer than the one before it.
    let limits = Limits { connections: Some(1), ..Limits::default() };
    let capped = scenario(Service::healthy(ms(10)), workload(even(200.0, for_requests(50)), limits));
    for (i, record) in records(&capped).iter().enumerate() {
        assert_eq!(record.intended_start, at_ms(5 * i as u64));
        assert_eq!(record.delay.connection_wait, ms(5 * i as u64));
        assert_eq!(record.delay.total(), record.delay.connection_wait);
        assert_eq!((record.service_time(), record.response_time()), (ms(10), ms(10 + 5 * i as u64)));
    }
}

/// Returns sessions of two requests of 10 ms with 30 ms between them, which arrive every 20 ms.
fn sessions(limits: Limits) -> Vec<RequestRecord> {
    let LoadModel::Open(sessions) = even(50.0, for_requests(4)) else { unreachable!("an open model") };
    let model = LoadModel::PartlyOpen { sessions, requests_per_session: 2, think_time: ms(30) };
    let mut records = records(&scenario(Service::healthy(ms(10)), workload(model, limits)));
    records.sort_by_key(|record| record.actual_start);
    records
}

#[test]
fn a_cap_on_connections_holds_for_sessions_where_each_has_one() {
    let times = |records: &[RequestRecord]| -> Vec<_> {
        let of = |record: &RequestRecord| [record.intended_start.0, record.actual_start.0].map(|at| at / 1_000_000);
        records.iter().map(of).collect()
    };
    let shared = Limits { connections: Some(1), ..Limits::default() };
    assert_eq!(
        times(&sessions(shared)),
        [[0, 0], [20, 20], [40, 40], [40, 50], [60, 60], [60, 70], [90, 90], [110, 110]]
    );
    let own = Limits { connection_per_session: true, ..shared };
    // Each session takes 50 ms, and the next one begins when it is over.
    let expected = [[0, 0], [40, 40], [20, 50], [90, 90], [40, 100], [140, 140], [60, 150], [190, 190]];
    let records = sessions(own);
    assert_eq!(times(&records), expected);
    assert!(records.iter().all(|record| record.delay.connection_wait == record.delay.total()));
}

#[test]
fn a_backlog_beyond_the_drain_was_never_issued() {
    // One connection does 100/s of 200/s for 1 s, and 30 more in the drain of 300 ms.
    let limits = Limits { connections: Some(1), timeout: None, drain: ms(300), ..Limits::default() };
    let overload = scenario(Service::healthy(ms(10)), workload(even(200.0, for_secs(1)), limits));
    let tally = run(&overload).snapshot.tally;
    assert_eq!((tally.planned, tally.responses, tally.never_issued, tally.in_flight_at_end), (200, 130, 70, 0));
    let waited = records(&overload)[199].response_time();
    assert_eq!(waited, ms(1_300 - 995), "counted out at the end of the drain");
}

#[test]
fn what_is_still_under_way_at_the_drain_limit_is_in_flight() {
    // 25 ms each: the place is taken at 0, 25 … 1,300 ms, and the drain cuts off the last request at 1,310 ms.
    let limits = Limits { connections: Some(1), timeout: None, drain: ms(310), ..Limits::default() };
    let overload = scenario(Service::healthy(ms(25)), workload(even(200.0, for_secs(1)), limits));
    let tally = run(&overload).snapshot.tally;
    assert_eq!((tally.responses, tally.in_flight_at_end, tally.never_issued), (52, 1, 147));
    let limits = Limits { drain: ms(300), ..limits };
    let exact = scenario(Service::healthy(ms(25)), workload(even(200.0, for_secs(1)), limits));
    let tally = run(&exact).snapshot.tally;
    assert_eq!((tally.responses, tally.in_flight_at_end, tally.never_issued), (52, 0, 148));
}

#[test]
fn closed_users_wait_for_their_answer_and_think() {
    let users = closed(3, ms(15), for_secs(1));
    let records = records(&scenario(Service::healthy(ms(10)), workload(users, Limits::default())));
    // A cycle of 25 ms, three users: 40 cycles fit into the second.
    assert_eq!(records.len(), 120);
    for (i, record) in records.iter().enumerate() {
        assert_eq!(record.intended_start, at_ms(25 * (i as u64 / 3)));
        assert_eq!(record.response_time(), ms(10));
    }
}

#[test]
fn sessions_arrive_openly_and_their_requests_follow_each_other() {
    let model = LoadModel::PartlyOpen {
        sessions: schedule(10.0, Spacing::Even, 1, for_secs(1)),
        requests_per_session: 3,
        think_time: ms(20),
    };
    let records = records(&scenario(Service::healthy(ms(10)), workload(model, Limits::default())));
    let starts: Vec<u64> = records.iter().map(|record| record.intended_start.0 / 1_000_000).collect();
    let expected: Vec<u64> = (0..10).flat_map(|s| [100 * s, 100 * s + 30, 100 * s + 60]).collect();
    assert_eq!(starts, expected);
}

#[test]
fn warm_up_is_offered_and_counted_apart() {
    let model = even(100.0, for_secs(2));
    let offered = Workload { warmup: ms(500), ..workload(model, Limits::default()) };
    let run = run(&scenario(Service::healthy(ms(10)), offered));
    assert_eq!((run.snapshot.warmup.planned, run.snapshot.tally.planned), (50, 150));
    assert_eq!(run.snapshot.metric(Metric::ResponseTime).count(), 150);
    assert_eq!(run.facts.offered.warmup_ns, ms(500).0);
}

#[test]
fn the_fault_clock_starts_with_the_first_request_or_the_run() {
    let model = poisson(10.0, 7, for_secs(5));
    let service = Service { faults: vec![stall(0, 500)], ..Service::healthy(ms(10)) };
    let offered = workload(model, Limits::default());
    let first_end = |clock| {
        let mut journal = Journal::default();
        Simulation::new(&service, &offered, clock).unwrap().run(&mut journal).unwrap();
        (journal.0[0].intended_start, journal.0[0].end)
    };
    let (started, ended) = first_end(FaultClockStart::FirstRequest);
    assert!(started > Timestamp::ZERO);
    assert_eq!(ended, started + ms(500));
    assert_eq!(first_end(FaultClockStart::Origin).1, at_ms(500));
}

#[test]
fn records_come_by_end_and_then_by_start() {
    // Two of three users are answered together, in the order of their starts.
    let service = Service { faults: vec![stall(0, 100)], ..Service::healthy(ms(10)) };
    let offered = workload(closed(3, ms(0), for_requests(9)), Limits::default());
    let mut journal = Journal::default();
    Simulation::new(&service, &offered, FaultClockStart::Origin).unwrap().run(&mut journal).unwrap();
    let order: Vec<u64> = journal.0.iter().map(|record| record.index).collect();
    assert_eq!(order, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert!(journal.0.windows(2).all(|pair| pair[0].end <= pair[1].end));
}

#[test]
fn the_facts_are_those_of_a_simulation() {
    let run = run(&shared(vec![]));
    assert_eq!(run.facts.source, RunSource::Simulator);
    assert!(run.facts.host.is_none() && run.facts.generator.is_none() && run.facts.started_at_unix_ns.is_none());
    assert_eq!(run.facts.elapsed_ns, at_ms(59_999 + 10).0);
    let LoadModel::Open(schedule) = shared(vec![]).workload.model else { unreachable!() };
    assert_eq!(run.snapshot.schedule_hash, schedule.hash());
}

#[test]
fn waiting_for_ever_is_said_and_not_done() {
    let hole = Fault::BlackHole { select: EVERY_FIFTH };
    let service = Service { faults: vec![hole], ..Service::healthy(ms(10)) };
    let offered = workload(closed(2, ms(0), for_requests(1_000)), unlimited(Nanos::ZERO));
    let run = run(&scenario(service, offered));
    assert_eq!(run.snapshot.tally.in_flight_at_end, 2);
    assert!(run.facts.notes[0].contains("a real run would have waited forever"), "{:?}", run.facts.notes);
}

#[test]
fn an_endless_drain_ends_with_the_last_event() {
    let run = run(&twenty(Fault::BlackHole { select: EVERY_FIFTH }, unlimited(Nanos::MAX)));
    assert_eq!((run.snapshot.tally.responses, run.snapshot.tally.in_flight_at_end), (16, 4));
    // The last arrival is intended at 1.9 s and is one of the four; the answer before it came at 1.81 s.
    assert_eq!(run.snapshot.last_end, at_ms(1_900));
    assert_eq!(run.facts.notes.len(), 1);
}

#[test]
fn what_has_no_end_is_refused() {
    let endless = workload(even(10.0, Default::default()), Limits::default());
    let refused = simulate(&scenario(Service::healthy(ms(10)), endless), SimOptions::default());
    assert_eq!(refused.unwrap_err(), SimError::NoEnd);

    let idle = scenario(Service::healthy(Nanos::ZERO), workload(closed(1, ms(0), for_secs(1)), Limits::default()));
    let refused = simulate(&idle, SimOptions::LEAN).unwrap_err();
    assert!(matches!(refused, SimError::NoProgress { at: Timestamp::ZERO, .. }), "{refused}");

    // With a number of requests, the run ends at the instant it began.
    let counted =
        scenario(Service::healthy(Nanos::ZERO), workload(closed(1, ms(0), for_requests(99)), Limits::default()));
    assert_eq!(run(&counted).snapshot.last_end, Timestamp::ZERO);
}

/// Returns the intended starts of a closed load until `end`, in milliseconds. Each request takes `service`.
fn intended_of(users: &str, service: Nanos, think: Nanos, end: u64) -> (Vec<u64>, Run) {
    let users: Users = users.parse().unwrap();
    let horizon = Horizon { duration: Some(ms(end)), requests: None };
    let offered = workload(closed(users, think, horizon), unlimited(Nanos::from_secs(9)));
    let run = run(&scenario(Service::healthy(service), offered));
    let mut intended: Vec<u64> =
        run.snapshot.samples.even().iter().map(|record| record.intended_start.0 / ms(1).0).collect();
    intended.sort_unstable();
    (intended, run)
}

#[test]
fn users_join_and_leave_when_the_stages_say_so() {
    let (intended, run) = intended_of("steps:1/1s,3/1s,0/1s,2/1s", ms(10), ms(90), 4_000);
    let in_second = |second: u64| intended.iter().filter(|at| **at / 1_000 == second).count();
    assert_eq!([0, 1, 2, 3].map(in_second), [10, 30, 0, 20]);
    let tally = &run.snapshot.tally;
    assert_eq!((tally.planned, tally.responses, tally.never_issued), (60, 60, 0));
    assert_eq!(response_times(&run), [ms(10).0; 60]);
    assert_eq!(
        (run.facts.offered.users, run.facts.offered.users_over_time.as_deref()),
        (Some(3), Some("1/1s,3/1s,0/1s,2/1s"))
    );
    // Five users join in a line at 0.5, 1.5 … users.
    assert_eq!(intended_of("0..5/5s", ms(10), Nanos::from_secs(60), 5_000).0, [500, 1_500, 2_500, 3_500, 4_500]);
}

#[test]
fn a_user_who_leaves_finishes_the_request_and_sends_no_more() {
    // The third request of each of two users is under way when they leave.
    let (intended, run) = intended_of("steps:2/1s,0/1s", ms(400), Nanos::ZERO, 2_000);
    assert_eq!(intended, [0, 0, 400, 400, 800, 800]);
    assert_eq!((run.snapshot.tally.responses, run.snapshot.last_end), (6, at_ms(1_200)));
    for (service, think, wanted) in [
        // Thinks while leaving: the next request is due when joining again.
        (100, 1_500, [0, 2_000]),
        // Still waits while leaving, and has the answer before joining again.
        (1_500, 300, [0, 2_000]),
        // Still waits while joining again: thinks after the answer, as if nothing had happened.
        (2_100, 300, [0, 2_400]),
    ] {
        let (intended, run) = intended_of("steps:1/1s,0/1s,1/1s", ms(service), ms(think), 3_000);
        assert_eq!((&intended[..], run.snapshot.tally.responses), (&wanted[..], 2), "{service}, {think}");
    }
}
