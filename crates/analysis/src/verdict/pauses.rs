//! Pauses of the generator.

use truetail_model::record::{RequestRecord, SecondCounts, Snapshot};
use truetail_model::time::{NANOS_PER_SECOND, Timestamp};
use truetail_model::workload::LoadModelKind;
use truetail_run::{Findings, GeneratorStats, Pause, Run};

use super::figures::{Bracket, most_doubtful};
use super::thresholds::{
    BURST_INVALID_ARRIVALS, BURST_PAUSE_NS, CLOSED_PAUSED_SHARE, PAUSE_EXPLAINS_LENGTHS, PAUSE_EXPLAINS_SHARE,
    STANDSTILL_INVALID_ARRIVALS, STANDSTILL_NS,
};
use super::validity_issue::ValidityIssue;

/// Returns the pauses, if they changed the load or moved a weighed quantile.
pub(super) fn generator_paused(
    run: &Run,
    findings: &Findings,
    every: Option<&[RequestRecord]>,
) -> Option<ValidityIssue> {
    let generator = run.facts.generator.as_ref()?;
    if run.facts.offered.model == LoadModelKind::Closed {
        return closed_loop_pauses(run, generator);
    }
    let arrivals = run.snapshot.tally.planned;
    let pauses: Vec<(Pause, f64)> = generator
        .pauses
        .iter()
        .map(|pause| (*pause, arrivals_hit(pause, generator, &run.snapshot, every)))
        .filter(|(_, hit)| *hit > 0.0)
        .collect();
    let share_from = |shortest_ns: u64| {
        let long = pauses.iter().filter(|(pause, _)| pause.length_ns >= shortest_ns);
        long.map(|(_, hit)| hit).sum::<f64>() / (arrivals as f64).max(1.0)
    };
    let longest_ns = pauses.iter().map(|(pause, _)| pause.length_ns).max()?;
    let invalid = share_from(STANDSTILL_NS) >= STANDSTILL_INVALID_ARRIVALS
        || share_from(BURST_PAUSE_NS) >= BURST_INVALID_ARRIVALS;
    let explained = |(q, bracket): &(f64, Bracket)| {
        share_from(0) >= (1.0 - q) * PAUSE_EXPLAINS_SHARE
            && (bracket.value_ns - bracket.without_ns) as f64 <= longest_ns as f64 * PAUSE_EXPLAINS_LENGTHS
    };
    let moved = most_doubtful(findings).filter(explained).map(|(q, _)| q);
    (invalid || moved.is_some() || longest_ns >= STANDSTILL_NS).then(|| ValidityIssue::GeneratorPaused {
        pauses: pauses.len() as u64,
        longest_ns,
        steal_ns: explaining_steal(generator),
        arrivals_hit: pauses.iter().map(|(_, hit)| hit).sum::<f64>().round() as u64,
        arrivals,
        moved,
        invalid,
    })
}

/// Judges the pauses of a closed loop. Its users send nothing during a pause, so pauses lower the rate.
fn closed_loop_pauses(run: &Run, generator: &GeneratorStats) -> Option<ValidityIssue> {
    let time_ns = run.facts.elapsed_ns as f64 * f64::from(generator.threads.max(1));
    let longest_ns = generator.pauses.first()?.length_ns;
    let is_much = time_ns > 0.0 && generator.paused_ns as f64 >= time_ns * CLOSED_PAUSED_SHARE;
    is_much.then_some(ValidityIssue::GeneratorPaused {
        pauses: generator.pause_count,
        longest_ns,
        steal_ns: explaining_steal(generator),
        arrivals_hit: 0,
        arrivals: run.snapshot.tally.planned,
        moved: None,
        invalid: false,
    })
}

/// Returns the time that the hypervisor ran something else, if it is at least half of the pauses.
fn explaining_steal(generator: &GeneratorStats) -> Option<u64> {
    generator.surroundings.steal_ns.filter(|steal_ns| *steal_ns >= generator.paused_ns.div_ceil(2))
}

/// Returns the number of arrivals intended during the pause, divided by the number of workers.
fn arrivals_hit(
    pause: &Pause,
    generator: &GeneratorStats,
    snapshot: &Snapshot,
    every: Option<&[RequestRecord]>,
) -> f64 {
    let from = pause.at_ns;
    let to = pause.at_ns.saturating_add(pause.length_ns);
    let planned = match every {
        Some(records) => {
            let before = |ns: u64| records.partition_point(|record| record.intended_start < Timestamp(ns));
            (before(to) - before(from)) as f64
        }
        None => snapshot.seconds.iter().enumerate().map(|(i, row)| planned_between(i as u64, row, from, to)).sum(),
    };
    planned / f64::from(generator.threads.max(1))
}

/// Returns the arrivals of second `i` between two instants, assuming an even distribution within the second.
fn planned_between(i: u64, row: &SecondCounts, from_ns: u64, to_ns: u64) -> f64 {
    let begins = i * NANOS_PER_SECOND;
    let ends = (i + 1) * NANOS_PER_SECOND;
    let overlap_ns = to_ns.min(ends).saturating_sub(from_ns.max(begins));
    row.planned as f64 * overlap_ns as f64 / NANOS_PER_SECOND as f64
}
