//! Runs whose rate was limited by the user's own cap on connections, and not by the service.

use truetail_model::record::{Metric, RequestRecord, Snapshot, rank_of};
use truetail_run::{Findings, Run, RunSource};

use super::thresholds::{CAP_BUSY_TOLERANCE, CAP_FIRST, CAP_SLOWER};

/// Returns the cap and the mean service time, in nanoseconds, if the cap was the limit. By Little's law, connections
/// that are always busy carry their number divided by the mean service time. A service that is itself the limit also
/// keeps them busy, but gets slower as they fill up.
pub(super) fn limiting_cap(
    run: &Run,
    findings: &Findings,
    answered_per_second: f64,
    every: Option<&[RequestRecord]>,
) -> Option<(u32, u64)> {
    // The connections of a Python callable are its own. The number of calls at once is that of the threads.
    let connections = run.facts.connections_here().filter(|_| run.facts.source != RunSource::Callable)?;
    let mean_ns = findings.metrics[Metric::ServiceTime].mean_ns?;
    let busy = answered_per_second * mean_ns / 1e9;
    let all_busy = (busy / f64::from(connections) - 1.0).abs() <= CAP_BUSY_TOLERANCE;
    let first = (connections as usize).max(CAP_FIRST);
    let (early, later) = match every {
        Some(records) => medians(records, first)?,
        None => medians_by_interval(&run.snapshot)?,
    };
    (all_busy && later as f64 <= early as f64 * CAP_SLOWER).then_some((connections, mean_ns.round() as u64))
}

/// Returns the median service time of the `first` answers by intended start, and of the other answers.
fn medians(records: &[RequestRecord], first: usize) -> Option<(u64, u64)> {
    let answered = records.iter().filter(|record| record.outcome.is_response());
    let mut times: Vec<u64> = answered.map(|record| record.service_time().0).collect();
    let (early, later) = times.split_at_mut_checked(first)?;
    Some((median(early)?, median(later)?))
}

fn median(times: &mut [u64]) -> Option<u64> {
    times.sort_unstable();
    times.get((rank_of(0.5, times.len() as u64) as usize).checked_sub(1)?).copied()
}

/// Returns the median service time of the first interval that holds answers, and of the whole run.
fn medians_by_interval(snapshot: &Snapshot) -> Option<(u64, u64)> {
    let rows = snapshot.intervals.rows().iter().map(|row| row.metric(Metric::ServiceTime));
    let first = rows.into_iter().find(|row| row.count() > 0)?;
    let rank = rank_of(0.5, first.count());
    let mut seen = 0;
    let middle = first.buckets().find(|(_, count)| {
        seen += count;
        seen >= rank
    })?;
    Some((middle.0.0, snapshot.metric(Metric::ServiceTime).quantile(0.5)?.0))
}
