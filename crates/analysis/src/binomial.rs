//! The binomial distribution, by the incomplete beta function.

/// P(B ≤ `k`) for B binomial with `n` trials of probability `p` in (0, 1): I_{1−p}(n − k, k + 1)
/// (Abramowitz & Stegun 26.5.24).
pub(crate) fn at_most(k: u64, n: u64, p: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    incomplete_beta((n - k) as f64, k as f64 + 1.0, 1.0 - p)
}

/// The smallest k with P(B ≤ k) ≥ `level`, for B binomial with `n` trials of probability `p` in (0, 1).
pub(crate) fn quantile(level: f64, n: u64, p: f64) -> u64 {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low + (high - low) / 2;
        if at_most(middle, n, p) >= level {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// The regularised incomplete beta function I_x(a, b), a and b above 0, x in [0, 1].
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast on this side of the mean; the other side is reached by I_x(a, b) = 1 − I_{1−x}(b, a).
    if x < (a + 1.0) / (a + b + 2.0) {
        beta_weight(a, b, x) * beta_fraction(a, b, x) / a
    } else {
        1.0 - beta_weight(a, b, x) * beta_fraction(b, a, 1.0 - x) / b
    }
}

/// x^a (1 − x)^b / B(a, b).
fn beta_weight(a: f64, b: f64, x: f64) -> f64 {
    let ln_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    libm::exp(a * libm::log(x) + b * libm::log1p(-x) - ln_beta)
}

/// The continued fraction of Abramowitz & Stegun 26.5.8, from its head on by Lentz's method.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..1_000_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for coefficient in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + coefficient * d);
            c = away_from_zero(1.0 + coefficient / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-14 {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(B ≤ k) added up term by term, each term from the one before it.
    fn by_addition(k: u64, n: u64, p: f64) -> f64 {
        let mut term = (1.0 - p).powi(n as i32);
        let mut sum = term;
        for i in 0..k {
            term *= (n - i) as f64 / (i + 1) as f64 * p / (1.0 - p);
            sum += term;
        }
        sum
    }

    #[test]
    fn it_is_the_sum_of_its_terms() {
        for n in [1, 2, 7, 50, 120] {
            for p in [0.01, 0.1, 0.5, 0.9, 0.99] {
                for k in 0..n {
                    let (ours, added) = (at_most(k, n, p), by_addition(k, n, p));
                    assert!((ours - added).abs() < 1e-10, "n {n} p {p} k {k}: {ours} {added}");
                }
            }
        }
    }

    #[test]
    fn quantiles_invert_it() {
        for (n, p) in [(10, 0.5), (368, 0.99), (60_000, 0.999), (100_000_000, 0.9999)] {
            for level in [0.025, 0.5, 0.975] {
                let k = quantile(level, n, p);
                assert!(at_most(k, n, p) >= level, "{n} {p} {level}");
                assert!(k == 0 || at_most(k - 1, n, p) < level, "{n} {p} {level}");
            }
        }
    }

    #[test]
    fn far_out_it_agrees_with_the_normal_approximation() {
        let (n, p) = (100_000_000_u64, 0.99);
        let spread = (n as f64 * p * (1.0 - p)).sqrt();
        let expected = n as f64 * p - 1.959_964 * spread;
        assert!((quantile(0.025, n, p) as f64 - expected).abs() < 0.01 * spread);
    }
}
