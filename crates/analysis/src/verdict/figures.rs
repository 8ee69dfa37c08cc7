//! Figures that issues are judged by.

use truetail_run::{Distribution, Findings};

use super::thresholds::WEIGHED_QUANTILES;

pub(super) fn value_at(distribution: &Distribution, q: f64) -> Option<u64> {
    distribution.quantiles.iter().find(|quantile| quantile.q == q)?.value_ns
}

/// The mean of the values that are known; 0 where there are none.
pub(super) fn mean_or_zero(distribution: &Distribution) -> f64 {
    distribution.mean_ns.unwrap_or(0.0)
}

/// A quantile of the response time, with and without what the generator added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bracket {
    pub(super) value_ns: u64,
    pub(super) without_ns: u64,
}

impl Bracket {
    fn share(&self) -> f64 {
        (self.value_ns - self.without_ns) as f64 / (self.value_ns as f64).max(1.0)
    }
}

/// Of the quantiles that are weighed and that the generator moved by more than a tenth, the one that it moved most.
pub(super) fn most_moved(findings: &Findings) -> Option<(f64, Bracket)> {
    let quantiles = findings.response_time.quantiles.iter();
    let weighed = quantiles.filter(|quantile| quantile.unresolved && WEIGHED_QUANTILES.contains(&quantile.q));
    let bracket = |value_ns, without_ns| Bracket { value_ns, without_ns };
    let brackets = weighed.filter_map(|quantile| {
        Some((quantile.q, bracket(quantile.value_ns?, quantile.without_generator_ns?.min(quantile.value_ns?))))
    });
    brackets.max_by(|(_, a), (_, b)| a.share().total_cmp(&b.share()))
}

/// The share of the issued arrivals that the generator displaced.
pub(super) fn displaced_share(findings: &Findings) -> f64 {
    let share = |displaced: u64, issued: u64| displaced as f64 / issued.max(1) as f64;
    findings.arrival_fidelity.map_or(0.0, |fidelity| share(fidelity.displaced_by_generator, fidelity.issued))
}
