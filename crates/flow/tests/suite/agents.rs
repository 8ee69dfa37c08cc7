//! Agents in virtual time, where the truth is known to the nanosecond.

use truetail_flow::{AgentForm, AgentGraphs, PromptMember, simulate_agents};
use truetail_model::scenario::Scenario;
use truetail_run::{EarlyEnd, Run, SessionFacts, SessionTime};
use truetail_sim::SimOptions;

const MS: u64 = 1_000_000;

/// Two branches after a first call, and a last call that waits for both.
const FAN: &str = r#"{"id":"a","prompt":"x"}
{"id":"b","after":["a"],"think":0.005,"prompt":"{{a}}"}
{"id":"c","after":["a"],"think":0.008,"prompt":"{{a}}"}
{"id":"d","after":["b","c"],"think":0.002,"prompt":"{{b}} {{c}}"}"#;

fn simulated(calls: &str, more: &str) -> Run {
    let form = AgentForm {
        prompt: Some(PromptMember::Messages),
        limit: "max_tokens",
        shared: Vec::new(),
        must_be_streams: false,
    };
    let agents = AgentGraphs::parse("a.jsonl", calls, &form).unwrap();
    let text = format!("[workload]\nrate = 10\nduration = \"2s\"\n[service]\nbaseline = \"10ms\"\n{more}");
    let scenario = Scenario::parse(&text, "a.toml").unwrap_or_else(|error| panic!("{error}"));
    let run = simulate_agents(&agents, &scenario, SimOptions::default()).unwrap();
    run.snapshot.tally.check().unwrap();
    assert_eq!(sessions(&run).imbalance(), None);
    run
}

fn sessions(run: &Run) -> &SessionFacts {
    run.facts.sessions.as_ref().unwrap()
}

#[test]
fn a_session_takes_as_long_as_the_longest_way_through_its_graph() {
    let run = simulated(FAN, "");
    let facts = sessions(&run);
    assert_eq!((facts.tally.planned, facts.tally.completed, run.snapshot.tally.responses), (20, 20, 80));
    // Three answers, and the think times of c and d; b is in flight at the same time as c.
    let times = facts.times.get(SessionTime::Completed);
    let expected = (3 * 10 + 8 + 2) * MS;
    assert_eq!((times.count(), times.sum_ns()), (20, u128::from(20 * expected)));
    let counts: Vec<_> = facts.steps.iter().map(|step| (step.planned, step.reached, step.per_session)).collect();
    assert_eq!(counts, [(Some(20), 20, 1), (Some(40), 40, 2), (Some(20), 20, 1)]);
}

#[test]
fn a_call_that_fails_ends_what_depends_on_it() {
    // The third request of a session fails: c.
    let fault = "[[service.fault]]\nkind = \"error-status\"\nstatus = 503\nevery = 3\n";
    let run = simulated(FAN, fault);
    let facts = sessions(&run);
    assert_eq!((facts.tally.completed, facts.tally.ended_early, run.snapshot.tally.responses), (0, 20, 60));
    assert_eq!(facts.steps[1].ended_here.get(&EarlyEnd::Status), Some(&20));
    assert_eq!((facts.steps[2].reached, facts.steps[2].not_reached.ended_early), (0, 20));
    // The session ends with the failed answer, and b was answered before.
    assert_eq!(facts.times.get(SessionTime::Failed).sum_ns(), u128::from(20 * (2 * 10 + 8) * MS));
    assert!(run.facts.notes.iter().any(|note| note.contains("call 'c' (line 3): status 503")), "{:?}", run.facts.notes);
}

#[test]
fn sessions_that_the_end_cuts_off_have_all_their_calls_in_the_books() {
    let calls = FAN.replace("0.008", "3600");
    let run = simulated(&calls, "");
    let facts = sessions(&run);
    assert_eq!((facts.tally.in_flight_at_end, run.snapshot.tally.responses), (20, 40));
    let missed: Vec<u64> = facts.steps.iter().map(|step| step.not_reached.run_ended).collect();
    assert_eq!(missed, [0, 20, 20]);
}
