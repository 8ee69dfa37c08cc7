//! `timeline.csv`: one row per second. In a long run, the distributions cover intervals of several seconds. The first
//! row of an interval states its length; the columns of the distributions are blank in its other rows.
//!
//! The columns follow three different times. `planned`, `unanswered` and all quantiles go by intended start, `sent` by
//! actual start, and `completed`, `failed` and `error_status` by end.
//!
//! | column | meaning |
//! |---|---|
//! | `second` | from the origin, counted from 0 |
//! | `planned` | arrivals intended in it |
//! | `sent` | arrivals whose actual start was in it |
//! | `completed` | whole answers that ended in it |
//! | `failed` | requests that failed or timed out in it |
//! | `error_status` | the part of `completed` with a status of 400 and above |
//! | `in_flight` | sent and not ended at the end of the second; in the last row: at the end of the run |
//! | `backlog` | planned and not sent at the end of the second; in the last row: never issued |
//! | `interval_s` | length of the interval that begins here, for the columns after this one; blank within an interval |
//! | `unanswered` | arrivals intended in the interval that never got an answer |
//! | `…_p99_ns` | quantile, named in the table of metrics, over the interval: the highest value of its bucket |
//!
//! A field is blank if it has no value. A quantile of the response time is over **all** arrivals intended in the
//! interval, and an arrival without an answer is slower than every answer. If the quantile falls among unanswered
//! arrivals, the field is blank.

use std::io::{self, Read, Write};

use serde::Deserialize;
use truetail_model::record::{Distributions, Metric, SecondCounts, Snapshot, rank_of};
use truetail_model::time::Nanos;

use super::LineError;
use crate::limits::MAX_ARRIVALS;
use crate::wire::v1::IntervalWidth;

/// Columns of a row's counts, in order.
const COUNTS: [&str; 8] = ["second", "planned", "sent", "completed", "failed", "error_status", "in_flight", "backlog"];

const INTERVAL: [&str; 2] = ["interval_s", "unanswered"];

/// Returns the quantiles of an interval, in order: metric, quantile, and name of the column.
fn quantiles(snapshot: &Snapshot) -> Vec<(Metric, f64, String)> {
    let is_written = |metric: &Metric| metric.is_written(snapshot.metric(*metric).count());
    let of = |metric: Metric| metric.definition().timeline.iter().map(move |q| (metric, *q, column(metric, *q)));
    Metric::ALL.into_iter().filter(is_written).flat_map(of).collect()
}

/// Returns a column name such as `response_time_p99_9_ns`. The largest value is `max`.
pub(crate) fn column(metric: Metric, q: f64) -> String {
    let quantile = if q >= 1.0 { "max".to_owned() } else { format!("p{}", q * 100.0).replace('.', "_") };
    format!("{}_{quantile}_ns", metric.name())
}

pub(super) fn write(out: impl Write, snapshot: &Snapshot) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    let quantiles = quantiles(snapshot);
    let names = quantiles.iter().map(|(.., name)| name.as_str());
    csv.write_record(COUNTS.into_iter().chain(INTERVAL).chain(names))?;
    let intervals = IntervalWidth::from_snapshot(snapshot);
    let mut running = Running::default();
    for (number, second) in snapshot.seconds.iter().enumerate() {
        running.add(second);
        let counts = counts(number, second, &running);
        csv.write_record(
            counts.into_iter().chain(interval_values(snapshot, intervals, number, &quantiles)).map(field),
        )?;
    }
    csv.flush()
}

/// Returns the values of the interval that begins with second `number`, in column order; blank if no interval begins.
fn interval_values(
    snapshot: &Snapshot,
    intervals: IntervalWidth,
    number: usize,
    quantiles: &[(Metric, f64, String)],
) -> Vec<Option<u64>> {
    let Some(width_s) = intervals.width_s().filter(|_| snapshot.intervals.begins_at(number)) else {
        return vec![None; INTERVAL.len() + quantiles.len()];
    };
    let none = Distributions::default();
    let row = snapshot.intervals.at(number).unwrap_or(&none);
    let values = quantiles.iter().map(|(metric, q, _)| quantile(snapshot, row, *metric, *q).map(|value| value.0));
    [Some(width_s), Some(unanswered(row))].into_iter().chain(values).collect()
}

fn field(value: Option<u64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn counts(number: usize, second: &SecondCounts, running: &Running) -> [Option<u64>; COUNTS.len()] {
    [
        Some(number as u64),
        Some(second.planned),
        Some(second.sent),
        Some(second.completed),
        Some(second.failed),
        Some(second.error_status),
        Some(running.in_flight()),
        Some(running.backlog()),
    ]
}

fn unanswered(row: &Distributions) -> u64 {
    row.metric(Metric::Censored).count() + row.metric(Metric::Failed).count()
}

/// Returns a quantile of one interval, at most the largest value of the run.
fn quantile(snapshot: &Snapshot, row: &Distributions, metric: Metric, q: f64) -> Option<Nanos> {
    let values = row.metric(metric);
    let beyond = if metric == Metric::ResponseTime { unanswered(row) } else { 0 };
    let value = values.value_at_rank(rank_of(q, values.count() + beyond))?;
    Some(snapshot.metric(metric).max().map_or(value, |max| value.min(max)))
}

/// Counts from the origin to the end of a second.
#[derive(Default)]
struct Running {
    planned: u64,
    sent: u64,
    ended: u64,
}

impl Running {
    fn add(&mut self, second: &SecondCounts) {
        self.planned += second.planned;
        self.sent += second.sent;
        self.ended += second.completed + second.failed;
    }

    fn in_flight(&self) -> u64 {
        self.sent.saturating_sub(self.ended)
    }

    fn backlog(&self) -> u64 {
        self.planned.saturating_sub(self.sent)
    }
}

/// The columns that are read. All other columns follow from them or from other files.
#[derive(Deserialize)]
struct Counts {
    second: usize,
    planned: u64,
    sent: u64,
    completed: u64,
    failed: u64,
    error_status: u64,
}

/// Reads the counts of the seconds. It refuses sums that no run can have.
pub(super) fn read(input: impl Read) -> Result<Vec<SecondCounts>, LineError> {
    let mut seconds: Vec<SecondCounts> = Vec::new();
    let mut sums = [0; 4];
    for row in csv::Reader::from_reader(input).into_deserialize() {
        let row: Counts = row.map_err(LineError::from_csv)?;
        let problem = row.problem(seconds.len(), &mut sums);
        if let Some(problem) = problem {
            return Err(LineError { line: seconds.len() as u64 + 2, problem });
        }
        let Counts { planned, sent, completed, failed, error_status, .. } = row;
        seconds.push(SecondCounts { planned, sent, completed, failed, error_status });
    }
    Ok(seconds)
}

impl Counts {
    /// Returns the problem of this row, if any. `expected` is its second. `sums` includes the row afterwards.
    fn problem(&self, expected: usize, sums: &mut [u64; 4]) -> Option<String> {
        if self.second != expected {
            return Some(format!("second {} where second {expected} was expected", self.second));
        }
        if self.error_status > self.completed {
            return Some(format!("error_status is {}, but completed only {}", self.error_status, self.completed));
        }
        let counts =
            [("planned", self.planned), ("sent", self.sent), ("completed", self.completed), ("failed", self.failed)];
        for ((name, count), sum) in counts.into_iter().zip(sums) {
            *sum = sum.saturating_add(count);
            if *sum > MAX_ARRIVALS {
                return Some(format!("up to this line {name} adds up to {sum}, more than a run can have"));
            }
        }
        None
    }
}
