//! Formats of figures in messages and on the screen. Each figure is one word, so that `awk` and `cut` see one field.

/// Formats a time in the unit that leaves 1 to 999 before the point, with four significant digits: `24.48ms`, `1.010s`.
/// Times below a microsecond are whole nanoseconds. Times from one second are always in seconds.
pub fn time(ns: f64) -> String {
    let (value, unit) = time_parts(ns);
    format!("{value}{unit}")
}

/// Returns the number and the unit of [`time`].
pub fn time_parts(ns: f64) -> (String, &'static str) {
    let (unit, length) = unit_of(ns);
    (if length == 1.0 { format!("{ns:.0}") } else { four_digits(ns / length) }, unit)
}

/// Formats a time with every digit: `10.000412ms`.
pub fn whole_time(ns: f64) -> String {
    let (unit, length) = unit_of(ns);
    format!("{}{unit}", ns / length)
}

fn unit_of(ns: f64) -> (&'static str, f64) {
    // Below a microsecond there are no decimals. 999.96 would be rounded to 1000.0, so it takes the next unit.
    let units = [("ns", 1.0, 999.5), ("µs", 1e3, 999.95), ("ms", 1e6, 999.95)];
    let fitting = units.into_iter().find(|(_, length, end)| ns / length < *end);
    fitting.map_or(("s", 1e9), |(unit, length, _)| (unit, length))
}

/// Formats four significant digits, or all digits before the point if there are more than four.
pub fn four_digits(value: f64) -> String {
    let decimals = match value {
        ..9.9995 => 3,
        ..99.995 => 2,
        ..999.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// Removes zeros at the end of a number's decimals.
pub fn without_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// Formats events per second with four significant digits: `1000/s`, `998.3/s`, `0.5/s`.
pub fn rate(per_second: f64) -> String {
    format!("{}/s", without_zeros(&four_digits(per_second.max(0.0))))
}

/// Returns the usual name of a quantile: `p99.9` for 0.999, `max` for 1.
pub fn quantile_name(q: f64) -> String {
    if q >= 1.0 { "max".to_owned() } else { format!("p{}", (q * 1e6).round() / 1e4) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_fitting_units() {
        for (ns, text) in [
            (0.0, "0ns"),
            (999.0, "999ns"),
            (999.6, "1.000µs"),
            (1_000.0, "1.000µs"),
            (31_204.0, "31.20µs"),
            (999_949.0, "999.9µs"),
            (999_960.0, "1.000ms"),
            (9_999_600.0, "10.00ms"),
            (410_000_000.0, "410.0ms"),
            (999_960_000.0, "1.000s"),
            (60_005_000_000.0, "60.01s"),
            (86_400_000_000_000.0, "86400s"),
        ] {
            assert_eq!(time(ns), text);
        }
        assert_eq!([10_000_412.0, 10_000_000.0].map(whole_time), ["10.000412ms", "10ms"]);
    }

    #[test]
    fn rates_and_quantiles_are_one_word() {
        let rates = [1000.0, 998.34, 0.5, 0.0, 999.96, 20_000.4, 948.24, 12_345.6];
        let texts = ["1000/s", "998.3/s", "0.5/s", "0/s", "1000/s", "20000/s", "948.2/s", "12346/s"];
        assert_eq!(rates.map(rate), texts);
        assert_eq!([0.5, 0.999, 0.9999, 1.0].map(quantile_name), ["p50", "p99.9", "p99.99", "max"]);
    }
}
