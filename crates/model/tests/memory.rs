//! A recorder holds bounded memory in a run of any length, counted in bytes really allocated.

use allocation_counter::measure;
use truetail_model::arrival::{Arrival, Horizon, Profile, Schedule, ScheduleHash, Spacing};
use truetail_model::driver::{Directive, Driver, DueRequest, WorkerShare};
use truetail_model::random::Random;
use truetail_model::record::{Metric, Outcome, Recorder, RecorderOptions, RequestRecord, Snapshot, StartDelay};
use truetail_model::time::{Nanos, Rate, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};

const S: u64 = 1_000_000_000;
const MIB: i64 = 1 << 20;
/// Limit for one worker's recorder, samples included.
const MOST: i64 = 64 * MIB;
/// Limit for all intervals together: 16 MiB of distributions, plus folding, dense rows and books.
const OVER_TIME: i64 = 20 * MIB;
/// Limit for the counts of each second.
const A_SECOND: i64 = 100;

/// A recorder that is fed in virtual time.
struct Fed {
    recorder: Recorder,
    random: Random,
    per_second: u64,
    index: u64,
}

impl Fed {
    fn new(per_second: u64) -> Fed {
        let options = RecorderOptions { expected_seconds: 3600, ..RecorderOptions::default() };
        Fed { recorder: Recorder::new(options), random: Random::new(1, 1), per_second, index: 0 }
    }

    /// Feeds arrivals until `second`. In eight seconds, each time fills some 5,000 buckets, as in a second at 25,000/s.
    fn until(&mut self, second: u64) {
        while self.index < second * self.per_second {
            let record = self.next();
            self.recorder.plan(record.intended_start);
            self.recorder.record(&record);
        }
    }

    fn next(&mut self) -> RequestRecord {
        let mut time = |least: f64| Nanos((least * (1.0 + self.random.exponential()).powi(3)) as u64);
        let generator_lag = time(2e3);
        let service = time(2e5);
        let read_lag = time(5e3);
        let intended_start = Timestamp(self.index * (S / self.per_second));
        let actual_start = intended_start + generator_lag;
        // One in a thousand waits, and is recorded long after its second is over.
        let stall = if self.index.is_multiple_of(1000) { 30 * S } else { 0 };
        let arrival = Arrival { index: self.index, intended_start };
        let outcome = Outcome::response(if self.index.is_multiple_of(7) { 503 } else { 200 });
        let record = RequestRecord {
            read_lag: Some(read_lag),
            bytes_in: 100,
            ..RequestRecord::new(arrival, actual_start, actual_start + service + Nanos(stall), outcome)
        };
        self.index += 1;
        record
    }

    fn finish(self) -> Snapshot {
        self.recorder.finish(ScheduleHash::default())
    }
}

fn in_intervals(snapshot: &Snapshot, metric: Metric) -> u64 {
    snapshot.intervals.rows().iter().map(|row| row.metric(metric).count()).sum()
}

#[test]
fn an_hour_is_recorded_in_flat_memory() {
    let mut fed = None;
    let made = measure(|| fed = Some(Fed::new(800))).bytes_current;
    let mut fed = fed.unwrap();
    let mut held = made;
    for quarter in 1..=4i64 {
        let used = measure(|| fed.until(quarter as u64 * 900));
        let most = held + used.bytes_max as i64;
        held += used.bytes_current;
        eprintln!("after {} minutes {} KiB are held; it was {} KiB at most", quarter * 15, held / 1024, most / 1024);
        assert!(most <= made + OVER_TIME + quarter * 900 * A_SECOND, "{most} bytes, of them {made} from the beginning");
        assert!(most < MOST, "{most} bytes");
    }

    let snapshot = fed.finish();
    assert_eq!(snapshot.tally.planned, 3600 * 800);
    for metric in Metric::ALL {
        assert_eq!(in_intervals(&snapshot, metric), snapshot.metric(metric).count(), "{}", metric.name());
    }
    let width_s = snapshot.intervals.width_s();
    assert!((8..=32).contains(&width_s), "{width_s} s");
}

/// Returns an answer that was sent `index` µs after the origin. Its times grow with the square of `index`.
fn answer(index: u64, status: u16) -> RequestRecord {
    let sent = Timestamp(index * 1_000);
    let arrival = Arrival { index, intended_start: sent };
    let end = sent + Nanos(1_000 + index * index * 10);
    RequestRecord {
        delay: StartDelay { generator_lag: Nanos(index), ..StartDelay::default() },
        read_lag: Some(Nanos(index)),
        bytes_in: 100,
        ..RequestRecord::new(arrival, sent, end, Outcome::response(status))
    }
}

fn recorder(per_second: bool) -> Recorder {
    Recorder::new(RecorderOptions { expected_seconds: 200, per_second, ..RecorderOptions::default() })
}

/// Times grow from a microsecond to 100 s, within one interval and after the first record of each kind.
#[test]
fn recording_within_an_interval_allocates_nothing() {
    for per_second in [true, false] {
        let mut recorder = recorder(per_second);
        recorder.record(&answer(0, 200));
        let allocated = measure(|| (1..100_000).for_each(|index| recorder.record(&answer(index, 200))));
        assert_eq!(allocated.count_total, 0, "{allocated:?}");
    }
}

/// Error statuses in the current interval, and late records in an interval that is over.
#[test]
fn what_is_new_in_an_interval_is_allocated_once() {
    let cases = [(true, 503, false), (false, 503, false), (true, 200, true), (true, 503, true)];
    for (per_second, status, is_over) in cases {
        let mut recorder = recorder(per_second);
        recorder.record(&answer(0, status));
        if is_over {
            recorder.plan(Timestamp(10 * S));
        }
        let mut record_all = || measure(|| (1..1000).for_each(|index| recorder.record(&answer(index, status))));
        let new = record_all();
        let again = record_all();
        assert!((1..200).contains(&new.count_total), "{new:?}");
        assert_eq!(again.count_total, 0, "{again:?}");
    }
}

/// Days with an arrival a second: intervals get longer only by their number.
#[test]
fn days_are_recorded_in_flat_memory() {
    let mut fed = Fed::new(1);
    fed.until(1 << 16);
    let later = measure(|| fed.until(1 << 17));
    // The counts of seconds are allocated ahead: at most twice as many.
    assert!((later.bytes_max as i64) < ((A_SECOND * 2) << 16) + 8 * MIB, "{later:?}");
    assert!(fed.finish().intervals.rows().len() <= 512);
}

fn a_million(spacing: Spacing) -> Workload {
    let schedule = Schedule {
        profile: Profile::constant(Rate::per_second(1e6).unwrap()),
        spacing,
        seed: 1,
        horizon: Horizon { duration: None, requests: Some(1_000_000) },
    };
    let limits = Limits { connections: Some(64), drain: Nanos::from_secs(60), ..Limits::default() };
    Workload { model: LoadModel::Open(schedule), limits, warmup: Nanos::ZERO }
}

/// Starts all requests that are due at `now`, in order.
fn started(driver: &mut Driver, now: Timestamp) -> Vec<DueRequest> {
    std::iter::from_fn(|| match driver.poll(now) {
        Directive::Start(start) => Some(start),
        _ => None,
    })
    .collect()
}

/// A million arrivals wait for one of 64 places. Only the schedule knows them, so they take neither memory nor time.
#[test]
fn a_million_arrivals_that_wait_are_nowhere() {
    for spacing in [Spacing::Even, Spacing::Poisson] {
        let mut driver = Driver::new(&a_million(spacing), WorkerShare::WHOLE);
        assert_eq!(started(&mut driver, Timestamp(S / 1000)).len(), 64);
        let waited = measure(|| {
            // Ten seconds of turns without an answer.
            for turn in 1..=10_000 {
                assert!(matches!(driver.poll(Timestamp(turn * S / 1000)), Directive::Wait { .. }));
            }
        });
        assert_eq!((waited.count_total, waited.bytes_max), (0, 0));
        let mut now = Timestamp(10 * S);
        let mut next = 64;
        let answered = measure(|| {
            while driver.in_flight() > 0 {
                now = now + Nanos(1000);
                driver.complete(0, now);
                if let Directive::Start(start) = driver.poll(now) {
                    assert_eq!(start.arrival.index, next, "in the order of their intended starts");
                    assert_eq!(start.connection_wait, now.since(start.arrival.intended_start), "nobody else's wait");
                    next += 1;
                }
            }
        });
        assert_eq!((next, driver.in_flight()), (1_000_000, 0));
        assert_eq!((answered.count_total, answered.bytes_max), (0, 0));
    }
}
