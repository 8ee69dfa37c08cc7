//! Numbers for people. A figure is one word without blanks, so that `awk` and `cut` see one field.

use truetail_analysis::figures::{self, without_zeros};
use truetail_run::Quantile;

pub use truetail_analysis::figures::{quantile_name, rate};

/// Formats a time in the unit that leaves 1 to 999 before the point, with four significant digits: `10.21ms`, `1.010s`.
/// Times below a microsecond are whole nanoseconds; from one second on, the unit is always seconds.
pub fn time(ns: u64) -> String {
    figures::time(ns as f64)
}

/// Formats a time without trailing zeros, for a chosen value: `60s`, `500ms`.
pub fn round_time(ns: u64) -> String {
    let (value, unit) = time_parts(ns);
    format!("{}{unit}", without_zeros(&value))
}

fn time_parts(ns: u64) -> (String, &'static str) {
    figures::time_parts(ns as f64)
}

/// Formats a range of times as one word, with a common unit only once: `10.20…10.22ms`. An unknown end is a `?`.
pub fn time_range(low_ns: Option<u64>, high_ns: Option<u64>) -> String {
    match (low_ns.map(time_parts), high_ns.map(time_parts)) {
        (None, None) => String::new(),
        (Some((low, unit)), None) => format!("{low}{unit}…?"),
        (None, Some((high, unit))) => format!("?…{high}{unit}"),
        (Some((low, one)), Some((high, other))) if one == other => format!("{low}…{high}{one}"),
        (Some((low, one)), Some((high, other))) => format!("{low}{one}…{high}{other}"),
    }
}

/// Formats a whole number: `60000`. Digits are not grouped, because programs stumble over group marks.
pub fn count(n: u64) -> String {
    n.to_string()
}

/// Formats a number of things: `1 row`, `2 rows`.
pub fn counted(n: u64, one: &str) -> String {
    format!("{} {one}{}", count(n), if n == 1 { "" } else { "s" })
}

/// Formats a number of any size and sign: `0.987`, `45.68k`, `3.2G`.
pub fn of_any_size(value: f64) -> String {
    let units = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let fitting = units.into_iter().find(|(unit, _)| value.abs() >= *unit && value.abs() >= 1e4);
    let (unit, name) = fitting.unwrap_or((1.0, ""));
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}{name}", without_zeros(&figures::four_digits(value.abs() / unit)))
}

/// Formats a rate like [`rate`], or `None` as `–`.
pub fn rate_if_any(per_second: Option<f64>) -> String {
    per_second.map_or("–".to_owned(), rate)
}

/// Formats a share in [0, 1] in per cent: `12%`, `0.3%`, `<0.1%`, `>99.9%`. Only 0 is `0%`, and only 1 is `100%`.
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

/// Formats a factor: `36×`, `1.0×`.
pub fn factor(factor: f64) -> String {
    let decimals = usize::from(factor < 9.95);
    format!("{factor:.decimals$}×")
}

/// Text for a quantile that falls among failed arrivals.
pub const NO_ANSWER: &str = "no-answer";

/// Formats a quantile as far as it is known: `10.21ms`, `≥2.000s`, `no-answer`, `n≥36887` (arrivals needed), or `–`.
pub fn quantile(quantile: &Quantile) -> String {
    match (quantile.needs_n.filter(|_| !quantile.supported), quantile.value_ns) {
        (Some(needs_n), _) => format!("n≥{}", count(needs_n)),
        (None, None) => "–".to_owned(),
        (None, Some(_)) if quantile.no_answer => NO_ANSWER.to_owned(),
        (None, Some(value)) if quantile.at_least => format!("≥{}", time(value)),
        (None, Some(value)) => time(value),
    }
}

/// Returns true if the generator may have moved this quantile by more than a tenth, so that only a range is known.
pub fn is_bracketed(quantile: &Quantile) -> bool {
    let is_number = !quantile.at_least && !quantile.no_answer && (quantile.supported || quantile.needs_n.is_none());
    is_number && quantile.unresolved && quantile.without_generator_ns.is_some() && quantile.value_ns.is_some()
}

/// Formats a quantile like [`quantile`], or as a range if it [is bracketed](is_bracketed): `0.1000…0.1512ms`.
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
    fn numbers_of_any_size_are_short() {
        let shown = [0.0, 0.98726, 12.0, 1234.0, 45_678.0, 3.2e9, -2.5e6, 4e15].map(of_any_size);
        assert_eq!(shown, ["0", "0.987", "12", "1234", "45.68k", "3.2G", "-2.5M", "4000T"]);
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
    fn counts_shares_and_factors() {
        assert_eq!([0, 999, 1_000, 60_000, 1_234_567].map(count), ["0", "999", "1000", "60000", "1234567"]);
        assert_eq!(
            [0.0, 0.0004, 0.021, 0.12, 0.9937, 0.99996, 1.0].map(share),
            ["0%", "<0.1%", "2.1%", "12%", "99.4%", ">99.9%", "100%"]
        );
        assert_eq!([1.0, 9.94, 36.3].map(factor), ["1.0×", "9.9×", "36×"]);
    }
}
