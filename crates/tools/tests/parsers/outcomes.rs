//! The outcomes of single requests.

use std::collections::BTreeMap;

use truetail_model::record::Outcome;

use crate::support::{Case, parse};
use crate::{gatling, jmeter, k6, locust, vegeta};

/// A tool, its cases, the folder of one case, and the count of each outcome, with the cause of failures.
type Expected = (&'static str, &'static [Case], &'static str, &'static str);

const EXPECTED: [Expected; 21] = [
    ("gatling", &gatling::CASES, "3.15.1/errors", "reset/closed_before_answer 1 response 599"),
    ("gatling", &gatling::CASES, "3.15.1/timeouts", "response 570 timed_out 30"),
    ("gatling", &gatling::CASES, "3.15.1/refused", "connect_failed/refused 600"),
    ("gatling", &gatling::CASES, "3.11.5/timeouts", "response 570 timed_out 30"),
    ("gatling", &gatling::CASES, "3.11.5/refused", "connect_failed/refused 600"),
    ("jmeter-precise-throughput", &jmeter::PRECISE_THROUGHPUT, "5.6.3/errors", "reset/reset_by_peer 41 response 576"),
    ("jmeter-precise-throughput", &jmeter::PRECISE_THROUGHPUT, "5.6.3/timeouts", "response 585 timed_out 30"),
    ("jmeter-precise-throughput", &jmeter::PRECISE_THROUGHPUT, "5.6.3/refused", "connect_failed/refused 120"),
    ("jmeter-thread-group", &jmeter::THREAD_GROUP, "5.6.3/errors", "reset/reset_by_peer 42 response 593"),
    ("k6-constant-arrival-rate", &k6::CONSTANT_ARRIVAL_RATE, "1.8.1/errors", "reset/reset_by_peer 8 response 112"),
    ("k6-constant-arrival-rate", &k6::CONSTANT_ARRIVAL_RATE, "1.8.1/timeouts", "response 114 timed_out 6"),
    ("k6-constant-arrival-rate", &k6::CONSTANT_ARRIVAL_RATE, "1.8.1/refused", "connect_failed/refused 121"),
    ("k6-constant-vus", &k6::CONSTANT_VUS, "1.8.1/timeouts", "response 96 timed_out 5"),
    ("locust", &locust::CASES, "2.47.0/errors", "reset/reset_by_peer 103 response 1443"),
    ("locust", &locust::CASES, "2.47.0/timeouts", "response 285 timed_out 12"),
    ("locust", &locust::CASES, "2.47.0/refused", "connect_failed/refused 570"),
    ("locust", &locust::CASES, "2.47.0/errors-fast", "response 2579"),
    ("locust", &locust::CASES, "2.47.0/timeouts-fast", "response 489 timed_out 21"),
    ("vegeta", &vegeta::CASES, "12.13.0/errors", "response 600"),
    ("vegeta", &vegeta::CASES, "12.13.0/timeouts", "response 570 timed_out 30"),
    ("vegeta", &vegeta::CASES, "12.13.0/refused", "connect_failed/refused 600"),
];

#[test]
fn what_became_of_single_requests() {
    for (tool, cases, folder, expected) in EXPECTED {
        let case = cases.iter().find(|case| case.folder == folder).expect("a case");
        let report = parse(tool, &case.output(tool)).expect("a report");
        let mut counts = BTreeMap::<String, usize>::new();
        for request in &report.requests {
            *counts.entry(name(request.outcome)).or_default() += 1;
        }
        let counts: Vec<_> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
        assert_eq!(counts.join(" "), expected, "{tool} {folder}");
    }
}

fn name(outcome: Outcome) -> String {
    let cause = outcome.cause().map(|cause| format!("/{}", cause.name())).unwrap_or_default();
    format!("{}{cause}", outcome.name())
}
