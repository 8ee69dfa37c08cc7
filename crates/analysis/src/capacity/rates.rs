//! Lists of rates, and readable rates.

pub(super) fn highest(rates: &[f64]) -> Option<f64> {
    rates.iter().copied().reduce(f64::max)
}

pub(super) fn lowest(rates: &[f64]) -> Option<f64> {
    rates.iter().copied().reduce(f64::min)
}

/// Rounds to four digits, so that people can read and type the rate.
pub(super) fn rounded(rate: f64) -> f64 {
    let digits = 3 - rate.log10().floor() as i32;
    let scale = 10f64.powi(digits);
    if digits >= 0 {
        (rate * scale).round() / scale
    } else {
        (rate / 10f64.powi(-digits)).round() * 10f64.powi(-digits)
    }
}
