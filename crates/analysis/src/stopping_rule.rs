//! The rule for a run that continues until a quantile is known well enough: `--until 'p99 ±5%'`.
//!
//! # Interim analyses
//!
//! Every interim analysis, or look, is another chance to stop by luck: runs whose interval happens to be narrow stop
//! first (theory: Chow & Robbins, *Annals of Mathematical Statistics* 36, 1965; cost: Law & Kelton, "Confidence
//! intervals for steady-state simulations, II: a survey of sequential procedures", *Management Science* 28, 1982).
//! Therefore:
//!
//! - **Few looks**: at 10 s, 15 s, 22.5 s … of measured time ([`next_interim_analysis`]), so that an hour has 16.
//! - **No look while the tail is missing**: outstanding arrivals are mostly the slow ones. A look waits until they are
//!   fewer than a tenth of the arrivals that belong beyond the quantile ([`StoppingRule::is_ready`]).
//! - **An interval that includes doubt**: with few bursts, it is wide or has no end ([`crate::support`]).
//!
//! A look treats all that was recorded so far as a run, without the warm-up, and passes the quantile of its response
//! time ([`crate::quantile()`]) to [`StoppingRule::evaluate`]. If that says stop, the schedule ends, the run drains,
//! and the report is made from the whole run as usual. So a look decides when to stop, but never what is printed.
//! `docs/confidence.md` gives the measured cost that remains.

use std::fmt;
use std::str::FromStr;

use truetail_model::time::Nanos;
use truetail_run::Quantile;

use crate::support::{QUANTILES, min_sample_size};

/// Measured time at the first look.
pub const FIRST_INTERIM_ANALYSIS: Nanos = Nanos::from_secs(10);
/// Growth of the measured time between looks.
const GROWTH: (u64, u64) = (3, 2);
/// Maximum number of arrivals that may be outstanding at a look, as a share of those beyond the quantile.
const MAX_OUTSTANDING: f64 = 0.1;

/// The required precision of a quantile of the response time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StoppingRule {
    q: f64,
    /// Half of the interval as a share of the value, in (0, 1].
    half_width: f64,
}

/// Result of an interim analysis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum InterimResult {
    /// The interval is narrow enough.
    Reached {
        /// Half of the interval as a share of the value, in [0, 1].
        half_width: f64,
    },
    /// The interval is still too wide.
    TooWide {
        /// Half of the interval as a share of the value.
        half_width: f64,
        /// Factor for the number of arrivals that would about suffice. Widths shrink with the square root of that
        /// number.
        times_as_many: f64,
    },
    /// One end is missing, because there were too few independent events.
    NoEnd,
    /// Too few arrivals for a number.
    Needs {
        /// Number of arrivals that are needed.
        n: u64,
    },
    /// The quantile falls among arrivals without an answer. More of them will not make it a number.
    Unanswered,
}

impl StoppingRule {
    /// Returns the quantile, in (0, 1).
    pub fn q(&self) -> f64 {
        self.q
    }

    /// Returns true if an interim analysis is allowed. `outstanding` arrivals were issued or due and have not ended.
    pub fn is_ready(&self, recorded: u64, outstanding: u64) -> bool {
        recorded >= min_sample_size(self.q) && outstanding as f64 <= MAX_OUTSTANDING * (1.0 - self.q) * recorded as f64
    }

    /// Evaluates `quantile`, the quantile [`StoppingRule::q`] of the response time until now. The half-width is the
    /// distance from the value to the farther end of the interval.
    pub fn evaluate(&self, quantile: &Quantile) -> InterimResult {
        if let Some(n) = quantile.needs_n.filter(|_| !quantile.supported) {
            return InterimResult::Needs { n };
        }
        let Some(value) = quantile.value_ns.filter(|_| !quantile.at_least && !quantile.no_answer) else {
            return InterimResult::Unanswered;
        };
        let (Some(low), Some(high)) = (quantile.low_ns, quantile.high_ns) else { return InterimResult::NoEnd };
        let farther = value.saturating_sub(low).max(high.saturating_sub(value));
        let half_width = farther as f64 / value.max(1) as f64;
        if half_width <= self.half_width {
            InterimResult::Reached { half_width }
        } else {
            InterimResult::TooWide { half_width, times_as_many: (half_width / self.half_width).powi(2) }
        }
    }
}

/// Returns the measured time of the next look, after `measured`: the first of 10 s, 15 s, 22.5 s … that is longer.
pub fn next_interim_analysis(measured: Nanos) -> Nanos {
    let mut look = FIRST_INTERIM_ANALYSIS;
    while look <= measured && look < Nanos::MAX {
        look = Nanos((look.0 / GROWTH.1).saturating_mul(GROWTH.0));
    }
    look
}

impl FromStr for StoppingRule {
    type Err = String;

    /// Parses `p99 ±5%`, also as `p99 +-5 %` or `p99 +/- 5%`.
    fn from_str(text: &str) -> Result<StoppingRule, String> {
        let malformed = || format!("'{text}' does not say how narrow; write a quantile and a share, such as 'p99 ±5%'");
        let sign = ["±", "+/-", "+-"].into_iter().find_map(|sign| text.split_once(sign));
        let (name, width) = sign.ok_or_else(malformed)?;
        let q = quantile_named(name.trim())
            .ok_or_else(|| format!("'{}' is no quantile; write p50, p90, p95, p99, p99.9 or p99.99", name.trim()))?;
        let percent: f64 =
            width.trim().strip_suffix('%').ok_or_else(malformed)?.trim().parse().map_err(|_| malformed())?;
        if percent > 0.0 && percent <= 100.0 {
            Ok(StoppingRule { q, half_width: percent / 100.0 })
        } else {
            Err(format!("'{text}' is out of range; the share is above 0 % and at most 100 %"))
        }
    }
}

impl fmt::Display for StoppingRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{} ±{}%", rounded(self.q * 100.0), rounded(self.half_width * 100.0))
    }
}

/// Removes the digits that binary fractions add.
fn rounded(percent: f64) -> f64 {
    (percent * 1e9).round() / 1e9
}

fn quantile_named(name: &str) -> Option<f64> {
    let percent: f64 = name.strip_prefix('p')?.parse().ok()?;
    QUANTILES.into_iter().find(|q| *q < 1.0 && (q * 100.0 - percent).abs() < 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quantile(value: u64, low: Option<u64>, high: Option<u64>) -> Quantile {
        Quantile {
            q: 0.99,
            value_ns: Some(value),
            low_ns: low,
            high_ns: high,
            at_least: false,
            no_answer: false,
            supported: true,
            needs_n: None,
            effective_n: Some(1_000),
            without_generator_ns: None,
            unresolved: false,
        }
    }

    fn p99() -> StoppingRule {
        "p99 ±5%".parse().unwrap()
    }

    #[test]
    fn as_users_write_it() {
        for (text, q, half_width) in [
            ("p99 ±5%", 0.99, 0.05),
            ("p99±5%", 0.99, 0.05),
            ("p99.9 +- 10 %", 0.999, 0.10),
            ("p99.99 +/-2.5%", 0.9999, 0.025),
            (" p50 ± 100% ", 0.5, 1.0),
        ] {
            let until: StoppingRule = text.parse().unwrap();
            assert_eq!(until, StoppingRule { q, half_width }, "{text}");
            assert_eq!(until.to_string().parse::<StoppingRule>().unwrap(), until, "{text}");
        }
        assert_eq!("p99.9 +-5%".parse::<StoppingRule>().unwrap().to_string(), "p99.9 ±5%");
    }

    #[test]
    fn what_says_not_how_narrow() {
        for (text, wrong) in [
            ("", "such as"),
            ("p99", "such as"),
            ("p99 ±5", "such as"),
            ("p99 ±x%", "such as"),
            ("p98 ±5%", "p99.9"),
            ("99 ±5%", "no quantile"),
            ("max ±5%", "no quantile"),
            ("p100 ±5%", "no quantile"),
            ("p99 ±0%", "out of range"),
            ("p99 ±-5%", "out of range"),
            ("p99 ±101%", "out of range"),
            ("p99 ±NaN%", "out of range"),
        ] {
            let error = text.parse::<StoppingRule>().unwrap_err();
            assert!(error.contains(wrong), "{text}: {error}");
        }
    }

    #[test]
    fn the_farther_end_decides() {
        let look = |low, high| p99().evaluate(&quantile(1_000, Some(low), Some(high)));
        assert_eq!(look(950, 1_050), InterimResult::Reached { half_width: 0.05 });
        assert_eq!(look(990, 1_100), InterimResult::TooWide { half_width: 0.1, times_as_many: 4.0 });
        assert_eq!(look(900, 1_010), InterimResult::TooWide { half_width: 0.1, times_as_many: 4.0 });
        assert_eq!(look(1_000, 1_000), InterimResult::Reached { half_width: 0.0 });
    }

    #[test]
    fn what_is_no_interval_is_never_narrow_enough() {
        let whole = quantile(1_000, Some(1_000), Some(1_000));
        for (quantile, look) in [
            (Quantile { high_ns: None, ..whole }, InterimResult::NoEnd),
            (Quantile { low_ns: None, ..whole }, InterimResult::NoEnd),
            (Quantile { at_least: true, ..whole }, InterimResult::Unanswered),
            (Quantile { at_least: true, no_answer: true, ..whole }, InterimResult::Unanswered),
            (
                Quantile { supported: false, needs_n: Some(368), value_ns: None, ..whole },
                InterimResult::Needs { n: 368 },
            ),
        ] {
            assert_eq!(p99().evaluate(&quantile), look);
        }
    }

    #[test]
    fn looks_are_few_and_not_at_a_stump() {
        let mut looks = vec![next_interim_analysis(Nanos::ZERO)];
        while looks.last().unwrap().0 < Nanos::from_secs(3_600).0 {
            looks.push(next_interim_analysis(*looks.last().unwrap()));
        }
        assert_eq!((looks[0], looks[1], looks.len()), (Nanos::from_secs(10), Nanos::from_secs(15), 16));
        assert!(p99().is_ready(10_000, 10) && !p99().is_ready(10_000, 11) && !p99().is_ready(367, 0));
    }

    proptest! {
        #[test]
        fn the_next_look_is_later_and_not_by_much(measured in 0..u64::MAX / 4) {
            let next = next_interim_analysis(Nanos(measured));
            prop_assert!(next.0 > measured);
            prop_assert!(next == FIRST_INTERIM_ANALYSIS || next.0 as f64 <= measured as f64 * 1.5 + 1.0);
        }

        #[test]
        fn narrower_is_never_worse(value in 1u64..1 << 40, below in 0.0..1.0_f64, above in 0.0..3.0_f64, part in 0.0..1.0_f64) {
            let within = |part: f64| {
                let low = value as f64 * (1.0 - below * part);
                let high = value as f64 * (1.0 + above * part);
                p99().evaluate(&quantile(value, Some(low as u64), Some(high.ceil() as u64)))
            };
            if matches!(within(1.0), InterimResult::Reached { .. }) {
                prop_assert!(matches!(within(part), InterimResult::Reached { .. }), "{:?}", within(part));
            }
        }
    }
}
