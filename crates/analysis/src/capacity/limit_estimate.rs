//! Best estimate of the limit: suggested by the probes, not proven.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::aim::{self, ProbeRatio};

/// Fewest points with an interval: the two parameters of a line, and one more to measure the scatter.
const FEWEST_POINTS: f64 = 3.0;

/// Estimate of the limit, in requests per second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LimitEstimate {
    /// Rate with, most likely, exactly the allowed share of bad requests.
    pub rate: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl LimitEstimate {
    /// Estimates the limit between `lower`, which met the objectives, and `upper`, which missed one. `None` if not in
    /// order.
    ///
    /// At the limit, the least-squares line through the probes crosses the allowed share (see [`super::aim`]). The
    /// interval follows from the scatter of the probes by the delta method. With slope b, residual variance s², weights
    /// of sum W and spread Sxx, the variance is s²/b² · (1/W + (x − x̄)²/Sxx) (Draper & Smith, *Applied Regression
    /// Analysis*, 3rd ed., section 3.2). With too few probes on a line, the interval is the bracket.
    pub(super) fn between(
        lower: f64,
        upper: f64,
        curve: &[ProbeRatio],
        resolution: f64,
        confidence: f64,
    ) -> Option<LimitEstimate> {
        if lower >= upper {
            return None;
        }
        let low = lower.ln();
        let high = upper.ln();
        let bracket = |x: f64| LimitEstimate { rate: x.exp(), low: lower, high: upper };
        let Some(fit) = aim::fit(low, high, curve, resolution) else { return Some(bracket((low + high) / 2.0)) };
        Some(match half_width(&fit, confidence) {
            // An interval never extends beyond a rate that met or missed.
            Some(half) => LimitEstimate {
                rate: fit.crossing.exp(),
                low: (fit.crossing - half).exp().max(lower),
                high: (fit.crossing + half).exp().min(upper),
            },
            None => bracket(fit.crossing),
        })
    }
}

/// Half of the interval of the crossing, as a logarithm. `None` if there are too few points.
fn half_width(fit: &aim::Fit, confidence: f64) -> Option<f64> {
    let sum = |of: &dyn Fn(f64, f64, f64) -> f64| fit.points.iter().map(|[x, y, w]| of(*x, *y, *w)).sum::<f64>();
    let weight = sum(&|_, _, w| w);
    // Effective number of points (Kish).
    let points = weight * weight / sum(&|_, _, w| w * w);
    if points < FEWEST_POINTS || fit.slope <= 0.0 {
        return None;
    }
    let x = sum(&|x, _, w| w * x) / weight;
    let y = sum(&|_, y, w| w * y) / weight;
    let residual = sum(&|at, of, w| w * (of - y - fit.slope * (at - x)).powi(2)) / (points - 2.0);
    let spread = sum(&|at, _, w| w * (at - x).powi(2));
    let variance = residual / fit.slope.powi(2) * (1.0 / weight + (fit.crossing - x).powi(2) / spread);
    let student = StudentsT::new(0.0, 1.0, points - 2.0).ok()?.inverse_cdf(0.5 + confidence / 2.0);
    Some(student * variance.sqrt()).filter(|half| half.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Probes of a service whose share of bad requests grows as the tenth power of the rate, with scatter.
    fn curve(limit: f64, scatter: &[f64]) -> Vec<ProbeRatio> {
        let rates = (0..scatter.len()).map(|i| limit * (0.96 + 0.08 * i as f64 / (scatter.len() - 1) as f64));
        let seen =
            |(rate, off): (f64, &f64)| ProbeRatio { rate, ratio: (rate / limit).powi(10) * off.exp(), weight: 1.0 };
        rates.zip(scatter).map(seen).collect()
    }

    #[test]
    fn the_interval_follows_from_how_the_probes_scatter() {
        let alternating = |by: f64| [by, -by, by, -by, -by, by, -by, by];
        let width = |by: f64| {
            let found = LimitEstimate::between(350.0, 450.0, &curve(400.0, &alternating(by)), 0.1, 0.95).unwrap();
            assert!(found.low < 400.000_001 && found.high > 399.999_999, "{found:?}");
            assert!((found.rate / 400.0 - 1.0).abs() < 0.02, "{found:?}");
            (found.high / found.low).ln()
        };
        assert!(width(0.0) < 1e-3 && width(0.1) < width(0.3), "{} {}", width(0.1), width(0.3));
        assert!(width(0.1) < 0.1, "{}", width(0.1));
    }

    #[test]
    fn it_is_never_outside_of_the_bracket() {
        let wild = curve(400.0, &[2.0, -2.0, 1.0, -2.0, 2.0, -1.0]);
        let found = LimitEstimate::between(390.0, 410.0, &wild, 0.1, 0.95).unwrap();
        assert!(390.0 <= found.low && found.low <= found.rate && found.rate <= found.high && found.high <= 410.0);
    }

    #[test]
    fn too_few_probes_leave_the_bracket() {
        let found = LimitEstimate::between(100.0, 400.0, &[], 0.1, 0.95).unwrap();
        assert!((found.rate - 200.0).abs() < 1e-9 && (found.low, found.high) == (100.0, 400.0), "{found:?}");
        let two = LimitEstimate::between(300.0, 500.0, &curve(400.0, &[0.0, 0.0]), 0.1, 0.95).unwrap();
        assert_eq!((two.low, two.high), (300.0, 500.0));
        assert_eq!(LimitEstimate::between(400.0, 400.0, &[], 0.1, 0.95), None);
    }
}
