//! The best estimate of the limit: what the probes suggest, and not what they prove.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::aim::{self, Seen};

/// Fewer points than a line has parameters, and one to tell its scatter from, have no interval.
const FEWEST_POINTS: f64 = 3.0;

/// About where the limit is, in requests per second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LimitEstimate {
    /// The rate at which as many requests are probably bad as are allowed.
    pub rate: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl LimitEstimate {
    /// Between `lower`, at which the service met its objectives, and `upper`, at which it missed one. The limit is where the line of
    /// least squares through the probes crosses what is allowed (see [`super::aim`]), and its interval follows from how the
    /// probes scatter about the line, by the delta method: with slope b, residual variance s², weights that add up to W and
    /// Sxx their spread, the variance is s²/b² · (1/W + (x − x̄)²/Sxx) (Draper & Smith, *Applied Regression Analysis*, 3rd
    /// ed., section 3.2). Too few probes on a line leave the bracket itself, and its middle. `None` if there is no bracket.
    pub(super) fn between(
        lower: f64,
        upper: f64,
        curve: &[Seen],
        resolution: f64,
        confidence: f64,
    ) -> Option<LimitEstimate> {
        if lower >= upper {
            return None;
        }
        let (low, high) = (lower.ln(), upper.ln());
        let bracket = |x: f64| LimitEstimate { rate: x.exp(), low: lower, high: upper };
        let Some(fit) = aim::fit(low, high, curve, resolution) else { return Some(bracket((low + high) / 2.0)) };
        Some(match half_width(&fit, confidence) {
            // No end is beyond a rate that met, or missed.
            Some(half) => LimitEstimate {
                rate: fit.crossing.exp(),
                low: (fit.crossing - half).exp().max(lower),
                high: (fit.crossing + half).exp().min(upper),
            },
            None => bracket(fit.crossing),
        })
    }
}

/// Half of the interval of the crossing, as a logarithm; `None` if the points are too few to tell.
fn half_width(fit: &aim::Fit, confidence: f64) -> Option<f64> {
    let sum = |of: &dyn Fn(f64, f64, f64) -> f64| fit.points.iter().map(|[x, y, w]| of(*x, *y, *w)).sum::<f64>();
    let weight = sum(&|_, _, w| w);
    // As many points of one weight as these are worth (Kish).
    let points = weight * weight / sum(&|_, _, w| w * w);
    if points < FEWEST_POINTS || fit.slope <= 0.0 {
        return None;
    }
    let (x, y) = (sum(&|x, _, w| w * x) / weight, sum(&|_, y, w| w * y) / weight);
    let residual = sum(&|at, of, w| w * (of - y - fit.slope * (at - x)).powi(2)) / (points - 2.0);
    let spread = sum(&|at, _, w| w * (at - x).powi(2));
    let variance = residual / fit.slope.powi(2) * (1.0 / weight + (fit.crossing - x).powi(2) / spread);
    let student = StudentsT::new(0.0, 1.0, points - 2.0).ok()?.inverse_cdf(0.5 + confidence / 2.0);
    Some(student * variance.sqrt()).filter(|half| half.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a service shows whose bad requests grow as the tenth power of the rate, with this limit, and scatter.
    fn curve(limit: f64, scatter: &[f64]) -> Vec<Seen> {
        let rates = (0..scatter.len()).map(|i| limit * (0.96 + 0.08 * i as f64 / (scatter.len() - 1) as f64));
        let seen = |(rate, off): (f64, &f64)| Seen { rate, ratio: (rate / limit).powi(10) * off.exp(), weight: 1.0 };
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
