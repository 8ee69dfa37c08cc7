//! What came and what went, over the time in which arrivals were intended, in stretches of equal length.

use truetail_model::record::{Metric, Outcome, RequestRecord, Second, Snapshot, rank_of};
use truetail_model::time::{NANOS_PER_SECOND, Timestamp};

/// Stretches that single requests are cut into.
const STRETCHES: usize = 40;

/// One stretch of time.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Stretch {
    /// Arrivals intended in it.
    pub(crate) planned: u64,
    /// Arrivals whose actual start was in it.
    pub(crate) sent: u64,
    /// Whole answers that ended in it.
    pub(crate) completed: u64,
    /// Arrivals that ended in it with or without an answer.
    pub(crate) ended: u64,
    /// The middle response time of the arrivals intended in it; `None` where less than half of them were answered.
    pub(crate) median_ns: Option<u64>,
}

/// The stretches of a run.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Flow {
    pub(crate) stretches: Vec<Stretch>,
    pub(crate) stretch_s: f64,
}

impl Flow {
    /// The flow of a run; `None` when nothing was planned.
    pub(crate) fn of(snapshot: &Snapshot, every: Option<&[RequestRecord]>) -> Option<Flow> {
        match every {
            Some(records) => of_records(records),
            None => of_seconds(snapshot),
        }
    }

    /// Arrivals that were planned and had not ended, after each stretch.
    pub(crate) fn outstanding(&self) -> Vec<f64> {
        let mut outstanding = 0.0;
        let step = |stretch: &Stretch| {
            outstanding += stretch.planned as f64 - stretch.ended as f64;
            outstanding
        };
        self.stretches.iter().map(step).collect()
    }

    /// The later half of it.
    pub(crate) fn later_half(&self) -> Flow {
        Flow { stretches: self.stretches[self.stretches.len() / 2..].to_vec(), stretch_s: self.stretch_s }
    }

    /// `count` per second of all stretches.
    pub(crate) fn per_second(&self, count: fn(&Stretch) -> u64) -> f64 {
        self.stretches.iter().map(count).sum::<u64>() as f64 / (self.stretches.len() as f64 * self.stretch_s)
    }
}

/// `records` in the order of their intended start.
fn of_records(records: &[RequestRecord]) -> Option<Flow> {
    let (first, last) = (records.first()?.intended_start, records.last()?.intended_start);
    let length_ns = last.since(first).0.max(1);
    let stretch_of = |instant: Timestamp| {
        let place = u128::from(instant.since(first).0) * STRETCHES as u128 / u128::from(length_ns);
        // The last arrival closes the last stretch; what ends after it is in none.
        if instant == last { Some(STRETCHES - 1) } else { Some(place as usize).filter(|place| *place < STRETCHES) }
    };
    let mut stretches = vec![Stretch::default(); STRETCHES];
    let mut times: Vec<Vec<u64>> = vec![Vec::new(); STRETCHES];
    for record in records {
        count(record, &mut stretches, stretch_of);
        if let Some(i) = stretch_of(record.intended_start) {
            times[i].push(if record.outcome.is_response() { record.response_time().0 } else { u64::MAX });
        }
    }
    for (stretch, times) in stretches.iter_mut().zip(&mut times) {
        times.sort_unstable();
        let rank = rank_of(0.5, times.len() as u64) as usize;
        stretch.median_ns = rank.checked_sub(1).map(|i| times[i]).filter(|time| *time < u64::MAX);
    }
    let stretch_s = length_ns as f64 / NANOS_PER_SECOND as f64 / STRETCHES as f64;
    Some(Flow { stretches, stretch_s })
}

fn count(record: &RequestRecord, stretches: &mut [Stretch], stretch_of: impl Fn(Timestamp) -> Option<usize>) {
    if let Some(i) = stretch_of(record.intended_start) {
        stretches[i].planned += 1;
    }
    if let Some(i) = stretch_of(record.actual_start).filter(|_| record.outcome != Outcome::NeverIssued) {
        stretches[i].sent += 1;
    }
    let has_ended = !matches!(record.outcome, Outcome::NeverIssued | Outcome::InFlightAtEnd);
    if let Some(i) = stretch_of(record.end).filter(|_| has_ended) {
        stretches[i].ended += 1;
        stretches[i].completed += u64::from(record.outcome.is_response());
    }
}

/// Whole seconds. The last one that holds arrivals may hold them in a part only, and is left out.
fn of_seconds(snapshot: &Snapshot) -> Option<Flow> {
    let rows = &snapshot.seconds;
    let first = rows.iter().position(|row| row.planned > 0)?;
    let last = rows.iter().rposition(|row| row.planned > 0)?;
    let stretches: Vec<Stretch> = rows[first..last.max(first + 1)].iter().map(stretch).collect();
    Some(Flow { stretches, stretch_s: 1.0 })
}

fn stretch(row: &Second) -> Stretch {
    let answers = row.metric(Metric::ResponseTime);
    let unanswered = row.metric(Metric::Censored).count() + row.metric(Metric::Failed).count();
    let rank = rank_of(0.5, answers.count() + unanswered);
    Stretch {
        planned: row.planned,
        sent: row.sent,
        completed: row.completed,
        ended: row.completed + row.failed,
        median_ns: answers.value_at_rank(rank).map(|median| median.0),
    }
}
