//! Metrics of a gate, and their comparison with a limit.

use truetail_model::record::Metric;

use crate::streams::StreamMetric;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operator {
    Above,
    AtLeast,
    Below,
    AtMost,
}

impl Operator {
    pub(super) fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Operator::Above => value > limit,
            Operator::AtLeast => value >= limit,
            Operator::Below => value < limit,
            Operator::AtMost => value <= limit,
        }
    }

    /// Returns the operator that holds for exactly the other values.
    pub(super) const fn negated(self) -> Operator {
        match self {
            Operator::Above => Operator::AtMost,
            Operator::AtLeast => Operator::Below,
            Operator::Below => Operator::AtLeast,
            Operator::AtMost => Operator::Above,
        }
    }

    pub(super) const fn is_upward(self) -> bool {
        match self {
            Operator::Above | Operator::AtLeast => true,
            Operator::Below | Operator::AtMost => false,
        }
    }
}

/// Kind of time of a request.
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

    /// Name in the text of a gate.
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

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Statistic {
    /// In (0, 1]. 1 means the largest value.
    Quantile(f64),
    Mean,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum GateMetric {
    /// A time, in nanoseconds.
    Time(TimeKind, Statistic),
    /// A time of streams, in nanoseconds.
    StreamTime(StreamMetric, Statistic),
    /// Planned streams that were not complete, as a share in [0, 1].
    IncompleteStreams,
    /// Planned requests to a language model that met the objectives of each request, as a share in [0, 1].
    Goodput,
    /// The session response time, in nanoseconds.
    SessionTime(Statistic),
    /// Planned sessions that were not completed, as a share in [0, 1].
    IncompleteSessions,
    /// Planned sessions all of whose requests met the objectives of each request, as a share in [0, 1].
    SessionGoodput,
    /// Planned arrivals without an answer or with an error status, as a share in [0, 1].
    ErrorRate,
    /// Planned arrivals without an answer, as a share in [0, 1].
    Unanswered,
    /// Answers that failed a check, as a share in [0, 1].
    CheckFailures,
    /// Time from a mark until p99 was back within its band, in nanoseconds.
    Recovery,
    /// Planned arrivals that marks harmed, as a share in [0, 1].
    Harmed,
    /// Answers per second.
    Throughput,
}

impl GateMetric {
    pub(super) const fn is_time(self) -> bool {
        matches!(
            self,
            GateMetric::Time(..) | GateMetric::StreamTime(..) | GateMetric::SessionTime(_) | GateMetric::Recovery
        )
    }

    /// Returns true if large values are good.
    pub(super) const fn is_better_when_large(self) -> bool {
        matches!(self, GateMetric::Throughput | GateMetric::Goodput | GateMetric::SessionGoodput)
    }

    /// Returns true if the metric is known only for the whole run.
    pub(super) const fn is_of_the_whole(self) -> bool {
        matches!(self, GateMetric::CheckFailures) || self.is_about_streams() || self.is_about_events()
    }

    pub(super) const fn is_about_events(self) -> bool {
        matches!(self, GateMetric::Recovery | GateMetric::Harmed)
    }

    pub(super) const fn is_about_sessions(self) -> bool {
        matches!(self, GateMetric::SessionTime(_) | GateMetric::IncompleteSessions | GateMetric::SessionGoodput)
    }

    pub(super) const fn is_about_goodput(self) -> bool {
        matches!(self, GateMetric::Goodput | GateMetric::SessionGoodput)
    }

    pub(super) fn is_about_llm(self) -> bool {
        matches!(self, GateMetric::StreamTime(metric, _) if metric.is_of_llm()) || self.is_about_goodput()
    }

    pub(super) const fn is_about_streams(self) -> bool {
        matches!(self, GateMetric::StreamTime(..) | GateMetric::IncompleteStreams) || self.is_about_goodput()
    }
}
