//! Numbers for people. A figure is one word: no blank inside, so that `awk` and `cut` see one field.

use truetail_run::Quantile;

/// Units of time, with their length in nanoseconds.
const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];

/// A time in the unit that leaves 1 to 999 before the point, with four significant digits: `10.21ms`, `1.010s`. Below a
/// microsecond whole nanoseconds; from a second on always seconds.
pub fn time(ns: u64) -> String {
    let (value, unit) = time_parts(ns);
    format!("{value}{unit}")
}

/// A time without trailing zeros, as for a chosen one: `60s`, `500ms`.
pub fn round_time(ns: u64) -> String {
    let (value, unit) = time_parts(ns);
    format!("{}{unit}", without_zeros(&value))
}

/// `value` without zeros at the end of its decimals.
fn without_zeros(value: &str) -> &str {
    if value.contains('.') { value.trim_end_matches('0').trim_end_matches('.') } else { value }
}

/// The number and the unit of [`time`].
fn time_parts(ns: u64) -> (String, &'static str) {
    if ns < 1_000 {
        return (ns.to_string(), "ns");
    }
    // 999.96 would be rounded to 1000.0, so it takes the next unit.
    let (unit, length) =
        UNITS[1..].iter().find(|(_, length)| (ns as f64 / length) < 999.95).unwrap_or(&UNITS[UNITS.len() - 1]);
    (four_digits(ns as f64 / length), unit)
}

/// Four significant digits, or all digits before the point where those are more.
fn four_digits(value: f64) -> String {
    let decimals = if value < 9.9995 {
        3
    } else if value < 99.995 {
        2
    } else if value < 999.95 {
        1
    } else {
        0
    };
    if decimals == 0 { count(value.round() as u64) } else { format!("{value:.decimals$}") }
}

/// A range of times in one word, with the unit once if it is the same: `10.20…10.22ms`. An unknown end is a `?`.
pub fn time_range(low_ns: Option<u64>, high_ns: Option<u64>) -> String {
    match (low_ns.map(time_parts), high_ns.map(time_parts)) {
        (None, None) => String::new(),
        (Some((low, unit)), None) => format!("{low}{unit}…?"),
        (None, Some((high, unit))) => format!("?…{high}{unit}"),
        (Some((low, one)), Some((high, other))) if one == other => format!("{low}…{high}{one}"),
        (Some((low, one)), Some((high, other))) => format!("{low}{one}…{high}{other}"),
    }
}

/// A whole number: `60000`. Digits are not grouped, since a group mark is what programs stumble over.
pub fn count(n: u64) -> String {
    n.to_string()
}

/// As [`rate`]; `–` for `None`.
pub fn rate_if_any(per_second: Option<f64>) -> String {
    per_second.map_or("–".to_owned(), rate)
}

/// Events per second, to four significant digits: `1000/s`, `998.3/s`, `0.5/s`.
pub fn rate(per_second: f64) -> String {
    let rounded = per_second.max(0.0);
    if rounded >= 999.95 || (rounded - rounded.round()).abs() < 1e-9 {
        return format!("{}/s", count(rounded.round() as u64));
    }
    format!("{}/s", without_zeros(&four_digits(rounded)))
}

/// A share in [0, 1] in per cent: `12%`, `0.3%`. A small share above 0 is `<0.1%`, and nearly all is `>99.9%`: only nothing
/// is `0%`, and only all is `100%`.
pub fn share(part: f64) -> String {
    let percent = part * 100.0;
    if percent > 0.0 && percent < 0.1 {
        return "<0.1%".to_owned();
    }
    if percent > 99.9 && percent < 100.0 {
        return ">99.9%".to_owned();
    }
    let decimals = usize::from((percent > 0.0 && percent < 9.95) || (percent > 99.0 && percent < 100.0));
    format!("{percent:.decimals$}%")
}

/// A factor: `36×`, `1.0×`.
pub fn factor(factor: f64) -> String {
    let decimals = usize::from(factor < 9.95);
    format!("{factor:.decimals$}×")
}

/// The usual name of a quantile: 0.999 is `p99.9`, 1 is `max`.
pub fn quantile_name(q: f64) -> String {
    if q >= 1.0 { "max".to_owned() } else { format!("p{}", (q * 1e6).round() / 1e4) }
}

/// What stands in place of a quantile that falls among arrivals that failed.
pub const NO_ANSWER: &str = "no-answer";

/// The value of a quantile as far as it is known: `10.21ms`, `≥2.000s`, `no-answer`, `n≥36887` (the arrivals that it takes
/// to know it), or `–`.
pub fn quantile(quantile: &Quantile) -> String {
    match (quantile.needs_n.filter(|_| !quantile.supported), quantile.value_ns) {
        (Some(needs_n), _) => format!("n≥{}", count(needs_n)),
        (None, None) => "–".to_owned(),
        (None, Some(_)) if quantile.no_answer => NO_ANSWER.to_owned(),
        (None, Some(value)) if quantile.at_least => format!("≥{}", time(value)),
        (None, Some(value)) => time(value),
    }
}

/// The generator itself may have moved this quantile by more than a tenth, so that only the range is known that holds it.
pub fn is_bracketed(quantile: &Quantile) -> bool {
    let is_number = !quantile.at_least && !quantile.no_answer && (quantile.supported || quantile.needs_n.is_none());
    is_number && quantile.unresolved && quantile.without_generator_ns.is_some() && quantile.value_ns.is_some()
}

/// As [`quantile`], but a range where it [is bracketed](is_bracketed): `0.1000…0.1512ms`.
pub fn bracketed(quantile: &Quantile) -> String {
    if is_bracketed(quantile) {
        time_range(quantile.without_generator_ns, quantile.value_ns)
    } else {
        self::quantile(quantile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_fitting_units() {
        for (ns, text) in [
            (0, "0ns"),
            (999, "999ns"),
            (1_000, "1.000µs"),
            (31_204, "31.20µs"),
            (999_949, "999.9µs"),
            (999_960, "1.000ms"),
            (10_000_000, "10.00ms"),
            (9_999_600, "10.00ms"),
            (410_000_000, "410.0ms"),
            (999_960_000, "1.000s"),
            (1_010_000_000, "1.010s"),
            (60_005_000_000, "60.01s"),
            (999_960_000_000, "1000s"),
            (86_400_000_000_000, "86400s"),
        ] {
            assert_eq!(time(ns), text);
        }
    }

    #[test]
    fn ranges_say_their_unit_once() {
        assert_eq!(time_range(Some(10_200_000), Some(10_220_000)), "10.20…10.22ms");
        assert_eq!(time_range(Some(10_000_000), Some(1_010_000_000)), "10.00ms…1.010s");
        assert_eq!(time_range(Some(10_000_000), None), "10.00ms…?");
        assert_eq!(time_range(None, Some(10_000_000)), "?…10.00ms");
        assert_eq!(time_range(None, None), "");
    }

    #[test]
    fn counts_rates_shares_and_factors() {
        assert_eq!([0, 999, 1_000, 60_000, 1_234_567].map(count), ["0", "999", "1000", "60000", "1234567"]);
        assert_eq!(
            [1000.0, 998.34, 0.5, 0.0, 999.96, 20_000.4].map(rate),
            ["1000/s", "998.3/s", "0.5/s", "0/s", "1000/s", "20000/s"]
        );
        assert_eq!(
            [0.0, 0.0004, 0.021, 0.12, 0.9937, 0.99996, 1.0].map(share),
            ["0%", "<0.1%", "2.1%", "12%", "99.4%", ">99.9%", "100%"]
        );
        assert_eq!([1.0, 9.94, 36.3].map(factor), ["1.0×", "9.9×", "36×"]);
        assert_eq!([0.5, 0.999, 0.9999, 1.0].map(quantile_name), ["p50", "p99.9", "p99.99", "max"]);
    }
}
