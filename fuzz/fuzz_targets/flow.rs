//! A flow: refused with a line of it, or run in virtual time with books that balance.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use truetail_flow::{Flow, FlowError, SimulateError, simulate};
use truetail_model::scenario::Scenario;
use truetail_sim::SimOptions;

/// Sessions of more requests are read and not run.
const MAX_REQUESTS: u32 = 1_000;

static SCENARIO: LazyLock<Scenario> = LazyLock::new(|| {
    let text = "[workload]\nrate = 1\nduration = \"3s\"\n[service]\nbaseline = \"1ms\"\n\
        [[service.route]]\npath = \"/a*\"\nbaseline = \"2ms\"\n\
        [[service.route.fault]]\nkind = \"error-status\"\nstatus = 503\nevery = 2\n";
    Scenario::parse(text, "scenario.toml").expect("a scenario")
});

fuzz_target!(|text: &str| {
    let variables = [("host".to_owned(), "http://127.0.0.1:1".to_owned())];
    let file = |_: &str| Ok(b"a body with {{braces}}".to_vec());
    match Flow::parse("fuzzed.hurl", text, &variables, &file) {
        Ok(flow) => check(&flow, text),
        Err(error) => assert_refusal(&error, text),
    }
});

fn check(flow: &Flow, text: &str) {
    let itinerary = flow.itinerary();
    let requests = flow.requests();
    assert_eq!(itinerary.steps.len(), requests.targets().len());
    assert_eq!(itinerary.moves.map(|moves| moves.len()), Some(flow.requests_per_session() as usize));
    if flow.requests_per_session() > MAX_REQUESTS {
        return;
    }
    match simulate(&flow.clone().into(), &SCENARIO, SimOptions::LEAN) {
        Ok(run) => {
            let sessions = run.facts.sessions.expect("books of sessions");
            assert_eq!((sessions.imbalance(), sessions.tally.planned), (None, 3));
        }
        Err(SimulateError::Flow { error, .. }) => assert_refusal(&error, text),
        Err(error) => panic!("{error}"),
    }
}

/// One line, and a place in the text or at its end.
fn assert_refusal(error: &FlowError, text: &str) {
    assert!((1..=text.lines().count() + 1).contains(&error.line), "{error}");
    assert!(!error.problem.contains('\n'), "{error}");
}
