//! Takes the records of one hand and makes a [`Snapshot`] of them.

use super::seconds::Seconds;
use super::{Histogram, Metric, Outcome, RequestRecord, Samples, SamplesOptions, SecondBooks, Snapshot, Tally, books};
use crate::arrival::ScheduleHash;
use crate::time::{Nanos, Timestamp};

/// Room for times up to this is made before a run (about 137 s); longer ones are recorded all the same.
const ROOM_FOR: Nanos = Nanos((1 << 37) - 1);

/// What a recorder keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecorderOptions {
    /// Arrivals intended before this are warm-up: counted in books of their own and kept out of everything else.
    pub measure_from: Timestamp,
    /// How many seconds the run will probably take: room is made for them.
    pub expected_seconds: usize,
    /// Keep the distributions and the books of each second, and not only of the whole run.
    pub per_second: bool,
    /// How many single requests to keep.
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

/// Records of one hand. In the steady state [`Recorder::record`] allocates nothing.
#[derive(Clone, Debug)]
pub struct Recorder {
    options: RecorderOptions,
    tally: Tally,
    warmup: Tally,
    statuses: Box<[u64; STATUSES]>,
    causes: [u64; super::Cause::ALL.len()],
    metrics: [Histogram; Metric::COUNT],
    error_status_time: Histogram,
    seconds: Seconds,
    books: Vec<SecondBooks>,
    samples: Samples,
    bytes_in: u64,
    last_end: Timestamp,
}

/// Seconds for whose books room is made beforehand at most (an hour).
const MOST_BOOKS_MADE_READY: usize = 3_600;
/// Statuses from 0 to 999.
pub(super) const STATUSES: usize = 1000;

impl Recorder {
    /// Nothing recorded yet.
    pub fn new(options: RecorderOptions) -> Recorder {
        Recorder {
            options,
            tally: Tally::default(),
            warmup: Tally::default(),
            statuses: Box::new([0; STATUSES]),
            causes: [0; super::Cause::ALL.len()],
            metrics: std::array::from_fn(|_| Histogram::with_room_for(ROOM_FOR)),
            error_status_time: Histogram::new(),
            seconds: Seconds::new(options.expected_seconds, options.per_second),
            books: Vec::with_capacity(if options.per_second {
                options.expected_seconds.min(MOST_BOOKS_MADE_READY)
            } else {
                0
            }),
            samples: Samples::new(options.samples),
            bytes_in: 0,
            last_end: Timestamp::ZERO,
        }
    }

    /// Counts an arrival as planned, when it is taken from the schedule. [`Recorder::record`] must follow for each.
    #[inline]
    pub fn plan(&mut self, intended_start: Timestamp) {
        let warmup = intended_start < self.options.measure_from;
        if warmup {
            self.warmup.plan(1)
        } else {
            self.tally.plan(1)
        }
        if self.options.per_second && !warmup {
            books::row(&mut self.books, intended_start).tally.plan(1);
        }
    }

    /// Records what became of an arrival.
    #[inline]
    pub fn record(&mut self, record: &RequestRecord) {
        if record.intended_start < self.options.measure_from {
            self.warmup.count(record.outcome);
            return;
        }
        self.tally.count(record.outcome);
        self.bytes_in += record.bytes_in;
        self.last_end = self.last_end.max(record.end);
        self.seconds.count(record);
        if self.options.per_second {
            books::count(&mut self.books, record);
        }
        self.record_end(record);
        if record.outcome != Outcome::NeverIssued {
            self.record_start(record);
        }
        self.samples.offer(record);
    }

    fn record_end(&mut self, record: &RequestRecord) {
        match record.outcome {
            Outcome::Response { status } => {
                self.statuses[usize::from(status).min(STATUSES - 1)] += 1;
                self.add(record, Metric::ResponseTime, record.response_time());
                self.add(record, Metric::ServiceTime, record.service_time());
                if let Some(lag) = record.read_lag {
                    self.add(record, Metric::ReadLag, lag);
                }
                if status >= 400 {
                    self.error_status_time.record(record.response_time());
                }
            }
            outcome => {
                let metric = if outcome.is_censored() { Metric::Censored } else { Metric::Failed };
                self.add(record, metric, record.response_time());
                if let Some(cause) = outcome.cause() {
                    self.causes[cause as usize] += 1;
                }
            }
        }
    }

    fn record_start(&mut self, record: &RequestRecord) {
        self.add(record, Metric::StartDelay, record.delay.total());
        self.add(record, Metric::GeneratorLag, record.delay.generator_lag);
        self.add(record, Metric::ConnectionWait, record.delay.connection_wait);
        if record.connected {
            self.add(record, Metric::ConnectTime, record.delay.connect);
        }
        if let Some(time) = record.tls_handshake {
            self.add(record, Metric::TlsHandshakeTime, time);
        }
    }

    #[inline]
    fn add(&mut self, record: &RequestRecord, metric: Metric, value: Nanos) {
        self.metrics[metric as usize].record(value);
        self.seconds.record(record.intended_start.second(), metric, value);
    }

    /// The books so far, without the warm-up.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The distribution of one metric so far.
    pub fn metric(&self, metric: Metric) -> &Histogram {
        &self.metrics[metric as usize]
    }

    /// Everything that was recorded.
    pub fn finish(mut self, schedule_hash: ScheduleHash) -> Snapshot {
        self.samples.settle();
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
            metrics: self.metrics,
            error_status_time: self.error_status_time,
            seconds: self.seconds.finish(),
            books: self.books,
            samples: self.samples,
            bytes_in: self.bytes_in,
            measure_from: self.options.measure_from,
            last_end: self.last_end,
            schedule_hash,
        }
    }
}
