//! Tests that pictures of runs are well-formed and of bounded size, and that a picture without data is a sentence.

use truetail_analysis::findings;
use truetail_analysis::series::{ObjectiveBooks, RunSeries, SampleReason, ShownStream, StreamSeries, series};
use truetail_model::arrival::ScheduleHash;
use truetail_model::record::{Cause, Outcome, Recorder, RecorderOptions, RequestRecord, SamplesOptions, Tally};
use truetail_model::scenario::builtin;
use truetail_report::plot::{
    answers, books, by_rate, event_gaps, gaps, goodput, heat_map, lanes, percentiles, pictures_of_run, start_delay,
    targets, waterfall,
};
use truetail_report::words;
use truetail_run::{EventMark, Run, RunSource, SampledStream, StreamEnding};
use truetail_sim::{SimOptions, simulate};

fn scenario(name: &str) -> Run {
    simulate(&builtin::find(name).unwrap(), SimOptions::default()).unwrap()
}

fn changed(run: &Run, keep: usize, change: impl Fn(&mut RequestRecord)) -> Run {
    let mut records = run.snapshot.samples.even().to_vec();
    records.truncate(keep);
    records.iter_mut().for_each(change);
    let mut recorder = Recorder::new(RecorderOptions::default());
    records.iter().for_each(|record| recorder.plan(record.intended_start));
    records.iter().for_each(|record| recorder.record(record));
    Run { facts: run.facts.clone(), snapshot: recorder.finish(ScheduleHash::default()) }
}

/// Asserts that a browser can draw the picture: every element is closed, and no number is missing.
pub fn assert_well_formed(name: &str, svg: &str) {
    resvg::usvg::Tree::from_str(svg, &resvg::usvg::Options::default())
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    for wrong in ["NaN", "inf", "\"-\"", "None"] {
        assert!(!svg.contains(wrong), "{name} has {wrong}");
    }
}

#[test]
fn every_scenario_is_drawn() {
    for scenario in builtin::all() {
        let run = simulate(&scenario, SimOptions::default()).unwrap();
        let found = findings(&run);
        let pictures = pictures_of_run(&run, &found, &series(&run, &found));
        let bytes: usize = pictures.iter().map(|(_, picture)| picture.svg().len()).sum();
        assert!(bytes < 150_000, "{}: {bytes} bytes", scenario.name);
        for (name, picture) in &pictures {
            assert_well_formed(name, picture.svg());
            assert!(picture.svg().len() < 60_000, "{} {name}: {} bytes", scenario.name, picture.svg().len());
            assert!(picture.svg().contains("class=\"paper\"") && picture.svg().contains("class=\"ink\""));
        }
        assert_eq!(pictures.len(), if run.facts.stream.is_some() { 9 } else { 7 }, "{}", scenario.name);
    }
}

#[test]
fn streams_of_any_length_are_drawn() {
    let mark = |from_ns, to_ns| EventMark { from_ns, to_ns, events: u64::MAX, coalesced: 1 };
    for (end_ns, marks) in
        [(7, vec![]), (7, vec![mark(7, 7)]), (u64::MAX, vec![mark(8, 1 << 60), mark(u64::MAX, u64::MAX)])]
    {
        let stream = SampledStream {
            intended_start_ns: 7,
            actual_start_ns: u64::MAX,
            end_ns,
            ending: StreamEnding::InFlightAtEnd,
            first_content_ns: None,
            marks,
        };
        let shown = ShownStream { because: SampleReason::Slowest, stream };
        let most = ObjectiveBooks { objective: None, met: 1 << 50, missed: 1, cannot_tell: 0, incomplete: 1 };
        let series =
            StreamSeries { stall_ns: Some(1), sampled: vec![shown], objectives: vec![most], ..StreamSeries::default() };
        assert_well_formed("waterfall", waterfall(&series).svg());
        assert_well_formed("goodput", goodput(&series).svg());
        assert!(event_gaps(&series, &[]).svg().contains("were not recorded"));
    }
}

#[test]
fn odd_runs_are_drawn_or_said_to_be_empty() {
    let healthy = scenario("01");
    let outcomes = [
        Outcome::response(503),
        Outcome::TimedOut,
        Outcome::ConnectFailed(Cause::Refused),
        Outcome::InFlightAtEnd,
        Outcome::NeverIssued,
    ];
    for keep in [0, 1, 2, 7, 5_000] {
        for outcome in outcomes {
            let run = changed(&healthy, keep, |record| record.outcome = outcome);
            let found = findings(&run);
            for (name, picture) in pictures_of_run(&run, &found, &series(&run, &found)) {
                assert_well_formed(name, picture.svg());
            }
        }
    }
    let nothing = RunSeries::default();
    for (picture, why) in [
        (heat_map(&nothing), "were not recorded"),
        (lanes(&nothing), "Nothing was recorded by time"),
        (percentiles(&[("a", &nothing), ("b", &nothing)]), "Too few answers"),
        (percentiles(&[]), "Too few answers"),
        (start_delay(&nothing), "No request was sent"),
        (gaps(&nothing), "at least 100"),
        (by_rate(&nothing), "did not move"),
        (books(&Tally::default(), &RunSource::Sockets), "No arrival was planned"),
        (answers(&changed(&healthy, 0, |_| ())), "No arrival was planned"),
        (targets(&findings(&healthy)), "one target"),
    ] {
        assert!(picture.svg().contains(why), "{why}: {}", picture.svg());
        assert_well_formed(why, picture.svg());
    }
}

#[test]
fn answers_without_a_status_are_answers() {
    let run = changed(&scenario("01"), 400, |record| record.outcome = Outcome::ANSWERED);
    let found = findings(&run);
    let shares = words::answer_shares(&run, &found);
    assert!(shares.starts_with("100% answered: 400 answers to 400 requests"), "{shares}");
    assert!(words::answer_details(&run, &found).iter().all(|(label, _)| *label != "Statuses"));
    let picture = answers(&run);
    assert!(picture.svg().contains(">answered<") && !picture.svg().contains("status"), "{}", picture.svg());
}

/// Untrusted names are escaped, and other runs are drawn over the first.
#[test]
fn other_runs_are_laid_over() {
    let one = scenario("02");
    let other = scenario("04");
    let [one, other] = [&one, &other].map(|run| series(run, &findings(run)));
    let picture = percentiles(&[("<script>alert(1)</script>", &one), ("b & c", &other)]);
    assert_well_formed("percentiles", picture.svg());
    assert!(picture.svg().contains("&lt;script&gt;") && picture.svg().contains("b &amp; c"));
    assert!(!picture.svg().contains("<script"));
    assert!(picture.svg().contains("class=\"s-other-0\"") && picture.svg().contains("class=\"s-shadow\""));
}

/// Pictures are small even for a long run.
#[test]
fn a_long_run_has_small_pictures() {
    let mut scenario = builtin::find("04").unwrap();
    let truetail_model::workload::LoadModel::Open(schedule) = &mut scenario.workload.model else { unreachable!() };
    schedule.profile = truetail_model::arrival::Profile::constant("100".parse().unwrap());
    schedule.horizon.duration = Some(truetail_model::time::Nanos::from_secs(500));
    let run = simulate(&scenario, SimOptions { samples: SamplesOptions::NONE, ..SimOptions::default() }).unwrap();
    let found = findings(&run);
    let drawn = series(&run, &found);
    assert!(drawn.time.columns >= 500, "{:?}", drawn.time);
    let bytes: usize = pictures_of_run(&run, &found, &drawn).iter().map(|(_, picture)| picture.svg().len()).sum();
    assert!(bytes < 300_000, "{bytes} bytes");
}
