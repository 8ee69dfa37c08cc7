//! Pauses of the server: the real ones are found, and no others.

use truetail_analysis::findings;
use truetail_analysis::series::{PausedSide, series};
use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::record::Snapshot;
use truetail_model::scenario::Scenario;
use truetail_model::service::{Service, Variation};
use truetail_model::time::{Nanos, Rate, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_run::Run;

use crate::support::{scenario, simulated, with_pause};

const S: u64 = 1_000_000_000;

fn pauses(run: &Run) -> Vec<(PausedSide, f64, f64)> {
    // Pauses follow from the run only. Computing the findings of a long one takes time.
    let nothing = Run { facts: run.facts.clone(), snapshot: Snapshot::default() };
    let series = series(run, &findings(&nothing));
    series.pauses.iter().map(|pause| (pause.side, pause.from_s, pause.to_s)).collect()
}

fn exponential(profile: Profile, service_ms: u64, concurrency: Option<u32>, seconds: u64, seed: u64) -> Scenario {
    let horizon = Horizon { duration: Some(Nanos::from_secs(seconds)), requests: None };
    let schedule = Schedule { profile, spacing: Spacing::Poisson, seed, horizon };
    let service = Service {
        variation: Variation::Exponential,
        concurrency,
        seed,
        ..Service::healthy(Nanos::from_millis(service_ms))
    };
    let workload = Workload { model: LoadModel::Open(schedule), limits: Limits::default(), warmup: Nanos::ZERO };
    Scenario { name: "exponential".into(), about: String::new(), service, workload, path: "/".into() }
}

#[test]
fn an_exponential_server_has_none_at_any_rate() {
    for (per_second, seconds) in [(0.5, 2_000), (5.0, 400), (50.0, 60), (500.0, 10), (4_000.0, 2)] {
        for (service_ms, concurrency) in [(1, None), (20, None), (300, None), (2, Some(1)), (40, Some(4))] {
            // Beyond its capacity a server answers no request in time, and is truly silent.
            let is_overloaded = concurrency.is_some_and(|n| per_second * service_ms as f64 / 1e3 > 0.9 * f64::from(n));
            for seed in 1..=2 * u64::from(!is_overloaded) {
                let profile = Profile::constant(Rate::per_second(per_second).unwrap());
                let run = simulated(&exponential(profile, service_ms, concurrency, seconds, seed));
                let found = pauses(&run);
                assert!(found.is_empty(), "{per_second}/s, {service_ms} ms, {concurrency:?}, seed {seed}: {found:?}");
            }
        }
    }
}

/// The usual time between answers depends on the rate: with few requests, answers are rarer.
#[test]
fn an_exponential_server_has_none_where_the_rate_moves() {
    for (service_ms, concurrency) in [(5, None), (100, None), (2, Some(1)), (20, Some(10))] {
        for seed in 1..=3 {
            let profile: Profile = "steps:2/60s,150/20s,3/60s,400/3s".parse().unwrap();
            let run = simulated(&exponential(profile, service_ms, concurrency, 143, seed));
            let found = pauses(&run);
            assert!(found.is_empty(), "{service_ms} ms, {concurrency:?}, seed {seed}: {found:?}");
        }
    }
}

#[test]
fn a_hiccup_is_found_where_it_was() {
    let found = pauses(&simulated(&scenario("02")));
    let [(PausedSide::Server, from_s, to_s)] = found[..] else { panic!("{found:?}") };
    assert!((from_s - 30.0).abs() < 0.02 && (to_s - 31.0).abs() < 0.02, "{found:?}");
}

/// The generator was paused: nothing was read, which is not the server's fault.
#[test]
fn a_pause_of_the_generator_is_not_the_servers() {
    let run = with_pause(&simulated(&scenario("01")), Timestamp(20 * S), Nanos::from_millis(800));
    assert_eq!(pauses(&run), [(PausedSide::Generator, 20.0, 20.8)]);
}
