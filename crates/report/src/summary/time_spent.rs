//! The response time by cause.

use truetail_model::record::Metric;
use truetail_run::{Distribution, Findings};

use super::labelled::LabelledText;
use crate::number;

/// Highest share of unanswered requests. Beyond it, the means below are over different requests.
const FEW_UNANSWERED: f64 = 0.01;

/// Share of a sum that may be missing or in excess because means are rounded.
const ROUNDING: f64 = 1e-9;

/// Returns the shares of service time and of each cause of start delay in the response time. `None` if many requests
/// got no answer, because they have a start delay and no service time.
pub fn time_spent(findings: &Findings) -> Option<LabelledText> {
    let tally = &findings.tally;
    let service = &findings.metrics[Metric::ServiceTime];
    if tally.unanswered() as f64 > tally.planned as f64 * FEW_UNANSWERED || service.count == 0 {
        return None;
    }
    let parts = [(Metric::ServiceTime.definition().label, total_of(service))].into_iter().chain(delays(findings));
    shares(&parts.collect::<Vec<_>>()).map(|shares| ("Time spent", shares))
}

/// Returns the mean start delay and its causes.
pub fn start_delay(findings: &Findings) -> Option<LabelledText> {
    let mean = findings.metrics[Metric::StartDelay].mean_ns?;
    let text = match shares(&delays(findings)) {
        Some(shares) => format!("{} on average: {shares}", number::time(mean.round() as u64)),
        None => "no request was sent late".to_owned(),
    };
    Some(("Delayed", text))
}

/// Returns each cause of start delay with its total time, ns.
fn delays(findings: &Findings) -> Vec<(&'static str, f64)> {
    let causes = Metric::ALL.into_iter().filter(|metric| metric.definition().part_of == Some(Metric::StartDelay));
    let (opening, others): (Vec<_>, Vec<_>) = causes.partition(|metric| metric.has_openings());
    let total = |metric: Metric| total_of(&findings.metrics[metric]);
    let whole = total(Metric::StartDelay);
    let left = whole - others.iter().map(|metric| total(*metric)).sum::<f64>();
    // Channels that were opened before the load delayed no request.
    let left = if left > whole * ROUNDING { left } else { 0.0 };
    let others = others.into_iter().map(|metric| (metric, total(metric)));
    let all = others.chain(opening.into_iter().map(|metric| (metric, total(metric).min(left))));
    all.map(|(metric, time)| (metric.definition().label, time)).collect()
}

fn total_of(distribution: &Distribution) -> f64 {
    distribution.mean_ns.unwrap_or(0.0) * distribution.count as f64
}

fn shares(parts: &[(&str, f64)]) -> Option<String> {
    let all: f64 = parts.iter().map(|(_, time)| time).sum();
    let one = |(name, time): &(&str, f64)| format!("{} {name}", number::share(time / all));
    let shares: Vec<String> = parts.iter().filter(|(_, time)| *time > 0.0).map(one).collect();
    (!shares.is_empty()).then(|| shares.join(", "))
}
