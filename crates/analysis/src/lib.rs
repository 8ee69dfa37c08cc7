//! Pure functions from a [`Run`] to what can be said of it. No I/O, no clock, no randomness.
//!
//! | module | what is at home there |
//! |---|---|
//! | `population` | what a quantile is when answers are missing |
//! | [`support`] | which quantiles a sample can carry |
//! | `confidence_interval`, `exceedance`, `long_run_variance` | confidence that respects dependence |
//! | `distribution`, `metric_distributions` | the distributions of a run |
//! | `load_timeline` | arrivals, starts and ends over time: is the backlog growing? |
//! | [`saturation_detector`] | saturation recognised while a run goes on |
//! | `levels`, [`settling()`], [`without_warmup`] | at what level the response time is, where it settles, and the rest of the run |
//! | `fidelity` | how far the arrivals were those that were planned |
//! | [`shadow`] | what a closed-loop tool would have reported |
//! | [`mod@uncertainty`] | where the uncertainty of a quantile comes from |
//! | [`stopping_rule`] | is a number narrow enough to stop? |
//! | [`verdict`] | can the numbers be trusted? |
//! | [`truth`] | the exact answer of a scenario for an ideal open-loop client |
//! | [`omission`] | how far a report is from the truth |
//! | [`league`] | load tools beside each other: what they said against what the server saw |

mod binomial;
mod confidence_interval;
#[cfg(test)]
mod coverage;
mod distribution;
mod exceedance;
mod fidelity;
pub mod league;
mod levels;
mod load_timeline;
mod long_run_variance;
mod metric_distributions;
pub mod omission;
mod population;
pub mod saturation_detector;
mod settling;
pub mod shadow;
mod sorted_values;
pub mod stopping_rule;
pub mod support;
mod throughput;
pub mod truth;
pub mod uncertainty;
pub mod verdict;
mod warmup;

pub use metric_distributions::quantile;

use truetail_model::record::{Metric, RequestRecord};
use truetail_run::{Findings, Run, Verdict, VerdictState};

use metric_distributions::{every_arrival, mark_unresolved};

pub use settling::settling;
pub use warmup::{WarmupCutError, without_warmup};

/// All that is computed from a run. The same run gives the same findings.
pub fn findings(run: &Run) -> Findings {
    let every = every_arrival(&run.snapshot);
    let mut findings = without_verdict(run, every.as_deref());
    let lag = &findings.metrics[Metric::GeneratorLag].quantiles;
    findings.response_time.quantiles.iter_mut().zip(lag).for_each(|(quantile, lag)| mark_unresolved(quantile, lag));
    findings.uncertainty = uncertainty::uncertainty(run, &findings);
    findings.verdict = verdict::judge(run, &findings, every.as_deref());
    findings.closed_loop_shadow = shadow::of_findings(run, &findings);
    findings
}

fn without_verdict(run: &Run, every: Option<&[RequestRecord]>) -> Findings {
    let (success, error_status) = metric_distributions::by_status(&run.snapshot, every);
    let response_time = metric_distributions::response_time(&run.snapshot, every);
    let metrics = metric_distributions::metrics(&run.snapshot, every, &response_time);
    Findings {
        verdict: Verdict { state: VerdictState::Valid, reasons: Vec::new() },
        tally: run.snapshot.tally,
        response_time,
        response_time_success: success,
        response_time_error_status: error_status,
        metrics,
        throughput_per_second: throughput::answered_per_second(run, every),
        offered_per_second: throughput::offered_per_second(run, every),
        uncertainty: Vec::new(),
        settling: settling::settling_of(run, every),
        arrival_fidelity: fidelity::arrival_fidelity(run, every),
        closed_loop_shadow: None,
        targets: Vec::new(),
        gates: Vec::new(),
    }
}
