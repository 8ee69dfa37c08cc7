//! Single cases, in full.

use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::driver::{Directive, Driver, WorkerShare};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};

use super::MS;
use super::cases::Case;
use super::player::play;

fn open(rate: &str, duration: Option<Nanos>, requests: Option<u64>, limits: Limits) -> Workload {
    let profile = rate.parse().unwrap();
    let horizon = Horizon { duration, requests };
    let schedule = Schedule { profile, spacing: Spacing::Even, seed: 1, horizon };
    Workload { model: LoadModel::Open(schedule), limits, warmup: Nanos::ZERO }
}

const SECOND: Nanos = Nanos::from_secs(1);

fn limits(connections: Option<u32>, drain: Nanos) -> Limits {
    Limits { connections, timeout: None, drain, ..Limits::default() }
}

/// A count that the duration does not reach must not end the run.
#[test]
fn a_count_beyond_the_duration_changes_nothing() {
    for requests in [None, Some(101), Some(1_000_000), Some(u64::MAX)] {
        let driver = Driver::new(&open("100", Some(SECOND), requests, limits(None, SECOND)), WorkerShare::WHOLE);
        let end = if requests.is_none() { 1_000 * MS } else { 990 * MS + 1 };
        assert_eq!(driver.deadline(), Timestamp(end) + SECOND, "{requests:?}");
    }
}

#[test]
fn a_count_that_the_profile_never_reaches_ends_with_it() {
    let driver = Driver::new(&open("ramp:200..0/10s", None, Some(1_000_000), limits(None, SECOND)), WorkerShare::WHOLE);
    let last = driver.deadline().since_origin().saturating_sub(SECOND);
    assert!(last > Nanos::from_secs(9) && last < Nanos::from_secs(10), "{last}");
}

/// All requests of the schedule are handed out, even if some workers have no place or no user.
#[test]
fn more_hands_than_places_leave_nothing_undone() {
    let workers = 5;
    let planned_by = |workload: &Workload| -> Vec<u64> {
        let case = Case {
            workload: workload.clone(),
            workers,
            stop: None,
            service: Nanos(MS),
            black_holes: false,
            late: false,
            seed: 1,
        };
        play(&case).iter().map(|worker| worker.started.len() as u64).collect()
    };
    let capped = open("100", Some(SECOND), None, limits(Some(2), SECOND));
    assert_eq!(planned_by(&capped), [50, 50, 0, 0, 0]);
    let horizon = Horizon { duration: None, requests: Some(10) };
    let model = LoadModel::Closed { users: 3.into(), think_time: Nanos::ZERO, horizon };
    let closed = Workload { model, limits: limits(None, SECOND), warmup: Nanos::ZERO };
    assert_eq!(planned_by(&closed), [4, 3, 3, 0, 0]);
}

#[test]
fn a_wait_for_a_place_has_its_length_and_its_owner() {
    let mut driver = Driver::new(&open("100", None, Some(4), limits(Some(1), SECOND)), WorkerShare::WHOLE);
    let at = |millis: u64| Timestamp(millis * MS);
    let started = |turn| if let Directive::Start(start) = turn { start.connection_wait } else { panic!("{turn:?}") };
    assert_eq!(started(driver.poll(at(0))), Nanos::ZERO);
    assert_eq!(driver.poll(at(0)), Directive::Wait { until: at(10) });
    // Due at 10 ms, while the only place is taken.
    assert!(matches!(driver.poll(at(12)), Directive::Wait { until } if until == driver.deadline()));
    driver.complete(0, at(17));
    // The generator hears of it at 19 ms: 7 ms are the cap's, and 2 ms its own.
    assert_eq!(started(driver.poll(at(19))), Nanos(7 * MS));
    driver.complete(0, at(21));
    // The place was free at 21 ms, and this arrival was due at 20 ms.
    assert_eq!(started(driver.poll(at(40))), Nanos(MS));
    driver.complete(0, at(29));
    // The place was free before the arrival was due at 30 ms: all of the delay is the generator's.
    assert_eq!(started(driver.poll(at(41))), Nanos::ZERO);
    driver.complete(0, at(50));
    assert_eq!(driver.poll(at(50)), Directive::Finished);
}

#[test]
fn the_drain_limit_is_an_instant() {
    let mut driver =
        Driver::new(&open("100", Some(Nanos(30 * MS)), None, limits(Some(1), Nanos(5 * MS))), WorkerShare::WHOLE);
    assert!(matches!(driver.poll(Timestamp(0)), Directive::Start(_)));
    assert_eq!(driver.poll(Timestamp(34 * MS)), Directive::Wait { until: Timestamp(35 * MS) });
    assert_eq!(driver.poll(Timestamp(35 * MS)), Directive::Expired);
    assert_eq!(driver.in_flight(), 1);
    let unissued: Vec<u64> = std::iter::from_fn(|| driver.pop_unissued()).map(|arrival| arrival.index).collect();
    assert_eq!(unissued, [1, 2]);
}

#[test]
fn a_second_stop_ends_the_drain() {
    let mut driver = Driver::new(&open("100", Some(SECOND), None, limits(None, SECOND)), WorkerShare::WHOLE);
    assert!(matches!(driver.poll(Timestamp(0)), Directive::Start(_)));
    driver.stop(Timestamp(5 * MS));
    assert_eq!(driver.poll(Timestamp(20 * MS)), Directive::Wait { until: Timestamp(1_005 * MS + 1) });
    driver.stop_now(Timestamp(30 * MS));
    assert_eq!(driver.poll(Timestamp(30 * MS)), Directive::Expired);
    assert_eq!(driver.pop_unissued(), None);
}

/// The stop comes between an arrival and the next poll.
#[test]
fn what_fell_due_just_before_a_stop_is_sent() {
    for (cap, sent) in [(None, 2), (Some(1), 0)] {
        let mut driver = Driver::new(&open("100", Some(SECOND), None, limits(cap, SECOND)), WorkerShare::WHOLE);
        assert!(matches!(driver.poll(Timestamp(0)), Directive::Start(_)));
        assert_eq!(driver.poll(Timestamp(MS)), Directive::Wait { until: Timestamp(10 * MS) });
        driver.stop(Timestamp(20 * MS));
        let after = (0..9).filter(|_| matches!(driver.poll(Timestamp(21 * MS)), Directive::Start(_))).count();
        assert_eq!(after, sent, "{cap:?}");
        for _ in 0..=sent {
            driver.complete(0, Timestamp(30 * MS));
        }
        assert_eq!(driver.poll(Timestamp(30 * MS)), Directive::Finished);
        assert_eq!(std::iter::from_fn(|| driver.pop_unissued()).count(), 2 - sent, "due and not sent: it is counted");
        assert!(driver.was_cut_short());
    }
}

/// A stop ends a backlog, and sends the arrivals that fell due last only for a moment.
#[test]
fn a_stop_ends_a_backlog() {
    for (caught_up, polled) in [(None, 500), (Some(495), 601)] {
        let mut driver = Driver::new(&open("100", Some(SECOND), None, limits(None, SECOND)), WorkerShare::WHOLE);
        assert!(matches!(driver.poll(Timestamp(0)), Directive::Start(_)));
        if let Some(at) = caught_up {
            while matches!(driver.poll(Timestamp(at * MS)), Directive::Start(_)) {}
        }
        driver.stop(Timestamp(500 * MS));
        assert!(matches!(driver.poll(Timestamp(polled * MS)), Directive::Wait { .. }), "{caught_up:?}");
        let left = std::iter::from_fn(|| driver.pop_unissued()).count();
        assert_eq!(left, if caught_up.is_some() { 1 } else { 50 });
    }
}

/// A user sends again when answered, so the time of the answer decides.
#[test]
fn a_closed_loop_is_cut_short_if_a_user_would_ask_again() {
    let horizon = |duration, requests| Horizon { duration, requests };
    let cases = [
        (horizon(Some(SECOND), None), 999, true),
        (horizon(Some(SECOND), None), 1_000, false),
        (horizon(None, Some(2)), 999, true),
        (horizon(None, Some(1)), 999, false),
    ];
    for (horizon, answered_at, cut_short) in cases {
        let model = LoadModel::Closed { users: 1.into(), think_time: Nanos::ZERO, horizon };
        let workload = Workload { model, limits: limits(None, SECOND), warmup: Nanos::ZERO };
        let mut driver = Driver::new(&workload, WorkerShare::WHOLE);
        assert!(matches!(driver.poll(Timestamp(0)), Directive::Start(_)));
        driver.stop(Timestamp(500 * MS));
        driver.complete(0, Timestamp(answered_at * MS));
        assert_eq!((driver.poll(Timestamp(answered_at * MS)), driver.pop_unissued()), (Directive::Finished, None));
        assert_eq!(driver.was_cut_short(), cut_short, "{horizon:?}, answered at {answered_at} ms");
    }
}

#[test]
#[should_panic(expected = "a request ends that was started")]
fn an_end_without_a_start_is_a_bug() {
    Driver::new(&open("100", Some(SECOND), None, limits(None, SECOND)), WorkerShare::WHOLE).complete(0, Timestamp(1));
}

/// Extreme limits together do not overflow.
#[test]
fn limits_as_long_as_time_itself() {
    let forever = Nanos::MAX;
    for workload in [
        open("1e9", Some(forever), None, limits(Some(u32::MAX), forever)),
        open("1e-3", Some(forever), Some(u64::MAX), limits(None, forever)),
        Workload {
            model: LoadModel::Closed {
                users: 1.into(),
                think_time: forever,
                horizon: Horizon { duration: Some(forever), requests: Some(u64::MAX) },
            },
            limits: limits(Some(1), forever),
            warmup: Nanos::ZERO,
        },
    ] {
        let mut driver = Driver::new(&workload, WorkerShare { workers: u32::MAX, ..WorkerShare::WHOLE });
        assert!(matches!(driver.poll(Timestamp(0)), Directive::Start(_)));
        driver.complete(0, Timestamp(1));
        let _ = driver.poll(Timestamp(2));
        driver.stop(Timestamp::NEVER);
        driver.stop_now(Timestamp(3));
        let _ = driver.poll(Timestamp(3));
    }
}

#[test]
fn a_running_session_does_not_end_the_drain_early() {
    let sessions = Schedule {
        profile: Profile::constant("0.01/s".parse().unwrap()),
        spacing: Spacing::Even,
        seed: 1,
        horizon: Horizon { duration: Some(Nanos::from_secs(60)), requests: None },
    };
    let model = LoadModel::PartlyOpen { sessions, requests_per_session: 2, think_time: Nanos::ZERO };
    let limits = Limits { drain: Nanos::from_secs(5), ..Limits::default() };
    let mut driver = Driver::new(&Workload { model, limits, warmup: Nanos::ZERO }, WorkerShare::WHOLE);
    assert!(matches!(driver.poll(Timestamp::ZERO), Directive::Start(_)));
    // The next session would come after the horizon, but a follow-up comes whenever this one is answered.
    let late = Timestamp(20_000 * MS);
    assert_eq!(driver.poll(late), Directive::Wait { until: Timestamp(65_000 * MS) });
    driver.complete(0, late);
    assert!(matches!(driver.poll(late), Directive::Start(start) if start.arrival.intended_start == late));
}
