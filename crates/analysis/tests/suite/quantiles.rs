//! Single quantiles agree with the table, also between its entries.

use crate::support::{changed, scenario, simulated, without_samples};
use truetail_analysis::{findings, quantile, support::QUANTILES, truth};
use truetail_model::record::{Cause, Metric, Outcome};
use truetail_model::time::Nanos;
use truetail_run::{Distribution, Findings, Run};

fn tables(findings: &Findings) -> impl Iterator<Item = (Metric, &Distribution)> {
    let others = Metric::ALL.into_iter().filter(|metric| metric.has_own_distribution());
    let others = others.map(|metric| (metric, &findings.metrics[metric]));
    [(Metric::ResponseTime, &findings.response_time)].into_iter().chain(others)
}

/// Makes the generator late at every third arrival, and leaves every tenth without an answer.
fn troubled(run: &Run) -> Run {
    changed(run, |record| {
        if record.index % 3 == 0 {
            record.delay.generator_lag = Nanos::from_millis(3);
            record.actual_start = record.actual_start + Nanos::from_millis(3);
        }
        record.connected = record.index % 7 == 0;
        record.tls_handshake = record.connected.then_some(Nanos(50_000 + record.index));
        record.first_byte = (record.index % 2 == 0).then(|| record.actual_start + Nanos(20_000 + record.index));
        record.send_wait = (record.index % 5 == 0).then_some(Nanos(1_000 + record.index));
        match record.index % 20 {
            0 => record.outcome = Outcome::TimedOut,
            10 => record.outcome = Outcome::Reset(Cause::ResetByPeer),
            _ => {}
        }
    })
}

#[test]
fn a_single_quantile_is_that_of_the_table() {
    let healthy = simulated(&scenario("01"));
    for run in [simulated(&scenario("02")), without_samples(&scenario("02")), troubled(&healthy)] {
        let found = findings(&run);
        for (metric, table) in tables(&found) {
            for (q, expected) in QUANTILES.into_iter().zip(&table.quantiles) {
                assert_eq!(quantile(&run, metric, q), *expected, "{metric:?}");
            }
        }
    }
}

#[test]
fn a_metric_of_few_arrivals_is_there_where_it_was_recorded() {
    let run = simulated(&scenario("01"));
    let without = findings(&run);
    let with = findings(&troubled(&run));
    for metric in [Metric::FirstByteTime, Metric::SendWait] {
        assert_eq!(without.metrics[metric], Distribution::default(), "{metric:?}");
        assert!(with.metrics[metric].count > 0, "{metric:?}");
    }
    let answered = with.tally.responses;
    assert!(with.metrics[Metric::FirstByteTime].count < answered, "half of the answers, and no failure");
}

#[test]
fn quantiles_between_those_of_the_table() {
    let scenario = scenario("04");
    let truth = truth::truth(&scenario).unwrap();
    let run = simulated(&scenario);
    for q in [0.0, 0.25, 0.95, 0.981, 0.995, 0.9995] {
        assert_eq!(quantile(&run, Metric::ResponseTime, q).value_ns, truth.quantile(q).map(|value| value.0), "{q}");
    }
    let beyond = quantile(&run, Metric::ResponseTime, 0.999_99);
    assert!(!beyond.supported && beyond.value_ns.is_none() && beyond.needs_n.unwrap() > 60_000, "{beyond:?}");
}

/// The values are copied without sorting, and must equal sorted ones.
#[test]
fn first_bytes_that_came_with_the_last_are_the_response_times() {
    let run = changed(&simulated(&scenario("01")), |record| record.first_byte = Some(record.end));
    let found = findings(&run);
    let first_byte = &found.metrics[Metric::FirstByteTime];
    assert_eq!(first_byte.count, found.tally.responses);
    for (q, expected) in QUANTILES.into_iter().zip(&first_byte.quantiles) {
        assert_eq!(quantile(&run, Metric::FirstByteTime, q), *expected);
    }
}
