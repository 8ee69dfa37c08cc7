//! Arrivals and ends in stretches of equal length, from the first to the last intended start.

use std::ops::Range;

use truetail_model::record::{Metric, Outcome, RequestRecord, SecondCounts, Snapshot, rank_of};
use truetail_model::time::{NANOS_PER_SECOND, Timestamp};

/// Number of stretches that single requests are cut into.
const STRETCHES: usize = 40;

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Stretch {
    pub(crate) planned: u64,
    pub(crate) completed: u64,
    pub(crate) ended: u64,
    /// The median response time of the answers that ended in it. Grows with a backlog even without newer answers.
    pub(crate) median_ns: Option<u64>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct LoadTimeline {
    pub(crate) stretches: Vec<Stretch>,
    pub(crate) stretch_s: f64,
}

impl LoadTimeline {
    pub(crate) fn new(snapshot: &Snapshot, every: Option<&[RequestRecord]>) -> Option<LoadTimeline> {
        match every {
            Some(records) => from_records(records),
            None => from_seconds(snapshot),
        }
    }

    /// Returns the number of arrivals that were planned and had not ended, after each stretch.
    pub(crate) fn outstanding(&self) -> Vec<f64> {
        let mut outstanding = 0.0;
        let step = |stretch: &Stretch| {
            outstanding += stretch.planned as f64 - stretch.ended as f64;
            outstanding
        };
        self.stretches.iter().map(step).collect()
    }

    pub(crate) fn later_half(&self) -> LoadTimeline {
        LoadTimeline { stretches: self.stretches[self.stretches.len() / 2..].to_vec(), stretch_s: self.stretch_s }
    }

    pub(crate) fn length_s(&self) -> f64 {
        self.stretches.len() as f64 * self.stretch_s
    }

    pub(crate) fn per_second(&self, count: fn(&Stretch) -> u64) -> f64 {
        self.stretches.iter().map(count).sum::<u64>() as f64 / self.length_s()
    }
}

/// Builds the timeline from `records`, which are in the order of their intended start.
fn from_records(records: &[RequestRecord]) -> Option<LoadTimeline> {
    let first = records.first()?.intended_start;
    let last = records.last()?.intended_start;
    let length_ns = last.since(first).0.max(1);
    let stretch_of = |instant: Timestamp| {
        let place = u128::from(instant.since(first).0) * STRETCHES as u128 / u128::from(length_ns);
        // The last arrival closes the last stretch. An end after it is in no stretch.
        if instant == last { Some(STRETCHES - 1) } else { Some(place as usize).filter(|place| *place < STRETCHES) }
    };
    let mut stretches = vec![Stretch::default(); STRETCHES];
    let mut times: Vec<Vec<(u64, u64)>> = vec![Vec::new(); STRETCHES];
    for record in records {
        count(record, &mut stretches, stretch_of);
        if let Some(i) = stretch_of(record.end).filter(|_| record.outcome.is_response()) {
            times[i].push((record.response_time().0, 1));
        }
    }
    set_medians(&mut stretches, &mut times);
    let stretch_s = length_ns as f64 / NANOS_PER_SECOND as f64 / STRETCHES as f64;
    Some(LoadTimeline { stretches, stretch_s })
}

fn count(record: &RequestRecord, stretches: &mut [Stretch], stretch_of: impl Fn(Timestamp) -> Option<usize>) {
    if let Some(i) = stretch_of(record.intended_start) {
        stretches[i].planned += 1;
    }
    let has_ended = !matches!(record.outcome, Outcome::NeverIssued | Outcome::InFlightAtEnd);
    if let Some(i) = stretch_of(record.end).filter(|_| has_ended) {
        stretches[i].ended += 1;
        stretches[i].completed += u64::from(record.outcome.is_response());
    }
}

/// Builds the timeline from whole intervals, which are seconds except in a long run. Leaves out intervals that may be
/// partial: the last one with arrivals, and the first one if it is longer than a second and began before the arrivals.
fn from_seconds(snapshot: &Snapshot) -> Option<LoadTimeline> {
    let seconds = &snapshot.seconds;
    let intervals = &snapshot.intervals;
    let first = seconds.iter().position(|row| row.planned > 0)?;
    let last = intervals.interval_of(seconds.iter().rposition(|row| row.planned > 0)?);
    let first = intervals.interval_of(first) + usize::from(!intervals.begins_at(first));
    let first = first.min(last);
    let mut stretches: Vec<Stretch> = (first..last.max(first + 1))
        .map(|interval| stretch(&seconds[clipped(intervals.seconds_of(interval), seconds.len())]))
        .collect();
    let mut times: Vec<Vec<(u64, u64)>> = vec![Vec::new(); stretches.len()];
    let width_ns = intervals.width_s() * NANOS_PER_SECOND;
    for (i, row) in intervals.rows().iter().skip(first).take(stretches.len()).enumerate() {
        for (value, count) in row.metric(Metric::ResponseTime).buckets() {
            // The middle of an interval represents all of it, so the place is exact to half an interval.
            let ended = i + ((value.0 + width_ns / 2) / width_ns) as usize;
            if let Some(times) = times.get_mut(ended) {
                times.push((value.0, count));
            }
        }
    }
    set_medians(&mut stretches, &mut times);
    Some(LoadTimeline { stretches, stretch_s: intervals.width_s() as f64 })
}

fn clipped(range: Range<usize>, end: usize) -> Range<usize> {
    range.start.min(end)..range.end.min(end)
}

fn stretch(rows: &[SecondCounts]) -> Stretch {
    let sum = |count: fn(&SecondCounts) -> u64| rows.iter().map(count).sum();
    Stretch {
        planned: sum(|row| row.planned),
        completed: sum(|row| row.completed),
        ended: sum(|row| row.completed + row.failed),
        median_ns: None,
    }
}

/// Sets the median of each stretch. `times` holds, by stretch, the response times that ended in it and their counts.
fn set_medians(stretches: &mut [Stretch], times: &mut [Vec<(u64, u64)>]) {
    for (stretch, times) in stretches.iter_mut().zip(times) {
        times.sort_unstable();
        let rank = rank_of(0.5, times.iter().map(|(_, count)| count).sum());
        let mut seen = 0;
        let middle = times.iter().find(|(_, count)| {
            seen += count;
            seen >= rank
        });
        stretch.median_ns = middle.map(|(time, _)| *time);
    }
}
