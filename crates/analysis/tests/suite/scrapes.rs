//! Request times that a service published, beside the exact times of simulated users.

use truetail_analysis::findings;
use truetail_model::record::RequestRecord;
use truetail_model::scenario::Scenario;
use truetail_model::time::Nanos;
use truetail_run::{HistogramFinding, Run, Scrape, ScrapeFinding, ServiceBucket, ServiceHistogram, StatedQuantile};

use crate::support::{changed, scenario, simulated};

const MS: u64 = 1_000_000;
/// The default bounds of Prometheus' client libraries.
const BOUNDS_MS: [u64; 11] = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];

/// Returns the histogram of a service that measures these times.
fn histogram(times: impl Iterator<Item = u64>) -> ServiceHistogram {
    let mut counts = [0; BOUNDS_MS.len() + 1];
    times.for_each(|ns| counts[BOUNDS_MS.partition_point(|bound| bound * MS < ns)] += 1);
    let bounds = BOUNDS_MS.iter().map(|bound| Some(bound * MS)).chain([None]);
    ServiceHistogram {
        metric: "http_request_duration_seconds".to_owned(),
        count: counts.iter().sum(),
        mean_ns: Some(10e6),
        buckets: bounds.zip(counts).map(|(le_ns, count)| ServiceBucket { le_ns, count }).collect(),
        ..ServiceHistogram::default()
    }
}

fn finding(run: &Run, histogram: ServiceHistogram) -> HistogramFinding {
    let mut run = run.clone();
    run.facts.scrapes = vec![Scrape { name: "app".to_owned(), histograms: vec![histogram], ..Scrape::default() }];
    findings(&run).scrapes[0][0].clone()
}

/// A service that stalls once for a second and answers in 10 ms otherwise, at 1000 requests per second.
fn stalled() -> Scenario {
    scenario("02-single-hiccup")
}

fn records(run: &Run) -> impl Iterator<Item = &RequestRecord> {
    run.snapshot.samples.even().iter()
}

#[test]
fn a_stall_before_the_handler_is_not_in_its_histogram() {
    let run = simulated(&stalled());
    let found = finding(&run, histogram(records(&run).map(|_| 9 * MS)));
    assert_eq!(found.finding, ScrapeFinding::Understates, "{found:?}");
    let p99 = found.quantiles.iter().find(|one| one.q == 0.99).unwrap();
    assert_eq!((p99.low_ns, p99.high_ns, p99.dashboard_ns), (5 * MS, Some(10 * MS), 9_950_000));
    let says = ["p99 is 5.000ms…10.00ms (a dashboard shows 9.950ms), but its users waited", "before its timer began"];
    says.iter().for_each(|says| assert!(found.message.contains(says), "{}", found.message));
}

#[test]
fn a_service_that_sees_what_its_users_see_agrees() {
    let run = simulated(&stalled());
    let found = finding(&run, histogram(records(&run).map(|record| record.response_time().0)));
    assert_eq!(found.finding, ScrapeFinding::Agrees, "{found:?}");
    assert!(found.message.ends_with("no difference shown"), "{}", found.message);
}

#[test]
fn a_longer_wait_that_is_truetails_own_is_no_difference_and_is_named() {
    let late = Nanos(300 * MS);
    let run = changed(&simulated(&scenario("01-healthy")), |record| {
        if record.index.is_multiple_of(50) {
            record.delay.generator_lag = late;
            record.actual_start = record.actual_start + late;
            record.end = record.end + late;
        }
    });
    let found = finding(&run, histogram(records(&run).map(|record| record.service_time().0)));
    assert_eq!(found.finding, ScrapeFinding::Agrees, "{found:?}");
    let end = "of which 300.0ms is truetail's own lag: no difference shown";
    assert!(found.message.ends_with(end), "{}", found.message);
}

#[test]
fn other_units_and_other_requests_are_noticed() {
    let run = simulated(&stalled());
    let of = |factor: u64| histogram(records(&run).map(move |record| record.response_time().0 * factor));
    assert_eq!(finding(&run, of(1_000)).finding, ScrapeFinding::Overstates);
    let twice = records(&run).chain(records(&run)).map(|record| record.response_time().0);
    let found = finding(&run, histogram(twice));
    assert_eq!(found.finding, ScrapeFinding::CannotTell);
    assert!(found.message.contains("and the run sent"), "{}", found.message);
    let few = records(&run).take(1_000).map(|record| record.response_time().0);
    assert!(finding(&run, histogram(few)).message.contains("it counts 1000 requests and the run got"));
}

#[test]
fn requests_that_a_service_does_not_count_are_named() {
    let run = simulated(&stalled());
    let counted = records(&run).map(|record| record.response_time().0).filter(|ns| *ns < 100 * MS);
    let found = finding(&run, histogram(counted));
    assert_eq!(found.finding, ScrapeFinding::Understates, "{found:?}");
    assert!(found.message.contains("; it does not count "), "{}", found.message);
}

#[test]
fn a_summary_is_compared_if_it_is_about_the_run() {
    let run = simulated(&stalled());
    let count = run.snapshot.tally.responses;
    let stated = |q, ms: u64| StatedQuantile { q, value_ns: ms * MS };
    let summary = |earlier| ServiceHistogram {
        metric: "rpc_server_seconds".to_owned(),
        count,
        earlier,
        stated: vec![stated(0.5, 10), stated(0.99, 11)],
        ..ServiceHistogram::default()
    };
    let found = finding(&run, summary(0));
    assert_eq!((found.finding, found.quantiles.len()), (ScrapeFinding::Understates, 2), "{found:?}");
    assert!(found.message.contains("p99 is 11.00ms, but its users waited"), "{}", found.message);
    let found = finding(&run, summary(count));
    assert_eq!(found.finding, ScrapeFinding::CannotTell);
    let without = ServiceHistogram { stated: Vec::new(), mean_ns: Some(9e6), ..summary(0) };
    let found = finding(&run, without);
    assert!(found.message.contains("its mean is 9.000ms, and its users' is"), "{}", found.message);
}

#[test]
fn a_warm_up_that_the_service_counts_leaves_it_open() {
    let mut run = simulated(&stalled());
    let histogram = histogram(records(&run).map(|record| record.response_time().0));
    run.snapshot.measure_from = truetail_model::time::Timestamp(1_000 * MS);
    let found = finding(&run, histogram);
    assert_eq!(found.finding, ScrapeFinding::CannotTell);
    assert!(found.message.contains("warm-up"), "{}", found.message);
}
