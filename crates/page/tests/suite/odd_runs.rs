//! Runs of every kind, including odd ones.

use std::sync::OnceLock;

use truetail_analysis::findings;
use truetail_model::arrival::Horizon;
use truetail_model::record::{Outcome, Recorder, RecorderOptions, RequestRecord};
use truetail_model::workload::LoadModel;
use truetail_run::{FailedAnswer, FailedCheck, LlmApi, LlmFacts, ObjectiveCounts, Run, RunSource};

use crate::fixtures::{self, Fixture, scenario, simulated};
use crate::made_sessions;

pub fn all() -> Vec<&'static Fixture> {
    static ODD: OnceLock<Vec<Fixture>> = OnceLock::new();
    let odd = ODD.get_or_init(|| {
        let one = first_requests(1, |_| {});
        let timeouts = first_requests(400, |record| record.outcome = Outcome::TimedOut);
        let errors = first_requests(400, |record| record.outcome = Outcome::response(503));
        let runs = [
            ("one request", one.clone()),
            ("one timeout", first_requests(1, |record| record.outcome = Outcome::TimedOut)),
            ("only timeouts", timeouts),
            ("only error statuses", errors),
            ("without a status", first_requests(400, |record| record.outcome = Outcome::ANSWERED)),
            ("failed replies", failed_answers(None)),
            ("merged", merged()),
            ("callable", called(one)),
            ("failed answers", failed_answers(Some(503))),
            ("streams", simulated(&scenario("06"))),
            ("streams without their detail", without_detail(simulated(&scenario("06")))),
            ("steps", in_steps()),
            ("sessions", with_sessions(false)),
            ("sessions without a sample", with_sessions(true)),
            ("objectives", with_objectives(simulated(&scenario("06")))),
        ];
        runs.into_iter().map(|(name, run)| Fixture { name, findings: findings(&run), run }).collect()
    });
    fixtures::all().iter().chain(odd).collect()
}

/// Returns the first requests of a simulated run, as if there were no others.
fn first_requests(n: usize, mut change: impl FnMut(&mut RequestRecord)) -> Run {
    let mut run = simulated(&scenario("01"));
    let mut records: Vec<RequestRecord> = run.snapshot.samples.even().to_vec();
    records.sort_unstable_by_key(|record| record.index);
    records.truncate(n);
    let mut recorder = Recorder::new(RecorderOptions::default());
    for record in &mut records {
        change(record);
        recorder.plan(record.intended_start);
        recorder.record(record);
    }
    run.snapshot = recorder.finish(run.snapshot.schedule_hash);
    run.facts.source = RunSource::Sockets;
    run.facts.offered.requests = Some(n as u64);
    run
}

/// Returns a run whose rate changes.
fn in_steps() -> Run {
    let mut steps = scenario("01");
    let LoadModel::Open(schedule) = &mut steps.workload.model else { unreachable!() };
    schedule.profile = "steps:100/20s,200/20s,400/20s".parse().expect("a profile");
    simulated(&steps)
}

fn merged() -> Run {
    let mut short = scenario("02");
    let LoadModel::Open(schedule) = &mut short.workload.model else { unreachable!() };
    schedule.horizon = Horizon { duration: schedule.horizon.duration, requests: Some(5_000) };
    let parts = [1, 2].map(|seed| {
        let mut run = simulated(&short);
        run.facts.started_at_unix_ns = Some(seed);
        run.facts.command = Some(format!("truetail run --seed {seed}"));
        run
    });
    truetail_run::merge(parts.into()).expect("they are two runs of one workload")
}

fn called(mut run: Run) -> Run {
    run.facts.source = RunSource::Callable;
    run.facts.offered.url = None;
    run
}

fn without_detail(mut run: Run) -> Run {
    run.facts.stream.iter_mut().for_each(|streams| streams.detail = None);
    run
}

/// Adds objectives. Of 1,200 complete answers, 1,000 met the first objective and 600 both; 100 more cannot be told.
fn with_objectives(mut run: Run) -> Run {
    let streams = run.facts.stream.as_mut().expect("its service streams");
    streams.reading.stall_ns = Some(500_000_000);
    let objectives = ["ttft < 200ms", "tpot < <50ms>"].map(str::to_owned).to_vec();
    let mut llm = LlmFacts::new(LlmApi::OpenaiCompletions, objectives);
    let slo = llm.slo.as_mut().expect("two objectives");
    (slo.met, slo.cannot_tell) = (600, 100);
    slo.each = vec![
        ObjectiveCounts { met: 1_000, missed: 200, cannot_tell: 0 },
        ObjectiveCounts { met: 800, missed: 300, cannot_tell: 100 },
    ];
    streams.llm = Some(llm);
    run
}

fn with_sessions(are_lost: bool) -> Run {
    let mut run = simulated(&scenario("01"));
    let mut sessions = made_sessions::sessions();
    sessions.sampled = sessions.sampled.filter(|_| !are_lost);
    run.facts.sessions = Some(sessions);
    run
}

fn failed_answers(status: Option<u16>) -> Run {
    let mut run = first_requests(200, |_| {});
    let answer = |arrival: u64| FailedAnswer {
        arrival,
        intended_start_ns: arrival * 1_000_000,
        target: "GET http://127.0.0.1/".to_owned(),
        failed: vec![FailedCheck { check: "status == 200".to_owned(), why: "it is 503".to_owned() }],
        status,
        headers: vec!["content-type: text/plain".to_owned()],
        body: "busy".to_owned(),
        body_bytes: 40_000,
    };
    run.facts.failed_answers = (0..3).map(answer).collect();
    run
}
