//! Figures that issues are judged by.

use truetail_run::{Distribution, Findings};

use super::thresholds::{RANGE_DOUBTED_FACTOR, RANGE_DOUBTED_NS, WEIGHED_QUANTILES};

pub(super) fn value_at(distribution: &Distribution, q: f64) -> Option<u64> {
    distribution.quantiles.iter().find(|quantile| quantile.q == q)?.value_ns
}

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
    /// Returns true if the range says too little to replace a number.
    fn is_wide(&self) -> bool {
        self.value_ns - self.without_ns > RANGE_DOUBTED_NS
            && self.value_ns as f64 > self.without_ns as f64 * RANGE_DOUBTED_FACTOR
    }

    fn share(&self) -> f64 {
        (self.value_ns - self.without_ns) as f64 / (self.value_ns as f64).max(1.0)
    }
}

/// Returns the weighed quantile with the widest range, if that range is too wide to be an answer.
pub(super) fn most_doubtful(findings: &Findings) -> Option<(f64, Bracket)> {
    moved(findings).filter(|(_, bracket)| bracket.is_wide()).max_by(|(_, a), (_, b)| a.share().total_cmp(&b.share()))
}

pub(crate) fn is_moved(findings: &Findings) -> bool {
    moved(findings).next().is_some()
}

/// Returns the weighed quantiles that the generator moved by more than a tenth.
fn moved(findings: &Findings) -> impl Iterator<Item = (f64, Bracket)> {
    let quantiles = findings.response_time.quantiles.iter();
    let weighed = quantiles.filter(|quantile| quantile.unresolved && WEIGHED_QUANTILES.contains(&quantile.q));
    let bracket = |value_ns, without_ns| Bracket { value_ns, without_ns };
    weighed.filter_map(move |quantile| {
        Some((quantile.q, bracket(quantile.value_ns?, quantile.without_generator_ns?.min(quantile.value_ns?))))
    })
}

pub(super) fn displaced_share(findings: &Findings) -> f64 {
    let share = |displaced: u64, issued: u64| displaced as f64 / issued.max(1) as f64;
    findings.arrival_fidelity.map_or(0.0, |fidelity| share(fidelity.displaced_by_generator, fidelity.issued))
}
