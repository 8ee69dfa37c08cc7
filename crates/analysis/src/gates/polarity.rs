//! The two polarities of a condition: it must hold, or it fails a run.
//!
//! A good service meets `p99 < 50ms` and does not meet `p99 > 50ms`, so the direction shows the polarity. Each option
//! accepts only one, because the wrong one would pass a slow service and fail a fast one.

use std::str::FromStr;

use super::gate::{Gate, GateError};

/// A condition that fails a run, such as `p99 > 50ms`. A good service does not meet it.
#[derive(Clone, PartialEq, Debug)]
pub struct FailIf(pub Gate);

/// A condition that must hold, such as `p99 < 50ms`. A good service meets it.
#[derive(Clone, PartialEq, Debug)]
pub struct Slo(pub Gate);

impl FromStr for FailIf {
    type Err = GateError;

    fn from_str(text: &str) -> Result<FailIf, GateError> {
        match text.parse::<Gate>()? {
            gate if gate.must_hold() => Err(GateError(wrong_polarity("--fail-if", text, "would fail a good service"))),
            gate => Ok(FailIf(gate)),
        }
    }
}

impl FromStr for Slo {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Slo, GateError> {
        match text.parse::<Gate>()? {
            gate if gate.must_hold() => Ok(Slo(gate)),
            _ => Err(GateError(wrong_polarity("--slo", text, "is not met by a good service"))),
        }
    }
}

/// One-line error for a condition of the wrong polarity, with both right forms.
pub(crate) fn wrong_polarity(option: &str, text: &str, why: &str) -> String {
    let (text, other) = (text.trim(), mirrored(text.trim()));
    let (must_hold, fails) = if option == "--slo" { (&*other, text) } else { (text, &*other) };
    format!("'{text}' {why}; write --slo '{must_hold}', which must hold, or --fail-if '{fails}', which fails the run")
}

/// Flips the comparison sign of a condition. Skips signs in the name of a target.
pub(crate) fn mirrored(text: &str) -> String {
    let in_name = text.find('{').zip(text.rfind('}'));
    let is_outside = |at: usize| in_name.is_none_or(|(start, end)| at < start || at > end);
    let sign = text.char_indices().find(|(at, sign)| "<>".contains(*sign) && is_outside(*at));
    sign.map_or_else(
        || text.to_owned(),
        |(at, sign)| format!("{}{}{}", &text[..at], if sign == '<' { '>' } else { '<' }, &text[at + 1..]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Conditions that a good service meets, with their mirrored forms.
    const PAIRS: [(&str, &str); 12] = [
        ("p99 < 50ms", "p99 > 50ms"),
        ("max<=1s", "max>=1s"),
        ("service-time mean < 5ms", "service-time mean > 5ms"),
        ("p99{GET /a>b} < 5ms", "p99{GET /a>b} > 5ms"),
        ("error-rate < 1%", "error-rate > 1%"),
        ("unanswered <= 0", "unanswered >= 0"),
        ("check-failures < 1%", "check-failures > 1%"),
        ("ttft p99 < 1s", "ttft p99 > 1s"),
        ("incomplete-streams < 1%", "incomplete-streams > 1%"),
        ("session-time p99 < 2s", "session-time p99 > 2s"),
        ("incomplete-sessions < 1%", "incomplete-sessions > 1%"),
        ("throughput > 950/s", "throughput < 950/s"),
    ];

    #[test]
    fn each_option_takes_one_way_round_and_shows_both_for_the_other() {
        for (good, bad) in PAIRS {
            assert_eq!(good.parse::<Slo>().unwrap().0.to_string(), good);
            assert_eq!(bad.parse::<FailIf>().unwrap().0.to_string(), bad);
            let refused = [good.parse::<FailIf>().unwrap_err(), bad.parse::<Slo>().unwrap_err()];
            for error in refused.map(|error| error.to_string()) {
                let has_both =
                    error.contains(&format!("--slo '{good}'")) && error.contains(&format!("--fail-if '{bad}'"));
                assert!(has_both && !error.contains('\n'), "{error}");
            }
        }
        assert!("p99".parse::<Slo>().unwrap_err().to_string().contains("'p99' is not a condition"));
    }
}
