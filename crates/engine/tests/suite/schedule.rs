//! Tests that the schedule never waits for the server, and that no planned arrival is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::{Act, DRAIN, Puppet, closed, ends_early_by, ok, open, plan, run, run_with};
use truetail_engine::{Control, Plan};
use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::record::Metric;
use truetail_model::time::{Nanos, Rate, Timestamp};
use truetail_model::users::Users;
use truetail_model::workload::LoadModel;
use truetail_run::Timing;

#[test]
fn arrivals_do_not_wait_for_answers() {
    // The first answer is sent when the server has seen the last request. A loop that waits for it sends no more.
    let puppet = Puppet::start(|_| Act::WhenSeen(100, ok()));
    let measured = run(&open(&puppet.url(), 200.0, 100));
    assert_eq!((measured.snapshot.tally.responses, measured.generator.connections_peak), (100, 100));
}

#[test]
fn a_cap_makes_arrivals_wait_and_the_wait_is_the_caps() {
    let puppet = Puppet::start(|_| Act::After(Duration::from_millis(20), ok()));
    let mut plan = open(&puppet.url(), 100.0, 60);
    plan.workload.limits.connections = Some(1);
    let measured = run(&plan);
    assert_eq!((measured.snapshot.tally.responses, measured.generator.connections_peak), (60, 1));
    // 20 ms of work every 10 ms: arrival k waits at least k x 10 ms, minus one interval for rounding. Pauses of the
    // machine are not part of the wait.
    let paused = Nanos(measured.generator.paused_ns);
    let mut records: Vec<_> = measured.snapshot.samples.even().to_vec();
    records.sort_by_key(|r| r.index);
    for record in &records[1..] {
        let wait = record.delay.connection_wait;
        assert!(wait + paused >= Nanos::from_millis(10 * record.index - 10), "paused {paused}: {record:?}");
        let response = record.response_time() + ends_early_by(&measured);
        assert!(response >= wait + Nanos::from_millis(20), "paused {paused}: {record:?}");
    }
    let last = &records[59].delay;
    assert!(
        last.generator_lag < last.connection_wait + paused,
        "paused {paused}, and the wait is not called lag: {last:?}"
    );
}

#[test]
fn what_the_drain_does_not_reach_is_counted_as_never_issued() {
    let puppet = Puppet::start(|_| Act::After(Duration::from_millis(100), ok()));
    let mut plan = open(&puppet.url(), 1000.0, 500);
    plan.workload.limits.connections = Some(2);
    plan.workload.limits.drain = Nanos::from_millis(300);
    let tally = run(&plan).snapshot.tally;
    assert_eq!(tally.planned, 500);
    assert!(tally.never_issued > 450 && tally.in_flight_at_end <= 2, "{tally:?}");
    assert!(puppet.seen() <= tally.issued);
}

#[test]
fn without_a_timeout_the_drain_ends_what_hangs() {
    let puppet = Puppet::start(|n| if n % 5 == 4 { Act::Hang } else { Act::Send(ok()) });
    let mut plan = open(&puppet.url(), 500.0, 50);
    plan.workload.limits.timeout = None;
    plan.workload.limits.drain = DRAIN;
    let tally = run(&plan).snapshot.tally;
    assert_eq!((tally.responses, tally.in_flight_at_end), (40, 10));
}

#[test]
fn a_closed_loop_waits_for_its_answers() {
    let puppet = Puppet::start(|_| Act::After(Duration::from_millis(5), ok()));
    let measured = run(&closed(&puppet.url(), 4, 100));
    assert_eq!((measured.snapshot.tally.responses, puppet.seen()), (100, 100));
    assert!(measured.generator.connections_peak <= 4);
}

#[test]
fn think_time_is_before_the_intended_start() {
    let puppet = Puppet::start(|_| Act::Send(ok()));
    let horizon = Horizon { duration: None, requests: Some(5) };
    let think_time = Nanos::from_millis(30);
    let measured = run(&plan(&puppet.url(), LoadModel::Closed { users: 1.into(), think_time, horizon }));
    let mut records = measured.snapshot.samples.even().to_vec();
    records.sort_by_key(|r| r.index);
    for pair in records.windows(2) {
        // A user's think time begins when it has read the answer, slightly after the answer arrived.
        let earliest = pair[0].end + pair[0].read_lag.unwrap_or_default() + think_time;
        assert!(pair[1].intended_start >= earliest, "{pair:?}");
        // Without a stamp the read lag is unknown, and the answer's end excludes pauses of the machine.
        assert!(pair[0].read_lag.is_none() || pair[1].intended_start == earliest, "{pair:?}");
    }
}

/// Users join and leave on two workers, one of which has nobody at first.
#[test]
fn users_come_and_go_and_their_requests_end() {
    for stages in ["steps:3/200ms,0/200ms,6/200ms", "steps:1/200ms,6/200ms", "0..6/300ms,6..0/300ms"] {
        let puppet = Puppet::start(|_| Act::After(Duration::from_millis(5), ok()));
        let users: Users = stages.parse().unwrap();
        let length = users.natural_length().unwrap();
        let horizon = Horizon { duration: Some(length), requests: None };
        let model = LoadModel::Closed { users: users.clone(), think_time: Nanos::from_millis(1), horizon };
        let mut plan = plan(&puppet.url(), model);
        plan.threads = Some(2);
        let measured = run(&plan);
        let tally = &measured.snapshot.tally;
        assert_eq!((tally.planned, tally.responses, puppet.seen()), (tally.responses, tally.planned, tally.planned));
        assert_eq!(measured.generator.threads, 2);
        assert!(measured.generator.connections_peak <= 6, "{}", measured.generator.connections_peak);
        let records = measured.snapshot.samples.even();
        assert_eq!(records.len() as u64, tally.planned);
        let longest = records.iter().map(|record| record.response_time() + record.read_lag.unwrap_or_default()).max();
        let longest = longest.unwrap() + ends_early_by(&measured);
        for record in records {
            let at = record.intended_start;
            assert!(at.0 < length.0 && users.active_at(at) > 0, "{stages}: nobody is there at {at:?}");
            let open = records.iter().filter(|other| other.intended_start <= at && at < other.end).count();
            // Those who have left since the longest request may still finish one.
            let since = (0..=longest.0 / 1_000_000 + 1).map(|ms| Timestamp(at.0.saturating_sub(ms * 1_000_000)));
            let most = since.map(|at| users.active_at(at)).max().unwrap();
            assert!(open <= most as usize, "{stages}: {open} open, {most} users at {at:?}");
        }
        // Each user asks at once when joining.
        let joins: Vec<Timestamp> =
            (0..users.most()).map(|user| users.stay_after(user, Timestamp::ZERO).unwrap().joins).collect();
        for at in &joins {
            let asked = records.iter().filter(|record| record.intended_start == *at).count();
            assert!(asked >= joins.iter().filter(|other| *other == at).count(), "{stages}: {asked} asked at {at:?}");
        }
    }
}

#[test]
fn sessions_are_partly_open() {
    let puppet = Puppet::start(|_| Act::Send(ok()));
    let sessions = Schedule {
        profile: Profile::constant(Rate::per_second(50.0).unwrap()),
        spacing: Spacing::Poisson,
        seed: 7,
        horizon: Horizon { duration: None, requests: Some(20) },
    };
    let model = LoadModel::PartlyOpen { sessions, requests_per_session: 3, think_time: Nanos::from_millis(2) };
    let tally = run(&plan(&puppet.url(), model)).snapshot.tally;
    assert_eq!((tally.planned, tally.responses), (60, 60));
}

#[test]
fn two_workers_do_the_whole_schedule_between_them() {
    let puppet = Puppet::start(|_| Act::Send(ok()));
    let mut plan = open(&puppet.url(), 2000.0, 1001);
    let LoadModel::Open(schedule) = plan.workload.model.clone() else { unreachable!() };
    plan.threads = Some(2);
    let measured = run(&plan);
    assert_eq!((measured.snapshot.tally.responses, measured.generator.threads), (1001, 2));
    assert_eq!(measured.snapshot.schedule_hash, schedule.hash());
    let mut indices: Vec<u64> = measured.snapshot.samples.even().iter().map(|r| r.index).collect();
    indices.sort_unstable();
    assert!(indices.iter().copied().eq(0..1001));
}

#[test]
fn warm_up_is_offered_and_not_measured() {
    let puppet = Puppet::start(|_| Act::Send(ok()));
    let mut plan = open(&puppet.url(), 200.0, 100);
    plan.workload.warmup = Nanos::from_millis(250);
    let snapshot = run(&plan).snapshot;
    snapshot.warmup.check().unwrap();
    assert_eq!((snapshot.warmup.responses, snapshot.tally.responses, puppet.seen()), (50, 50, 100));
}

/// Runs an endless plan and calls `end` when the server has seen `after` requests.
fn run_until(puppet: &Puppet, after: u64, end: impl FnOnce(&Control) + Send + 'static) -> truetail_engine::RunOutput {
    let mut endless = open(&puppet.url(), 1000.0, 1);
    let LoadModel::Open(schedule) = &mut endless.workload.model else { unreachable!() };
    schedule.horizon = Horizon::default();
    run_until_seen(endless, puppet, after, end)
}

/// Runs `plan` and calls `end` when the server has seen `after` requests.
fn run_until_seen(
    plan: Plan,
    puppet: &Puppet,
    after: u64,
    end: impl FnOnce(&Control) + Send + 'static,
) -> truetail_engine::RunOutput {
    let control = Control::new();
    let seen = Arc::clone(&puppet.requests);
    let over = Arc::new(AtomicBool::new(false));
    let handle = control.clone();
    let watch = Arc::clone(&over);
    let ender = std::thread::spawn(move || {
        while seen.load(Ordering::SeqCst) < after {
            std::thread::sleep(Duration::from_millis(1));
        }
        end(&handle);
        // The run must end after `end`, or the test would hang.
        std::thread::sleep(Duration::from_secs(30));
        assert!(watch.load(Ordering::SeqCst), "the run did not end");
    });
    let measured = run_with(&plan, &control);
    over.store(true, Ordering::SeqCst);
    drop(ender);
    measured
}

#[test]
fn stop_sends_nothing_more_and_waits_for_answers() {
    let puppet = Puppet::start(|_| Act::After(Duration::from_millis(50), ok()));
    let measured = run_until(&puppet, 100, Control::stop);
    let tally = measured.snapshot.tally;
    assert!(tally.planned >= 100 && tally.in_flight_at_end == 0, "{tally:?}");
    assert_eq!(tally.responses, puppet.seen());
}

#[test]
fn stop_now_counts_what_is_in_flight() {
    let puppet = Puppet::start(|n| if n < 50 { Act::Send(ok()) } else { Act::Hang });
    let once_read = |control: &Control| {
        while control.progress().responses < 50 {
            std::thread::sleep(Duration::from_millis(1));
        }
        control.stop_now();
    };
    let tally = run_until(&puppet, 100, once_read).snapshot.tally;
    assert!(tally.in_flight_at_end >= 50 && tally.responses == 50, "{tally:?}");
}

/// No event wakes the worker, and the next arrival is a minute away.
#[test]
fn a_worker_that_sleeps_obeys_too() {
    for (timing, end) in [
        (Timing::Balanced, Control::stop as fn(&Control)),
        (Timing::Precise, Control::stop_now),
        (Timing::Auto, Control::stop),
        (Timing::Cheap, Control::stop),
    ] {
        let puppet = Puppet::start(|_| Act::Send(ok()));
        let mut plan = open(&puppet.url(), 1.0 / 60.0, 3);
        plan.precision.timing = timing;
        let began = std::time::Instant::now();
        let measured = run_until_seen(plan, &puppet, 1, end);
        assert_eq!((measured.snapshot.tally.planned, measured.cut_short), (1, true), "{timing:?}");
        // This takes about 20 ms, or longer if the machine stalls; the next arrival is after a minute.
        assert!(began.elapsed() < Duration::from_secs(20), "{timing:?} {:?}", began.elapsed());
    }
}

#[test]
fn progress_is_seen_from_outside() {
    let puppet = Puppet::start(|_| Act::Send(ok()));
    let control = Control::new();
    assert_eq!(control.progress().issued, 0);
    let measured = run_with(&open(&puppet.url(), 500.0, 100), &control);
    let progress = control.progress();
    assert_eq!((progress.issued, progress.responses, progress.in_flight), (100, 100, 0));
    let max = measured.snapshot.metric(Metric::ResponseTime).max().unwrap();
    assert!(progress.p99.unwrap().0 as f64 <= max.0 as f64 * 1.04 && progress.p50 <= progress.p99);
}

#[test]
fn a_snapshot_during_the_run_loses_nothing() {
    let puppet = Puppet::start(|_| Act::Send(ok()));
    let mut plan = open(&puppet.url(), 1000.0, 1500);
    plan.threads = Some(2);
    let LoadModel::Open(schedule) = plan.workload.model.clone() else { unreachable!() };
    let control = Control::new();
    let handle = control.clone();
    let asker = std::thread::spawn(move || {
        let recorded = || handle.recorded_so_far().map_or(0, |snapshot| snapshot.tally.responses);
        for after in [100, 500, 1000] {
            while handle.progress().responses < after {
                std::thread::sleep(Duration::from_millis(1));
            }
            // A paused worker gives nothing at that moment, and may be asked again.
            let counts: Vec<_> = std::iter::repeat_with(recorded).take(20).take_while(|count| *count < after).collect();
            assert!(counts.len() < 20, "{after} were answered, and {counts:?} recorded");
        }
    });
    let measured = run_with(&plan, &control);
    asker.join().unwrap();
    assert_eq!(measured.snapshot.tally.responses, 1500);
    assert_eq!(measured.snapshot.schedule_hash, schedule.hash());
    assert!(measured.snapshot.samples.is_complete());
    assert_eq!(measured.snapshot.seconds.iter().map(|second| second.planned).sum::<u64>(), 1500);
    assert_eq!(measured.snapshot.metric(Metric::ResponseTime).count(), 1500);
}

/// Between two requests a worker spins, sleeps, or sleeps until the next millisecond. In all cases every arrival is
/// sent, and none is early.
#[test]
fn every_timing_keeps_the_schedule() {
    let puppet = Puppet::start(|_| Act::Send(ok()));
    for timing in [Timing::Precise, Timing::Balanced, Timing::Auto, Timing::Cheap] {
        let mut open = open(&puppet.url(), 400.0, 400);
        open.precision.timing = timing;
        let measured = run(&open);
        assert_eq!((measured.snapshot.tally.responses, measured.generator.timing), (400, timing));
        let samples = &measured.snapshot.samples;
        assert!(
            samples.is_complete() && samples.even().iter().all(|r| r.actual_start >= r.intended_start),
            "{timing:?}"
        );
        let mut closed = closed(&puppet.url(), 4, 200);
        closed.precision.timing = timing;
        assert_eq!(run(&closed).snapshot.tally.responses, 200, "{timing:?}");
    }
}

/// A sleep per request is affordable at 400/s and not at 200,000/s, at any cost of a sleep.
#[test]
fn auto_sends_in_ticks_where_the_rate_is_high() {
    let puppet = Puppet::start(|_| Act::Send(ok()));
    let ran = |rate, requests| {
        let mut plan = open(&puppet.url(), rate, requests);
        (plan.precision.timing, plan.threads) = (Timing::Auto, Some(1));
        plan.workload.limits.connections = Some(64);
        let measured = run(&plan);
        assert_eq!(measured.snapshot.tally.responses, requests);
        assert!(measured.snapshot.samples.even().iter().all(|r| r.actual_start >= r.intended_start));
        measured.generator.ticks
    };
    assert_eq!(ran(400.0, 200), None);
    let ticks = ran(200_000.0, 4_000).expect("a gap of 5 us is less than twelve sleeps");
    assert!(ticks.longest_ns > 0 && ticks.longest_ns <= Timing::AUTO_TICK_NS && ticks.requests > 3_000, "{ticks:?}");
}

/// A cap that truetail chose differs between machines, so it is not part of the offered load.
#[test]
fn a_cap_that_truetail_chose_is_a_fact_of_the_generator() {
    let puppet = Puppet::start(|_| Act::Send(ok()));
    let mut plan = open(&puppet.url(), 1000.0, 10);
    assert!(plan.offered().connections.is_none() && run(&plan).generator.connections_available > Some(0));
    plan.workload.limits.connections = Some(3);
    assert_eq!((plan.offered().connections, run(&plan).generator.connections_available), (Some(3), None));
    let closed = closed(&puppet.url(), 4, 20);
    assert_eq!((closed.offered().connections, run(&closed).generator.connections_available), (None, None));
}

/// In batches, answers wake the worker only for an arrival that has waited for its tick and has no permit. Otherwise
/// the rate would be limited to one request per tick and permit.
#[test]
fn in_batches_an_arrival_starts_as_soon_as_a_permit_is_free() {
    let puppet = Puppet::start(|_| Act::Send(ok()));
    let mut plan = open(&puppet.url(), 100_000.0, 1000);
    plan.workload.limits.connections = Some(1);
    plan.precision.timing = Timing::Cheap;
    plan.threads = Some(1);
    let measured = run(&plan);
    assert_eq!(measured.snapshot.tally.responses, 1000);
    let mut starts: Vec<_> = measured.snapshot.samples.even().iter().map(|record| record.actual_start).collect();
    starts.sort_unstable();
    // With one request per tick of 1 ms, at most two could start within a millisecond, the first of them late. Even on
    // a slow machine, four of a thousand do.
    let least = starts.windows(4).map(|four| four[3].since(four[0])).min().unwrap();
    assert!(least < Nanos::from_millis(1), "four starts take {least} at least");
}
