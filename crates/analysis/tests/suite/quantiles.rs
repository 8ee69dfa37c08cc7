//! Single quantiles agree with the table, and go where the table does not.

use crate::support::{changed, scenario, simulated, without_samples};
use truetail_analysis::{findings, quantile, support::QUANTILES, truth};
use truetail_model::record::{Cause, Metric, Outcome};
use truetail_model::time::Nanos;
use truetail_run::{Distribution, Findings, Run};

fn tables(findings: &Findings) -> [(Metric, &Distribution); 8] {
    [
        (Metric::ResponseTime, &findings.response_time),
        (Metric::ServiceTime, &findings.metrics[Metric::ServiceTime]),
        (Metric::StartDelay, &findings.metrics[Metric::StartDelay]),
        (Metric::GeneratorLag, &findings.metrics[Metric::GeneratorLag]),
        (Metric::ConnectionWait, &findings.metrics[Metric::ConnectionWait]),
        (Metric::ConnectTime, &findings.metrics[Metric::ConnectTime]),
        (Metric::ReadLag, &findings.metrics[Metric::ReadLag]),
        (Metric::TlsHandshakeTime, &findings.metrics[Metric::TlsHandshakeTime]),
    ]
}

/// Every third arrival late by the generator, every tenth without an answer, one way or the other.
fn troubled(run: &Run) -> Run {
    changed(run, |record| {
        if record.index % 3 == 0 {
            record.delay.generator_lag = Nanos::from_millis(3);
            record.actual_start = record.actual_start + Nanos::from_millis(3);
        }
        record.connected = record.index % 7 == 0;
        record.tls_handshake = record.connected.then_some(Nanos(50_000 + record.index));
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
