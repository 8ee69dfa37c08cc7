//! The closed-loop shadow of an open run against closed runs of the same service.

use crate::support::{codes, queue, scenario, simulated, without_samples};
use truetail_analysis::{findings, shadow};
use truetail_model::arrival::{Profile, Spacing};
use truetail_model::record::SamplesOptions;
use truetail_model::scenario::Scenario;
use truetail_model::service::{Fault, Selector, Variation};
use truetail_model::time::{Nanos, Rate, Timestamp};
use truetail_model::workload::LoadModel;
use truetail_run::{ClosedLoopShadow, Findings};
use truetail_sim::{SimOptions, simulate};

fn closed(scenario: &Scenario, users: u32) -> Findings {
    let mut closed = scenario.clone();
    let horizon = scenario.workload.model.horizon();
    closed.workload.model = LoadModel::Closed { users: users.into(), think_time: Nanos::ZERO, horizon };
    findings(&simulated(&closed))
}

fn shadow_of(scenario: &Scenario, users: u32, samples: SamplesOptions) -> ClosedLoopShadow {
    let run = simulate(scenario, SimOptions { samples, ..SimOptions::default() }).unwrap();
    shadow::shadow(&run, &findings(&run).response_time, users).unwrap()
}

/// Asserts that common quantiles agree to 10 %, and the number of requests to 5 %. Chance among 16 neighbours makes
/// users send a little more often if the work varies.
fn assert_like(shadow: &ClosedLoopShadow, closed: &Findings, quantiles: &[f64], what: &str) {
    for q in quantiles {
        let of_shadow = shadow.quantiles.iter().find(|quantile| quantile.q == *q).unwrap();
        let of_closed = closed.response_time.quantiles.iter().find(|quantile| quantile.q == *q).unwrap();
        let a = of_shadow.value_ns.unwrap() as f64;
        let b = of_closed.value_ns.unwrap() as f64;
        assert!((a / b - 1.0).abs() < 0.10, "{what} at {q}: {a} instead of {b}");
    }
    let a = shadow.requests as f64;
    let b = closed.response_time.count as f64;
    assert!((a / b - 1.0).abs() < 0.05, "{what}: {a} requests instead of {b}");
}

#[test]
fn it_is_what_a_closed_loop_reports() {
    let thin = SamplesOptions { capacity: 8_000, slowest: 1_000 };
    for name in ["01", "02", "03", "04"] {
        let scenario = scenario(name);
        for users in [1, 10, 50] {
            let closed = closed(&scenario, users);
            let whole = shadow_of(&scenario, users, SamplesOptions::default());
            assert_like(&whole, &closed, &[0.5, 0.9, 0.99], &format!("{name}, {users} users"));
            assert_eq!((whole.users, whole.one_in, whole.unanswered), (users, 1, 0));
            assert_eq!(whole.resolution_ns, 16_000_000);
            // One request in eight is enough for events of 200 ms.
            let part = shadow_of(&scenario, users, thin);
            assert_like(&part, &closed, &[0.5, 0.9, 0.99], &format!("{name}, {users} users, thinned"));
            assert!(part.one_in == 8 && part.resolution_ns.abs_diff(128_000_000) < 5_000_000, "{part:?}");
        }
    }
}

/// Beyond p99 a closed loop meets the stall once for each user.
#[test]
fn the_far_tail_of_a_stall() {
    let scenario = scenario("02");
    let shadow = shadow_of(&scenario, 100, SamplesOptions::default());
    let closed = closed(&scenario, 100);
    assert_like(&shadow, &closed, &[0.5, 0.99, 0.999], "100 users");
}

/// Work that varies, and no queue: the answers do not depend on the client.
#[test]
fn work_that_varies() {
    let mut varied = scenario("01");
    varied.service.variation = Variation::Exponential;
    let shadow = shadow_of(&varied, 10, SamplesOptions::default());
    assert_like(&shadow, &closed(&varied, 10), &[0.5, 0.9, 0.99], "exponential work");
}

/// The default number of users sends the offered rate while all is well. The factor shows what they leave out.
#[test]
fn findings_have_the_shadow_of_a_loop_of_the_same_load() {
    let found = findings(&simulated(&scenario("02")));
    let shadow = found.closed_loop_shadow.unwrap();
    assert_eq!(shadow.users, 10);
    let p99 = shadow.quantiles.iter().find(|quantile| quantile.q == 0.99).unwrap();
    assert_eq!((p99.value_ns, p99.omission_factor, p99.at_least), (Some(10_000_000), Some(41.0), false));
    assert!(p99.omission_low.unwrap() > 30.0 && p99.omission_high.unwrap() < 50.0, "{p99:?}");
    let healthy = findings(&simulated(&scenario("01"))).closed_loop_shadow.unwrap();
    assert!(healthy.quantiles.iter().all(|quantile| quantile.omission_factor == Some(1.0)), "{healthy:?}");
}

/// A healthy service whose work varies: chance is not omission, so every interval contains 1.
#[test]
fn chance_is_not_omission() {
    for (seed, rate) in [(1, 20.0), (2, 100.0), (3, 1_000.0), (4, 300.0)] {
        let mut varied = scenario("01");
        let LoadModel::Open(schedule) = &mut varied.workload.model else { unreachable!() };
        schedule.profile = Profile::constant(Rate::per_second(rate).unwrap());
        schedule.spacing = Spacing::Poisson;
        schedule.seed = seed;
        schedule.horizon.duration = Some(Nanos::from_secs(30));
        (varied.service.variation, varied.service.seed) = (Variation::Exponential, seed);
        let Some(shadow) = findings(&simulated(&varied)).closed_loop_shadow else { continue };
        for quantile in &shadow.quantiles {
            let low = quantile.omission_low.unwrap_or(0.0);
            let high = quantile.omission_high.unwrap_or(f64::INFINITY);
            assert!(low <= 1.0 && high >= 1.0, "{rate}/s, seed {seed}: {quantile:?}");
            assert!(quantile.omission_factor.is_none_or(|factor| factor >= low && factor <= high), "{quantile:?}");
        }
    }
}

/// A queue would be shorter in front of users who wait. The shadow ignores that, and is slower than a closed loop.
#[test]
fn the_shadow_of_a_queue_is_too_slow() {
    let service = queue(0.8, 1);
    let users = 4;
    let p50 = |value: Option<u64>| value.unwrap() as f64;
    let shadow = p50(shadow_of(&service, users, SamplesOptions::default()).quantiles[0].value_ns);
    let mut alone = service.clone();
    alone.workload.limits.drain = Nanos::from_secs(60);
    let one_user = p50(closed(&alone, 1).response_time.quantiles[0].value_ns);
    assert!(shadow > 2.0 * one_user, "{shadow} {one_user}");
}

#[test]
fn no_shadow_where_none_can_be() {
    let saturated = findings(&simulated(&scenario("05")));
    assert_eq!((codes(&saturated)[0], &saturated.closed_loop_shadow), ("saturated", &None));
    assert_eq!(findings(&without_samples(&scenario("02"))).closed_loop_shadow, None);
    assert_eq!(closed(&scenario("02"), 10).closed_loop_shadow, None);
}

/// Users who meet a black hole wait for their timeout, and their tool counts an error.
#[test]
fn errors_are_counted_apart() {
    let mut holes = scenario("01");
    holes.service.faults = vec![Fault::BlackHole { select: Selector { every: Some(50), ..Selector::default() } }];
    holes.workload.limits.timeout = Some(Nanos::from_secs(2));
    let shadow = shadow_of(&holes, 50, SamplesOptions::default());
    let closed = closed(&holes, 50);
    let share = |n: u64, of: u64| n as f64 / of as f64;
    let a = share(shadow.unanswered, shadow.requests);
    let b = share(closed.response_time.censored, closed.tally.planned);
    assert!((a / b - 1.0).abs() < 0.15, "{a} {b}");
    let p99 = &shadow.quantiles[3];
    assert!(p99.at_least && p99.omission_factor.unwrap() > 150.0, "{p99:?}");
}

/// A service that refuses at once: users would spin, and need data that the run does not have.
#[test]
fn no_shadow_of_refusals_at_once() {
    let mut refusing = scenario("01");
    let select = Selector { at: Some(Timestamp(30_000_000_000)), ..Selector::default() };
    refusing.service.faults = vec![Fault::ErrorStatus { status: 503, immediately: true, select }];
    assert_eq!(findings(&simulated(&refusing)).closed_loop_shadow, None);
}
