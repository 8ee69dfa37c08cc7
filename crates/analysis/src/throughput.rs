//! Rates of a whole run.

use truetail_model::record::{Metric, Outcome, RequestRecord, Snapshot};
use truetail_model::time::{NANOS_PER_SECOND, Nanos, Timestamp};
use truetail_run::Run;

use crate::verdict::thresholds::{SENT_IN_TIME_NS, SENT_IN_TIME_SHARE};

/// Minimum number of arrivals for a rate. Fewer do not determine the length of a schedule.
pub(crate) const FEWEST: u64 = 2;

/// Returns the answers per second of the schedule. Its length is that of [`offered_per_second`], so a run whose
/// requests were all answered met its rate. Returns `None` for fewer than two arrivals.
pub(crate) fn answered_per_second(run: &Run, every: Option<&[RequestRecord]>) -> Option<f64> {
    let tally = &run.snapshot.tally;
    if tally.planned < FEWEST {
        return None;
    }
    Some(per_second(tally.responses as f64, schedule_ns(run, every)?))
}

/// Returns the answers per second until the last answer, for a service that did not keep up and continued to answer
/// after the end of the schedule. The fastest response time is subtracted from the length, because every answer comes
/// at least that much later than its arrival. Returns `None` for fewer than two arrivals.
pub(crate) fn answered_per_second_until_the_last(run: &Run, every: Option<&[RequestRecord]>) -> Option<f64> {
    let snapshot = &run.snapshot;
    let met = answered_per_second(run, every)?;
    let from = first_intended(snapshot, every).unwrap_or(snapshot.measure_from);
    let fastest = snapshot.metric(Metric::ResponseTime).min().unwrap_or_default();
    let until_last_ns = last_answer(snapshot, every).since(from).saturating_sub(fastest).0 as f64;
    let until_last = per_second(snapshot.tally.responses as f64, until_last_ns);
    Some(if until_last_ns > 0.0 { met.min(until_last) } else { met })
}

pub(crate) struct SentInTime {
    pub(crate) count: f64,
    length_ns: f64,
}

impl SentInTime {
    pub(crate) fn per_second(&self, count: f64) -> f64 {
        per_second(count, self.length_ns)
    }
}

/// Counts the arrivals that were sent in time: before the schedule ended, or late by at most [`SENT_IN_TIME_NS`] or the
/// share of the schedule that [`SENT_IN_TIME_SHARE`] leaves. If only seconds are known, arrivals sent in time after the
/// end of the last second may be missing. Returns `None` if the schedule has no length.
pub(crate) fn sent_in_time(run: &Run, every: Option<&[RequestRecord]>) -> Option<SentInTime> {
    let snapshot = &run.snapshot;
    let length_ns = schedule_ns(run, every).filter(|length| *length > 0.0)?;
    let late_ns = (length_ns * (1.0 - SENT_IN_TIME_SHARE)).max(SENT_IN_TIME_NS) as u64;
    let from = match chosen_ns(run) {
        Some(_) => snapshot.measure_from,
        None => first_intended(snapshot, every)?,
    };
    let ends = from + Nanos(length_ns as u64);
    let is_in_time = |record: &&RequestRecord| {
        let started_late = record.actual_start.since(record.intended_start).0;
        record.outcome != Outcome::NeverIssued && (record.actual_start <= ends || started_late <= late_ns)
    };
    let count = match every {
        Some(records) => records.iter().filter(is_in_time).count() as u64,
        None => {
            let last = snapshot.seconds.iter().rposition(|second| second.planned > 0)?;
            let while_planned: u64 = snapshot.seconds[..=last].iter().map(|second| second.sent).sum();
            while_planned.max(snapshot.metric(Metric::StartDelay).count_at_or_below(Nanos(late_ns)))
        }
    };
    Some(SentInTime { count: count as f64, length_ns })
}

/// Returns the planned arrivals per second of the schedule, or `None` if it has no length.
pub(crate) fn offered_per_second(run: &Run, every: Option<&[RequestRecord]>) -> Option<f64> {
    Some(per_second(run.snapshot.tally.planned as f64, schedule_ns(run, every)?))
}

/// Returns the length of the schedule: its duration, if it has one and ran to its end. Otherwise the time from the
/// first to the last intended start plus one mean gap, or `None` for fewer than two arrivals.
fn schedule_ns(run: &Run, every: Option<&[RequestRecord]>) -> Option<f64> {
    let planned = run.snapshot.tally.planned;
    if let Some(chosen_ns) = chosen_ns(run) {
        return Some(chosen_ns as f64);
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

/// Returns the duration after the warm-up, of a run that ended by it.
fn chosen_ns(run: &Run) -> Option<u64> {
    let complete = run.facts.is_complete() && run.facts.offered.requests.is_none();
    let duration_ns = run.facts.offered.duration_ns.filter(|_| complete)?;
    Some(duration_ns.saturating_sub(run.facts.offered.warmup_ns))
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

/// Returns the arrival of the last answer. If only seconds are known, returns the end of that second, at most the end
/// of the run. Later ends without an answer do not count, because waiting for them answered no request.
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
