//! Rates of a whole run.

use truetail_model::record::{Metric, RequestRecord, Snapshot};
use truetail_model::time::{NANOS_PER_SECOND, Timestamp};
use truetail_run::Run;

/// Fewer arrivals have no length of their own, and so no rate: what would divide them is a time that nobody chose.
const FEWEST: u64 = 2;

/// Whole answers per second of the schedule, as [`offered_per_second`] counts planned arrivals. An answer comes later than
/// its arrival by the fastest response time at least; where answers still came when that had passed after the schedule's
/// end, the time until the last of them counts too. `None` for fewer than two arrivals.
pub(crate) fn answered_per_second(run: &Run, every: Option<&[RequestRecord]>) -> Option<f64> {
    let snapshot = &run.snapshot;
    if snapshot.tally.planned < FEWEST {
        return None;
    }
    let from = first_intended(snapshot, every).unwrap_or(snapshot.measure_from);
    let fastest = snapshot.metric(Metric::ResponseTime).min().unwrap_or_default();
    let until_last = last_answer(snapshot, every).since(from).saturating_sub(fastest).0 as f64;
    let length_ns = schedule_ns(run, every)?.max(until_last);
    Some(per_second(snapshot.tally.responses as f64, length_ns))
}

/// Planned arrivals per second of the schedule; `None` where it has no length.
pub(crate) fn offered_per_second(run: &Run, every: Option<&[RequestRecord]>) -> Option<f64> {
    Some(per_second(run.snapshot.tally.planned as f64, schedule_ns(run, every)?))
}

/// How long the schedule was: its duration where it has one and ran to its end; else the time from the first to the last
/// intended start and a mean gap after it. `None` for fewer than two arrivals in a time that nobody chose.
fn schedule_ns(run: &Run, every: Option<&[RequestRecord]>) -> Option<f64> {
    let planned = run.snapshot.tally.planned;
    let complete = run.facts.is_complete() && run.facts.offered.requests.is_none();
    if let Some(duration_ns) = run.facts.offered.duration_ns.filter(|_| complete) {
        return Some(duration_ns.saturating_sub(run.facts.offered.warmup_ns) as f64);
    }
    if planned < FEWEST {
        return None;
    }
    Some(match every {
        Some([first, .., last]) => {
            let gaps_ns = last.intended_start.since(first.intended_start).0 as f64;
            gaps_ns * planned as f64 / (planned - 1) as f64
        }
        _ => (busy_seconds(&run.snapshot) * NANOS_PER_SECOND) as f64,
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

/// When the last answer had arrived; where only seconds are known, the end of that second at the latest. What ended later
/// without an answer does not count: waiting for it answered nobody.
fn last_answer(snapshot: &Snapshot, every: Option<&[RequestRecord]>) -> Timestamp {
    match every {
        Some(records) => {
            let answers = records.iter().filter(|record| record.outcome.is_response());
            answers.map(|record| record.end).max().unwrap_or_default()
        }
        None => {
            let seconds = snapshot.seconds.iter().rposition(|second| second.completed > 0).map_or(0, |last| last + 1);
            Timestamp(seconds as u64 * NANOS_PER_SECOND).min(snapshot.last_end)
        }
    }
}

fn busy_seconds(snapshot: &Snapshot) -> u64 {
    snapshot.seconds.iter().filter(|second| second.planned > 0).count() as u64
}

fn per_second(count: f64, length_ns: f64) -> f64 {
    if length_ns > 0.0 { count * NANOS_PER_SECOND as f64 / length_ns } else { 0.0 }
}
