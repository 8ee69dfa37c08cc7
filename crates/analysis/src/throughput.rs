//! Rates of a whole run.

use truetail_model::record::{RequestRecord, Snapshot};
use truetail_model::time::{NANOS_PER_SECOND, Timestamp};
use truetail_run::Run;

/// Fewer arrivals have no length of their own, and so no rate: what would divide them is a time that nobody chose.
const FEWEST: u64 = 2;

/// Whole answers per second, from the first intended start to the last end; `None` for fewer than two arrivals.
pub(crate) fn answered_per_second(run: &Run, every: Option<&[RequestRecord]>) -> Option<f64> {
    let snapshot = &run.snapshot;
    if snapshot.tally.planned < FEWEST {
        return None;
    }
    let from = first_intended(snapshot, every).unwrap_or(snapshot.measure_from);
    Some(per_second(snapshot.tally.responses, snapshot.last_end.since(from).0))
}

/// Planned arrivals per second of the schedule. The schedule's length is its duration where it has one and ran to its
/// end; else the time from the first to the last intended start, which n arrivals divide into n − 1 gaps, and fewer than
/// two into none: `None`.
pub(crate) fn offered_per_second(run: &Run, every: Option<&[RequestRecord]>) -> Option<f64> {
    let planned = run.snapshot.tally.planned;
    let complete = run.facts.is_complete() && run.facts.offered.requests.is_none();
    if let Some(duration_ns) = run.facts.offered.duration_ns.filter(|_| complete) {
        return Some(per_second(planned, duration_ns.saturating_sub(run.facts.offered.warmup_ns)));
    }
    if planned < FEWEST {
        return None;
    }
    Some(match every {
        Some([first, .., last]) => per_second(planned - 1, last.intended_start.since(first.intended_start).0),
        _ => per_second(planned, busy_seconds(&run.snapshot) * NANOS_PER_SECOND),
    })
}

fn first_intended(snapshot: &Snapshot, every: Option<&[RequestRecord]>) -> Option<Timestamp> {
    match every {
        Some(records) => records.first().map(|record| record.intended_start),
        None => {
            let second = snapshot.seconds.iter().position(|second| second.planned > 0)?;
            Some(Timestamp(second as u64 * NANOS_PER_SECOND).max(snapshot.measure_from))
        }
    }
}

fn busy_seconds(snapshot: &Snapshot) -> u64 {
    snapshot.seconds.iter().filter(|second| second.planned > 0).count() as u64
}

fn per_second(count: u64, length_ns: u64) -> f64 {
    if length_ns == 0 { 0.0 } else { count as f64 * NANOS_PER_SECOND as f64 / length_ns as f64 }
}
