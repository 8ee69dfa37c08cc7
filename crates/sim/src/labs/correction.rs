//! HdrHistogram's correction for coordinated omission, as a separate series.

use truetail_model::arrival::{Arrival, ScheduleHash};
use truetail_model::record::{Outcome, Recorder, RequestRecord, Snapshot};
use truetail_model::service::Service;
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::Workload;
use truetail_run::Run;

use super::error::LabError;
use super::series::{LabSeries, measure, series_facts};
use crate::{SimOptions, Sink};

/// Records each request. For each answer it also records the requests that a client with a fixed interval i would have
/// sent meanwhile. For a response time v these take v − i, v − 2i and so on, as long as that is at least i. They end
/// when the real request ends.
///
/// HdrHistogram's `recordValueWithExpectedInterval` adds the same values. They are reconstructed, not measured.
#[derive(Clone, Debug)]
pub struct CorrectedRecorder {
    recorder: Recorder,
    expected_interval: Nanos,
    hash: ScheduleHash,
    next_index: u64,
    reconstructed: u64,
}

impl CorrectedRecorder {
    /// Creates an empty recorder. `expected_interval` is at least 1 ns.
    pub fn new(recorder: Recorder, expected_interval: Nanos) -> CorrectedRecorder {
        let expected_interval = expected_interval.max(Nanos(1));
        CorrectedRecorder {
            recorder,
            expected_interval,
            hash: ScheduleHash::default(),
            next_index: 0,
            reconstructed: 0,
        }
    }

    /// Returns the number of reconstructed requests.
    pub fn reconstructed(&self) -> u64 {
        self.reconstructed
    }

    /// Returns the snapshot of measured and reconstructed requests together.
    pub fn finish(self) -> Snapshot {
        self.recorder.finish(self.hash)
    }

    fn add(&mut self, record: RequestRecord) {
        let record = RequestRecord { index: self.next_index, ..record };
        self.next_index += 1;
        self.hash.add(Arrival { index: record.index, intended_start: record.intended_start });
        self.recorder.plan(record.intended_start);
        self.recorder.record(&record);
    }
}

impl Sink for CorrectedRecorder {
    /// Does nothing: arrivals are planned when they end, together with the requests reconstructed from them.
    fn planned(&mut self, _: Timestamp) {}

    fn ended(&mut self, record: &RequestRecord) {
        self.add(*record);
        if !matches!(record.outcome, Outcome::Response { .. }) {
            return;
        }
        let mut missing = record.response_time().saturating_sub(self.expected_interval);
        while missing >= self.expected_interval {
            let start = Timestamp(record.end.0 - missing.0);
            self.add(RequestRecord { intended_start: start, actual_start: start, ..*record });
            self.reconstructed += 1;
            missing = missing.saturating_sub(self.expected_interval);
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SeriesNames {
    pub(super) lab: &'static str,
    pub(super) raw: &'static str,
    pub(super) corrected: &'static str,
}

/// Simulates the workload once. Returns the series as measured and as corrected. `besides` gets the measured records
/// too.
pub(super) fn measure_both(
    names: SeriesNames,
    service: &Service,
    workload: &Workload,
    expected_interval: Nanos,
    besides: impl Sink,
) -> Result<(LabSeries, LabSeries), LabError> {
    let correction = CorrectedRecorder::new(SimOptions::default().recorder(workload), expected_interval);
    let mut sinks = (correction, besides);
    let (raw, end) = measure(names.lab, names.raw, service, workload, &mut sinks)?;
    let measured = raw.count();
    let reconstructed = sinks.0.reconstructed();
    let mut facts = series_facts(names.lab, names.corrected, workload, end);
    facts.notes.push(format!(
        "{measured} requests were measured and {reconstructed} are reconstructed by HdrHistogram's correction with an \
         expected interval of {expected_interval}"
    ));
    Ok((raw, LabSeries::new(names.corrected, Run { facts, snapshot: sinks.0.finish() })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use truetail_model::arrival::Arrival;
    use truetail_model::record::{Metric, RecorderOptions};

    fn answer(start: u64, end: u64) -> RequestRecord {
        let arrival = Arrival { index: 7, intended_start: Timestamp(start) };
        RequestRecord::new(arrival, Timestamp(start), Timestamp(end), Outcome::response(200))
    }

    /// HdrHistogram's own test data on a smaller scale: 10,000 short answers, then one that takes 10,000 intervals.
    #[test]
    fn it_adds_what_hdrhistogram_adds() {
        let short = 1_000;
        let long = 100_000_000;
        let interval = 10_000;
        let mut ours = CorrectedRecorder::new(Recorder::new(RecorderOptions::default()), Nanos(interval));
        let mut theirs = hdrhistogram::Histogram::<u64>::new(3).unwrap();
        for value in std::iter::repeat_n(short, 10_000).chain([long]) {
            ours.ended(&answer(5, 5 + value));
            theirs.record_correct(value, interval).unwrap();
        }
        let snapshot = ours.finish();
        snapshot.tally.check().unwrap();
        let values: Vec<(u64, u64)> =
            snapshot.metric(Metric::ResponseTime).buckets().map(|(low, _, count)| (low.0, count)).collect();
        let expected: Vec<(u64, u64)> = theirs
            .iter_recorded()
            .map(|v| (theirs.lowest_equivalent(v.value_iterated_to()), v.count_at_value()))
            .collect();
        assert_eq!(values, expected);
        assert_eq!(snapshot.tally.responses, 20_000);
    }

    #[test]
    fn what_is_reconstructed_starts_an_interval_later_and_ends_together() {
        let mut corrected = CorrectedRecorder::new(Recorder::new(RecorderOptions::default()), Nanos(10));
        corrected.ended(&answer(100, 135));
        assert_eq!(corrected.reconstructed(), 2);
        let records = corrected.finish().samples.even().to_vec();
        let spans: Vec<(u64, u64)> = records.iter().map(|r| (r.intended_start.0, r.end.0)).collect();
        assert_eq!(spans, [(100, 135), (110, 135), (120, 135)]);
    }
}
