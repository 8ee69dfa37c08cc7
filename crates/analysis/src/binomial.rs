//! The binomial distribution, computed with the incomplete beta function.

/// P(B ≤ `k`) for B binomial with `n` trials of probability `p` in (0, 1): I_{1−p}(n − k, k + 1) (Abramowitz & Stegun
/// 26.5.24). Between whole numbers it continues smoothly, as the incomplete beta function does.
pub(crate) fn at_most(k: f64, n: f64, p: f64) -> f64 {
    if k < 0.0 {
        0.0
    } else if k >= n {
        1.0
    } else {
        incomplete_beta(n - k, k + 1.0, 1.0 - p)
    }
}

/// P(B < `k`) plus half of P(B = `k`): the mid-P of Lancaster (*JASA* 56, 1961).
pub(crate) fn mid(k: f64, n: f64, p: f64) -> f64 {
    (at_most(k, n, p) + at_most(k - 1.0, n, p)) / 2.0
}

/// The regularised incomplete beta function I_x(a, b) for a and b above 0 and x in [0, 1].
pub(crate) fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast on this side of the mean. I_x(a, b) = 1 − I_{1−x}(b, a) covers the other side.
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

/// The continued fraction of Abramowitz & Stegun 26.5.8, evaluated from its head by Lentz's method.
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

    /// P(B ≤ k), added up term by term. Each term follows from the one before it.
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
                    let ours = at_most(k as f64, n as f64, p);
                    let added = by_addition(k, n, p);
                    assert!((ours - added).abs() < 1e-10, "n {n} p {p} k {k}: {ours} {added}");
                }
            }
        }
    }

    #[test]
    fn far_out_it_agrees_with_the_normal_approximation() {
        let n = 1e8_f64;
        let p = 0.99;
        let spread = (n * p * (1.0 - p)).sqrt();
        for (deviations, level) in [(-1.959_964, 0.025), (0.0, 0.5), (1.959_964, 0.975)] {
            let ours = mid(n * p + deviations * spread, n, p);
            assert!((ours - level).abs() < 1e-4, "{deviations}: {ours}");
        }
    }

    #[test]
    fn half_of_the_value_itself_counts() {
        assert!((mid(2.0, 4.0, 0.5) - 0.5).abs() < 1e-12, "symmetric about the middle");
        assert!((mid(4.0, 4.0, 0.5) - (1.0 - 0.5 / 16.0)).abs() < 1e-12);
        assert!((mid(0.0, 4.0, 0.5) - 0.5 / 16.0).abs() < 1e-12);
        assert_eq!(mid(-1.0, 4.0, 0.5), 0.0);
    }
}
