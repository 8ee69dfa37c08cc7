//! Quantiles that include the missing requests.

use truetail_model::record::Histogram;
use truetail_model::time::Nanos;

use super::correction::correct;
use super::dips::Dip;
use super::finding::{CorrectedQuantile, QUANTILES, ReportedQuantile};
use super::silence::Silence;

/// A group of missing requests, with response times spread evenly from `shortest` to `longest`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missing {
    pub(super) shortest: u64,
    pub(super) longest: u64,
    /// Lowest, best and highest estimate of their number.
    pub(super) counts: [f64; 3],
}

impl Missing {
    /// Requests missing from a silence. Each would have waited until the end of the silence and then been served.
    pub(super) fn from_silence(silence: &Silence) -> Missing {
        let served = silence.usual_duration.min(silence.span.length());
        let spread = silence.expected.sqrt() * silence.dispersion.sqrt();
        Missing {
            shortest: 0,
            longest: silence.span.length(),
            counts: [
                (silence.expected - 2.0 * spread).max(silence.expected / 2.0),
                silence.expected,
                silence.expected_high * (1.0 + served as f64 / silence.span.length().max(1) as f64),
            ],
        }
    }

    pub(super) fn from_dip(dip: &Dip) -> Missing {
        let spread = dip.missing / dip.sigma.max(1.0);
        Missing {
            shortest: 0,
            longest: dip.longest,
            counts: [(dip.missing - 2.0 * spread).max(dip.missing / 2.0), dip.missing, dip.missing + 2.0 * spread],
        }
    }
}

/// Limit on the distinct values used for the missing requests of one stretch.
const MAX_VALUES: u64 = 1_000;

/// Limit on the requests added in all. Only a broken file asks for more, and the counters would overflow.
const MAX_MISSING: f64 = (1u64 << 60) as f64;

/// Returns `histogram` with the missing requests added, using estimate `which` of their counts.
fn with_missing(histogram: &Histogram, missing: &[Missing], which: usize) -> Histogram {
    let mut all = histogram.clone();
    for one in missing {
        let count = one.counts[which].round().min(MAX_MISSING / missing.len() as f64) as u64;
        let values = count.min(MAX_VALUES);
        for index in 0..values {
            // Value i represents the requests count·i/values … count·(i + 1)/values.
            let before = |index: u64| u128::from(count) * u128::from(index) / u128::from(values);
            let copies = u64::try_from(before(index + 1) - before(index)).unwrap_or(u64::MAX);
            let share = (index as f64 + 0.5) / values as f64;
            let value = one.shortest as f64 + share * (one.longest - one.shortest) as f64;
            all.record_n(Nanos(value as u64), copies);
        }
    }
    all
}

pub(super) fn reported_quantiles(histogram: &Histogram) -> Vec<ReportedQuantile> {
    let quantile = |q: f64| Some(ReportedQuantile { q, value_ns: histogram.quantile(q)?.0 });
    QUANTILES.into_iter().filter_map(quantile).collect()
}

/// Returns quantiles that include the missing requests, with bounds. `interval` is the sending interval of each user,
/// if the caller gave it. In that case the upper bound also covers HdrHistogram's correction of each request.
pub(super) fn with_bounds(
    histogram: &Histogram,
    missing: &[Missing],
    interval: Option<Nanos>,
) -> Vec<CorrectedQuantile> {
    let [low, best, mut high] = [0, 1, 2].map(|which| with_missing(histogram, missing, which));
    if let Some(interval) = interval {
        let (filled, _) = correct(histogram, interval);
        if filled.quantile(0.99) > high.quantile(0.99) {
            high = filled;
        }
    }
    let at = |histogram: &Histogram, q: f64| histogram.quantile(q).unwrap_or_default().0;
    let quantile = |q: f64| {
        let value_ns = at(&best, q);
        CorrectedQuantile { q, value_ns, low_ns: at(&low, q).min(value_ns), high_ns: at(&high, q).max(value_ns) }
    };
    if histogram.is_empty() { Vec::new() } else { QUANTILES.into_iter().map(quantile).collect() }
}
