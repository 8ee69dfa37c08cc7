//! Where to probe next inside a bracket.
//!
//! A probe at the limit itself stays open, however long it is. So once it is known about where the limit is, the probes go
//! to either side of it, about half of the resolution away: there they are decided soonest, and their answers make a bracket
//! that is narrow enough. Where it is: on the line of least squares through the probes, the logarithm of the share of
//! bad requests against that of the rate. Without probes on either side of the limit, in the middle of the bracket (bisection), or around the probes
//! that stayed open.
//!
//! Where to probe is never a matter of trust: a bad choice costs time, and no more.

/// The distance from the limit at which to probe, as a part of the logarithm of the resolution. Two of them are a little
/// less than the resolution.
const OFFSET: f64 = 0.47;
/// Ratios beyond this factor say nothing about where the limit is.
const FARTHEST_RATIO: f64 = 30.0;
/// Ratios whose logarithm is this far from 0 count about half.
const NEAR: f64 = 1.0;
/// How many per cent more bad requests there are for each per cent of the rate, as long as the probes do not say; and how much
/// that counts, in the square of the logarithms of rates.
const USUAL_SLOPE: (f64, f64) = (10.0, 0.0005);
/// A probe that replaces an end is at least this part of the resolution away from the limit.
const CLOSEST: f64 = 0.35;
/// Rates are rounded, and the bracket must be narrow enough all the same.
pub(super) const ROUNDING: f64 = 0.02;
/// A probe within this part of the offset of another is the same one.
const SAME: f64 = 0.3;

/// The share of bad requests that a probe saw.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Seen {
    /// Requests per second.
    pub(super) rate: f64,
    /// The share divided by what is allowed.
    pub(super) ratio: f64,
    /// How much the probe counts.
    pub(super) weight: f64,
}

impl Seen {
    /// What it counts where the limit is estimated: little far away from it, because the line is bent.
    fn weight_here(&self) -> f64 {
        self.weight * (-0.5 * (self.ratio.ln() / NEAR).powi(2)).exp()
    }
}

/// The next rate between `lower` and `top`, of which the rates `open` could not be decided. `curve` holds
/// what the probes saw. `None` if all sensible rates are in `open`.
pub(super) fn rate(lower: f64, top: f64, open: &[f64], curve: &[Seen], resolution: f64) -> Option<f64> {
    let (low, high) = (lower.ln(), top.ln());
    let open: Vec<f64> = open.iter().map(|rate| rate.ln()).filter(|x| (low..high).contains(x)).collect();
    let offset = OFFSET * resolution.ln_1p();
    let estimate = crossing(low, high, curve, resolution);
    let center = match (estimate, open.is_empty()) {
        (Some(crossing), _) => crossing,
        (None, true) => return Some(((low + high) / 2.0).exp()),
        (None, false) => open.iter().sum::<f64>() / open.len() as f64,
    };
    // The side on which the bracket is wider comes first.
    let signs = if center - low > high - center { [-1.0, 1.0] } else { [1.0, -1.0] };
    let around = signs.map(|sign| center + sign * offset);
    let inside = |x: &f64| *x > low + SAME * offset && *x < high - SAME * offset;
    let untried = |x: &f64| open.iter().all(|open| (open - x).abs() > SAME * offset);
    let narrowing = || narrowing(low, high, center, resolution).filter(untried);
    around.into_iter().find(|x| inside(x) && untried(x)).or_else(narrowing).map(f64::exp)
}

/// Where the ends are almost near enough to each other: the end to replace, moved just as far as it takes, on the side that stays
/// farther away from the limit. `None` if that would be too close to it.
fn narrowing(low: f64, high: f64, center: f64, resolution: f64) -> Option<f64> {
    let width = resolution.ln_1p() * (1.0 - ROUNDING);
    let (lower, upper) = (high - width, low + width);
    let (below, above) = (center - lower, upper - center);
    let (x, distance) = if below > above { (lower, below) } else { (upper, above) };
    (distance > CLOSEST * width).then_some(x)
}

/// The logarithm of the rate at which the ratio is probably 1, kept away from the ends of the bracket: where the line of least
/// squares through the useful probes crosses. Around that, a second line through those within about the resolution says it better.
pub(super) fn crossing(low: f64, high: f64, curve: &[Seen], resolution: f64) -> Option<f64> {
    fit(low, high, curve, resolution).map(|fit| fit.crossing)
}

/// A line through what the probes saw: logarithms of rates, and of ratios.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Fit {
    /// Where it crosses 0, kept away from the ends of the bracket.
    pub(super) crossing: f64,
    /// How steep it is.
    pub(super) slope: f64,
    /// The points, each with its weight.
    pub(super) points: Vec<[f64; 3]>,
}

/// The line whose [`crossing`] is the limit.
pub(super) fn fit(low: f64, high: f64, curve: &[Seen], resolution: f64) -> Option<Fit> {
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

/// Where the line through these points, each with its weight, crosses 0, and how steep it is.
fn line(points: &[[f64; 3]]) -> (f64, f64) {
    let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|[x, y, weight]| weight * of(*x, *y)).sum::<f64>();
    let weight = sum(&|_, _| 1.0);
    let (x, y) = (sum(&|x, _| x) / weight, sum(&|_, y| y) / weight);
    let (usual, counts) = USUAL_SLOPE;
    let slope = (sum(&|at, of| (at - x) * (of - y)) + usual * counts) / (sum(&|at, _| (at - x).powi(2)) + counts);
    (if slope > 0.0 && slope.is_finite() { x - y / slope } else { x }, slope)
}
