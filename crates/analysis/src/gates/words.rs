//! Numbers in the messages of gates and verdicts: each is one word, so that programs can split the lines at blanks.

/// A time in the fitting unit, to four digits: `24.48ms`.
pub(crate) fn time(ns: f64) -> String {
    let (unit, length) = unit_of(ns);
    if length == 1.0 { format!("{ns:.0}ns") } else { format!("{}{unit}", four_digits(ns / length)) }
}

/// The same with every digit: `10.000412ms`.
pub(super) fn whole_time(ns: f64) -> String {
    let (unit, length) = unit_of(ns);
    format!("{}{unit}", ns / length)
}

fn unit_of(ns: f64) -> (&'static str, f64) {
    // 999.96 would be rounded to 1000.0, so it takes the next unit.
    let units = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6)];
    units.into_iter().find(|(_, length)| ns / length < 999.95).unwrap_or(("s", 1e9))
}

fn four_digits(value: f64) -> String {
    let decimals = match value {
        value if value < 9.9995 => 3,
        value if value < 99.995 => 2,
        value if value < 999.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// A share in per cent, to three decimals: `0.123%`, `100%`.
pub(super) fn share(part: f64) -> String {
    let text = format!("{:.3}", part * 100.0);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A rate to four digits: `948.2/s`.
pub(crate) fn rate(per_second: f64) -> String {
    let text = four_digits(per_second);
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}/s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_fitting_units() {
        assert_eq!(
            [0.0, 999.0, 1_580.0, 999_960.0, 24_480_000.0, 1e10, 2e12].map(time),
            ["0ns", "999ns", "1.580µs", "1.000ms", "24.48ms", "10.00s", "2000s"]
        );
        assert_eq!([10_000_412.0, 10_000_000.0].map(whole_time), ["10.000412ms", "10ms"]);
        assert_eq!([0.0, 0.00123, 0.012, 1.0].map(share), ["0%", "0.123%", "1.2%", "100%"]);
        assert_eq!([948.24, 950.0, 12_345.6, 0.5].map(rate), ["948.2/s", "950/s", "12346/s", "0.5/s"]);
    }
}
