//! The parts of a gate, for others who read the same form.

use truetail_model::record::Metric;

use super::grammar;
use super::metric::{GateMetric, Operator, Statistic};

/// What a gate is about.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Subject {
    /// A quantile of a time, in (0, 1]; 1 is the largest value.
    Quantile(Metric, f64),
    /// The mean of a time.
    Mean,
    /// Planned arrivals without an answer or with an error status.
    ErrorRate,
    /// Planned arrivals without an answer.
    Unanswered,
    /// Answers that failed a check.
    CheckFailures,
    /// Answers per second.
    Throughput,
    /// Streams.
    Streams,
    /// Sessions.
    Sessions,
}

/// A gate, taken apart.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Clause {
    /// What it is about.
    pub(crate) subject: Subject,
    /// Large values meet it.
    pub(crate) upward: bool,
    /// The limit itself meets it.
    pub(crate) or_equal: bool,
    /// Nanoseconds, a share in [0, 1], or a number per second.
    pub(crate) limit: f64,
    /// It names a target.
    pub(crate) has_target: bool,
}

impl Clause {
    /// Reads `METRIC OP LIMIT`.
    ///
    /// # Errors
    /// What is wrong with it, in one line.
    pub(crate) fn parse(text: &str) -> Result<Clause, String> {
        let parsed = grammar::parse(text)?;
        let subject = match parsed.metric {
            GateMetric::Time(kind, Statistic::Quantile(q)) => Subject::Quantile(kind.metric(), q),
            GateMetric::Time(_, Statistic::Mean) => Subject::Mean,
            GateMetric::ErrorRate => Subject::ErrorRate,
            GateMetric::Unanswered => Subject::Unanswered,
            GateMetric::CheckFailures => Subject::CheckFailures,
            GateMetric::Throughput => Subject::Throughput,
            GateMetric::StreamTime(..) | GateMetric::IncompleteStreams => Subject::Streams,
            GateMetric::SessionTime(_) | GateMetric::IncompleteSessions => Subject::Sessions,
        };
        let or_equal = matches!(parsed.operator, Operator::AtLeast | Operator::AtMost);
        Ok(Clause {
            subject,
            upward: parsed.operator.is_upward(),
            or_equal,
            limit: parsed.limit,
            has_target: parsed.target.is_some(),
        })
    }
}
