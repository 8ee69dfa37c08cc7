//! Collects the records of one worker's share and makes a [`Snapshot`].

use super::books::STATUSES;
use super::interval_recorder::IntervalRecorder;
use super::{
    ByInterval, Histogram, Metric, Outcome, RequestRecord, Samples, SamplesOptions, SecondCounts, Snapshot, Tally,
    seconds,
};
use crate::arrival::{Arrival, ArrivalBlock, ScheduleHash};
use crate::time::{Nanos, Timestamp};

/// Reserved range of times (about 137 s). Longer times are recorded too, but allocate.
const ROOM_FOR: Nanos = Nanos((1 << 37) - 1);

/// Options of a recorder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecorderOptions {
    /// Arrivals intended before this are warm-up: they have their own tally and are in nothing else.
    pub measure_from: Timestamp,
    /// Probable duration of the run in seconds; room is reserved for it.
    pub expected_seconds: usize,
    /// If true, distributions and books are also kept by interval: a second, or some seconds in a long run.
    pub per_second: bool,
    /// Number of single requests to keep.
    pub samples: SamplesOptions,
}

impl Default for RecorderOptions {
    fn default() -> RecorderOptions {
        RecorderOptions {
            measure_from: Timestamp::ZERO,
            expected_seconds: 64,
            per_second: true,
            samples: SamplesOptions::default(),
        }
    }
}

/// Records of one worker's share.
///
/// [`Recorder::record`] allocates nothing for times up to 137 s, unless intervals are kept. Then it allocates for new
/// statuses, causes and error-status buckets of an interval, for its compact form, and for late records in new buckets.
#[derive(Clone, Debug)]
pub struct Recorder {
    options: RecorderOptions,
    tally: Tally,
    warmup: Tally,
    statuses: Box<[u64; STATUSES]>,
    causes: [u64; super::Cause::ALL.len()],
    /// Empty if intervals are kept: the whole is their sum.
    metrics: [Histogram; Metric::COUNT],
    error_status_time: Histogram,
    seconds: Vec<SecondCounts>,
    intervals: Option<IntervalRecorder>,
    samples: Samples,
    bytes_in: u64,
    last_end: Timestamp,
}

impl Recorder {
    /// Creates a recorder without records.
    pub fn new(options: RecorderOptions) -> Recorder {
        Recorder {
            options,
            tally: Tally::default(),
            warmup: Tally::default(),
            statuses: Box::new([0; STATUSES]),
            causes: [0; super::Cause::ALL.len()],
            metrics: std::array::from_fn(|_| match options.per_second {
                true => Histogram::new(),
                false => Histogram::with_room_for(ROOM_FOR),
            }),
            error_status_time: Histogram::with_room_for(ROOM_FOR),
            seconds: seconds::rows_for(options.expected_seconds),
            intervals: options.per_second.then(|| IntervalRecorder::new(options.expected_seconds, ROOM_FOR)),
            samples: Samples::new(options.samples),
            bytes_in: 0,
            last_end: Timestamp::ZERO,
        }
    }

    /// Counts an arrival as planned when it is taken from the schedule. [`Recorder::record`] must follow for each.
    #[inline]
    pub fn plan(&mut self, intended_start: Timestamp) {
        if intended_start < self.options.measure_from {
            return self.warmup.plan(1);
        }
        self.tally.plan(1);
        if let Some(intervals) = &mut self.intervals {
            intervals.plan(intended_start);
        }
    }

    /// Reads the buckets that [`Recorder::record`] will write for `records`, so that they are in the cache by then. A
    /// processor fetches many independent places at once, but one after the other if each is written to.
    #[inline]
    pub fn prefetch<'a>(&self, records: impl Iterator<Item = &'a RequestRecord>) {
        let Some(intervals) = &self.intervals else { return };
        std::hint::black_box(records.fold(0u32, |seen, record| seen.wrapping_add(intervals.prefetch(record))));
    }

    /// Records the outcome of an arrival.
    #[inline]
    pub fn record(&mut self, record: &RequestRecord) {
        if record.intended_start < self.options.measure_from {
            self.warmup.count(record.outcome);
            return;
        }
        self.tally.count(record.outcome);
        self.bytes_in += record.bytes_in;
        self.last_end = self.last_end.max(record.end);
        seconds::count(&mut self.seconds, record);
        self.count_end(record);
        match &mut self.intervals {
            Some(intervals) => intervals.record(record),
            None => record.times(|metric, time| self.metrics[metric as usize].record(time)),
        }
        self.samples.offer(record);
    }

    /// Counts `block` as planned and never issued by `ended`. All its arrivals get the intended start in its middle.
    pub fn record_block_never_issued(&mut self, block: &ArrivalBlock, ended: Timestamp) {
        let n = block.count;
        let intended_start = block.middle();
        if intended_start < self.options.measure_from {
            return self.warmup.plan_unissued(n);
        }
        let arrival = Arrival { intended_start, ..block.first };
        let record = RequestRecord::never_issued(arrival, ended.max(block.last_start));
        self.tally.plan_unissued(n);
        self.last_end = self.last_end.max(record.end);
        seconds::count_unissued(&mut self.seconds, &record, n);
        match &mut self.intervals {
            Some(intervals) => intervals.record_unissued(&record, n),
            None => record.times(|metric, time| self.metrics[metric as usize].record_n(time, n)),
        }
        self.samples.pass_over(n);
    }

    #[inline]
    fn count_end(&mut self, record: &RequestRecord) {
        if let Outcome::Response { status } = record.outcome {
            self.statuses[usize::from(status).min(STATUSES - 1)] += 1;
            if status >= 400 {
                self.error_status_time.record(record.response_time());
            }
        } else if let Some(cause) = record.outcome.cause() {
            self.causes[cause as usize] += 1;
        }
    }

    /// Returns the first measured intended start, at the end of the warm-up.
    pub fn measured_from(&self) -> Timestamp {
        self.options.measure_from
    }

    /// Returns the current tally, without the warm-up.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Returns everything that was recorded.
    pub fn finish(mut self, schedule_hash: ScheduleHash) -> Snapshot {
        self.samples.settle();
        let (intervals, books, metrics) = match self.intervals {
            Some(intervals) => intervals.finish(),
            None => (ByInterval::default(), ByInterval::default(), self.metrics),
        };
        let count_of = |(i, count): (usize, &u64)| (*count > 0).then_some((i, *count));
        Snapshot {
            tally: self.tally,
            warmup: self.warmup,
            statuses: self.statuses.iter().enumerate().filter_map(count_of).map(|(i, n)| (i as u16, n)).collect(),
            causes: self
                .causes
                .iter()
                .enumerate()
                .filter_map(count_of)
                .map(|(i, n)| (super::Cause::ALL[i], n))
                .collect(),
            metrics,
            error_status_time: self.error_status_time,
            seconds: self.seconds,
            intervals,
            books,
            samples: self.samples,
            targets: Vec::new(),
            bytes_in: self.bytes_in,
            measure_from: self.options.measure_from,
            last_end: self.last_end,
            schedule_hash,
        }
    }
}
