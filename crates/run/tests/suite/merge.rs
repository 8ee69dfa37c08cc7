//! Tests that parts of a run, recorded separately, merge into what one recorder would have recorded.

use std::collections::BTreeMap;

use crate::support::{
    assert_same_counts, assert_same_snapshot, facts, failed_answer, options, run, schedules, slow, steady,
    through_a_folder,
};
use proptest::prelude::*;
use truetail_model::record::{Ordinal, RecorderOptions, RequestRecord, SamplesOptions, Snapshot};
use truetail_run::{Facts, LONGEST_PAUSES, MergeError, Pause, Run, Ticks, Timing, merge};

/// Returns the records of worker `i` of `n`.
fn stripe(records: &[RequestRecord], i: usize, n: usize) -> Vec<RequestRecord> {
    records.iter().skip(i).step_by(n).copied().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn merging_is_recording_all(options in options(), records in schedules(300), n in 1usize..4) {
        let parts: Vec<Run> =
            (0..n).map(|i| through_a_folder(&run(options, &stripe(&records, i, n)))).collect();
        let merged = merge(parts).unwrap().snapshot;
        let mut whole = run(options, &records).snapshot;
        let has_values = whole.metrics.iter().any(|metric| !metric.is_empty());
        if !options.per_second && has_values {
            whole.seconds.clear();
            whole.intervals = Default::default();
        }
        if options.samples == SamplesOptions::NONE {
            assert_same_counts(&merged, &whole);
            prop_assert!(merged.samples.even().is_empty() && merged.samples.offered() == whole.samples.offered());
        } else {
            assert_same_snapshot(&merged, &whole);
        }
    }
}

/// Parts of different length have intervals of different length; the whole has the longest.
#[test]
fn merged_parts_share_the_longest_intervals() {
    let records = slow(1_100);
    let (begin, rest) = records.split_at(400);
    let short = run(RecorderOptions::default(), begin);
    let long = run(RecorderOptions::default(), rest);
    assert_eq!((short.snapshot.intervals.width_s(), long.snapshot.intervals.width_s()), (1, 4));
    let whole = run(RecorderOptions::default(), &records).snapshot;
    for parts in [[&short, &long], [&long, &short]] {
        let merged = merge(parts.map(through_a_folder).into()).unwrap().snapshot;
        assert_same_snapshot(&merged, &whole);
    }
}

#[test]
fn hands_that_had_nothing_to_do_are_not_one_given_twice() {
    let idle = run(RecorderOptions::default(), &[]);
    assert_eq!(merge(vec![idle.clone(), idle]).unwrap().snapshot.tally.planned, 0);
}

fn stripes_of_steady() -> (Run, Run) {
    let records = steady(2);
    (run(RecorderOptions::default(), &stripe(&records, 0, 2)), run(RecorderOptions::default(), &stripe(&records, 1, 2)))
}

#[test]
fn facts_of_two_machines_add_up() {
    let (a, mut b) = stripes_of_steady();
    b.facts.started_at_unix_ns = b.facts.started_at_unix_ns.map(|ns| ns - 5);
    b.facts.interrupted = true;
    b.facts.cut_short = Some(true);
    b.facts.host.as_mut().unwrap().cpus = 64;
    let bytes_in = a.facts.bytes_in + b.facts.bytes_in;
    let elapsed_ns = a.facts.elapsed_ns.max(b.facts.elapsed_ns);
    let generator = b.facts.generator.as_mut().unwrap();
    generator.pauses = (1..=100).map(|n| Pause { worker: 0, at_ns: n, length_ns: n * 1_000_000 }).collect();
    (generator.pause_count, generator.peak_memory_bytes) = (100, None);
    (generator.timing, generator.realtime, generator.connections_available) = (Timing::Balanced, false, Some(7));
    generator.ticks = Some(Ticks { longest_ns: 3, requests: 5 });

    let merged = merge(vec![a.clone(), b]).unwrap().facts;
    assert_eq!((merged.bytes_in, merged.elapsed_ns, merged.interrupted), (bytes_in, elapsed_ns, true));
    assert_eq!(merged.cut_short, Some(true), "one of them was");
    assert_eq!(merged.started_at_unix_ns, a.facts.started_at_unix_ns.map(|ns| ns - 5));
    assert_eq!(merged.offered, a.facts.offered);
    let generator = merged.generator.unwrap();
    assert_eq!((generator.threads, generator.pause_count, generator.paused_ns), (4, 101, 14_000_000));
    assert_eq!((generator.pauses.len(), generator.peak_memory_bytes), (LONGEST_PAUSES, None));
    assert_eq!(generator.pauses[0], Pause { worker: 2, at_ns: 100, length_ns: 100_000_000 });
    // The timing of `support::generator` is less precise, so the whole has it.
    assert_eq!(
        (generator.timing, generator.realtime, generator.connections_available),
        (Timing::Auto, false, Some(1010))
    );
    assert_eq!(generator.ticks, Some(Ticks { longest_ns: 180_000, requests: 905 }));
    assert_eq!(
        merged.notes,
        [
            "the preflight met status 404",
            "the numbers that services published are known by run only: the whole has none",
            "merged from 2 runs",
            "the runs were made on different machines: linux x86_64 with 2 CPUs, linux x86_64 with 64 CPUs; host describes the first",
        ]
    );
}

#[test]
fn connections_of_two_machines_have_different_numbers() {
    let on = |numbers: [u64; 4]| {
        let (mut run, _) = stripes_of_steady();
        run.snapshot.samples.change_each(|record| record.connection = Ordinal::new(numbers[record.index as usize % 4]));
        run.facts.started_at_unix_ns = run.facts.started_at_unix_ns.map(|at| at + numbers[0]);
        run
    };
    const NONE: u64 = u32::MAX as u64;
    let merged = merge(vec![on([0, 0, 3, 3]), on([7, 7, NONE, NONE])]).unwrap();
    let mut counts = BTreeMap::new();
    merged.snapshot.samples.even().iter().for_each(|record| *counts.entry(record.connection.get()).or_insert(0) += 1);
    let half = merged.snapshot.samples.even().len() / 4;
    assert_eq!(counts, BTreeMap::from([(None, half), (Some(0), half), (Some(3), half), (Some(11), half)]));
}

#[test]
fn repetitions_are_said_to_be_repetitions() {
    let a = run(RecorderOptions::default(), &steady(1));
    let mut b = a.clone();
    b.facts.started_at_unix_ns = b.facts.started_at_unix_ns.map(|ns| ns + 60_000_000_000);
    let merged = merge(vec![a, b]).unwrap();
    assert_eq!(merged.snapshot.tally.planned, 2000);
    assert!(merged.facts.notes.iter().any(|note| note.contains("repetitions")), "{:?}", merged.facts.notes);

    let (a, b) = stripes_of_steady();
    let merged = merge(vec![a, b]).unwrap();
    assert!(!merged.facts.notes.iter().any(|note| note.contains("repetitions")), "{:?}", merged.facts.notes);
}

#[test]
fn different_seeds_leave_no_seed() {
    let (a, mut b) = stripes_of_steady();
    b.facts.offered.seed = Some(2);
    let merged = merge(vec![a, b]).unwrap().facts;
    assert_eq!(merged.offered.seed, None);
    assert!(merged.notes.contains(&"the runs had different seeds".to_owned()));

    let (a, mut b) = stripes_of_steady();
    let mix = b.facts.offered.mix.as_mut().unwrap();
    mix.seed = Some(2);
    let merged = merge(vec![a, b]).unwrap().facts;
    assert_eq!((merged.offered.seed, merged.offered.mix.unwrap().seed), (Some(1), None));
    assert!(merged.notes.contains(&"the runs had different seeds".to_owned()));

    let (mut a, mut b) = stripes_of_steady();
    (a.facts.offered.values_seed, b.facts.offered.values_seed) = (Some(1), Some(1));
    assert_eq!(merge(vec![a.clone(), b.clone()]).unwrap().facts.offered.values_seed, Some(1));
    b.facts.offered.values_seed = Some(2);
    let merged = merge(vec![a, b]).unwrap().facts;
    assert_eq!(merged.offered.values_seed, None);
    assert!(merged.notes.contains(&"the runs had different seeds".to_owned()));
}

#[test]
fn books_by_target_add_up_or_are_left_out() {
    let (a, b) = stripes_of_steady();
    let merged = merge(vec![a.clone(), b.clone()]).unwrap();
    assert_eq!(merged.facts.by_target[0].tally, merged.snapshot.tally);
    assert_eq!(merged.facts.by_target[0].statuses, merged.snapshot.statuses);
    let lacking = Run { facts: Facts { by_target: Vec::new(), ..b.facts }, ..b };
    for parts in [vec![a.clone(), lacking.clone()], vec![lacking, a]] {
        assert!(merge(parts).unwrap().facts.by_target.is_empty());
    }
}

#[test]
fn the_first_few_failed_answers_are_kept() {
    let (mut a, mut b) = stripes_of_steady();
    a.facts.failed_answers = [0, 4, 8, 12].map(failed_answer).into();
    b.facts.failed_answers = [2, 6, 10].map(failed_answer).into();
    let merged = merge(vec![a.clone(), b.clone()]).unwrap().facts;
    assert_eq!(merged.failed_answers, [0, 2, 4, 6, 8].map(failed_answer));
    assert_eq!((merged.checks[0].passed, merged.checks[0].failed), (1980, 6));
    b.facts.checks[0].text = "status == 201".to_owned();
    let merged = merge(vec![a, b]).unwrap().facts;
    assert!(merged.checks.is_empty() && merged.failed_answers.is_empty());
}

#[test]
fn a_part_without_seconds_or_samples_leaves_the_whole_without_them() {
    let (a, mut b) = stripes_of_steady();
    let options = RecorderOptions { per_second: false, samples: SamplesOptions::NONE, ..RecorderOptions::default() };
    b.snapshot = crate::support::snapshot(options, &stripe(&steady(2), 1, 2));
    let merged = merge(vec![a, b]).unwrap();
    let whole = crate::support::snapshot(RecorderOptions::default(), &steady(2));
    assert_same_counts(&merged.snapshot, &Snapshot { seconds: Vec::new(), intervals: Default::default(), ..whole });
    assert!(merged.snapshot.samples.even().is_empty() && merged.snapshot.samples.offered() == 2000);
    assert_eq!(merged.facts.notes.len(), facts(&merged.snapshot).notes.len() + 4, "{:?}", merged.facts.notes);
}

#[test]
fn what_does_not_belong_together_is_refused() {
    assert_eq!(merge(Vec::new()).unwrap_err(), MergeError::Nothing);

    let (a, mut b) = stripes_of_steady();
    b.facts.offered.profile = Some("2000/s".to_owned());
    let error = merge(vec![a.clone(), b]).unwrap_err();
    assert!(matches!(&error, MergeError::Different { run: 2, field: "scenario.profile", .. }), "{error}");
    assert!(error.to_string().contains("scenario.profile is \"1000/s\" in run 1 and \"2000/s\" in run 2"), "{error}");

    let (_, mut b) = stripes_of_steady();
    b.facts.offered.mix.as_mut().unwrap().hash = "another".to_owned();
    let error = merge(vec![a.clone(), b]).unwrap_err();
    assert!(matches!(error, MergeError::Different { field: "scenario.mix.hash", .. }), "{error}");

    let (_, mut b) = stripes_of_steady();
    b.facts.source = truetail_run::RunSource::Simulator;
    assert!(matches!(merge(vec![a.clone(), b]).unwrap_err(), MergeError::Different { field: "source", .. }));

    let (_, b) = stripes_of_steady();
    assert_eq!(merge(vec![a.clone(), b, a]).unwrap_err(), MergeError::Twice { first: 1, second: 3 });
}
