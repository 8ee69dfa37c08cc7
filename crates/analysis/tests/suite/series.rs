//! The data of a run's pictures: sums over columns equal the run's, and quantiles equal its table's.

use proptest::prelude::*;
use truetail_analysis::series::{CurveKind, LoadSeries, RunSeries, TimeAxis, series};
use truetail_analysis::{findings, quantile};
use truetail_model::arrival::{Arrival, Horizon, Profile, Schedule, ScheduleHash};
use truetail_model::record::{
    ByInterval, Cause, Metric, Outcome, Recorder, RecorderOptions, RequestRecord, SamplesOptions, Snapshot,
};
use truetail_model::scenario::{Scenario, builtin};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::LoadModel;
use truetail_run::{Run, merge};
use truetail_sim::{SimOptions, simulate};

use crate::support::{changed, queue, recorded, scenario, simulated, without_samples};

const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

fn series_of(run: &Run) -> RunSeries {
    series(run, &findings(run))
}

fn total(time: &TimeAxis, rates: &[f64]) -> f64 {
    rates.iter().enumerate().map(|(i, rate)| rate * time.length_s(i)).sum()
}

fn assert_near(got: f64, expected: u64, what: &str) {
    let expected = expected as f64;
    assert!((got - expected).abs() <= 1e-4 * expected.max(1.0), "{what}: {got}, not {expected}");
}

fn assert_sound(run: &Run, series: &RunSeries) {
    let time = &series.time;
    let tally = &run.snapshot.tally;
    assert!(time.columns <= TimeAxis::MAX_COLUMNS);
    let lists = [series.heat_map.cells.len(), series.heat_map.unanswered.len()];
    let lists = lists.into_iter().chain([series.load.planned_per_s.len(), series.load.backlog.len()]);
    let lists = lists.chain(series.response_time.iter().chain(&series.generator_lag).map(|one| one.values_ns.len()));
    let lists = lists.chain([series.start_delay.generator_lag_ns.len(), series.start_delay.connect_ns.len()]);
    lists.for_each(|length| assert!(length == 0 || length == time.columns, "{length} of {}", time.columns));
    let text = serde_json::to_value(series).unwrap();
    assert_finite(&text);
    for cells in &series.heat_map.cells {
        assert!(cells.iter().is_sorted_by(|a, b| a.0 < b.0));
        assert!(cells.iter().all(|(row, count)| usize::from(*row) < series.heat_map.rows && *count > 0));
    }
    for curve in &series.curves {
        assert!(curve.points.is_sorted_by(|a, b| a.q < b.q && a.value_ns <= b.value_ns), "{:?}", curve.kind);
        assert!(curve.points.iter().all(|point| point.low_ns.is_none_or(|low| low <= point.value_ns)));
        assert!(curve.points.iter().all(|point| point.high_ns.is_none_or(|high| high >= point.value_ns)));
        let last = curve.points.last().map_or(0.0, |point| point.q);
        assert!(last <= 1.0 - curve.unanswered_share + 1e-9, "{last} with {} unanswered", curve.unanswered_share);
    }
    assert!(series.pauses.iter().all(|pause| pause.from_s <= pause.to_s && pause.from_s >= time.measured_from_s));
    if time.columns > 0 && !series.heat_map.cells.is_empty() {
        let answered: u64 = series.heat_map.cells.iter().flatten().map(|(_, count)| count).sum();
        assert_eq!(answered, tally.responses, "answers in the heat map");
        assert_eq!(series.heat_map.unanswered.iter().sum::<u64>(), tally.unanswered());
    }
    if series.load != LoadSeries::default() {
        assert_near(total(time, &series.load.planned_per_s), tally.planned, "planned");
        assert_near(total(time, &series.load.sent_per_s), tally.issued, "sent");
        assert_near(total(time, &series.load.completed_per_s), tally.responses, "completed");
        assert_near(total(time, &series.load.failed_per_s), tally.failed() + tally.timed_out, "failed");
        assert_eq!(series.load.backlog.last(), Some(&tally.never_issued));
        assert_eq!(series.load.in_flight.last(), Some(&tally.in_flight_at_end));
    }
}

/// JSON cannot represent NaN or infinity, which would become null in place of a number.
fn assert_finite(value: &serde_json::Value) {
    let times = ["planned_per_s", "sent_per_s", "completed_per_s", "failed_per_s", "planned", "sent"];
    match value {
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                let is_list = value.is_array() && times.contains(&name.as_str());
                assert!(!is_list || value.as_array().unwrap().iter().all(serde_json::Value::is_number), "{name}");
                let numbers = ["from_s", "to_s", "column_s", "measured_from_s", "lowest_ns", "row_factor", "q"];
                assert!(!numbers.contains(&name.as_str()) || value.is_number(), "{name}: {value}");
                assert_finite(value);
            }
        }
        serde_json::Value::Array(values) => values.iter().for_each(assert_finite),
        _ => {}
    }
}

#[test]
fn the_series_of_each_scenario_add_up() {
    for scenario in builtin::all() {
        for run in [simulated(&scenario), without_samples(&scenario)] {
            let found = findings(&run);
            let series = series(&run, &found);
            assert_sound(&run, &series);
            assert!(series.time.columns > 10, "{}: {:?}", scenario.name, series.time);
            let table = &found.response_time.quantiles;
            let curve = &series.curves[0];
            assert_eq!(curve.kind, CurveKind::ResponseTime);
            for known in table.iter().filter(|known| known.q < 1.0) {
                let point = curve.points.iter().find(|point| point.q == known.q);
                let is_number = known.supported && !known.at_least;
                assert_eq!(point.map(|point| point.value_ns), known.value_ns.filter(|_| is_number), "p{}", known.q);
                assert!(point.is_none_or(|point| (point.low_ns, point.high_ns) == (known.low_ns, known.high_ns)));
            }
        }
    }
}

/// The service stalls for a second of the minute: all of the stall is in the columns of that second.
#[test]
fn the_columns_show_when_it_happened() {
    let run = simulated(&scenario("02"));
    let series = series_of(&run);
    let worst = &series.response_time.last().unwrap().values_ns;
    let slow: Vec<f64> = (0..series.time.columns)
        .filter(|i| worst[*i].is_some_and(|worst| worst > 100 * MS))
        .map(|i| series.time.begin_s(i))
        .collect();
    assert!(!slow.is_empty() && slow.iter().all(|at| (29.5..31.0).contains(at)), "{slow:?}");
    assert_eq!(series.pauses.len(), 1, "{:?}", series.pauses);
}

#[test]
fn points_of_the_curve_are_quantiles_of_the_run() {
    for run in [simulated(&queue(0.7, 5)), without_samples(&queue(0.7, 5))] {
        let series = series_of(&run);
        let curve = &series.curves[0];
        let with_interval = curve.points.iter().filter(|point| point.high_ns.is_some());
        for point in with_interval.step_by(7) {
            let known = quantile(&run, Metric::ResponseTime, point.q);
            assert_eq!(Some(point.value_ns), known.value_ns);
            assert_eq!((point.low_ns, point.high_ns), (known.low_ns, known.high_ns), "{}", point.q);
            assert_eq!(point.without_generator_ns, known.without_generator_ns);
        }
        let between = |low: f64, high: f64| curve.points.iter().filter(move |point| point.q > low && point.q <= high);
        assert_eq!(between(0.9, 0.99).count(), 41, "40, and p95");
    }
}

#[test]
fn the_closed_loop_shadow_is_that_of_the_table() {
    let run = simulated(&scenario("02"));
    let found = findings(&run);
    let series = series(&run, &found);
    let curve = series.curves.iter().find(|curve| curve.kind == CurveKind::ClosedLoopShadow).unwrap();
    let shadow = found.closed_loop_shadow.unwrap();
    for known in shadow.quantiles.iter().filter(|known| known.q < 1.0) {
        let point = curve.points.iter().find(|point| point.q == known.q);
        assert_eq!(point.map(|point| point.value_ns), known.value_ns);
    }
    assert_eq!(curve.count, shadow.requests - shadow.unanswered);
}

fn of_records(base: &Run, records: &[RequestRecord]) -> Run {
    recorded(base, records)
}

fn answered(index: u64, at: u64, takes: u64) -> RequestRecord {
    let intended_start = Timestamp(at);
    let arrival = Arrival { index, intended_start };
    RequestRecord::new(arrival, intended_start, Timestamp(at + takes), Outcome::response(200))
}

#[test]
fn few_arrivals_say_little() {
    let base = simulated(&scenario("01"));
    let none = series_of(&of_records(&base, &[]));
    assert_eq!(none, RunSeries::default());

    let mut one = of_records(&base, &[answered(0, 0, 10 * MS)]);
    one.facts.offered.duration_ns = None;
    one.facts.offered.requests = Some(1);
    let one_series = series_of(&one);
    assert_sound(&one, &one_series);
    assert_eq!(one_series.load, LoadSeries::default(), "one arrival has no rate");
    assert_eq!(one_series.response_time[0].values_ns, [None]);
    assert_eq!(one_series.response_time[4].values_ns, [Some(10 * MS)]);
    assert!(one_series.curves.is_empty() && one_series.gaps.is_none() && one_series.by_rate.is_empty());
}

/// Their times are in the distribution, whether or not every request was kept, and delayed no arrival.
#[test]
fn channels_opened_before_the_load_delayed_no_arrival() {
    const OPENING: Nanos = Nanos::from_millis(200);
    let mut opened = Recorder::new(RecorderOptions::default());
    (0..20).for_each(|_| opened.record_opening(OPENING, None));
    let opened = opened.finish(ScheduleHash::default());
    for mut run in [simulated(&scenario("01")), without_samples(&scenario("01"))] {
        let before = series_of(&run);
        run.snapshot.merge(&opened);
        assert_eq!(quantile(&run, Metric::ConnectTime, 1.0).value_ns, Some(OPENING.0));
        let series = series_of(&run);
        assert_sound(&run, &series);
        assert_eq!(series.start_delay.connect_ns, before.start_delay.connect_ns);
        assert_eq!(series.load, before.load);
    }
}

#[test]
fn runs_without_an_answer_have_no_times() {
    let base = simulated(&scenario("01"));
    for outcome in
        [Outcome::TimedOut, Outcome::ConnectFailed(Cause::Refused), Outcome::InFlightAtEnd, Outcome::NeverIssued]
    {
        let run = changed(&base, |record| record.outcome = outcome);
        let series = series_of(&run);
        assert_sound(&run, &series);
        assert!(series.curves.is_empty(), "{outcome:?}: {:?}", series.curves);
        assert!(series.response_time.iter().flat_map(|one| &one.values_ns).all(Option::is_none));
        assert_eq!((series.heat_map.rows, series.heat_map.largest), (0, 0));
        assert!(series.pauses.is_empty(), "nothing is usual where nothing was answered");
    }
}

#[test]
fn errors_are_answers() {
    let run = changed(&simulated(&scenario("01")), |record| record.outcome = Outcome::response(500));
    let series = series_of(&run);
    assert_sound(&run, &series);
    assert_eq!(series.curves[0].unanswered_share, 0.0);
}

#[test]
fn a_curve_ends_where_the_unanswered_begin() {
    let run = changed(&simulated(&scenario("01")), |record| {
        if record.index % 50 == 0 {
            record.outcome = Outcome::TimedOut;
            record.end = record.intended_start + Nanos::from_secs(5);
        }
    });
    let series = series_of(&run);
    assert_sound(&run, &series);
    let last = series.curves[0].points.last().unwrap().q;
    assert!(last > 0.97 && last <= 0.98, "{last}");
    assert!((series.curves[0].unanswered_share - 0.02).abs() < 1e-9);
}

/// The warm-up is left out, also in the middle of an interval and in the rates.
#[test]
fn warm_up_is_left_out() {
    let mut warm = scenario("01");
    warm.workload.warmup = Nanos::from_millis(2_500);
    for run in [simulated(&warm), without_samples(&warm)] {
        let series = series_of(&run);
        assert_sound(&run, &series);
        assert_eq!(series.time.measured_from_s, 2.5);
        assert!(series.load.planned_per_s[0] > 990.0 && series.load.planned_per_s[0] < 1010.0);
    }
}

/// A run without any record by time still has the figures of the whole.
#[test]
fn a_run_without_seconds_has_its_curves() {
    let mut run = without_samples(&scenario("02"));
    run.snapshot.intervals = ByInterval::default();
    let series = series_of(&run);
    assert_sound(&run, &series);
    assert!(series.time.columns > 0 && series.load.planned_per_s.len() == series.time.columns);
    assert!(series.heat_map.cells.is_empty() && series.response_time.is_empty());
    run.snapshot.seconds.clear();
    let series = series_of(&run);
    assert_eq!(series.time, TimeAxis::default());
    assert!(series.curves[0].points.len() > 100);
}

fn stripes(scenario: &Scenario) -> Vec<Run> {
    let LoadModel::Open(schedule) = &scenario.workload.model else { unreachable!("an open scenario") };
    let of = |seed: u64| {
        let mut part = scenario.clone();
        part.workload.model = LoadModel::Open(Schedule { seed, ..schedule.clone() });
        simulated(&part)
    };
    vec![of(1), of(2)]
}

#[test]
fn a_merged_run_has_the_sums_of_its_parts() {
    let parts = stripes(&queue(0.5, 3));
    let planned: Vec<f64> =
        parts.iter().map(|part| total(&series_of(part).time, &series_of(part).load.planned_per_s)).collect();
    let whole = merge(parts).unwrap();
    let series = series_of(&whole);
    assert_sound(&whole, &series);
    assert_near(total(&series.time, &series.load.planned_per_s), planned.iter().sum::<f64>() as u64, "planned");
}

/// Rates by step, and bands that distinguish the steps.
#[test]
fn response_times_are_told_by_rate() {
    let mut stepped = queue(0.5, 1);
    let LoadModel::Open(schedule) = &mut stepped.workload.model else { unreachable!("an open scenario") };
    schedule.profile = "steps:40/20s,80/20s,120/20s,160/20s".parse::<Profile>().unwrap();
    schedule.horizon = Horizon { duration: Some(Nanos::from_secs(80)), requests: None };
    for run in [simulated(&stepped), without_samples(&stepped)] {
        let series = series_of(&run);
        assert_sound(&run, &series);
        let rates: Vec<f64> = series.by_rate.iter().map(|band| band.planned_per_s).collect();
        assert_eq!(rates.len(), 4, "{rates:?}");
        rates
            .iter()
            .zip([40.0, 80.0, 120.0, 160.0])
            .for_each(|(got, planned)| assert!((got / planned - 1.0).abs() < 0.1));
        let p90 = |band: usize| series.by_rate[band].quantiles.iter().find(|(q, _)| *q == 0.9).unwrap().1;
        assert!(p90(3) > 2 * p90(0), "a queue is slower at 80 % than at 20 %");
    }
    let steady = series_of(&simulated(&queue(0.5, 1)));
    assert!(steady.by_rate.is_empty());
}

/// However long a run was, its columns are few and its text is short.
#[test]
fn a_day_is_no_more_than_600_columns() {
    let mut day = queue(0.5, 1);
    let LoadModel::Open(schedule) = &mut day.workload.model else { unreachable!("an open scenario") };
    schedule.profile = Profile::constant("10".parse().unwrap());
    schedule.horizon = Horizon { duration: Some(Nanos::from_secs(86_400)), requests: None };
    let run = simulate(&day, SimOptions { samples: SamplesOptions::NONE, ..SimOptions::default() }).unwrap();
    let series = series_of(&run);
    assert_sound(&run, &series);
    assert!(series.time.columns > 200, "{:?}", series.time);
    let bytes = serde_json::to_string(&series).unwrap().len();
    assert!(bytes < 500_000, "{bytes} bytes");
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        6 => Just(Outcome::response(200)),
        1 => Just(Outcome::response(503)),
        1 => Just(Outcome::TimedOut),
        1 => Just(Outcome::Reset(Cause::ResetByPeer)),
        1 => Just(Outcome::InFlightAtEnd),
        1 => Just(Outcome::NeverIssued),
    ]
}

/// Records of any times, in sensible and in absurd order.
fn any_records() -> impl Strategy<Value = Vec<RequestRecord>> {
    let time = |most: u64| prop_oneof![8 => 0..most, 1 => Just(0), 1 => any::<u64>().prop_map(|bits| bits >> 20)];
    let record = (time(20 * S), time(S), time(3 * S), any_outcome()).prop_map(|(at, late, takes, outcome)| {
        let arrival = Arrival { index: 0, intended_start: Timestamp(at) };
        match outcome {
            Outcome::NeverIssued => RequestRecord::never_issued(arrival, Timestamp(at + takes)),
            outcome => RequestRecord::new(arrival, Timestamp(at + late), Timestamp(at + late + takes), outcome),
        }
    });
    proptest::collection::vec(record, 0..300).prop_map(|mut records| {
        (0..).zip(&mut records).for_each(|(index, record)| record.index = index);
        records
    })
}

fn snapshot(records: &[RequestRecord], measure_from: u64, samples: SamplesOptions) -> Snapshot {
    let options = RecorderOptions { measure_from: Timestamp(measure_from), samples, ..RecorderOptions::default() };
    let mut recorder = Recorder::new(options);
    records.iter().for_each(|record| recorder.plan(record.intended_start));
    records.iter().for_each(|record| recorder.record(record));
    recorder.finish(ScheduleHash::default())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_records_have_finite_series(
        records in any_records(), measure_from in 0u64..5 * S, each in any::<bool>(), duration in proptest::option::of(any::<u64>()),
    ) {
        // A later instant would need a row for each second before it, up to twelve days.
        let within = |record: &&RequestRecord| record.end < Timestamp(100_000 * S);
        let records: Vec<RequestRecord> = if each { records } else { records.iter().filter(within).copied().collect() };
        let samples = if each { SamplesOptions { capacity: 1_000, slowest: 10 } } else { SamplesOptions::NONE };
        let mut facts = simulated_facts();
        facts.offered.duration_ns = duration;
        let run = Run { facts, snapshot: snapshot(&records, measure_from, samples) };
        assert_sound(&run, &series_of(&run));
    }

    /// A damaged folder may contain parts that do not fit each other.
    #[test]
    fn parts_that_do_not_fit_make_no_panic(
        a in any_records(), b in any_records(), swap in 0u8..6, measure_from in any::<u64>(),
    ) {
        let within = |records: Vec<RequestRecord>| {
            records.into_iter().filter(|record| record.end < Timestamp(100_000 * S)).collect::<Vec<_>>()
        };
        let kept = SamplesOptions { capacity: 1_000, slowest: 10 };
        let mut one = snapshot(&within(a), 0, kept);
        let other = snapshot(&within(b), 0, kept);
        match swap {
            0 => one.seconds = other.seconds,
            1 => one.intervals = other.intervals,
            2 => one.tally = other.tally,
            3 => one.samples = other.samples,
            4 => one.last_end = Timestamp(measure_from),
            _ => one.measure_from = Timestamp(measure_from),
        }
        let run = Run { facts: simulated_facts(), snapshot: one };
        let empty = Run { facts: simulated_facts(), snapshot: Snapshot::default() };
        let series = series(&run, &findings(&empty));
        assert_finite(&serde_json::to_value(&series).unwrap());
    }
}

fn simulated_facts() -> truetail_run::Facts {
    static FACTS: std::sync::OnceLock<truetail_run::Facts> = std::sync::OnceLock::new();
    FACTS.get_or_init(|| simulated(&scenario("01")).facts).clone()
}
