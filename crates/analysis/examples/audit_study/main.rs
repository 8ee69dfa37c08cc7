//! Measures how often an audit finds a stall hidden by a closed loop, and how often it mistakes a schedule for one: the
//! tables of `docs/audit.md`.
//! `cargo run --release -p truetail-analysis --example audit_study [RUNS [scenarios|alarms|power]]`

#[allow(dead_code, reason = "shared with the tests")]
mod loads;

use loads::{OPEN_LOADS, open_load, scenario, stalled_loop};
use truetail_analysis::audit::{Audit, AuditFinding};
use truetail_model::service::Variation;
use truetail_model::time::Nanos;

const USERS: [u32; 8] = [1, 2, 5, 10, 20, 50, 100, 200];
const RESOLUTIONS: [(&str, u64); 3] = [("1 ns", 1), ("0.1 ms", 100_000), ("1 ms", 1_000_000)];

/// Resolutions of a file, in nanoseconds.
const ALL_RESOLUTIONS: [u64; 4] = [1, 100_000, 1_000_000, 1_000_000_000];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let runs: u64 = arguments.next().map_or(100, |runs| runs.parse().expect("a number of runs"));
    let part = arguments.next();
    let is_asked = |name: &str| part.as_deref().is_none_or(|part| part == name);
    if is_asked("scenarios") {
        println!("## Scenarios\n");
        scenarios();
    }
    if is_asked("alarms") {
        println!("\n## False alarms\n");
        false_alarms(runs);
    }
    if is_asked("power") {
        println!("\n## Power\n");
        power(runs);
    }
}

fn is_alarm(audit: &Audit) -> bool {
    matches!(audit.finding, AuditFinding::Likely | AuditFinding::Certain)
}

fn scenarios() {
    println!(
        "| scenario | load | starts to | finding | missing | p99 reported | p99 corrected, with bounds |\n|---|---|---|---|---|---|---|"
    );
    for name in ["01", "02", "03", "04"] {
        for users in [None, Some(1), Some(10), Some(100)] {
            for (resolution_name, resolution) in [RESOLUTIONS[0], RESOLUTIONS[2], ("1 s", 1_000_000_000)] {
                let audit = scenario(name, users).audit(resolution);
                let load = users.map_or("open".to_owned(), |users| format!("{users} users"));
                let ms = |ns: u64| ns as f64 / 1e6;
                let reported = audit.reported.iter().find(|one| one.q == 0.99).map_or(0.0, |one| ms(one.value_ns));
                let corrected = audit.corrected.iter().find(|one| one.q == 0.99);
                let corrected = corrected.map_or("–".to_owned(), |one| {
                    format!("{:.0} ({:.0} … {:.0})", ms(one.value_ns), ms(one.low_ns), ms(one.high_ns))
                });
                let missing = audit.missing_arrivals.map_or("–".to_owned(), |missing| missing.to_string());
                let finding = audit.finding.name();
                println!(
                    "| {name} | {load} | {resolution_name} | {finding} | {missing} | {reported:.0} | {corrected} |"
                );
            }
        }
    }
}

fn false_alarms(runs: u64) {
    println!("| load | runs | alarms, starts to 1 ns | to 0.1 ms | to 1 ms | to 1 s |\n|---|---|---|---|---|---|");
    let mut all = [0; 4];
    for (kind, name) in OPEN_LOADS.iter().enumerate() {
        let mut alarms = [0; 4];
        for seed in 0..runs {
            let audits = open_load(kind, seed).audits(&ALL_RESOLUTIONS);
            alarms.iter_mut().zip(&audits).for_each(|(count, audit)| *count += u64::from(is_alarm(audit)));
        }
        println!("| {name} | {runs} | {} | {} | {} | {} |", alarms[0], alarms[1], alarms[2], alarms[3]);
        all.iter_mut().zip(alarms).for_each(|(all, alarms)| *all += alarms);
    }
    let count = runs * OPEN_LOADS.len() as u64;
    println!("| all | {count} | {} | {} | {} | {} |", all[0], all[1], all[2], all[3]);
}

fn power(runs: u64) {
    println!(
        "| service and users' pause | length | starts to | {} |",
        USERS.map(|users| format!("{users} users")).join(" | ")
    );
    println!("|---|---|---|{}", "---|".repeat(USERS.len()));
    let long = Nanos::from_secs(60);
    let loads = [
        ("10 ms", Nanos::ZERO, Variation::Constant, long),
        ("10 ms, exponential", Nanos::ZERO, Variation::Exponential, long),
        ("10 ms, then 20 ms pause", Nanos::from_millis(20), Variation::Exponential, long),
        ("10 ms, exponential", Nanos::ZERO, Variation::Exponential, Nanos::from_secs(20)),
    ];
    for (name, think, variation, duration) in loads {
        let mut found = [[0; USERS.len()]; RESOLUTIONS.len()];
        for (column, users) in USERS.into_iter().enumerate() {
            for seed in 0..runs {
                let audits =
                    stalled_loop(users, think, variation, duration, 0.005, seed).audits(&RESOLUTIONS.map(|(_, ns)| ns));
                found.iter_mut().zip(&audits).for_each(|(row, audit)| row[column] += u64::from(is_alarm(audit)));
            }
        }
        for ((resolution, _), row) in RESOLUTIONS.iter().zip(found) {
            let cells = row.map(|found| format!("{found}/{runs}")).join(" | ");
            println!("| {name} | {} s | {resolution} | {cells} |", duration.as_secs_f64());
        }
    }
}
