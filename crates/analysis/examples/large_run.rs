//! Measures the time to compute the series of a large run, and the length of their JSON text. By default 60 million
//! requests in an hour of virtual time; a day is `… 60000000 86400`. With FOLDER, saves the run for `truetail report
//! FOLDER -o page.html`.
//! `cargo run --release -p truetail-analysis --example large_run [REQUESTS] [SECONDS] [FOLDER]`

use std::env;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use truetail_analysis::findings;
use truetail_analysis::series::series;
use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::scenario::Scenario;
use truetail_model::service::{Fault, Gate, Service, Variation};
use truetail_model::time::{Nanos, Rate, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_run::folder::save;
use truetail_sim::{SimOptions, simulate};

/// Exponential service times, and a stall of one second in the middle.
fn scenario(requests: u64, seconds: u64) -> Scenario {
    let rate = Rate::per_second(requests as f64 / seconds as f64).expect("a rate above 0");
    let horizon = Horizon { duration: Some(Nanos::from_secs(seconds)), requests: None };
    let schedule = Schedule { profile: Profile::constant(rate), spacing: Spacing::Poisson, seed: 1, horizon };
    let mut service = Service { variation: Variation::Exponential, ..Service::healthy(Nanos::from_millis(5)) };
    let at = Timestamp(Nanos::from_secs(seconds / 2).0);
    service.faults = vec![Fault::Stall { at, length: Nanos::from_secs(1), gate: Gate::default() }];
    let workload = Workload { model: LoadModel::Open(schedule), limits: Limits::default(), warmup: Nanos::ZERO };
    Scenario { name: "large".into(), about: String::new(), service, workload, path: "/".into() }
}

fn fastest<T>(mut make: impl FnMut() -> T) -> Duration {
    let once = |_| {
        let began = Instant::now();
        black_box(make());
        began.elapsed()
    };
    (0..3).map(once).min().expect("three times")
}

fn main() {
    let mut args = env::args().skip(1);
    let mut number = |default| args.next().map_or(default, |text| text.parse::<u64>().expect("a whole number").max(1));
    let requests = number(60_000_000);
    let seconds = number(3_600);
    let began = Instant::now();
    let run = simulate(&scenario(requests, seconds), SimOptions::default()).expect("it has an end");
    println!("simulated {} requests over {seconds} s in {:.1?}", run.snapshot.tally.planned, began.elapsed());
    let found = findings(&run);
    let drawn = series(&run, &found);
    println!("findings {:.3?}", fastest(|| findings(&run)));
    println!("series {:.3?}, {} columns", fastest(|| series(&run, &found)), drawn.time.columns);
    let text = serde_json::to_string(&drawn).expect("series are plain data");
    if let Some(folder) = args.next() {
        save(Path::new(&folder), &run, &found).expect("a folder that can be written");
    }
    println!("JSON {:.3?}, {} bytes", fastest(|| serde_json::to_string(&drawn)), text.len());
}
