//! Requests that their users give up before the answer is complete.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::random::Numbered;
use crate::time::Nanos;

/// Purpose of the random numbers.
const CHOICE: u64 = 0x4341_4e43_454c;

/// Words between the share and the time.
const AFTER: &str = " after ";

/// A random share of the arrivals, whose requests are cancelled if they have not ended this long after their intended
/// start.
///
/// An arrival is chosen by its number, whatever becomes of its request. So the other arrivals are a random sample of
/// all. If only the cancelled requests were left out, the slowest would be missing.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Cancellation {
    /// Share of the arrivals, above 0 and below 1.
    pub share: f64,
    /// Time from the intended start in nanoseconds, above zero.
    pub after_ns: u64,
    /// Seed of the choice.
    pub seed: u64,
}

impl Cancellation {
    /// Returns the time from the intended start.
    pub fn after(&self) -> Nanos {
        Nanos(self.after_ns)
    }

    /// Returns true if the arrival with this number is chosen.
    #[inline]
    pub fn chooses(&self, index: u64) -> bool {
        Numbered::new(self.seed, CHOICE).uniform(index) < self.share
    }
}

/// Error of a text that is no cancellation.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("'{0}' {1}; write a share and a time, such as '5% after 1s'")]
pub struct CancellationError(String, String);

impl FromStr for Cancellation {
    type Err = CancellationError;

    /// Parses `5% after 1s` or `0.05 after 1s`, with the seed 0.
    fn from_str(text: &str) -> Result<Cancellation, CancellationError> {
        let error = |problem: String| CancellationError(text.to_owned(), problem);
        let (share, after) = text.trim().split_once(AFTER).ok_or_else(|| error("has no 'after'".to_owned()))?;
        let (number, unit) = match share.trim().strip_suffix('%') {
            Some(percent) => (percent.trim_end(), 100.0),
            None => (share.trim(), 1.0),
        };
        let share = number.parse::<f64>().map_or(f64::NAN, |number| number / unit);
        if !(share > 0.0 && share < 1.0) {
            return Err(error("has no share above 0% and below 100%".to_owned()));
        }
        let after: Nanos = after.trim().parse().map_err(|problem| error(format!("has no time: {problem}")))?;
        if after.is_zero() {
            return Err(error("cancels at once".to_owned()));
        }
        Ok(Cancellation { share, after_ns: after.0, seed: 0 })
    }
}

impl fmt::Display for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rounds away what the division by 100 added.
        let percent = (self.share * 1e14).round() / 1e12;
        write!(f, "{percent}%{AFTER}{}", self.after())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_and_written() {
        for (text, share, after_ms, written) in [
            ("5% after 1s", 0.05, 1_000, "5% after 1s"),
            (" 0.25  after  250ms ", 0.25, 250, "25% after 250ms"),
            ("7% after 1m30s", 0.07, 90_000, "7% after 90s"),
            ("0.1 % after 2s", 0.001, 2_000, "0.1% after 2s"),
        ] {
            let read: Cancellation = text.parse().unwrap();
            assert_eq!(
                (read.share, read.after(), read.to_string()),
                (share, Nanos::from_millis(after_ms), written.into())
            );
        }
    }

    #[test]
    fn other_texts_are_refused_with_the_reason() {
        for (text, problem) in [
            ("", "has no 'after'"),
            ("5%", "has no 'after'"),
            ("after 1s", "has no 'after'"),
            ("0% after 1s", "has no share"),
            ("100% after 1s", "has no share"),
            ("5 after 1s", "has no share"),
            ("-1% after 1s", "has no share"),
            ("NaN% after 1s", "has no share"),
            ("5% after 0s", "cancels at once"),
            ("5% after soon", "has no time"),
            ("5% after", "has no 'after'"),
        ] {
            let refused = text.parse::<Cancellation>().unwrap_err().to_string();
            assert!(refused.contains(problem) && refused.ends_with("such as '5% after 1s'"), "{text}: {refused}");
        }
    }

    #[test]
    fn the_choice_is_a_share_of_all_arrivals_and_of_each_stripe() {
        let cancel = Cancellation { share: 0.05, after_ns: 1, seed: 7 };
        for (first, step) in [(0, 1), (0, 4), (3, 4)] {
            let chosen = (0..100_000).filter(|nth| cancel.chooses(first + nth * step)).count();
            // Six standard deviations of a binomial of 100,000 with 5 % are 414.
            assert!((4_586..5_414).contains(&chosen), "{chosen} of stripe {first} of {step}");
        }
        let other = Cancellation { seed: 8, ..cancel };
        assert!((0..1_000).any(|index| cancel.chooses(index) != other.chooses(index)));
    }
}
