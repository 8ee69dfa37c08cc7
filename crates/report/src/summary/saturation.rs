//! A run whose backlog grew without end: its result is a capacity.

use truetail_analysis::verdict::SATURATED;
use truetail_run::Findings;

use super::{labelled_text, number};
use crate::style::Style;

/// What was answered, in place of response times; nothing where the service was not saturated.
pub(super) fn lines(findings: &Findings, style: Style) -> Vec<String> {
    let Some(reason) = findings.verdict.reasons.iter().find(|reason| reason.code == SATURATED) else {
        return Vec::new();
    };
    let per_second = |name: &str| reason.numbers.get(name).and_then(|number| number.as_f64()).unwrap_or(f64::NAN);
    let (capacity, offered) = (per_second("capacity_per_second"), per_second("offered_per_second"));
    let capacity = format!("{} were answered while {} were offered", number::rate(capacity), number::rate(offered));
    let times = "no quantile is a property of this service: the longer the run, the slower the answers; they are in \
                 run.json";
    [labelled_text("Capacity", &capacity, style), labelled_text("Response", times, style)].concat()
}
