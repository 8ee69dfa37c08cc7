//! A load that is mostly never issued, counted out in blocks.

use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::driver::{Driver, WorkerShare};
use truetail_model::record::{Metric, Recorder, RecorderOptions, RequestRecord, SamplesOptions, Snapshot};
use truetail_model::time::{NANOS_PER_SECOND, Nanos, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};

/// Counts out what was not issued by `ended`, if the first second is warm-up and the worker begins at `begins`.
fn counted_out(
    schedule: &Schedule,
    begins: Timestamp,
    ended: Timestamp,
    per_second: bool,
    in_blocks: bool,
) -> Snapshot {
    let workload = Workload {
        model: LoadModel::Open(schedule.clone()),
        limits: Limits::default(),
        warmup: Nanos(NANOS_PER_SECOND),
    };
    let mut driver = Driver::new(&workload, WorkerShare { index: 1, workers: 2, ..WorkerShare::WHOLE });
    driver.begin_at(begins);
    let measure_from = Timestamp(NANOS_PER_SECOND);
    let options = RecorderOptions { measure_from, per_second, expected_seconds: 4, samples: SamplesOptions::default() };
    let mut recorder = Recorder::new(options);
    let mut blocks = 0;
    while let Some(arrival) = driver.pop_unissued() {
        recorder.plan(arrival.intended_start);
        recorder.record(&RequestRecord::never_issued(arrival, ended));
        while in_blocks && let Some(block) = driver.pop_unissued_block(ended, measure_from) {
            recorder.record_block_never_issued(&block, ended);
            blocks += 1;
        }
    }
    assert_eq!(blocks > 0, in_blocks);
    assert!(blocks < 20_000, "{blocks} blocks");
    recorder.finish(driver.schedule_hash())
}

#[test]
fn blocks_have_the_books_of_the_arrivals_in_them() {
    for (profile, spacing) in [("1400000", Spacing::Even), ("ramp:200000..2000000/3s", Spacing::Poisson)] {
        let profile: Profile = profile.parse().expect("a profile");
        let horizon = Horizon { duration: Some(Nanos::from_millis(2_500)), requests: None };
        let schedule = Schedule { profile, spacing, seed: 9, horizon };
        for (begins, per_second) in [(0, true), (1_200, false)] {
            let begins = Timestamp::ZERO + Nanos::from_millis(begins);
            let ended = Timestamp::ZERO + Nanos::from_millis(3_100);
            let [walked, counted] =
                [false, true].map(|in_blocks| counted_out(&schedule, begins, ended, per_second, in_blocks));
            assert_eq!((counted.tally, counted.warmup), (walked.tally, walked.warmup));
            assert_eq!(counted.seconds, walked.seconds);
            assert_eq!(counted.samples.offered(), walked.samples.offered());
            assert_eq!(counted.last_end, walked.last_end);
            let tallies = |snapshot: &Snapshot| -> Vec<_> {
                snapshot.books.rows().iter().map(|books| (books.tally, books.last_end)).collect()
            };
            assert_eq!(tallies(&counted), tallies(&walked));
            let [of_blocks, of_arrivals] = [&counted, &walked].map(|snapshot| snapshot.metric(Metric::Censored));
            assert_eq!(of_blocks.count(), of_arrivals.count());
            for percent in 1..=100 {
                let [a, b] =
                    [of_blocks, of_arrivals].map(|h| h.quantile(f64::from(percent) / 100.0).expect("a value").0);
                // Half of 0.1 % by the block, and a bucket on each side.
                assert!(a.abs_diff(b) as f64 <= 0.003 * b as f64, "p{percent}: {a} for {b}");
            }
        }
    }
}

/// At 100 million a second over an hour, a walk would take an hour.
#[test]
fn a_giant_schedule_is_counted_out_in_few_steps() {
    let horizon = Horizon { duration: Some(Nanos::from_secs(3_600)), requests: None };
    let profile: Profile = "100000000".parse().expect("a profile");
    for spacing in [Spacing::Even, Spacing::Poisson] {
        let schedule = Schedule { profile: profile.clone(), spacing, seed: 1, horizon };
        let ended = Timestamp(3_601 * NANOS_PER_SECOND);
        let snapshot = counted_out(&schedule, Timestamp::ZERO, ended, true, true);
        let planned = snapshot.tally.planned + snapshot.warmup.planned;
        let whole = schedule.count().expect("it ends");
        assert_eq!((planned, snapshot.tally.never_issued), (whole / 2, snapshot.tally.planned));
        assert_eq!(snapshot.seconds.len(), 3_602);
    }
}
