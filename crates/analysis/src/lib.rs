//! Pure functions from a [`Run`] to what can be said of it. No I/O, no clock, no randomness.
//!
//! | module | what is at home there |
//! |---|---|
//! | `population` | what a quantile is when answers are missing |
//! | [`support`] | which quantiles a sample can carry |
//! | `interval`, `order`, `spectrum` | confidence that respects dependence |
//! | `distribution`, `measured` | the distributions of a run |
//! | `flow` | what came and went, over time: is the backlog growing? |
//! | [`saturation_detector`] | saturation recognised while a run goes on |
//! | `levels`, [`settling()`], [`without_warmup`] | at what level the response time is, where it settles, and the rest of the run |
//! | `fidelity` | how far the arrivals were those that were planned |
//! | [`shadow`] | what a closed-loop tool would have reported |
//! | [`mod@uncertainty`] | where the uncertainty of a quantile comes from |
//! | [`until`] | is a number narrow enough to stop? |
//! | [`verdict`] | can the numbers be trusted? |
//! | [`truth`] | the exact answer of a scenario for an ideal open-loop client |
//! | [`omission`] | how far a report is from the truth |
//! | [`league`] | load tools beside each other: what they said against what the server saw |

mod binomial;
#[cfg(test)]
mod coverage;
mod distribution;
mod fidelity;
mod flow;
mod interval;
pub mod league;
mod levels;
mod measured;
pub mod omission;
mod one_quantile;
mod order;
mod population;
pub mod saturation_detector;
mod settling;
pub mod shadow;
mod spectrum;
pub mod stopping_rule;
pub mod support;
mod throughput;
pub mod truth;
pub mod uncertainty;
mod values;
pub mod verdict;
mod warmup;

pub use one_quantile::quantile;

use truetail_model::record::RequestRecord;
use truetail_run::{Distribution, Findings, Run, Verdict, VerdictState};

use measured::Measured;

pub use settling::settling;
pub use warmup::{WarmupCutError, without_warmup};

/// All that is computed from a run. The same run gives the same findings.
pub fn findings(run: &Run) -> Findings {
    let every = measured::every_arrival(&run.snapshot);
    let mut findings = without_verdict(run, every.as_deref());
    mark_unresolved(&mut findings.response_time, &findings.generator_lag);
    findings.uncertainty = uncertainty::uncertainty(run, &findings);
    findings.verdict = verdict::judge(run, &findings, every.as_deref());
    findings.closed_loop_shadow = shadow::of_findings(run, &findings);
    findings
}

fn without_verdict(run: &Run, every: Option<&[RequestRecord]>) -> Findings {
    let measured = Measured::of(&run.snapshot, every);
    Findings {
        verdict: Verdict { state: VerdictState::Valid, reasons: Vec::new() },
        tally: run.snapshot.tally,
        response_time: measured.response_time,
        response_time_success: measured.success,
        response_time_error_status: measured.error_status,
        service_time: measured.service_time,
        start_delay: measured.start_delay,
        generator_lag: measured.generator_lag,
        connection_wait: measured.connection_wait,
        connect_time: measured.connect_time,
        read_lag: measured.read_lag,
        tls_handshake_time: measured.tls_handshake_time,
        throughput_per_second: throughput::answered_per_second(run, every),
        offered_per_second: throughput::offered_per_second(run, every),
        uncertainty: Vec::new(),
        settling: settling::settling_of(run, every),
        arrival_fidelity: fidelity::arrival_fidelity(run, every),
        closed_loop_shadow: None,
    }
}

/// Marks the quantiles of which the generator's lag, at the same quantile, is more than
/// the share [`UNRESOLVED_SHARE`](verdict::thresholds::UNRESOLVED_SHARE) of it. Where no answer ever came there is nothing to resolve.
fn mark_unresolved(response_time: &mut Distribution, generator_lag: &Distribution) {
    for (quantile, lag) in response_time.quantiles.iter_mut().zip(&generator_lag.quantiles) {
        if let (Some(value), Some(lag)) = (quantile.value_ns, lag.value_ns) {
            quantile.unresolved =
                !quantile.no_answer && lag as f64 > value as f64 * verdict::thresholds::UNRESOLVED_SHARE;
        }
    }
}
