//! Parsers of times and percentages.

use truetail_model::time::Nanos;

/// Parses `12.3us`, `12.3µs`, `4ms`, `1.2s`, `1.2 sec`, `2m`, `1h`, with or without a space before the unit.
pub fn duration(text: &str) -> Option<Nanos> {
    let text = text.trim();
    match text.strip_suffix("sec") {
        Some(number) => seconds(number),
        None => text.parse().ok(),
    }
}

/// Parses a plain number of seconds.
pub fn seconds(text: &str) -> Option<Nanos> {
    scaled(text, 1e9)
}

/// Parses a plain number of milliseconds.
pub fn millis(text: &str) -> Option<Nanos> {
    scaled(text, 1e6)
}

/// Parses a number times `per_unit`, rounded to whole nanoseconds; `None` if it is invalid, negative or too large.
pub fn scaled(text: &str, per_unit: f64) -> Option<Nanos> {
    nanos(text.trim().parse::<f64>().ok()?, per_unit)
}

/// Returns `value` times `per_unit`, rounded to whole nanoseconds; `None` if it is not finite, negative or too large.
pub fn nanos(value: f64, per_unit: f64) -> Option<Nanos> {
    let ns = value * per_unit;
    (ns.is_finite() && (0.0..1.8e19).contains(&ns)).then(|| Nanos(ns.round() as u64))
}

/// Parses a percentage such as `99.9`, without its sign, as a quantile; `None` unless strictly between 0 and 100.
pub fn quantile(percent: &str) -> Option<f64> {
    // Rounded to whole millionths of a per cent, so that 99.9 gives the same number as 0.999.
    let q = (percent.trim().parse::<f64>().ok()? * 1e6).round() / 1e8;
    (q > 0.0 && q < 1.0).then_some(q)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_becomes_the_quantile_one_would_write() {
        for (percent, q) in [("50", 0.5), ("99.9", 0.999), ("99.990", 0.9999), ("97.5", 0.975), ("0.001", 0.00001)] {
            assert_eq!(quantile(percent), Some(q), "{percent}");
        }
        for none in ["0", "100", "100.000", "-1", "NaN", "", "p50"] {
            assert_eq!(quantile(none), None, "{none}");
        }
    }

    #[test]
    fn durations_as_tools_print_them() {
        for (text, ns) in [
            ("138.34us", 138_340),
            ("11.14ms", 11_140_000),
            ("1.00s ", 1_000_000_000),
            ("1.5 m", 90_000_000_000),
            ("1.2 sec", 1_200_000_000),
        ] {
            assert_eq!(duration(text), Some(Nanos(ns)), "{text}");
        }
        for none in ["", "ms", "-1ms", "nanus", "1.0", "1e30s", "5 parsecs"] {
            assert_eq!(duration(none), None, "{none}");
        }
    }
}
