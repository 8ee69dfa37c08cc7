//! A gate and its decision.

use std::fmt;
use std::str::FromStr;

use truetail_model::time::Nanos;
use truetail_run::{Findings, GateFinding, Run};

use super::doubt::Doubt;
use super::evidence::{Evidence, Measured};
use super::grammar::{self, Parsed};
use super::message::message;
use super::metric::{GateMetric, Operator, Statistic, TimeKind};
use super::scope::Scope;
use super::{marks, sessions, shares, streams, times};
use crate::streams::StreamMetric;

/// A condition that must hold, such as `p99 < 50ms`, or a condition that fails a run, such as `p99 > 50ms`.
#[derive(Clone, PartialEq, Debug)]
pub struct Gate {
    text: String,
    must_hold: bool,
    /// Holds the operator that fails the run.
    pub(super) parsed: Parsed,
}

/// Reason why a text is not a gate. One line that quotes the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GateError(pub(crate) String);

impl fmt::Display for GateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for GateError {}

impl FromStr for Gate {
    type Err = GateError;

    /// Parses `METRIC OP LIMIT`. `docs/gates.md` lists all forms.
    fn from_str(text: &str) -> Result<Gate, GateError> {
        let mut parsed = grammar::parse(text).map_err(GateError)?;
        let must_hold = parsed.operator.is_upward() == parsed.metric.is_better_when_large();
        if must_hold {
            parsed.operator = parsed.operator.negated();
        }
        Ok(Gate { text: text.trim().to_owned(), must_hold, parsed })
    }
}

impl fmt::Display for Gate {
    /// Writes the text of the gate as given.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Gate {
    /// Returns true if the condition must hold, and false if it fails the run.
    pub fn must_hold(&self) -> bool {
        self.must_hold
    }

    /// Name of the gate's target, or `None` if the gate is about the whole run.
    pub fn target(&self) -> Option<&str> {
        self.parsed.target.as_deref()
    }

    /// Returns true if the gate is about checks of answers.
    pub fn is_about_checks(&self) -> bool {
        self.parsed.metric == GateMetric::CheckFailures
    }

    /// Returns true if the gate is about language models.
    pub fn is_about_llm(&self) -> bool {
        self.parsed.metric.is_about_llm()
    }

    /// Returns true if the gate is about goodput, which needs objectives of each request.
    pub fn is_about_goodput(&self) -> bool {
        self.parsed.metric.is_about_goodput()
    }

    /// Returns the objective of each request that has the limit of this percentile, such as `ttft < 200ms` of `ttft p99
    /// < 200ms`. `None` unless the gate is about a percentile of TTFT or TPOT.
    pub fn for_each_request(&self) -> Option<String> {
        let GateMetric::StreamTime(metric, Statistic::Quantile(_)) = self.parsed.metric else { return None };
        let name = match metric {
            StreamMetric::FirstContent => "ttft",
            StreamMetric::TimePerOutputToken => "tpot",
            _ => return None,
        };
        // The operator is the one that fails the run.
        let sign = if self.parsed.operator == Operator::Above { "<=" } else { "<" };
        self.must_hold.then(|| format!("{name} {sign} {}", Nanos(self.parsed.limit as u64)))
    }

    /// Returns true if the gate is about streams.
    pub fn is_about_streams(&self) -> bool {
        self.parsed.metric.is_about_streams()
    }

    /// Returns true if the gate is about events, the commands that a run started.
    pub fn is_about_events(&self) -> bool {
        self.parsed.metric.is_about_events()
    }

    /// Returns true if the gate is about the goodput of sessions, which only agents have.
    pub fn is_about_session_goodput(&self) -> bool {
        self.parsed.metric == GateMetric::SessionGoodput
    }

    /// Returns true if the gate is about sessions.
    pub fn is_about_sessions(&self) -> bool {
        self.parsed.metric.is_about_sessions()
    }

    /// Decides the gate for a run with these findings. The finding holds if the service passed.
    pub fn judge(&self, run: &Run, findings: &Findings) -> GateFinding {
        let of_target = || match Scope::named(run, self.target()) {
            Ok(scope) => self.evidence(run, findings, scope),
            Err(why) => Evidence::nothing(why),
        };
        let evidence = match self.parsed.metric {
            // For sessions, the name in braces is a flow.
            GateMetric::SessionTime(statistic) => sessions::time(run, findings, self.target(), statistic),
            GateMetric::IncompleteSessions => sessions::incomplete(run, findings, self.target()),
            GateMetric::SessionGoodput => sessions::goodput(run, findings),
            _ => self.step_evidence(run, findings).unwrap_or_else(of_target),
        };
        let state = evidence.bounds.decide(self.parsed.operator, self.parsed.limit);
        let is_time = self.parsed.metric.is_time();
        let ns = |value: f64| is_time.then_some(value.round() as u64);
        let number = |value: f64| (!is_time).then_some(value);
        GateFinding {
            text: self.text.clone(),
            state,
            value_ns: figure(&evidence).and_then(ns),
            limit_ns: ns(self.parsed.limit),
            value: figure(&evidence).and_then(number),
            limit: number(self.parsed.limit),
            message: message(&self.parsed, &evidence, state),
        }
    }

    /// Evidence about a step that may consist of several requests and thus has a response time different from theirs.
    fn step_evidence(&self, run: &Run, findings: &Findings) -> Option<Evidence> {
        let GateMetric::Time(TimeKind::Response, statistic) = self.parsed.metric else { return None };
        sessions::step_time(run, findings, self.target(), statistic)
    }

    fn evidence(&self, run: &Run, findings: &Findings, scope: Scope) -> Evidence {
        match self.parsed.metric {
            GateMetric::Time(..) if matches!(scope, Scope::Target(_)) && run.snapshot.targets.is_empty() => {
                Evidence::nothing(Doubt::TargetsNotKept)
            }
            GateMetric::Time(kind, statistic) => times::evidence(run, findings, scope, kind, statistic),
            GateMetric::StreamTime(metric, statistic) => streams::time(run, findings, metric, statistic),
            GateMetric::IncompleteStreams => streams::incomplete(run, findings),
            GateMetric::Goodput => streams::goodput(run, findings),
            GateMetric::SessionTime(_) | GateMetric::IncompleteSessions | GateMetric::SessionGoodput => {
                unreachable!("these are of no target")
            }
            GateMetric::ErrorRate => shares::failures(run, findings, scope, true),
            GateMetric::Unanswered => shares::failures(run, findings, scope, false),
            GateMetric::CheckFailures => shares::check_failures(run, findings),
            GateMetric::Recovery => marks::recovery(findings),
            GateMetric::Harmed => marks::harmed(run, findings),
            GateMetric::Throughput => shares::throughput(run, findings, scope),
        }
    }
}

/// Figure of a finding, or its lower bound if only that is known.
fn figure(evidence: &Evidence) -> Option<f64> {
    match evidence.measured {
        Measured::Value(value) | Measured::AtLeast(value) | Measured::Between(value, _) => Some(value),
        Measured::Nothing | Measured::NoAnswer => None,
    }
}

/// Decides several gates, in order.
pub fn judge_all(gates: &[Gate], run: &Run, findings: &Findings) -> Vec<GateFinding> {
    gates.iter().map(|gate| gate.judge(run, findings)).collect()
}
