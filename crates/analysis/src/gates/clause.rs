//! Parts of a gate, for other code that reads the same form.

use truetail_model::record::Metric;

use super::grammar;
use super::metric::{GateMetric, Operator, Statistic};
use crate::streams::StreamMetric;

/// Subject of a gate. [`GateMetric`] explains the variants.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Subject {
    /// A quantile of a time, in (0, 1]. 1 means the largest value.
    Quantile(Metric, f64),
    Mean,
    ErrorRate,
    Unanswered,
    CheckFailures,
    Throughput,
    /// A quantile of a time of streams, as in `Quantile`.
    StreamQuantile(StreamMetric, f64),
    IncompleteStreams,
    Goodput,
    Sessions,
    Events,
}

/// A parsed gate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Clause {
    pub(crate) subject: Subject,
    /// True if large values meet the condition.
    pub(crate) upward: bool,
    /// True if the limit itself meets the condition.
    pub(crate) or_equal: bool,
    /// Nanoseconds, a share in [0, 1], or a number per second.
    pub(crate) limit: f64,
    pub(crate) has_target: bool,
}

impl Clause {
    /// Parses `METRIC OP LIMIT`.
    ///
    /// # Errors
    /// One line that says what is wrong with the text.
    pub(crate) fn parse(text: &str) -> Result<Clause, String> {
        let parsed = grammar::parse(text)?;
        let subject = match parsed.metric {
            GateMetric::Time(kind, Statistic::Quantile(q)) => Subject::Quantile(kind.metric(), q),
            GateMetric::StreamTime(metric, Statistic::Quantile(q)) => Subject::StreamQuantile(metric, q),
            GateMetric::Time(_, Statistic::Mean) | GateMetric::StreamTime(_, Statistic::Mean) => Subject::Mean,
            GateMetric::ErrorRate => Subject::ErrorRate,
            GateMetric::Unanswered => Subject::Unanswered,
            GateMetric::CheckFailures => Subject::CheckFailures,
            GateMetric::Throughput => Subject::Throughput,
            GateMetric::IncompleteStreams => Subject::IncompleteStreams,
            GateMetric::Goodput => Subject::Goodput,
            GateMetric::SessionTime(_) | GateMetric::IncompleteSessions | GateMetric::SessionGoodput => {
                Subject::Sessions
            }
            GateMetric::Recovery | GateMetric::Harmed => Subject::Events,
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
