//! A million arrivals wait in the client for a server that hangs, and cost almost nothing. The only test in this file,
//! because it measures the memory of the whole process.

mod support;

use std::fs;

use support::{Act, Puppet, open, run};
use truetail_model::record::{Metric, SamplesOptions};
use truetail_model::time::Nanos;

/// Returns the peak or current memory of this process from `/proc`; `None` on systems without it.
fn memory(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

#[test]
fn a_million_arrivals_that_wait_take_no_memory_of_their_own() {
    let puppet = Puppet::start(|_| Act::Hang);
    let mut plan = open(&puppet.url(), 1_000_000.0, 1_000_000);
    plan.workload.limits.connections = Some(4);
    plan.workload.limits.drain = Nanos::from_millis(200);
    plan.samples = SamplesOptions::NONE;
    let before = memory("VmRSS");
    let measured = run(&plan);
    let tally = measured.snapshot.tally;
    assert_eq!((tally.planned, tally.issued, tally.in_flight_at_end, tally.never_issued), (1_000_000, 4, 4, 999_996));
    assert_eq!(measured.snapshot.metric(Metric::Censored).count(), 1_000_000);
    if let (Some(before), Some(most)) = (before, memory("VmHWM")) {
        // The recorders of two workers take 5 MB. A queue with 32 bytes per waiting arrival would exceed this limit.
        assert!(most.saturating_sub(before) < 32 << 20, "from {before} to {most} bytes");
    }
}
