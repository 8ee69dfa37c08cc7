//! What a gate is about: a metric, and how it is compared with a limit.

use truetail_model::record::Metric;

use crate::streams::StreamMetric;

/// How a metric is compared with a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operator {
    Above,
    AtLeast,
    Below,
    AtMost,
}

impl Operator {
    /// Does the condition hold for this value?
    pub(super) fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Operator::Above => value > limit,
            Operator::AtLeast => value >= limit,
            Operator::Below => value < limit,
            Operator::AtMost => value <= limit,
        }
    }

    /// The operator that holds for all other values.
    pub(super) const fn negated(self) -> Operator {
        match self {
            Operator::Above => Operator::AtMost,
            Operator::AtLeast => Operator::Below,
            Operator::Below => Operator::AtLeast,
            Operator::AtMost => Operator::Above,
        }
    }

    /// Large values meet the condition, rather than small ones.
    pub(super) const fn is_upward(self) -> bool {
        match self {
            Operator::Above | Operator::AtLeast => true,
            Operator::Below | Operator::AtMost => false,
        }
    }
}

/// Which time of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TimeKind {
    /// From the intended start to the end, over all planned arrivals.
    Response,
    /// From the actual start to the end, over answers.
    Service,
    /// From the intended start to the first byte, over answers.
    FirstByte,
}

impl TimeKind {
    pub(super) const ALL: [TimeKind; 3] = [TimeKind::Response, TimeKind::Service, TimeKind::FirstByte];

    /// As users write it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            TimeKind::Response => "response-time",
            TimeKind::Service => "service-time",
            TimeKind::FirstByte => "first-byte",
        }
    }

    pub(super) const fn metric(self) -> Metric {
        match self {
            TimeKind::Response => Metric::ResponseTime,
            TimeKind::Service => Metric::ServiceTime,
            TimeKind::FirstByte => Metric::FirstByteTime,
        }
    }
}

/// Which figure of a distribution.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Statistic {
    /// In (0, 1]; 1 is the largest value.
    Quantile(f64),
    Mean,
}

/// What is compared with a limit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum GateMetric {
    /// A time, in nanoseconds.
    Time(TimeKind, Statistic),
    /// A time of streams, in nanoseconds.
    StreamTime(StreamMetric, Statistic),
    /// Planned streams that were not complete, as a share in [0, 1].
    IncompleteStreams,
    /// The session response time, in nanoseconds.
    SessionTime(Statistic),
    /// Planned sessions that were not completed, as a share in [0, 1].
    IncompleteSessions,
    /// Planned arrivals without an answer or with an error status, as a share in [0, 1].
    ErrorRate,
    /// Planned arrivals without an answer, as a share in [0, 1].
    Unanswered,
    /// Answers that failed a check, as a share in [0, 1].
    CheckFailures,
    /// Answers a second.
    Throughput,
}

impl GateMetric {
    /// It is compared with a duration.
    pub(super) const fn is_time(self) -> bool {
        matches!(self, GateMetric::Time(..) | GateMetric::StreamTime(..) | GateMetric::SessionTime(_))
    }

    /// A good service has much of it.
    pub(super) const fn is_better_when_large(self) -> bool {
        matches!(self, GateMetric::Throughput)
    }

    /// It is counted or recorded for the whole run only.
    pub(super) const fn is_of_the_whole(self) -> bool {
        matches!(self, GateMetric::CheckFailures) || self.is_about_streams()
    }

    /// It is about sessions.
    pub(super) const fn is_about_sessions(self) -> bool {
        matches!(self, GateMetric::SessionTime(_) | GateMetric::IncompleteSessions)
    }

    /// It is about language models.
    pub(super) fn is_about_llm(self) -> bool {
        matches!(self, GateMetric::StreamTime(metric, _) if metric.is_of_llm())
    }

    /// It is about streams.
    pub(super) const fn is_about_streams(self) -> bool {
        matches!(self, GateMetric::StreamTime(..) | GateMetric::IncompleteStreams)
    }
}
