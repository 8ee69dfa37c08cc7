//! Runs to judge: simulated, or changed as a generator in trouble would have changed them.

use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::record::{Recorder, RecorderOptions, RequestRecord, SamplesOptions};
use truetail_model::scenario::{Scenario, builtin};
use truetail_model::service::{Service, Variation};
use truetail_model::time::{Nanos, Rate, Timestamp};
use truetail_model::workload::{Limits, LoadModel, Workload};
use truetail_run::{Findings, GeneratorStats, Pause, Run};
use truetail_sim::{SimOptions, simulate};

pub fn scenario(name: &str) -> Scenario {
    builtin::find(name).unwrap()
}

pub fn simulated(scenario: &Scenario) -> Run {
    simulate(scenario, SimOptions::default()).unwrap()
}

/// Simulates without keeping single requests, so that everything comes from histograms.
pub fn without_samples(scenario: &Scenario) -> Run {
    simulate(scenario, SimOptions { samples: SamplesOptions::NONE, ..SimOptions::default() }).unwrap()
}

pub fn changed(run: &Run, change: impl Fn(&mut RequestRecord)) -> Run {
    let mut records = run.snapshot.samples.even().to_vec();
    records.iter_mut().for_each(change);
    recorded(run, &records)
}

pub fn recorded(run: &Run, records: &[RequestRecord]) -> Run {
    let mut recorder = Recorder::new(RecorderOptions::default());
    for record in records {
        recorder.plan(record.intended_start);
        recorder.record(record);
    }
    Run { facts: run.facts.clone(), snapshot: recorder.finish(run.snapshot.schedule_hash) }
}

/// Returns the run of a generator with one worker that was paused from `at` for `length`. Arrivals that were due in the
/// pause start after it, and answers that came in it are read after it.
pub fn with_pause(run: &Run, at: Timestamp, length: Nanos) -> Run {
    let over = at + length;
    let within = |instant: Timestamp| instant >= at && instant < over;
    let mut paused = changed(run, |record| {
        if within(record.intended_start) {
            let service = record.end.since(record.actual_start);
            record.delay.generator_lag = over.since(record.intended_start);
            record.actual_start = over;
            record.end = over + service;
        } else if within(record.end) {
            record.end = over;
        }
    });
    let pause = Pause { worker: 0, at_ns: at.0, length_ns: length.0 };
    paused.facts.generator = Some(GeneratorStats {
        threads: 1,
        pauses: vec![pause],
        pause_count: 1,
        paused_ns: length.0,
        ..GeneratorStats::default()
    });
    paused
}

pub fn codes(findings: &Findings) -> Vec<&str> {
    findings.verdict.reasons.iter().map(|reason| reason.code.as_str()).collect()
}

pub fn ms(findings: &Findings, q: f64) -> f64 {
    let quantile = findings.response_time.quantiles.iter().find(|quantile| quantile.q == q).unwrap();
    quantile.value_ns.unwrap() as f64 / 1e6
}

/// One server with exponential work at this load, Poisson arrivals.
pub fn queue(load: f64, seed: u64) -> Scenario {
    let schedule = Schedule {
        profile: Profile::constant(Rate::per_second(200.0 * load).unwrap()),
        spacing: Spacing::Poisson,
        seed,
        horizon: Horizon { duration: Some(Nanos::from_secs(60)), requests: None },
    };
    let service = Service {
        variation: Variation::Exponential,
        concurrency: Some(1),
        seed,
        ..Service::healthy(Nanos::from_millis(5))
    };
    let workload = Workload { model: LoadModel::Open(schedule), limits: Limits::default(), warmup: Nanos::ZERO };
    Scenario { name: "queue".into(), about: String::new(), service, workload, path: "/".into() }
}
