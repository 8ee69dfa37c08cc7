//! Collects the records of one worker's share and makes a [`Snapshot`].

use super::interval_recorder::IntervalRecorder;
use super::{ByInterval, Outcome, RequestRecord, Samples, SamplesOptions, SecondCounts, Snapshot, Tally, seconds};
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
/// [`Recorder::record`] allocates in these cases: a new status, cause or error-status bucket of an interval, the
/// compact form of an interval, a late record in a new bucket, and a time above 137 s. Without intervals, the run is
/// one interval.
#[derive(Clone, Debug)]
pub struct Recorder {
    options: RecorderOptions,
    warmup: Tally,
    cancelled: Tally,
    seconds: Vec<SecondCounts>,
    /// Books and distributions of the whole run are the sum of the intervals.
    intervals: IntervalRecorder,
    samples: Samples,
}

impl Recorder {
    /// Creates a recorder without records.
    pub fn new(options: RecorderOptions) -> Recorder {
        Recorder {
            options,
            warmup: Tally::default(),
            cancelled: Tally::default(),
            seconds: seconds::rows_for(options.expected_seconds),
            intervals: match options.per_second {
                true => IntervalRecorder::new(options.expected_seconds, ROOM_FOR),
                false => IntervalRecorder::undivided(ROOM_FOR),
            },
            samples: Samples::new(options.samples),
        }
    }

    /// Counts an arrival as planned when it is taken from the schedule. [`Recorder::record`] must follow for each.
    #[inline]
    pub fn plan(&mut self, intended_start: Timestamp) {
        if intended_start < self.options.measure_from {
            return self.warmup.plan(1);
        }
        self.intervals.plan(intended_start);
    }

    /// Counts an arrival as planned that a [`Cancellation`](crate::cancellation::Cancellation) chose. It is in nothing
    /// but a separate tally. [`Recorder::record_chosen`] must follow for each.
    pub fn plan_chosen(&mut self) {
        self.cancelled.plan(1);
    }

    /// Records the outcome of an arrival that a [`Cancellation`](crate::cancellation::Cancellation) chose.
    pub fn record_chosen(&mut self, outcome: Outcome) {
        self.cancelled.count(outcome);
    }

    /// Reads the buckets that [`Recorder::record`] will write for `records`, so that they are in the cache by then. A
    /// processor fetches many independent places at once, but one after the other if each is written to.
    #[inline]
    pub fn prefetch<'a>(&self, records: impl Iterator<Item = &'a RequestRecord>) {
        std::hint::black_box(records.fold(0u32, |seen, record| seen.wrapping_add(self.intervals.prefetch(record))));
    }

    /// Records the outcome of an arrival.
    #[inline]
    pub fn record(&mut self, record: &RequestRecord) {
        if record.intended_start < self.options.measure_from {
            self.warmup.count(record.outcome);
            return;
        }
        seconds::count(&mut self.seconds, record);
        self.intervals.record(record);
        self.samples.offer(record);
    }

    /// Records a connection that was opened before the load, for no arrival: the time that it took, and the part of it
    /// in the TLS handshake. It counts in the first second.
    pub fn record_opening(&mut self, connect: Nanos, tls_handshake: Option<Nanos>) {
        seconds::begin(&mut self.seconds);
        self.intervals.record_opening(connect, tls_handshake);
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
        seconds::count_unissued(&mut self.seconds, &record, n);
        self.intervals.record_unissued(&record, n);
        self.samples.pass_over(n);
    }

    /// Returns the first measured intended start, at the end of the warm-up.
    pub fn measured_from(&self) -> Timestamp {
        self.options.measure_from
    }

    /// Returns the current tally, without the warm-up: the sum of at most about a thousand rows.
    pub fn tally(&self) -> Tally {
        self.intervals.tally()
    }

    /// Returns everything that was recorded.
    pub fn finish(mut self, schedule_hash: ScheduleHash) -> Snapshot {
        self.samples.settle();
        let (intervals, books, metrics) = self.intervals.finish();
        let whole = books.sum();
        let (intervals, books) = match self.options.per_second {
            true => (intervals, books),
            false => (ByInterval::default(), ByInterval::default()),
        };
        Snapshot {
            tally: whole.tally,
            warmup: self.warmup,
            cancelled: self.cancelled,
            statuses: whole.statuses.to_map(),
            causes: whole.causes,
            metrics,
            error_status_time: whole.error_status_time.to_histogram(),
            seconds: self.seconds,
            intervals,
            books,
            samples: self.samples,
            targets: Vec::new(),
            bytes_in: whole.bytes_in,
            measure_from: self.options.measure_from,
            last_end: whole.last_end,
            schedule_hash,
        }
    }
}
