//! Pure functions that compute findings from a [`Run`], without I/O, clock or randomness.
//!
//! | module | content |
//! |---|---|
//! | `population` | the definition of quantiles when answers are missing |
//! | [`support`] | the sample size that each quantile needs |
//! | `confidence_interval`, `exceedance`, `long_run_variance` | confidence intervals for dependent requests |
//! | `distribution`, `metric_distributions` | the distributions of a run |
//! | `bracket` | quantiles with and without what the generator added |
//! | `load_timeline` | arrivals and ends over time: whether the backlog grows |
//! | [`saturation_detector`] | detects saturation during a run |
//! | `levels`, [`settling()`], [`without_warmup`] | the levels of the response time, and the run without its warm-up |
//! | `so_far` | a run in progress, as if it had been stopped now |
//! | [`figures`] | formats of figures |
//! | `fidelity` | how well the arrivals followed the schedule |
//! | [`shadow`] | what a closed-loop tool would have reported |
//! | [`mod@uncertainty`] | the sources of a quantile's uncertainty |
//! | [`stopping_rule`] | whether a quantile is precise enough to stop |
//! | [`verdict`] | whether the numbers can be trusted |
//! | [`gates`] | conditions under which a run fails, and their outcome |
//! | `stream_lateness` | how far pauses and late starts may have moved a percentile of streams |
//! | `marks` | effects of the commands that a run started |
//! | [`modes`] | groups of slow requests that took a similar time |
//! | `scrapes` | request times that a service published, beside the times of its users |
//! | `targets` | the response time of each target |
//! | `ledger` | the parts of response times, with the times that the service reported |
//! | `header_groups` | the response times by the value of a response header |
//! | [`truth`] | the exact answer of a scenario for an ideal open-loop client |
//! | [`capacity`] | the rules of a search for capacity |
//! | [`sweep`] | one rate after another: the curve of throughput against times |
//! | [`compare`] | whether something got slower |
//! | [`history`] | when something got slower, in a series of runs |
//! | [`audit`] | whether a client stopped sending while something was slow, from its own file |
//! | [`omission`] | how far a report is from the truth |
//! | [`never_sent`] | the requests that a closed loop never sent |
//! | `exact_curve` | percentile curves of what is known exactly |
//! | [`league`] | load tools compared: what they reported and what the server saw |
//! | [`series`] | the data of a run's pictures |

#![warn(unreachable_pub)]

pub mod audit;
mod binomial;
mod bracket;
pub mod capacity;
pub mod compare;
mod confidence_interval;
#[cfg(test)]
mod coverage;
mod distribution;
mod exact_curve;
mod exceedance;
mod fidelity;
pub mod figures;
pub mod gates;
mod header_groups;
pub mod history;
mod ideal_answers;
pub mod league;
mod ledger;
mod levels;
mod load_timeline;
mod long_run_variance;
pub mod machine;
mod marks;
mod metric_distributions;
pub mod modes;
pub mod never_sent;
pub mod omission;
pub mod part_names;
mod population;
pub mod saturation_detector;
mod scrapes;
pub mod series;
mod sessions;
mod settling;
pub mod shadow;
mod slowest;
mod so_far;
mod sorted_values;
pub mod stopping_rule;
mod stream_lateness;
mod streams;
pub mod support;
pub mod sweep;
mod targets;
mod throughput;
pub mod truth;
pub mod uncertainty;
pub mod verdict;
mod warmup;

pub use exact_curve::{ExactTimes, exact_times, truth_curve};
pub use metric_distributions::quantile;

use truetail_model::record::RequestRecord;
use truetail_run::{Findings, Run, Verdict, VerdictState};

use metric_distributions::every_arrival;

pub use settling::settling;
pub use so_far::stopped_now;
pub use streams::{NamedStreamTime, StreamMetric, planned_per_second as planned_streams_per_second};
pub use warmup::{WarmupCutError, without_warmup};

/// Computes all findings of a run. The same run gives the same findings.
pub fn findings(run: &Run) -> Findings {
    let every = every_arrival(&run.snapshot);
    let mut findings = without_verdict(run, every.as_deref());
    findings.uncertainty = uncertainty::uncertainty(run, &findings);
    findings.verdict = verdict::judge(run, &findings, every.as_deref());
    if findings.verdict.has(verdict::code::SATURATED) {
        findings.throughput_per_second = throughput::answered_per_second_until_the_last(run, every.as_deref());
    }
    findings.closed_loop_shadow = shadow::default_shadow(run, &findings);
    findings
}

fn without_verdict(run: &Run, every: Option<&[RequestRecord]>) -> Findings {
    let (success, error_status) = metric_distributions::by_status(&run.snapshot, every);
    let response_time = metric_distributions::response_time(&run.snapshot, every);
    let metrics = metric_distributions::metrics(&run.snapshot, every, &response_time);
    let offered_per_second = throughput::offered_per_second(run, every);
    let scrapes = scrapes::scrapes(run, &response_time);
    let streams_per_second = planned_streams_per_second(run, offered_per_second);
    Findings {
        verdict: Verdict { state: VerdictState::Valid, reasons: Vec::new() },
        tally: run.snapshot.tally,
        response_time,
        response_time_success: success,
        response_time_error_status: error_status,
        metrics,
        throughput_per_second: throughput::answered_per_second(run, every),
        offered_per_second,
        uncertainty: Vec::new(),
        settling: settling::settling_of(run, every),
        arrival_fidelity: fidelity::arrival_fidelity(run, every),
        closed_loop_shadow: None,
        targets: targets::targets(run),
        reported_parts: ledger::reported_parts(run),
        ledger: ledger::ledger(run),
        header_groups: header_groups::header_groups(run),
        scrapes,
        marks: marks::marks(run),
        modes: modes::modes(run),
        slowest: slowest::slowest(run),
        stream: run.facts.stream.as_ref().map(|streams| streams::findings(streams, streams_per_second)),
        sessions: run.facts.sessions.as_ref().map(sessions::findings),
        gates: Vec::new(),
    }
}
