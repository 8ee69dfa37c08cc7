//! Text of the measured figure, and for an open gate the remedies.

use truetail_run::GateState;

use super::evidence::{Evidence, Measured};
use super::metric::GateMetric;
use super::{doubt::Doubt, grammar::Parsed};
use crate::figures::{rate, time, whole_time, without_zeros};

/// Below this share of the figure, the figure without the generator is mentioned.
const WORTH_TELLING: f64 = 0.9;

/// Returns one line, such as `measured 24.48ms`.
pub(super) fn message(gate: &Parsed, evidence: &Evidence, state: GateState) -> String {
    let mut parts = vec![measured(gate, evidence)];
    parts.extend(evidence.made_of.clone());
    match state {
        GateState::Open => parts.extend(doubts(gate, evidence).iter().map(Doubt::to_string)),
        GateState::Holds | GateState::Fails => parts.extend(remark(gate, evidence)),
    }
    parts.retain(|part| !part.is_empty());
    parts.join("; ")
}

fn measured(gate: &Parsed, evidence: &Evidence) -> String {
    let value = |value: f64| figure(gate, value);
    match evidence.measured {
        Measured::Nothing => String::new(),
        Measured::Value(figure) => format!("measured {}{}", value(figure), without_generator(gate, evidence, figure)),
        Measured::AtLeast(figure) => format!("measured at least {}", value(figure)),
        Measured::Between(low, high) => format!("measured {} to {}", value(low), value(high)),
        Measured::NoAnswer => "no answer: arrivals there failed".to_owned(),
    }
}

/// Figure with its unit, with enough digits to differ from the limit.
fn figure(gate: &Parsed, value: f64) -> String {
    match gate.metric {
        metric if metric.is_time() && value != gate.limit && time(value) == time(gate.limit) => whole_time(value),
        GateMetric::Time(..) | GateMetric::StreamTime(..) | GateMetric::SessionTime(_) | GateMetric::Recovery => {
            time(value)
        }
        GateMetric::ErrorRate
        | GateMetric::Unanswered
        | GateMetric::CheckFailures
        | GateMetric::Harmed
        | GateMetric::IncompleteStreams
        | GateMetric::Goodput
        | GateMetric::SessionGoodput
        | GateMetric::IncompleteSessions => share(value),
        GateMetric::Throughput => rate(value),
    }
}

fn without_generator(gate: &Parsed, evidence: &Evidence, value: f64) -> String {
    match evidence.without_generator {
        Some(without) if without < value * WORTH_TELLING => {
            format!(" ({} without what the generator added)", figure(gate, without))
        }
        _ => String::new(),
    }
}

fn remark(gate: &Parsed, evidence: &Evidence) -> Option<String> {
    let (low, high) = evidence.interval.filter(|(low, high)| (*low..=*high).contains(&gate.limit))?;
    Some(format!("its 95 % interval, {} to {}, includes the limit", figure(gate, low), figure(gate, high)))
}

/// Doubts that keep the gate open: the ones on the same side of the measured figure as the limit.
fn doubts<'a>(gate: &Parsed, evidence: &'a Evidence) -> &'a [Doubt] {
    let is_below = match evidence.measured {
        Measured::Nothing => false,
        Measured::Value(value) | Measured::AtLeast(value) | Measured::Between(value, _) => {
            gate.limit < value || (gate.limit == value && evidence.above.is_empty())
        }
        Measured::NoAnswer => true,
    };
    match (is_below, evidence.below.is_empty(), evidence.above.is_empty()) {
        (true, false, _) | (false, _, true) => &evidence.below,
        (true, true, _) | (false, _, false) => &evidence.above,
    }
}

/// Share in per cent with up to three decimals, because limits may be this fine: `0.123%`, `100%`.
fn share(part: f64) -> String {
    format!("{}%", without_zeros(&format!("{:.3}", part * 100.0)))
}
