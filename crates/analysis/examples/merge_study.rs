//! Measures the time and memory of a merge of many stripes, and the cost of a stripe of a large schedule.
//!
//! ```text
//! cargo run --release -p truetail-analysis --example merge_study -- make DIR 1000 100
//! cargo run --release -p truetail-analysis --example merge_study -- merge DIR
//! cargo run --release -p truetail-analysis --example merge_study -- start 1000000000
//! ```
//!
//! `make` writes the folders of 1,000 machines that offered 100/s each for 60 s, with invented response times. `merge`
//! merges them like `truetail merge`, and prints the time and the peak memory. `start` divides a schedule of 10^9
//! arrivals among more and more machines and prints the cost of one arrival, with even and with random gaps.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use truetail_model::arrival::{Horizon, Profile, Schedule, ScheduleHash, Spacing};
use truetail_model::driver::Stripe;
use truetail_model::random::Random;
use truetail_model::record::{Outcome, Recorder, RecorderOptions, RequestRecord};
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_run::folder::{self, Loaded};
use truetail_run::{Facts, Merger, MissingStripes, OfferedLoad, Run, RunSource, StripeFacts};

const LENGTH: Nanos = Nanos::from_secs(60);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse().ok()).expect("a number");
    match arguments.first().map(String::as_str) {
        Some("make") => make(Path::new(&arguments[1]), number(2) as u32, number(3)),
        Some("merge") => merge(Path::new(&arguments[1])),
        Some("start") => start(number(1)),
        _ => panic!("make DIR MACHINES RATE_OF_EACH, merge DIR, or start ARRIVALS"),
    }
}

fn schedule(per_second: u64, spacing: Spacing, horizon: Horizon) -> Schedule {
    let rate: Rate = format!("{per_second}/s").parse().expect("a rate");
    Schedule { profile: Profile::constant(rate), spacing, seed: 1, horizon }
}

fn make(folder: &Path, machines: u32, rate_of_each: u64) {
    let horizon = Horizon { duration: Some(LENGTH), requests: None };
    let schedule = schedule(rate_of_each * u64::from(machines), Spacing::Even, horizon);
    let workload =
        Workload { model: LoadModel::Open(schedule.clone()), limits: Limits::default(), warmup: Nanos::ZERO };
    for stripe in Stripe::all(machines) {
        let run = made_up(&schedule, &workload, stripe);
        let findings = truetail_analysis::findings(&run);
        folder::save(&folder.join(format!("{:05}", stripe.number())), &run, &findings).expect("a folder");
    }
}

/// A stripe with answers that took 1 ms plus an exponential time with a mean of 2 ms.
fn made_up(schedule: &Schedule, workload: &Workload, stripe: Stripe) -> Run {
    let mut random = Random::new(u64::from(stripe.number()), 1);
    let mut recorder = Recorder::new(RecorderOptions { expected_seconds: 62, ..RecorderOptions::default() });
    let mut hash = ScheduleHash::default();
    for arrival in schedule.stripe(u64::from(stripe.index()), u64::from(stripe.count())) {
        let took = Nanos((1e6 + 2e6 * random.exponential()) as u64);
        let end = arrival.intended_start + took;
        hash.add(arrival);
        recorder.plan(arrival.intended_start);
        let status = Outcome::response(200);
        recorder.record(&RequestRecord::new(arrival, arrival.intended_start, end, status));
    }
    let facts = Facts {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        source: RunSource::Simulator,
        started_at_unix_ns: None,
        elapsed_ns: LENGTH.0,
        offered: OfferedLoad::from_workload(workload),
        host: None,
        generator: None,
        interrupted: false,
        cut_short: Some(false),
        checkpoint: None,
        bytes_in: 0,
        notes: Vec::new(),
        command: None,
        tags: BTreeMap::new(),
        claims: None,
        stream: None,
        sessions: None,
        stripe: Some(StripeFacts::new(stripe, workload)),
        start: None,
        shards: None,
        trace: None,
        server_timing: None,
        kept_headers: None,
        scrapes: Vec::new(),
        marks: Vec::new(),
        by_target: Vec::new(),
        checks: Vec::new(),
        failed_answers: Vec::new(),
    };
    Run { facts, snapshot: recorder.finish(hash) }
}

fn merge(folder: &Path) {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    folders.sort();
    let begun = Instant::now();
    let mut merger = Merger::default();
    let mut reading_s = 0.0;
    for path in &folders {
        let before = cpu_s();
        let Loaded { run, verdict, .. } = folder::load(path).expect("a run");
        reading_s += cpu_s() - before;
        merger.add(run, Some(&verdict)).expect("a stripe of the same load");
    }
    let whole = merger.finish(MissingStripes::Refused).expect("all of them");
    let added_s = cpu_s();
    let planned = whole.snapshot.tally.planned;
    let findings = truetail_analysis::findings(&whole);
    println!(
        "{} folders, {planned} arrivals: read and added with {added_s:.2} s of CPU (reading {reading_s:.2} s), judged ({}) with \
         {:.2} s, {:.2} s after the start; at most {} MB",
        folders.len(),
        findings.verdict.state.name(),
        cpu_s(),
        begun.elapsed().as_secs_f64(),
        peak_kib().map_or("?".to_owned(), |kib| (kib / 1000).to_string()),
    );
}

/// Peak memory of this process in KiB, on Linux.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// CPU time of this process in seconds, on Linux.
fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    stat.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).map_or(f64::NAN, |ns| ns / 1e9)
}

fn start(arrivals: u64) {
    for spacing in [Spacing::Even, Spacing::Poisson] {
        let horizon = Horizon { duration: None, requests: Some(arrivals) };
        let schedule = schedule(1_000_000, spacing, horizon);
        let begun = Instant::now();
        let last = schedule.last_arrival().expect("there are some");
        let end = last.intended_start.as_secs_f64();
        println!("{spacing:?}: the last of {arrivals} arrivals ({end:.9} s) after {:?}", begun.elapsed());
        for machines in [1, 2, 8, 50, 1_000, 65_536, 100_000] {
            let begun = Instant::now();
            let mut own = schedule.stripe(machines - 1, machines);
            own.next();
            let first = begun.elapsed();
            let before = cpu_s();
            let some = own.take(10_000_000).count();
            let each_ns = (cpu_s() - before) / some as f64 * 1e9;
            println!(
                "  stripe {machines} of {machines}: the first arrival after {first:?}, then {each_ns:.0} ns of CPU for each of {some}"
            );
        }
    }
}
