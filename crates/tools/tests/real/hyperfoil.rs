//! Hyperfoil, which reports counters and a histogram, and waits for the last answer.

use truetail_model::service::{Fault, Selector, Service};
use truetail_model::time::Nanos;

use crate::support::{Observation, RATE, run, run_alone};

const NAME: &str = "hyperfoil";
const BASELINE: Nanos = Nanos::from_millis(10);

/// Every tenth answer is a 503. Otherwise the service is healthy.
#[test]
#[ignore = "needs other people's load tools: make test-tools"]
fn counts_the_answers_of_the_server() {
    let select = Selector { every: Some(10), ..Selector::default() };
    let fault = Fault::ErrorStatus { status: 503, immediately: false, select };
    let service = Service { faults: vec![fault], ..Service::healthy(BASELINE) };
    let Some(Observation { report, truth }) = run(NAME, service, Nanos::from_secs(2)) else { return };
    println!("{:?} {:?}", report.claims, report.notes);
    let histogram = report.histogram.as_ref().expect("a histogram");
    let admitted = truth.totals.admitted;
    let gave = truth.rows.iter().filter(|row| row.status == Some(503)).count() as u64;
    assert_eq!(
        (report.claims.requests, histogram.count(), report.claims.failed),
        (Some(admitted), admitted, Some(gave))
    );
    assert!(histogram.min().expect("a minimum") >= BASELINE, "{:?}", histogram.min());
    // After a stall of the machine, some arrivals find no free session. A closed loop would make ten times as many.
    let due = 2.0 * RATE;
    assert!((0.5 * due..=1.5 * due).contains(&(admitted as f64)), "{admitted} of {due}");
}

/// Without a server, Hyperfoil does not start and its counters are empty.
#[test]
#[ignore = "needs other people's load tools: make test-tools"]
fn makes_no_request_where_nobody_listens() {
    let Some(report) = run_alone(NAME, Nanos::from_secs(1)) else { return };
    let report = report.expect("a report");
    assert_eq!((report.claims.requests, report.claims.measured), (Some(0), Some(0)));
    assert!(matches!(&report.notes[..], [note] if note.contains("were due")), "{:?}", report.notes);
}
