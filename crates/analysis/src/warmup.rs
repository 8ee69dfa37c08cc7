//! A run without its warm-up.

use truetail_model::record::{
    Histogram, Metric, Recorder, RecorderOptions, RequestRecord, Samples, Second, SecondBooks, Snapshot,
    SparseHistogram,
};
use truetail_model::time::{NANOS_PER_SECOND, Timestamp};
use truetail_run::Run;

use crate::measured;

/// Why the beginning of a run cannot be cut off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CannotCut {
    /// Not every request was kept, and the books of single seconds are not known: they are kept while a run goes on, and
    /// not in a run folder.
    NothingBySecond,
    /// Not every request was kept, so that only whole seconds can be told apart.
    NotAWholeSecond,
}

impl std::fmt::Display for CannotCut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            CannotCut::NothingBySecond => {
                "the warm-up of this run cannot be cut: not every request was kept, nor the books of each second"
            }
            CannotCut::NotAWholeSecond => "not every request was kept, so a warm-up can only be cut at a whole second",
        })
    }
}

impl std::error::Error for CannotCut {}

/// The run as it would be had its warm-up lasted until `from`: arrivals intended before are in the books of the warm-up and
/// in nothing else. A note says that it was cut afterwards. The run itself where `from` is not after its warm-up.
///
/// Where every request was kept, this is exact. Else it is put together from the seconds: all counts and distributions are
/// those of the arrivals intended from `from` on (the mean, and the smallest and largest value, to 0.1 %), but what
/// warm-up arrivals sent and ended after `from` stays in the rows of the timeline. Books by target are left out.
///
/// # Errors
/// [`CannotCut`], where the run does not know enough.
pub fn without_warmup(run: &Run, from: Timestamp) -> Result<Run, CannotCut> {
    if from <= run.snapshot.measure_from {
        return Ok(run.clone());
    }
    let snapshot = match measured::every_arrival(&run.snapshot) {
        Some(records) => from_records(&run.snapshot, &records, from),
        None => from_seconds(&run.snapshot, from)?,
    };
    let mut facts = run.facts.clone();
    facts.offered.warmup_ns = from.0;
    let cut = snapshot.warmup.planned - run.snapshot.warmup.planned;
    facts.notes.push(format!(
        "the first {} s were cut off afterwards as warm-up: {cut} arrivals, counted apart",
        (from.as_secs_f64() * 1e3).round() / 1e3
    ));
    // By target nothing is known of a part of the run.
    facts.by_target.clear();
    Ok(Run { facts, snapshot })
}

fn from_records(whole: &Snapshot, records: &[RequestRecord], from: Timestamp) -> Snapshot {
    let mut recorder = Recorder::new(RecorderOptions {
        measure_from: from,
        expected_seconds: whole.seconds.len(),
        samples: whole.samples.options(),
        ..RecorderOptions::default()
    });
    for record in records {
        recorder.plan(record.intended_start);
        recorder.record(record);
    }
    let mut rest = recorder.finish(whole.schedule_hash);
    rest.warmup.merge(&whole.warmup);
    rest
}

fn from_seconds(whole: &Snapshot, from: Timestamp) -> Result<Snapshot, CannotCut> {
    if !from.0.is_multiple_of(NANOS_PER_SECOND) {
        return Err(CannotCut::NotAWholeSecond);
    }
    let first = from.second();
    let planned = |rows: &[SecondBooks]| rows.iter().map(|row| row.tally.planned).sum::<u64>();
    let in_rows = |metric| whole.seconds.iter().map(|row| row.metric(metric).count()).sum::<u64>();
    let known = |metric| in_rows(metric) == whole.metric(metric).count();
    if planned(&whole.books) != whole.tally.planned || !Metric::ALL.into_iter().all(known) {
        return Err(CannotCut::NothingBySecond);
    }
    let (head, rest) = whole.books.split_at(first.min(whole.books.len()));
    let mut snapshot = Snapshot {
        metrics: std::array::from_fn(|i| whole.metrics[i].without(&of_rows(&whole.seconds, first, Metric::ALL[i]))),
        error_status_time: whole.error_status_time.without(&sum(head.iter().map(|row| &row.error_status_time))),
        seconds: seconds_from(&whole.seconds, first),
        samples: samples_from(&whole.samples, from, planned(rest)),
        measure_from: from,
        last_end: rest.iter().map(|row| row.last_end).max().unwrap_or_default(),
        schedule_hash: whole.schedule_hash,
        warmup: whole.warmup,
        ..Snapshot::default()
    };
    head.iter().for_each(|row| snapshot.warmup.merge(&row.tally));
    for row in rest {
        row.add_to(&mut snapshot);
    }
    snapshot.books = vec![SecondBooks::default(); head.len()];
    snapshot.books.extend_from_slice(rest);
    Ok(snapshot)
}

/// What the rows before `first` hold of a metric.
fn of_rows(rows: &[Second], first: usize, metric: Metric) -> Histogram {
    sum(rows[..first.min(rows.len())].iter().map(|row| row.metric(metric)))
}

fn sum<'a>(parts: impl Iterator<Item = &'a SparseHistogram>) -> Histogram {
    let mut sum = Histogram::new();
    parts.flat_map(SparseHistogram::buckets).for_each(|(value, count)| sum.record_n(value, u64::from(count)));
    sum
}

/// The rows with nothing in those before `first`.
fn seconds_from(rows: &[Second], first: usize) -> Vec<Second> {
    let keep = |(i, row): (usize, &Second)| if i < first { Second::default() } else { row.clone() };
    rows.iter().enumerate().map(keep).collect()
}

/// The samples of the `planned` arrivals intended from `from` on.
fn samples_from(samples: &Samples, from: Timestamp, planned: u64) -> Samples {
    let later = |record: &&RequestRecord| record.intended_start >= from;
    let even = samples.even().iter().filter(later).copied().collect();
    let only_slow: Vec<RequestRecord> = samples.only_slow().filter(later).copied().collect();
    Samples::from_parts(samples.options(), even, samples.one_in(), &only_slow, planned)
}
