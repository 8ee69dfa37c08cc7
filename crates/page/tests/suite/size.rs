//! A page stays small even for a long run.

use truetail_analysis::series::series;
use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::scenario::Scenario;
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::{LoadModel, Workload};
use truetail_page::{RunPage, run_page};

use crate::fixtures::{scenario, simulated};

/// Returns the size in bytes of the page of a run of the first scenario.
fn bytes(rate: f64, seconds: u64) -> usize {
    let service = scenario("02");
    let schedule = Schedule {
        profile: Profile::constant(Rate::per_second(rate).unwrap()),
        spacing: Spacing::Poisson,
        seed: 1,
        horizon: Horizon { duration: Some(Nanos::from_secs(seconds)), requests: None },
    };
    let workload = Workload { model: LoadModel::Open(schedule), ..service.workload.clone() };
    let run = simulated(&Scenario { workload, ..service });
    let findings = truetail_analysis::findings(&run);
    run_page(&RunPage::new(&run, &findings, &series(&run, &findings))).len()
}

#[test]
fn a_minute_takes_less_than_300_kb() {
    let bytes = bytes(1_000.0, 60);
    assert!(bytes < 300_000, "{bytes}");
}

#[test]
fn a_minute_of_streams_takes_less_than_300_kb() {
    let run = simulated(&scenario("06"));
    let findings = truetail_analysis::findings(&run);
    let bytes = run_page(&RunPage::new(&run, &findings, &series(&run, &findings))).len();
    assert!(bytes < 300_000, "{bytes}");
}

#[test]
fn a_day_takes_less_than_2_mb() {
    let bytes = bytes(4.0, 86_400);
    assert!(bytes < 2_000_000, "{bytes}");
}
