//! What `truetail-analysis` computes from a run: the other half of `run.json`, version 1.

mod arrival_fidelity;
mod closed_loop_shadow;
mod distribution;
mod gates;
mod llm;
mod session;
mod settling;
mod stream;
mod targets;
mod uncertainty;
mod verdict;

use truetail_model::record::Tally;

pub use arrival_fidelity::{ArrivalFidelity, Dispersion, Exponential, Gaps};
pub use closed_loop_shadow::{ClosedLoopShadow, ShadowQuantile};
pub use distribution::{Distribution, MetricDistributions, Quantile};
pub use gates::{GateFinding, GateState};
pub use llm::{Goodput, LlmFindings};
pub use session::{FlowTime, SessionFindings, StepTime};
pub use settling::{Settling, SettlingState, Shift};
pub use stream::StreamFindings;
pub use targets::TargetFindings;
pub use uncertainty::{Contribution, Uncertainty};
pub use verdict::{Reason, Verdict, VerdictState};

/// What was computed from a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Findings {
    /// Can the numbers be trusted?
    pub verdict: Verdict,
    /// The tally of the run, after its check.
    pub tally: Tally,
    /// Over all planned arrivals.
    pub response_time: Distribution,
    /// Over answers with a status below 400; `None` when all or no answers are such.
    pub response_time_success: Option<Distribution>,
    /// Over answers with a status from 400; `None` when there are none.
    pub response_time_error_status: Option<Distribution>,
    /// Every other metric, over its own arrivals.
    pub metrics: MetricDistributions,
    /// Answers per second of the schedule, or until the last answer where some came later; `None` for fewer than two arrivals.
    pub throughput_per_second: Option<f64>,
    /// Planned arrivals per second; `None` for fewer than two arrivals without a chosen duration.
    pub offered_per_second: Option<f64>,
    /// The sources of the uncertainty of each response-time quantile that is a number.
    pub uncertainty: Vec<Uncertainty>,
    /// Whether and where the response time settles.
    pub settling: Settling,
    /// How well the arrivals followed the schedule; `None` if none was issued, or fewer than two were planned.
    pub arrival_fidelity: Option<ArrivalFidelity>,
    /// What a closed-loop tool would have reported; `None` if that cannot be said.
    pub closed_loop_shadow: Option<ClosedLoopShadow>,
    /// The response time of each target, where there are several.
    pub targets: Vec<TargetFindings>,
    /// The times of streams, where answers were read as such.
    pub stream: Option<StreamFindings>,
    /// The times of sessions, where they followed a flow.
    pub sessions: Option<SessionFindings>,
    /// The results of the gates, in the order in which they were set; empty until they are judged.
    pub gates: Vec<GateFinding>,
}
