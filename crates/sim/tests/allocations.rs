//! In the steady state a simulated request allocates nothing: ten times as many requests need no more allocations.

#[path = "suite/common/mod.rs"]
mod common;

use allocation_counter::measure;
use common::*;
use truetail_model::service::{Service, Variation};
use truetail_model::time::Nanos;
use truetail_model::workload::{Limits, Workload};
use truetail_sim::{SimOptions, simulate};

fn allocations(service: &Service, workload: &Workload) -> u64 {
    let scenario = scenario(service.clone(), workload.clone());
    let info = measure(|| {
        let run = simulate(&scenario, SimOptions { per_second: false, ..SimOptions::default() }).unwrap();
        assert!(run.snapshot.tally.responses > 0);
    });
    assert!(info.count_total > 0, "a recorder has memory of its own");
    info.count_total
}

#[test]
fn ten_times_the_requests_cost_no_allocation_more() {
    let exponential = Service { variation: Variation::Exponential, ..Service::healthy(Nanos::from_micros(100)) };
    let one_server = Service { concurrency: Some(1), ..exponential.clone() };
    let capped = Limits { connections: Some(4), ..Limits::default() };
    let cases = [
        ("open", exponential.clone(), Limits::default()),
        ("one server", one_server, Limits::default()),
        ("four connections", exponential.clone(), capped),
    ];
    for (name, service, limits) in cases {
        let of = |requests| allocations(&service, &workload(poisson(5_000.0, 1, for_requests(requests)), limits));
        assert_eq!(of(10_000), of(100_000), "{name}");
    }
    let of = |requests| {
        allocations(
            &exponential,
            &workload(closed(64, Nanos::from_millis(1), for_requests(requests)), Limits::default()),
        )
    };
    assert_eq!(of(10_000), of(100_000), "closed");
}
