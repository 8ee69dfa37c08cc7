//! Runs to draw: simulated, with the small delays of a real generator from fixed seeds.

use truetail_analysis::findings;
use truetail_model::arrival::Horizon;
use truetail_model::random::Random;
use truetail_model::record::{Cause, Outcome, Recorder, RecorderOptions, RequestRecord};
use truetail_model::scenario::{Scenario, builtin};
use truetail_model::service::{Fault, Selector};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::LoadModel;
use truetail_run::{
    CheckCounts, Findings, GateFinding, GateState, GeneratorStats, Pause, Run, RunSource, TargetBooks, TargetFindings,
    Ticks, Timing,
};
use truetail_sim::{SimOptions, simulate};

/// A run with its findings, by name.
pub struct Fixture {
    pub name: &'static str,
    pub run: Run,
    pub findings: Findings,
}

/// Returns one run of each kind with a distinct appearance.
pub fn all() -> &'static [Fixture] {
    static ALL: std::sync::OnceLock<Vec<Fixture>> = std::sync::OnceLock::new();
    ALL.get_or_init(made)
}

fn made() -> Vec<Fixture> {
    let named = [
        ("hiccup", hiccup()),
        ("few", few()),
        ("troubled", troubled()),
        ("saturated", simulated(&scenario("05"))),
        ("paused", paused()),
        ("refused", refused()),
        ("closed", simulated(&closed(&scenario("04")))),
        ("nothing", recorded(&simulated(&scenario("01")), &[])),
    ];
    let measured = named.map(|(name, run)| Fixture { name, findings: findings(&run), run });
    measured.into_iter().chain([gated(), several_targets(), bracketed()]).collect()
}

pub fn scenario(name: &str) -> Scenario {
    builtin::find(name).unwrap()
}

pub fn simulated(scenario: &Scenario) -> Run {
    simulate(scenario, SimOptions::default()).unwrap()
}

/// Returns the scenario with ten closed-loop users.
pub fn closed(scenario: &Scenario) -> Scenario {
    let horizon = scenario.workload.model.horizon();
    let model = LoadModel::Closed { users: 10.into(), think_time: Nanos::ZERO, horizon };
    Scenario { workload: truetail_model::workload::Workload { model, ..scenario.workload.clone() }, ..scenario.clone() }
}

fn recorded(run: &Run, records: &[RequestRecord]) -> Run {
    let mut recorder = Recorder::new(RecorderOptions::default());
    for record in records {
        recorder.plan(record.intended_start);
        recorder.record(record);
    }
    Run { facts: run.facts.clone(), snapshot: recorder.finish(run.snapshot.schedule_hash) }
}

fn changed(run: &Run, mut change: impl FnMut(&mut RequestRecord)) -> Run {
    let mut records = run.snapshot.samples.even().to_vec();
    records.sort_unstable_by_key(|record| record.index);
    records.iter_mut().for_each(&mut change);
    recorded(run, &records)
}

/// Imitates sockets: a few microseconds of lag, a little more service time, and connects for the first requests.
fn over_sockets(run: &Run) -> Run {
    let mut random = Random::new(1, 0);
    let mut draw = |mean_us: f64| Nanos((random.exponential() * mean_us * 1e3) as u64);
    let mut run = changed(run, |record| {
        let lag = draw(20.0);
        let extra = draw(150.0);
        record.connected = record.index < 12;
        record.delay.generator_lag += lag;
        record.delay.connect = if record.connected { draw(120.0) } else { Nanos::ZERO };
        let late = lag + record.delay.connect;
        record.actual_start = record.actual_start + late;
        record.end = record.end + late + extra;
    });
    run.facts.source = RunSource::Sockets;
    run.facts.offered.name = None;
    run.facts.offered.method = Some("GET".into());
    run.facts.offered.url = Some("http://127.0.0.1:8080/api".into());
    run.facts.generator = Some(GeneratorStats { threads: 1, ..GeneratorStats::default() });
    run
}

fn hiccup() -> Run {
    over_sockets(&simulated(&scenario("02")))
}

fn few() -> Run {
    let mut few = scenario("01");
    let LoadModel::Open(schedule) = &mut few.workload.model else { unreachable!() };
    schedule.horizon = Horizon { duration: None, requests: Some(71) };
    let mut run = over_sockets(&simulated(&few));
    run.facts.interrupted = true;
    run
}

/// Returns a run with error statuses, timeouts, resets and a few failures to connect.
fn troubled() -> Run {
    let every = |n| Selector { every: Some(n), ..Selector::default() };
    let mut troubled = scenario("04");
    troubled.service.faults.extend([
        Fault::BlackHole { select: every(97) },
        Fault::Reset { select: every(1009) },
        Fault::ErrorStatus { status: 503, immediately: true, select: every(20) },
    ]);
    troubled.workload.limits.timeout = Some(Nanos::from_secs(2));
    let mut run = changed(&over_sockets(&simulated(&troubled)), |record| {
        if record.index % 10_007 == 5 {
            record.outcome = Outcome::ConnectFailed(Cause::Refused);
        }
    });
    run.facts.notes.push("the first request was answered with status 503".into());
    run
}

/// Returns a run whose generator paused for 1.5 s.
fn paused() -> Run {
    let at = Timestamp(20_000_000_000);
    let length = Nanos::from_millis(1500);
    let mut run = changed(&over_sockets(&simulated(&scenario("01"))), |record| {
        let over = at + length;
        if record.intended_start >= at && record.intended_start < over {
            let service = record.service_time();
            record.delay.generator_lag = over.since(record.intended_start);
            record.actual_start = over;
            record.end = over + service;
        }
    });
    let pauses = vec![Pause { worker: 0, at_ns: at.0, length_ns: length.0 }];
    run.facts.generator = Some(GeneratorStats { threads: 1, pauses, pause_count: 1, ..GeneratorStats::default() });
    run
}

fn refused() -> Run {
    changed(&over_sockets(&simulated(&scenario("01"))), |record| {
        record.outcome = Outcome::ConnectFailed(Cause::Refused);
        record.end = record.actual_start + Nanos::from_micros(60);
    })
}

/// Returns a run with a gate of each state, a check that passed and one that failed.
fn gated() -> Fixture {
    let mut run = troubled();
    let check = |text: &str, passed, failed| CheckCounts { text: text.into(), passed, failed };
    run.facts.checks =
        vec![check("status == 200", 56_350, 2_967), check("header content-type contains json", 59_317, 0)];
    let gate = |text: &str, state, message: &str| GateFinding {
        text: text.into(),
        state,
        value_ns: None,
        limit_ns: None,
        value: None,
        limit: None,
        message: message.into(),
    };
    let mut findings = findings(&run);
    findings.gates = vec![
        gate("p95 > 50ms", GateState::Holds, "measured 10.60ms"),
        gate("error-rate > 1%", GateState::Fails, "measured 6.084%"),
        gate("p99 > 5s", GateState::Open, "measured at least 2.000s; a timeout above 5s would tell more"),
    ];
    Fixture { name: "gated", run, findings }
}

/// Returns a run with twelve targets, two of them with errors.
fn several_targets() -> Fixture {
    let mut run = hiccup();
    let of_one = few();
    let response_time = findings(&of_one).response_time;
    let mut findings = findings(&run);
    let paths = ["items", "items/{{id}}", "a/rather/long/path/with/many/segments/and/a/query?sorted=by-name&page=3"];
    for (number, path) in paths.into_iter().chain(["x"; 9]).enumerate() {
        let url = format!("http://127.0.0.1:8080/{path}");
        let failed = if number < 2 { number as u64 * 7 } else { 0 };
        let tally = truetail_model::record::Tally { planned: 71, issued: 71, responses: 71, ..Default::default() };
        let statuses = [(200, 71 - failed), (500, failed)].into_iter().filter(|(_, n)| *n > 0).collect();
        run.facts.by_target.push(TargetBooks { method: "GET".into(), url, tally, statuses });
        let response_time = response_time.clone();
        findings.targets.push(TargetFindings { name: format!("GET /{path}"), tally, response_time });
    }
    Fixture { name: "targets", run, findings }
}

/// Returns a run whose quantiles are known only as ranges.
fn bracketed() -> Fixture {
    let mut run = over_sockets(&simulated(&scenario("01")));
    let ticks = Some(Ticks { longest_ns: 100_000, requests: 60_000 });
    run.facts.generator = Some(GeneratorStats { threads: 1, timing: Timing::Auto, ticks, ..GeneratorStats::default() });
    let mut findings = findings(&run);
    for quantile in &mut findings.response_time.quantiles {
        quantile.without_generator_ns = quantile.value_ns.map(|value| value * 7 / 10);
        quantile.unresolved = true;
    }
    Fixture { name: "bracketed", run, findings }
}
