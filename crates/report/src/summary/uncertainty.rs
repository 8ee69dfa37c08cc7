//! The uncertainty budget of the headline quantile.

use truetail_run::{Contribution, Findings, Uncertainty};

use super::labelled::LabelledText;
use crate::number;

/// The headline is p99, or the highest quantile below it that the sample supports.
const HEADLINE: f64 = 0.99;

/// Returns the sources of the uncertainty of the headline quantile; `None` if there is no budget.
pub fn uncertainty(findings: &Findings) -> Option<LabelledText> {
    let budgets = findings.uncertainty.iter().filter(|budget| budget.q <= HEADLINE);
    budgets.max_by(|a, b| a.q.total_cmp(&b.q)).map(|budget| ("Uncertain", text(budget)))
}

fn text(budget: &Uncertainty) -> String {
    let sampling = budget.sampling_ns.map_or("unbounded".to_owned(), |ns| format!("±{}", time(ns)));
    let known = |ns: Option<u64>| ns.map_or("unknown".to_owned(), time);
    let parts = [
        format!("sampling {sampling}"),
        format!("histogram {}", time(budget.histogram_ns)),
        format!("clock {}", time(budget.clock_ns)),
        format!("generator lag {}", known(budget.generator_lag_ns)),
        format!("read lag {}", known(budget.read_lag_ns)),
    ];
    let largest = budget.largest.map(|part| format!("; mostly {}", name(part))).unwrap_or_default();
    format!("{} {}: {}{largest}", number::quantile_name(budget.q), number::time(budget.value_ns), parts.join(" · "))
}

fn time(ns: u64) -> String {
    number::time(ns)
}

const fn name(part: Contribution) -> &'static str {
    match part {
        Contribution::Sampling => "sampling",
        Contribution::Histogram => "the histogram",
        Contribution::Clock => "the clock",
        Contribution::GeneratorLag => "generator lag",
        Contribution::ReadLag => "read lag",
    }
}
