//! Rates of events.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::duration::Nanos;

/// Number of events per second: finite and above zero.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Rate(f64);

/// Error of a text or number that is not a rate.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum RateError {
    /// Not `N`, `N/s`, `N/m`, `N/h` or `Nrps`.
    #[error("'{0}' is not a rate; write requests per second (1000, 1k, 1000/s or 1000rps), or per minute (60/m)")]
    Malformed(String),
    /// Zero, negative or not finite.
    #[error("'{0}' is out of range; a rate is finite and above zero")]
    OutOfRange(String),
}

impl Rate {
    /// Creates a rate of `per_second` events per second.
    ///
    /// # Errors
    /// [`RateError::OutOfRange`] unless `per_second` is finite and above zero.
    pub fn per_second(per_second: f64) -> Result<Rate, RateError> {
        if per_second.is_finite() && per_second > 0.0 {
            Ok(Rate(per_second))
        } else {
            Err(RateError::OutOfRange(per_second.to_string()))
        }
    }

    /// Returns the events per second.
    pub const fn as_per_second(self) -> f64 {
        self.0
    }

    /// Returns the time between events at this rate, to the nearest nanosecond.
    pub fn interval(self) -> Nanos {
        Nanos::from_secs_f64(1.0 / self.0)
    }
}

impl FromStr for Rate {
    type Err = RateError;

    /// Reads `1000`, `1000/s`, `60/m`, `5/h`, `10rps`, and thousands as `1.5k` or `1k/s`.
    fn from_str(text: &str) -> Result<Rate, RateError> {
        let malformed = || RateError::Malformed(text.to_owned());
        let written = text.trim();
        let (number, seconds) = match (written.split_once('/'), written.strip_suffix("rps")) {
            (Some((number, per)), _) => (number, seconds_in(per.trim()).ok_or_else(malformed)?),
            (None, Some(number)) => (number, 1.0),
            (None, None) => (written, 1.0),
        };
        let count = parse_number(number.trim()).ok_or_else(malformed)?;
        Rate::per_second(count / seconds).map_err(|_| RateError::OutOfRange(text.to_owned()))
    }
}

fn seconds_in(unit: &str) -> Option<f64> {
    match unit {
        "s" | "sec" | "second" => Some(1.0),
        "m" | "min" | "minute" => Some(60.0),
        "h" | "hour" => Some(3600.0),
        _ => None,
    }
}

/// Reads a number, in thousands if a `k` follows it.
pub(crate) fn parse_number(text: &str) -> Option<f64> {
    let (number, factor) = text.strip_suffix(['k', 'K']).map_or((text, 1.0), |number| (number.trim_end(), 1000.0));
    number.parse::<f64>().ok().map(|number| number * factor)
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.0)
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rate, D::Error> {
        Rate::per_second(f64::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_as_users_write_them() {
        for (text, per_second) in [
            ("1000", 1000.0),
            ("1000/s", 1000.0),
            ("60/m", 1.0),
            ("1.5/s", 1.5),
            ("3600/h", 1.0),
            ("1k", 1000.0),
            ("1.5k", 1500.0),
            ("2K/s", 2000.0),
            ("6k/m", 100.0),
            ("10rps", 10.0),
            (" 1.5 k rps ", 1500.0),
        ] {
            assert_eq!(text.parse::<Rate>().unwrap().as_per_second(), per_second, "{text}");
        }
        for text in ["0", "-1", "inf", "NaN", "0/m", "1e400", "0k", "-1rps"] {
            assert!(matches!(text.parse::<Rate>(), Err(RateError::OutOfRange(_))), "{text}");
        }
        for text in ["", "fast", "10/fortnight", "10/s/s", "k", "rps", "1kk", "10rps/s", "1M"] {
            assert!(matches!(text.parse::<Rate>(), Err(RateError::Malformed(_))), "{text}");
        }
    }
}
