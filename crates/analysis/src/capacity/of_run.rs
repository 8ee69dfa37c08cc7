//! The bad requests of a run, by stretch.

use truetail_model::record::{Distributions, Metric, RequestRecord};
use truetail_run::Run;

use super::objective::{Bad, Objective};
use super::sample::{Sample, Stretch};
use crate::confidence_interval::less_rare;

impl Objective {
    /// What a run, or a run that goes on, says about this objective: every single request where each was kept, else the
    /// intervals. The requests of a run that goes on have ended; [`Sample::outstanding`] is left to the caller.
    pub fn sample(&self, run: &Run) -> Sample {
        let samples = &run.snapshot.samples;
        if samples.is_complete() {
            let mut records = samples.even().to_vec();
            records.sort_unstable_by_key(|record| (record.intended_start, record.index));
            self.of_records(&records)
        } else {
            self.of_intervals(run)
        }
    }

    /// Of times of the simulator, in the order of the intended starts, in nanoseconds.
    pub fn sample_of_times(&self, times: &[u64]) -> Sample {
        Sample::of_times(times, times, self.bad_from(), self.allowed())
    }

    fn of_records(&self, records: &[RequestRecord]) -> Sample {
        let times = |without| records.iter().filter_map(|record| self.time_of(record, without)).collect::<Vec<u64>>();
        Sample::of_times(&times(false), &times(true), self.bad_from(), self.allowed())
    }

    fn of_intervals(&self, run: &Run) -> Sample {
        let near_from = match self.bad() {
            Bad::Slow { metric, from_ns } => {
                let near = run.snapshot.metric(metric).quantile(less_rare(1.0 - self.allowed()));
                near.map_or(from_ns, |near| near.0.min(from_ns))
            }
            Bad::Failed | Bad::Unanswered => u64::MAX,
        };
        let rows: Vec<Stretch> = match self.bad() {
            Bad::Slow { metric, from_ns } => {
                run.snapshot.intervals.rows().iter().map(|row| slow(row, metric, from_ns, near_from)).collect()
            }
            Bad::Failed | Bad::Unanswered => {
                let error_statuses = self.bad() == Bad::Failed;
                run.snapshot.books.rows().iter().map(|row| failed(row, error_statuses)).collect()
            }
        };
        Sample::of_rows(&rows)
    }
}

/// The requests of an interval. A bucket that holds the limit counts as bad, but not as surely bad.
fn slow(row: &Distributions, metric: Metric, from_ns: u64, near_from: u64) -> Stretch {
    let counted = row.metric(metric);
    let unanswered = match metric {
        Metric::ResponseTime => row.metric(Metric::Censored).count() + row.metric(Metric::Failed).count(),
        _ => 0,
    };
    let beyond = |metric: Metric, from: u64| {
        let buckets = row.metric(metric).buckets();
        buckets.filter(|(lowest, _)| lowest.0 >= from).map(|(_, n)| n).sum::<u64>() + unanswered
    };
    let without = row.metric(Metric::WithoutGenerator);
    let bracketed = metric == Metric::ResponseTime && without.count() == counted.count();
    Stretch {
        requests: counted.count() + unanswered,
        bad: beyond(metric, below_bucket(from_ns)),
        surely_bad: beyond(if bracketed { Metric::WithoutGenerator } else { metric }, from_ns),
        near: beyond(metric, below_bucket(near_from)),
    }
}

/// The lowest value that a bucket with `value` may begin at: buckets are a thousandth wide.
fn below_bucket(value: u64) -> u64 {
    value - value / 1_024
}

fn failed(row: &truetail_model::record::IntervalBooks, error_statuses: bool) -> Stretch {
    let errors: u64 = row.statuses.iter().filter(|(status, _)| **status >= 400).map(|(_, n)| n).sum();
    // Those that have not ended are planned, and nothing else.
    let requests = row.tally.issued + row.tally.never_issued;
    let bad = row.tally.unanswered() + if error_statuses { errors } else { 0 };
    Stretch { requests, bad, surely_bad: bad, near: bad }
}
