//! Did the generator itself stand still?

use truetail_model::record::{RequestRecord, SecondCounts, Snapshot};
use truetail_model::time::{NANOS_PER_SECOND, Timestamp};
use truetail_run::{Findings, GeneratorStats, Pause, Run};

use super::figures::tail_of;
use super::thresholds::{
    PAUSE_HUGE_ARRIVALS, PAUSE_HUGE_TIMES, PAUSE_INVALID_ARRIVALS, PAUSE_LONG_SHARE, PAUSE_SUSPECT_ARRIVALS,
};
use super::validity_issue::ValidityIssue;

/// The pauses that are long against p99, if they hit enough arrivals to matter.
pub(super) fn generator_paused(
    run: &Run,
    findings: &Findings,
    every: Option<&[RequestRecord]>,
) -> Option<ValidityIssue> {
    let generator = run.facts.generator.as_ref()?;
    let p99_ns = tail_of(&findings.response_time)?.1;
    let arrivals = run.snapshot.tally.planned;
    let hit_by = |pause: &Pause| arrivals_hit(pause, generator, &run.snapshot, every);
    let long: Vec<(Pause, f64)> = generator
        .pauses
        .iter()
        .filter(|pause| pause.length_ns as f64 >= p99_ns as f64 * PAUSE_LONG_SHARE)
        .map(|pause| (*pause, hit_by(pause)))
        .filter(|(_, hit)| *hit >= 1.0)
        .collect();
    let hit: f64 = long.iter().map(|(_, hit)| hit).sum();
    let longest_ns = long.iter().map(|(pause, _)| pause.length_ns).max()?;
    let share = hit / arrivals as f64;
    let huge = longest_ns as f64 >= p99_ns as f64 * PAUSE_HUGE_TIMES && share >= PAUSE_HUGE_ARRIVALS;
    let invalid = share >= PAUSE_INVALID_ARRIVALS || huge;
    (invalid || share >= PAUSE_SUSPECT_ARRIVALS).then(|| ValidityIssue::GeneratorPaused {
        pauses: long.len() as u64,
        longest_ns,
        arrivals_hit: hit.round() as u64,
        arrivals,
        p99_ns,
        invalid,
    })
}

/// Arrivals intended during the pause, of which the paused worker had its share.
fn arrivals_hit(
    pause: &Pause,
    generator: &GeneratorStats,
    snapshot: &Snapshot,
    every: Option<&[RequestRecord]>,
) -> f64 {
    let (from, to) = (pause.at_ns, pause.at_ns.saturating_add(pause.length_ns));
    let planned = match every {
        Some(records) => {
            let before = |ns: u64| records.partition_point(|record| record.intended_start < Timestamp(ns));
            (before(to) - before(from)) as f64
        }
        None => snapshot.seconds.iter().enumerate().map(|(i, row)| planned_between(i as u64, row, from, to)).sum(),
    };
    planned / f64::from(generator.threads.max(1))
}

/// The arrivals of second `i` that fall between two instants, as if they lay evenly in it.
fn planned_between(i: u64, row: &SecondCounts, from_ns: u64, to_ns: u64) -> f64 {
    let (begins, ends) = (i * NANOS_PER_SECOND, (i + 1) * NANOS_PER_SECOND);
    let overlap_ns = to_ns.min(ends).saturating_sub(from_ns.max(begins));
    row.planned as f64 * overlap_ns as f64 / NANOS_PER_SECOND as f64
}
