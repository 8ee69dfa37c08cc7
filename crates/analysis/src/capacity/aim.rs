//! Choice of the next rate to probe inside a bracket.
//!
//! A probe at the limit stays open, no matter how long it runs. Once the limit is roughly known, the search therefore
//! probes about half of the resolution away from it, on either side. Probes are decided soonest at that distance, and
//! their answers make a bracket that is narrow enough. The limit is estimated from a least-squares line: the logarithm
//! of the share of bad requests over the logarithm of the rate. Without probes on both sides of the limit, the search
//! bisects the bracket or probes around open rates. A bad choice costs time, but never makes a result wrong.

/// Distance of a probe from the limit, as a part of the logarithm of the resolution. A little less than half.
const OFFSET: f64 = 0.47;
/// Ratios beyond this factor say nothing about the position of the limit.
const FARTHEST_RATIO: f64 = 30.0;
/// A ratio whose logarithm is this far from 0 counts about half.
const NEAR: f64 = 1.0;
/// Slope that is assumed until the probes show it, and its weight. The slope says by how many per cent bad requests
/// increase with one per cent of the rate. The weight is in squared logarithms of rates.
const USUAL_SLOPE: (f64, f64) = (10.0, 0.0005);
/// Smallest distance from the limit of a probe that replaces an end, as a part of the resolution.
const CLOSEST: f64 = 0.35;
/// Margin for rounding the rates, so that the bracket is still narrow enough.
pub(super) const ROUNDING: f64 = 0.02;
/// Two probes within this part of the offset are treated as the same.
const SAME: f64 = 0.3;

/// Share of bad requests in a probe.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct ProbeRatio {
    /// Requests per second.
    pub(super) rate: f64,
    /// Share of bad requests divided by the allowed share.
    pub(super) ratio: f64,
    /// Weight of the probe in the estimate.
    pub(super) weight: f64,
}

impl ProbeRatio {
    /// Weight in the estimate of the limit. It falls with the distance from the limit, because the curve is bent.
    fn weight_here(&self) -> f64 {
        self.weight * (-0.5 * (self.ratio.ln() / NEAR).powi(2)).exp()
    }
}

/// Returns the next rate between `lower` and `top`. `open` holds the rates that stayed undecided, and `curve` the
/// results of the probes. Returns `None` if all sensible rates are in `open`.
pub(super) fn rate(lower: f64, top: f64, open: &[f64], curve: &[ProbeRatio], resolution: f64) -> Option<f64> {
    let low = lower.ln();
    let high = top.ln();
    let open: Vec<f64> = open.iter().map(|rate| rate.ln()).filter(|x| (low..high).contains(x)).collect();
    let offset = OFFSET * resolution.ln_1p();
    let estimate = crossing(low, high, curve, resolution);
    let center = match (estimate, open.is_empty()) {
        (Some(crossing), _) => crossing,
        (None, true) => return Some(((low + high) / 2.0).exp()),
        (None, false) => open.iter().sum::<f64>() / open.len() as f64,
    };
    // The side with the wider bracket comes first.
    let signs = if center - low > high - center { [-1.0, 1.0] } else { [1.0, -1.0] };
    let around = signs.map(|sign| center + sign * offset);
    let inside = |x: &f64| *x > low + SAME * offset && *x < high - SAME * offset;
    let untried = |x: &f64| open.iter().all(|open| (open - x).abs() > SAME * offset);
    let narrowing = || narrowing(low, high, center, resolution).filter(untried);
    around.into_iter().find(|x| inside(x) && untried(x)).or_else(narrowing).map(f64::exp)
}

/// Replaces one end if the ends are almost near enough to each other. Moves it just as far as needed, on the side that
/// stays farther from the limit. Returns `None` if the new end would be too close to the limit.
fn narrowing(low: f64, high: f64, center: f64, resolution: f64) -> Option<f64> {
    let width = resolution.ln_1p() * (1.0 - ROUNDING);
    let lower = high - width;
    let upper = low + width;
    let below = center - lower;
    let above = upper - center;
    let (x, distance) = if below > above { (lower, below) } else { (upper, above) };
    (distance > CLOSEST * width).then_some(x)
}

/// Returns the logarithm of the limit, which is the rate with ratio 1. A line through all useful probes gives a rough
/// value. A second line, through the probes within about the resolution of that value, refines it. The result keeps a
/// distance from the ends of the bracket.
pub(super) fn crossing(low: f64, high: f64, curve: &[ProbeRatio], resolution: f64) -> Option<f64> {
    fit(low, high, curve, resolution).map(|fit| fit.crossing)
}

/// A line through the probes: logarithms of ratios over logarithms of rates.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Fit {
    /// Zero of the line, as the logarithm of a rate, kept away from the ends of the bracket.
    pub(super) crossing: f64,
    pub(super) slope: f64,
    pub(super) points: Vec<[f64; 3]>,
}

/// Fits the line whose [`crossing`] is the limit.
pub(super) fn fit(low: f64, high: f64, curve: &[ProbeRatio], resolution: f64) -> Option<Fit> {
    let useful = curve.iter().filter(|seen| (1.0 / FARTHEST_RATIO..FARTHEST_RATIO).contains(&seen.ratio));
    let points: Vec<[f64; 3]> = useful.map(|seen| [seen.rate.ln(), seen.ratio.ln(), seen.weight_here()]).collect();
    let crosses = points.iter().any(|point| point[1] <= 0.0) && points.iter().any(|point| point[1] > 0.0);
    let margin = (high - low) * 0.02;
    let within = |x: f64| x.clamp(low + margin, high - margin);
    let about = within(line(&points).0);
    let near = |x: f64| (-0.5 * ((x - about) / resolution.ln_1p()).powi(2)).exp();
    let closer: Vec<[f64; 3]> = points.iter().map(|[x, y, weight]| [*x, *y, weight * near(*x)]).collect();
    crosses.then(|| {
        let (crossing, slope) = line(&closer);
        Fit { crossing: within(crossing), slope, points: closer }
    })
}

/// Returns the zero and the slope of the line through the weighted points.
fn line(points: &[[f64; 3]]) -> (f64, f64) {
    let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|[x, y, weight]| weight * of(*x, *y)).sum::<f64>();
    let weight = sum(&|_, _| 1.0);
    let x = sum(&|x, _| x) / weight;
    let y = sum(&|_, y| y) / weight;
    let (usual, counts) = USUAL_SLOPE;
    let slope = (sum(&|at, of| (at - x) * (of - y)) + usual * counts) / (sum(&|at, _| (at - x).powi(2)) + counts);
    (if slope > 0.0 && slope.is_finite() { x - y / slope } else { x }, slope)
}
