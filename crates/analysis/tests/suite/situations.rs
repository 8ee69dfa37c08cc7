//! The judge of the suite on invented tools: right reports pass, and each way to be wrong fails or stays undecided.

use truetail_analysis::league::{
    Question, ReportView, ServerView, SuiteEvidence, SuiteJudgement, SuiteResult, SuiteRow, SuiteState, ToolState,
    ToolUnderTest, judge, row, window,
};
use truetail_analysis::truth::truth;
use truetail_model::record::Snapshot;
use truetail_model::scenario::Scenario;
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::LoadModelKind;
use truetail_run::{ClaimedQuantile, Claims, LatencyFrom};

const MS: u64 = 1_000_000;

macro_rules! scenario {
    ($name:literal) => {
        Scenario::parse(include_str!(concat!("../../../../scenarios/suite/", $name, ".toml")), $name).unwrap()
    };
}

/// A tool in a situation: what it claims, the arrivals of the server's log, and its end.
struct Tool {
    claims: Claims,
    log: ServerView,
    state: ToolState,
    exit_code: Option<i32>,
}

/// Requests at an even rate for ten seconds, each answered after `answer` of its arrival.
fn even(per_second: u64, answer: impl Fn(u64) -> Option<u64>) -> ServerView {
    let at = (0..per_second * 10).map(|n| n * 1_000 * MS / per_second);
    ServerView::new(at.map(|at| (at, answer(at).map(|time| at + time * MS))).collect())
}

fn says(p50: u64, p99: u64) -> Claims {
    let quantiles = [(0.5, p50), (0.99, p99)].map(|(q, ms)| ClaimedQuantile { q, value_ns: ms * MS, printed: true });
    Claims { quantiles: quantiles.to_vec(), ..Claims::silent(LatencyFrom::Intended) }
}

fn tool(claims: Claims, log: ServerView) -> Tool {
    Tool { claims, log, state: ToolState::Ok, exit_code: Some(0) }
}

fn judged(question: Question, scenario: &Scenario, tool: &Tool) -> SuiteJudgement {
    let data = Snapshot::default();
    let has_claims = tool.claims != Claims::silent(tool.claims.latency_from);
    let subject = ToolUnderTest {
        tool: "gun",
        version: None,
        label_model: LoadModelKind::Open,
        state: tool.state,
        message: Some("it said so"),
        server_view: Some(&tool.log),
        report: has_claims.then_some(ReportView { claims: &tool.claims, data: &data, notes: &[] }),
        cpu_seconds: None,
        peak_memory_bytes: None,
    };
    let truth = truth(scenario).unwrap();
    let rate = truth.count() as f64 / 10.0;
    let row = row(&subject, &truth, Rate::per_second(rate).unwrap(), &window(scenario, 10));
    let server = Some(&tool.log);
    judge(
        question,
        &SuiteEvidence { row: &row, truth: &truth, scenario, server, streams: None, exit_code: tool.exit_code },
    )
}

#[track_caller]
fn assert_state(judgement: &SuiteJudgement, state: SuiteState, part: &str) {
    assert!(judgement.state == state && judgement.found.contains(part), "{judgement:?}");
}

#[test]
fn a_tail_passes_if_it_is_true_and_was_not_made_up() {
    let stall = scenario!("stall");
    let question = Question::TailDuringStalls;
    let all = || even(500, |at| Some(if (4_000 * MS..5_000 * MS).contains(&at) { 5_010 - at / MS } else { 10 }));
    assert_state(&judged(question, &stall, &tool(says(10, 905), all())), SuiteState::Pass, "the truth is 910.0 ms");
    let short = judged(question, &stall, &tool(says(10, 12), all()));
    assert_state(&short, SuiteState::Fail, "500 of 500 requests");
    assert!(short.error_pct.is_some_and(|error| (error + 98.68).abs() < 0.01), "{short:?}");
    // A closed loop sent nothing during the stall.
    let waits = || {
        let at = (0..5_000u64).map(|n| n * 2 * MS).filter(|at| !(4_010 * MS..5_000 * MS).contains(at));
        ServerView::new(at.map(|at| (at, Some(at + 10 * MS))).collect())
    };
    let filled = Claims { latency_from: LatencyFrom::BackFilled, ..says(10, 905) };
    assert_state(&judged(question, &stall, &tool(filled, waits())), SuiteState::Fail, "filled in afterwards");
    assert_state(&judged(question, &stall, &tool(says(10, 905), waits())), SuiteState::Fail, "near by chance");
    assert_state(&judged(question, &stall, &tool(says(10, 12), waits())), SuiteState::Fail, "5 of 500");
    // No figure, and no tool.
    let silent = Claims { failed: Some(0), ..Claims::silent(LatencyFrom::Send) };
    assert_state(&judged(question, &stall, &tool(silent.clone(), all())), SuiteState::CannotTell, "no p99");
    let broken = Tool { state: ToolState::Failed, ..tool(silent.clone(), all()) };
    assert_state(&judged(question, &stall, &broken), SuiteState::CannotTell, "it said so");
    let hung = Tool { state: ToolState::Hung, ..tool(silent, all()) };
    assert_state(&judged(question, &stall, &hung), SuiteState::Fail, "did not end");
}

#[test]
fn a_late_server_excuses_a_figure_that_its_log_confirms_and_no_other() {
    let healthy = scenario!("high-rate");
    let late = || even(3_000, |at| Some(if at.is_multiple_of(3) { 10 } else { 80 }));
    assert_state(
        &judged(Question::Rate, &healthy, &tool(says(80, 80), late())),
        SuiteState::CannotTell,
        "itself was late",
    );
    assert_state(&judged(Question::Rate, &healthy, &tool(says(300, 300), late())), SuiteState::Fail, "p50 300.0 ms");
}

#[test]
fn a_rate_is_the_one_that_the_server_saw() {
    let low = scenario!("low-rate");
    assert_state(&judged(Question::Rate, &low, &tool(says(10, 11), even(5, |_| Some(10)))), SuiteState::Pass, "5.0/s");
    let fast = judged(Question::Rate, &low, &tool(says(10, 11), even(80, |_| Some(10))));
    assert_state(&fast, SuiteState::Fail, "asked were 5/s");
    assert!(fast.error_pct.is_some_and(|error| error > 1_000.0), "{fast:?}");
    let nothing = tool(says(10, 11), ServerView::default());
    assert_state(&judged(Question::Rate, &low, &nothing), SuiteState::CannotTell, "no rate");
}

#[test]
fn failures_are_counted_against_those_of_the_server() {
    let resets = scenario!("resets");
    let log = || even(200, |_| Some(10));
    let counts = |failed: Option<u64>| tool(Claims { failed, ..says(10, 11) }, log());
    let question = Question::Failures;
    assert_state(&judged(question, &resets, &counts(Some(100))), SuiteState::Pass, "100 failures");
    assert_state(&judged(question, &resets, &counts(Some(96))), SuiteState::Pass, "96 failures");
    assert_state(&judged(question, &resets, &counts(Some(0))), SuiteState::Fail, "failed 100 of 2000");
    assert_state(&judged(question, &resets, &counts(Some(200))), SuiteState::Fail, "200 failures");
    assert_state(&judged(question, &resets, &counts(None)), SuiteState::CannotTell, "does not say");
    // A tool that repeats failed requests sends more than were planned.
    let repeats = tool(Claims { failed: Some(0), ..says(10, 11) }, even(210, |_| Some(10)));
    assert_state(&judged(question, &resets, &repeats), SuiteState::Fail, "again");
    let errors = scenario!("fast-errors");
    let apart = tool(Claims { failed: Some(0), error_answers: Some(400), ..says(10, 11) }, log());
    assert_state(&judged(Question::ErrorAnswers, &errors, &apart), SuiteState::Pass, "400 failures");
    assert_state(&judged(Question::ErrorAnswers, &errors, &counts(Some(0))), SuiteState::Fail, "failed 400");
}

#[test]
fn a_p99_below_the_timeout_flatters_if_one_request_in_twenty_timed_out() {
    let timeouts = scenario!("timeouts");
    let counts = |claims: Claims| tool(Claims { failed: Some(100), ..claims }, even(200, |_| Some(10)));
    let judged = |claims| judged(Question::Timeouts, &timeouts, &counts(claims));
    assert_state(&judged(says(10, 1_001)), SuiteState::Pass, "100 failures");
    assert_state(&judged(Claims::silent(LatencyFrom::Send)), SuiteState::Pass, "100 failures");
    assert_state(&judged(says(10, 12)), SuiteState::Fail, "waited 1s in vain");
}

#[test]
fn without_a_server_a_report_must_not_look_good() {
    let refused = scenario!("refused");
    let end = |claims: Claims, state, exit_code| Tool { claims, log: ServerView::default(), state, exit_code };
    let silent = || Claims::silent(LatencyFrom::Send);
    let judged = |tool| judged(Question::Refusal, &refused, &tool);
    let counted = Claims { failed: Some(300), ..silent() };
    assert_state(&judged(end(counted, ToolState::Ok, Some(0))), SuiteState::Pass, "300 requests failed");
    assert_state(&judged(end(silent(), ToolState::Failed, Some(1))), SuiteState::Pass, "it said so");
    let fine = Claims { failed: Some(0), ..says(0, 0) };
    assert_state(&judged(end(fine, ToolState::Ok, Some(0))), SuiteState::Fail, "as if all was well");
    assert_state(&judged(end(silent(), ToolState::Failed, None)), SuiteState::CannotTell, "it said so");
}

#[test]
fn an_exit_code_shows_a_refusal_only_if_the_tool_runs_at_all() {
    let refused = scenario!("refused");
    let silent = Claims::silent(LatencyFrom::Send);
    let failed = Tool { claims: silent, log: ServerView::default(), state: ToolState::Failed, exit_code: Some(1) };
    let by_exit = judged(Question::Refusal, &refused, &failed);
    let undecided = SuiteJudgement::new(SuiteState::CannotTell, "no such file");
    for (other, state) in [
        (None, SuiteState::CannotTell),
        (Some(undecided), SuiteState::CannotTell),
        (Some(by_exit.clone()), SuiteState::CannotTell),
        (Some(SuiteJudgement::new(SuiteState::Fail, "p99")), SuiteState::Pass),
        (Some(SuiteJudgement::new(SuiteState::Pass, "p99")), SuiteState::Pass),
    ] {
        let row = |judgement| SuiteRow {
            situation: String::new(),
            tests: String::new(),
            source: String::new(),
            judgement,
            command: Vec::new(),
        };
        let situations = other.into_iter().chain([by_exit.clone()]).map(row).collect();
        let mut result = SuiteResult { tool: "gun".to_owned(), version: String::new(), situations };
        result.withdraw_unconfirmed();
        assert_state(&result.situations.last().unwrap().judgement, state, "it said so");
    }
}

#[test]
fn a_saturated_service_shows_in_the_median_or_in_what_was_not_sent() {
    let saturation = scenario!("saturation");
    let half = Nanos(truth(&saturation).unwrap().quantile(0.5).unwrap().0).as_millis_f64() as u64;
    let all = || even(300, |_| Some(half));
    let judged = |tool| judged(Question::Overload, &saturation, &tool);
    assert_state(&judged(tool(says(half, 2 * half), all())), SuiteState::Pass, "3000 of 3000");
    let two_thirds = || even(200, |_| Some(50));
    let dropped = Claims { dropped: Some(1_000), ..says(50, 60) };
    assert_state(&judged(tool(dropped, two_thirds())), SuiteState::Pass, "did not send 1000");
    assert_state(&judged(tool(says(50, 60), two_thirds())), SuiteState::Fail, "2000 of 3000");
}
