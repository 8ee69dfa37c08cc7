//! A cap on requests in flight that changes during a run.

use proptest::prelude::*;
use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::driver::{Directive, Driver, WorkerShare};
use truetail_model::time::{Nanos, Rate, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};

use crate::MS;

fn capped(rate: f64, cap: u32) -> Driver {
    let schedule = Schedule {
        profile: Profile::constant(Rate::per_second(rate).unwrap()),
        spacing: Spacing::Even,
        seed: 1,
        horizon: Horizon { duration: Some(Nanos::from_secs(1)), requests: None },
    };
    let limits = Limits { connections: Some(cap), ..Limits::default() };
    let workload = Workload { model: LoadModel::Open(schedule), limits, warmup: Nanos::ZERO };
    Driver::new(&workload, WorkerShare::WHOLE)
}

/// Starts everything that can start at `now`, and returns the waits for the cap in milliseconds.
fn start_all(driver: &mut Driver, now: Timestamp) -> Vec<u64> {
    let turns = std::iter::from_fn(|| match driver.poll(now) {
        Directive::Start(start) => Some(start.connection_wait.0 / MS),
        _ => None,
    });
    turns.collect()
}

#[test]
fn a_raised_cap_ends_the_wait_and_a_lowered_cap_withdraws_permits() {
    let mut driver = capped(1000.0, 1);
    let at = |ms: u64| Timestamp(ms * MS);
    assert_eq!(start_all(&mut driver, at(4)), [0], "one place, and the others wait");
    driver.set_cap(Some(3), at(4));
    let waited = start_all(&mut driver, at(4));
    assert_eq!(waited.len(), 2);
    assert!(waited[0] > waited[1], "each since its own intended start: {waited:?}");
    driver.set_cap(Some(1), at(5));
    driver.complete(0, at(6));
    driver.complete(0, at(6));
    assert_eq!(start_all(&mut driver, at(7)), [0u64; 0], "three were in flight and one may be");
    driver.complete(0, at(7));
    assert_eq!(start_all(&mut driver, at(7)).len(), 1);
    driver.set_cap(None, at(8));
    assert!(start_all(&mut driver, at(20)).len() > 10, "without a cap everything that is due starts");
    driver.set_cap(Some(2), at(20));
    while driver.in_flight() > 2 {
        driver.complete(0, at(20));
    }
    assert_eq!(start_all(&mut driver, at(30)), [0u64; 0], "full");
    driver.complete(0, at(30));
    assert_eq!(start_all(&mut driver, at(30)).len(), 1);
}

#[test]
fn a_cap_that_is_lifted_was_what_arrivals_waited_for() {
    let mut driver = capped(1000.0, 1);
    let at = |ms: u64| Timestamp(ms * MS);
    assert_eq!(start_all(&mut driver, at(4)), [0]);
    driver.set_cap(None, at(5));
    let waited = start_all(&mut driver, at(9));
    assert_eq!(waited[..4], [4, 3, 2, 1], "each until there was no cap, not until it was started: {waited:?}");
    assert!(waited[4..].iter().all(|wait| *wait == 0), "whoever was due later waited for nothing: {waited:?}");
    // An arrival that finds a free place does not wait for the end of the cap.
    let mut driver = capped(1000.0, 9);
    driver.set_cap(None, at(5));
    assert!(start_all(&mut driver, at(9)).iter().all(|wait| *wait == 0));
}

proptest! {
    /// For any changes of the cap, no more requests start than it allows, and none is held back without reason.
    #[test]
    fn a_cap_in_force_is_the_cap(steps in prop::collection::vec((0u8..4, 0u64..8, 1u64..5), 1..120)) {
        let mut driver = capped(1000.0, 2);
        let mut cap = Some(2u64);
        let mut now = Timestamp::ZERO;
        for (what, number, later) in steps {
            now = now + Nanos(later * MS);
            match what {
                0 => {
                    cap = Some(number).filter(|number| *number < 7);
                    driver.set_cap(cap, now);
                }
                1 => (0..number.min(driver.in_flight())).for_each(|_| {
                    driver.complete(0, now);
                }),
                _ => {
                    let before = driver.in_flight();
                    start_all(&mut driver, now);
                    prop_assert!(cap.is_none_or(|cap| driver.in_flight() <= cap.max(before)));
                    let waits = matches!(driver.poll(now), Directive::Wait { until } if until > now + Nanos::from_millis(2));
                    prop_assert!(!waits || now.0 > 990 * MS || cap.is_some_and(|cap| driver.in_flight() >= cap));
                }
            }
        }
    }
}
