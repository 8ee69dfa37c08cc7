//! Lengths of time.

use std::fmt;
use std::ops::{Add, AddAssign};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Nanoseconds in one second.
pub const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Length of time in whole nanoseconds, 0 to 584 years. Arithmetic saturates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Nanos(pub u64);

impl Nanos {
    /// Zero time.
    pub const ZERO: Nanos = Nanos(0);
    /// The longest representable time; used as "no limit".
    pub const MAX: Nanos = Nanos(u64::MAX);

    /// Returns `n` microseconds.
    pub const fn from_micros(n: u64) -> Nanos {
        Nanos(n.saturating_mul(1_000))
    }

    /// Returns `n` milliseconds.
    pub const fn from_millis(n: u64) -> Nanos {
        Nanos(n.saturating_mul(1_000_000))
    }

    /// Returns `n` seconds.
    pub const fn from_secs(n: u64) -> Nanos {
        Nanos(n.saturating_mul(NANOS_PER_SECOND))
    }

    /// Converts seconds, rounded to the nearest nanosecond; negative values and NaN become zero.
    pub fn from_secs_f64(seconds: f64) -> Nanos {
        Nanos((seconds * NANOS_PER_SECOND as f64).round() as u64)
    }

    /// Reads a text like [`Nanos::from_str`], or a number without a unit as multiples of `unit`.
    ///
    /// # Errors
    /// [`DurationError`] if the text is neither.
    pub fn parse_in(text: &str, unit: Nanos) -> Result<Nanos, DurationError> {
        let number = text.trim();
        if number.parse::<f64>().is_err() {
            return text.parse();
        }
        part_length(text, number, unit.0).map(Nanos)
    }

    /// Returns this time in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// Returns this time in milliseconds.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Returns `self - other`, or zero if the difference would be negative.
    pub const fn saturating_sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }

    /// Returns true if this time is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        *self = *self + other;
    }
}

impl From<Nanos> for std::time::Duration {
    fn from(n: Nanos) -> Self {
        std::time::Duration::from_nanos(n.0)
    }
}

impl From<std::time::Duration> for Nanos {
    fn from(d: std::time::Duration) -> Self {
        Nanos(u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Error of a text that is not a duration. It quotes the start of the text, in one line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DurationError {
    /// Not a number followed by a unit.
    #[error("'{0}' is not a duration; write a number and a unit, such as 500us, 10ms, 1s, 2m or 1m30s")]
    Malformed(String),
    #[error("'{0}' has no unit; write 500us, 10ms, 1s, 2m or 1h")]
    /// A number without a unit.
    NoUnit(String),
    /// Negative, not finite, or more than 584 years.
    #[error("'{0}' is out of range; a duration is finite and not negative")]
    OutOfRange(String),
}

/// Units of a duration with their length in nanoseconds, longest first.
const UNITS: [(&str, u64); 6] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

impl FromStr for Nanos {
    type Err = DurationError;

    /// Reads `500us`, `10ms`, `1.5s`, `2m`, `1h`, `100ns` (also `µs`), zero, and several parts from long to short
    /// units, each unit once: `1m30s`. Whole numbers of a unit are read exactly.
    fn from_str(text: &str) -> Result<Nanos, DurationError> {
        let malformed = || DurationError::Malformed(quoted(text));
        let mut rest = text.trim();
        let mut sum = 0_u64;
        let mut longest = u64::MAX;
        loop {
            let part;
            (part, rest) = split_part(rest);
            let unit_ns = unit_length(text, part)?;
            // `1s2s` and `30s1m` are typing errors, and a sign is allowed only before the whole.
            if unit_ns >= longest || (longest != u64::MAX && part.0.starts_with(['-', '+'])) {
                return Err(malformed());
            }
            longest = unit_ns;
            let length = part_length(text, part.0, unit_ns)?;
            sum = sum.checked_add(length).ok_or_else(|| DurationError::OutOfRange(quoted(text)))?;
            if rest.is_empty() {
                return Ok(Nanos(sum));
            }
        }
    }
}

/// Returns the start of a text that may be long and have several lines.
fn quoted(text: &str) -> String {
    const MAX_CHARS: usize = 40;
    let mut chars = text.chars();
    let start: String = chars.by_ref().take(MAX_CHARS).flat_map(shown).collect();
    if chars.next().is_some() { format!("{start}…") } else { start }
}

/// Returns a character as it is, or escaped if it is a control character.
fn shown(c: char) -> Vec<char> {
    if c.is_control() { c.escape_default().collect() } else { vec![c] }
}

type Part<'a> = (&'a str, &'a str);

/// Splits off the first number with its unit. An `e` is part of the number, as in `1e3us`.
fn split_part(text: &str) -> (Part<'_>, &str) {
    let unit_at = text.find(|c: char| c.is_alphabetic() && c != 'e' && c != 'E').unwrap_or(text.len());
    let (number, rest) = text.split_at(unit_at);
    let unit_end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(unit_end);
    ((number.trim(), unit), rest.trim_start())
}

fn unit_length(text: &str, (number, unit): Part<'_>) -> Result<u64, DurationError> {
    match unit {
        "" if number.parse::<f64>().is_ok() => Err(DurationError::NoUnit(quoted(text))),
        "µs" | "μs" => Ok(1_000),
        _ => UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .map(|(_, length)| *length)
            .ok_or_else(|| DurationError::Malformed(quoted(text))),
    }
}

fn part_length(text: &str, number: &str, unit_ns: u64) -> Result<u64, DurationError> {
    let out_of_range = || DurationError::OutOfRange(quoted(text));
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(unit_ns).ok_or_else(out_of_range);
    }
    let value: f64 = number.parse().map_err(|_| DurationError::Malformed(quoted(text)))?;
    let ns = (value * unit_ns as f64).round();
    if !ns.is_finite() || ns < 0.0 || value < 0.0 || ns >= u64::MAX as f64 {
        return Err(out_of_range());
    }
    Ok(ns as u64)
}

impl fmt::Display for Nanos {
    /// Writes the longest unit that gives a whole number, so that the text reads back exactly: `1500us`, `10ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0s");
        }
        let (name, length) = UNITS.iter().find(|(_, length)| self.0.is_multiple_of(*length)).unwrap_or(&("ns", 1));
        write!(f, "{}{name}", self.0 / length)
    }
}

impl Serialize for Nanos {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Nanos {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Nanos, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_as_users_write_them() {
        for (text, ns) in [
            ("500us", 500_000),
            ("10ms", 10_000_000),
            ("1s", 1_000_000_000),
            ("2m", 120_000_000_000),
            ("1h", 3_600_000_000_000),
            ("1.5s", 1_500_000_000),
            ("0.5ms", 500_000),
            ("7ns", 7),
            ("3µs", 3_000),
            ("1e3us", 1_000_000),
            (" 10 ms ", 10_000_000),
            ("1m30s", 90_000_000_000),
            ("1h2m3s4ms5us6ns", 3_723_004_005_006),
            ("1h 30m", 5_400_000_000_000),
            ("1m1.5s", 61_500_000_000),
            ("0m0s", 0),
        ] {
            assert_eq!(text.parse::<Nanos>().unwrap().0, ns, "{text}");
        }
    }

    #[test]
    fn texts_that_are_no_durations_are_refused() {
        for text in ["", "ms", "ten ms", "1 fortnight", "1s2s", "--1s", "30s1m", "1m-30s", "1m+30s", "1m30x", "1mm"] {
            assert!(matches!(text.parse::<Nanos>(), Err(DurationError::Malformed(_))), "{text}");
        }
        for text in ["10", "1m30"] {
            assert!(matches!(text.parse::<Nanos>(), Err(DurationError::NoUnit(_))), "{text}");
        }
        for text in ["-1s", "-1m30s", "1e400s", "99999999999999h", "5124095h2000m"] {
            assert!(matches!(text.parse::<Nanos>(), Err(DurationError::OutOfRange(_))), "{text}");
        }
        for text in ["-1", "1e400", "NaN", "inf"] {
            assert!(matches!(Nanos::parse_in(text, Nanos(1)), Err(DurationError::OutOfRange(_))), "{text}");
        }
        assert!("NaNs".parse::<Nanos>().is_err() && "infs".parse::<Nanos>().is_err());
    }

    proptest! {
        #[test]
        fn a_duration_reads_back_as_it_was_written(ns in any::<u64>()) {
            prop_assert_eq!(Nanos(ns).to_string().parse::<Nanos>(), Ok(Nanos(ns)));
        }

        #[test]
        fn parts_add_up(hours in 0_u64..1000, minutes in 0_u64..1000, seconds in 0_u64..1000, micros in 0_u64..10_000) {
            let text = format!("{hours}h{minutes}m{seconds}s{micros}us");
            let sum = Nanos::from_secs(hours * 3600 + minutes * 60 + seconds) + Nanos::from_micros(micros);
            prop_assert_eq!(text.parse::<Nanos>(), Ok(sum));
        }

        #[test]
        fn any_text_is_a_duration_or_refused_in_a_short_line(text in "[0-9hmsunµe.+ -]{0,12}|\\PC{0,8}|(?s).{0,99}") {
            let unit = Nanos::from_millis(1);
            for read in [text.parse::<Nanos>(), Nanos::parse_in(&text, unit)] {
                let line = read.err().map(|error| error.to_string()).unwrap_or_default();
                prop_assert!(line.len() < 600 && !line.contains(char::is_control), "{}", line);
            }
        }

        #[test]
        fn a_unit_that_is_written_goes_before_the_default(number in 0_u64..1_000_000, half in any::<bool>(), at in 0..UNITS.len()) {
            let text = if half { format!("{number}.5") } else { number.to_string() };
            let (name, unit) = UNITS[at];
            let written = format!("{text}{name}").parse::<Nanos>();
            prop_assert_eq!(Nanos::parse_in(&text, Nanos(unit)), written.clone());
            prop_assert_eq!(Nanos::parse_in(&format!("{text}{name}"), Nanos(7)), written);
        }
    }
}
