//! Findings that `truetail-analysis` computes from a run: the other half of `run.json`, version 1.

mod arrival_fidelity;
mod closed_loop_shadow;
mod distribution;
mod gates;
mod header_group;
mod ledger;
mod llm;
mod mark;
mod mode;
mod scrape;
mod session;
mod settling;
mod slowest;
mod stream;
mod targets;
mod uncertainty;
mod verdict;

use truetail_model::record::Tally;

pub use arrival_fidelity::{ArrivalFidelity, Dispersion, Exponential, Gaps};
pub use closed_loop_shadow::{ClosedLoopShadow, ShadowQuantile};
pub use distribution::{Distribution, MetricDistributions, Quantile};
pub use gates::{GateFinding, GateState};
pub use header_group::{HeaderGroup, HeaderGroupKind};
pub use ledger::{LedgerPart, LedgerRow, PartQuantile, ReportedPart};
pub use llm::{Goodput, LlmFindings};
pub use mark::{MarkFinding, MarkState};
pub use mode::{Mode, ModePlace};
pub use scrape::{HistogramFinding, ScrapeFinding, ServiceQuantile};
pub use session::{FlowTime, SessionFindings, StepTime};
pub use settling::{Settling, SettlingState, Shift};
pub use slowest::SlowRequest;
pub use stream::StreamFindings;
pub use targets::TargetFindings;
pub use uncertainty::{Contribution, Uncertainty};
pub use verdict::{Reason, Verdict, VerdictState};

/// Findings that were computed from a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Findings {
    /// Verdict on the run's own numbers.
    pub verdict: Verdict,
    /// The tally of the run, after its check.
    pub tally: Tally,
    /// Response time over all planned arrivals.
    pub response_time: Distribution,
    /// Response time over answers with a status below 400; `None` without such answers, and if all answers are such.
    pub response_time_success: Option<Distribution>,
    /// Response time over answers with a status of 400 or above; `None` without such answers.
    pub response_time_error_status: Option<Distribution>,
    /// Every other metric, over its own arrivals.
    pub metrics: MetricDistributions,
    /// Answers per second of the schedule, or until a later last answer; `None` for fewer than two arrivals.
    pub throughput_per_second: Option<f64>,
    /// Planned arrivals per second; `None` for fewer than two arrivals without a chosen duration.
    pub offered_per_second: Option<f64>,
    /// Sources of the uncertainty of each response-time quantile that is a number.
    pub uncertainty: Vec<Uncertainty>,
    /// Steadiness of the response time, and the end of the warm-up.
    pub settling: Settling,
    /// Comparison of the arrivals with the schedule; `None` if no arrival was issued, or fewer than two were planned.
    pub arrival_fidelity: Option<ArrivalFidelity>,
    /// Report that a closed-loop tool would have made; `None` if it cannot be computed.
    pub closed_loop_shadow: Option<ClosedLoopShadow>,
    /// Response time of each target, if there are several.
    pub targets: Vec<TargetFindings>,
    /// Times that the service reported, by name.
    pub reported_parts: Vec<ReportedPart>,
    /// Parts of the response times around a few quantiles; empty unless the service reported times.
    pub ledger: Vec<LedgerRow>,
    /// Response times by the value of each kept header, in the order of the facts.
    pub header_groups: Vec<Vec<HeaderGroup>>,
    /// Comparison of the request times that services published: for each service of the facts, an entry for each of its
    /// histograms.
    pub scrapes: Vec<Vec<HistogramFinding>>,
    /// Effect of each mark of the facts.
    pub marks: Vec<MarkFinding>,
    /// Groups of slow requests that took a similar time, apart from the others; the largest first.
    pub modes: Vec<Mode>,
    /// The slowest requests that were sent, slowest first.
    pub slowest: Vec<SlowRequest>,
    /// Times of streams, if answers were read as streams.
    pub stream: Option<StreamFindings>,
    /// Times of sessions, if they followed a flow.
    pub sessions: Option<SessionFindings>,
    /// Results of the gates, in the user's order; empty until they are judged.
    pub gates: Vec<GateFinding>,
}
