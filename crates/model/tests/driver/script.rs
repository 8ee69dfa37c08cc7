//! Sessions that follow a script: the caller says when they continue and end.

use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::driver::{Directive, Driver, Unissued, WorkerShare};
use truetail_model::record::{Ordinal, SessionPlace};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};

use crate::MS;

/// Four sessions, 100 ms apart, of at most three requests; the drain lasts for two seconds.
fn driver() -> Driver {
    with_limits(Limits::default())
}

fn with_limits(limits: Limits) -> Driver {
    let sessions = Schedule {
        profile: Profile::constant("10/s".parse().unwrap()),
        spacing: Spacing::Even,
        seed: 1,
        horizon: Horizon { duration: Some(Nanos(400 * MS)), requests: None },
    };
    let model = LoadModel::PartlyOpen { sessions, requests_per_session: 3, think_time: Nanos::ZERO };
    let limits = Limits { drain: Nanos::from_secs(2), ..limits };
    let mut driver = Driver::new(&Workload { model, limits, warmup: Nanos::ZERO }, WorkerShare::WHOLE);
    driver.follow_script();
    driver
}

/// Returns the user of the request that is due at `ms`, and its intended start in milliseconds.
fn started(driver: &mut Driver, ms: u64) -> (u32, u64) {
    match driver.poll(Timestamp(ms * MS)) {
        Directive::Start(start) => (start.user, start.arrival.intended_start.0 / MS),
        other => panic!("{other:?} at {ms} ms"),
    }
}

#[test]
fn a_session_goes_on_after_the_last_one_has_begun() {
    let mut driver = driver();
    let (user, _) = started(&mut driver, 0);
    driver.complete_step(user, Timestamp(50 * MS), Some(Timestamp(1_000 * MS)));
    for ms in [100, 200, 300] {
        let (user, due) = started(&mut driver, ms);
        assert_eq!((due, driver.session_number(user)), (ms, ms / 100));
        driver.complete_step(user, Timestamp(ms * MS), None);
    }
    assert_eq!(driver.poll(Timestamp(400 * MS)), Directive::Wait { until: Timestamp(1_000 * MS) });
    assert_eq!(started(&mut driver, 1_010), (user, 1_000));
    assert_eq!(driver.session_number(user), 0);
    driver.complete_step(user, Timestamp(1_100 * MS), None);
    assert_eq!(driver.poll(Timestamp(1_100 * MS)), Directive::Finished);
    driver.end_sessions_at(Timestamp(1_100 * MS));
    assert_eq!(driver.pop_unissued(), None);
}

#[test]
fn only_requests_due_at_the_end_count_as_unissued() {
    let mut driver = driver();
    let users: Vec<u32> = [0, 100, 200, 300].into_iter().map(|ms| started(&mut driver, ms).0).collect();
    driver.complete_step(users[0], Timestamp(310 * MS), None);
    driver.complete_step(users[1], Timestamp(310 * MS), Some(Timestamp(9_000 * MS)));
    driver.complete_step(users[2], Timestamp(310 * MS), Some(Timestamp(2_390 * MS)));
    assert_eq!(driver.poll(Timestamp(2_400 * MS)), Directive::Expired, "the drain is over");
    driver.complete_step(users[3], Timestamp(2_400 * MS), None);
    driver.end_sessions_at(Timestamp(2_400 * MS));
    let Unissued { arrival, user, session, place } = driver.pop_unissued_with_session().expect("one was due");
    assert_eq!((arrival.intended_start.0 / MS, user, session), (2_390, Some(users[2]), 2));
    assert_eq!(place, SessionPlace { session: Ordinal::new(2), turn: Ordinal::new(1) });
    assert_eq!(driver.pop_unissued_with_session(), None);
}

#[test]
fn nothing_goes_on_after_a_stop() {
    let mut driver = driver();
    let (user, _) = started(&mut driver, 0);
    let (other, _) = started(&mut driver, 100);
    driver.complete_step(user, Timestamp(120 * MS), Some(Timestamp(160 * MS)));
    driver.stop(Timestamp(150 * MS));
    assert!(matches!(driver.poll(Timestamp(200 * MS)), Directive::Wait { .. }));
    driver.complete_step(other, Timestamp(250 * MS), Some(Timestamp(250 * MS)));
    assert_eq!(driver.poll(Timestamp(250 * MS)), Directive::Finished);
    driver.end_sessions_at(Timestamp(250 * MS));
    assert_eq!(driver.pop_unissued_with_session(), None, "what would have come later is not planned");
}

#[test]
fn a_script_may_ask_for_more_requests_than_the_workload_says() {
    let mut driver = driver();
    for ms in 0..10 {
        let (user, due) = started(&mut driver, ms);
        assert_eq!((due, driver.session_number(user)), (ms, 0));
        driver.complete_step(user, Timestamp(ms * MS), (ms < 9).then_some(Timestamp((ms + 1) * MS)));
    }
    assert_eq!(driver.poll(Timestamp(10 * MS)), Directive::Wait { until: Timestamp(100 * MS) });
}

#[test]
fn a_session_with_a_connection_keeps_it_while_it_thinks() {
    let mut driver = with_limits(Limits { connections: Some(1), connection_per_session: true, ..Limits::default() });
    let (user, _) = started(&mut driver, 0);
    assert!(!driver.complete_step(user, Timestamp(50 * MS), Some(Timestamp(150 * MS))));
    assert!(!driver.can_start(Timestamp(120 * MS)) && driver.waits_for_permit(Timestamp(120 * MS)));
    let next = Directive::Wait { until: Timestamp(150 * MS) };
    assert_eq!(
        driver.poll(Timestamp(120 * MS)),
        next,
        "the session of 100 ms waits, and the first one goes on before it"
    );
    assert!(driver.can_start(Timestamp(150 * MS)));
    assert_eq!(started(&mut driver, 150), (user, 150));
    assert!(driver.complete_step(user, Timestamp(160 * MS), None), "it is over");
    match driver.poll(Timestamp(170 * MS)) {
        Directive::Start(start) => {
            assert_eq!(start.connection_wait, Nanos(60 * MS), "from 100 ms until the first session ended");
            assert_eq!(driver.session_number(start.user), 1);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_session_that_branches_ends_with_the_last_of_its_requests() {
    let mut driver = driver();
    let (user, _) = started(&mut driver, 0);
    // Two requests beside the one that follows the first, of which two are due at the same time.
    driver.branch(user, Timestamp(30 * MS));
    driver.branch(user, Timestamp(20 * MS));
    assert!(!driver.complete_step(user, Timestamp(10 * MS), Some(Timestamp(20 * MS))));
    assert_eq!((started(&mut driver, 25), started(&mut driver, 25)), ((user, 20), (user, 20)));
    assert_eq!(driver.in_flight(), 2);
    assert!(!driver.complete_step(user, Timestamp(26 * MS), None), "one is in flight and one is due");
    assert_eq!(started(&mut driver, 30), (user, 30));
    assert!(!driver.complete_step(user, Timestamp(40 * MS), None), "one is in flight");
    let (other, _) = started(&mut driver, 100);
    assert!(other != user && driver.session_number(user) == 0, "the place of a running session is taken");
    assert!(driver.complete_step(user, Timestamp(110 * MS), None));
    assert_eq!(started(&mut driver, 200).0, user, "it is free again");
}

#[test]
fn branches_that_are_due_at_the_end_are_unissued() {
    let mut driver = driver();
    let (user, _) = started(&mut driver, 0);
    [250, 150, 350].into_iter().for_each(|ms| driver.branch(user, Timestamp(ms * MS)));
    assert!(!driver.complete_step(user, Timestamp(90 * MS), None));
    driver.end_sessions_at(Timestamp(300 * MS));
    let unissued: Vec<Unissued> = std::iter::from_fn(|| driver.pop_unissued_with_session()).collect();
    let due = |is_branch: bool| -> Vec<u64> {
        let those = unissued.iter().filter(|of| (of.user == Some(user)) == is_branch);
        those.map(|of| of.arrival.intended_start.0 / MS).collect()
    };
    assert_eq!((due(true), due(false)), (vec![150, 250], vec![100, 200, 300]));
}
