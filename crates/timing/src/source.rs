//! Headers to read.

use std::fmt;
use std::str::FromStr;

use truetail_model::time::Nanos;

use crate::server_timing::MAX_NAME;

/// Limit on a duration: a week. A longer one is no duration of a request.
const LONGEST_NS: f64 = 7.0 * 86_400e9;

/// A header with times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TimingSource {
    /// `Server-Timing`, with a name for each time, in milliseconds.
    ServerTiming,
    /// A header with one number. The part has the name of the header.
    Header {
        /// Name of the header, in lower case.
        name: String,
        /// Unit of its number.
        unit: HeaderUnit,
    },
}

/// Unit of the number in a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeaderUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
}

impl HeaderUnit {
    const ALL: [HeaderUnit; 3] = [HeaderUnit::Seconds, HeaderUnit::Milliseconds, HeaderUnit::Microseconds];

    fn name(self) -> &'static str {
        match self {
            HeaderUnit::Seconds => "s",
            HeaderUnit::Milliseconds => "ms",
            HeaderUnit::Microseconds => "us",
        }
    }

    fn nanoseconds(self) -> f64 {
        match self {
            HeaderUnit::Seconds => 1e9,
            HeaderUnit::Milliseconds => 1e6,
            HeaderUnit::Microseconds => 1e3,
        }
    }

    /// Returns the duration; `None` if the text is not a decimal number from 0 to a week.
    pub(crate) fn duration(self, text: &[u8]) -> Option<Nanos> {
        let number = short_decimal(text).or_else(|| std::str::from_utf8(text).ok()?.trim().parse().ok())?;
        let ns = number * self.nanoseconds();
        (0.0..=LONGEST_NS).contains(&ns).then(|| Nanos(ns.round() as u64))
    }
}

/// Returns a number of up to 15 digits, with or without a point. Both parts of the fraction are exact, so the result is
/// the one that parsing the text gives.
fn short_decimal(text: &[u8]) -> Option<f64> {
    const MAX_DIGITS: usize = 15;
    const POWERS: [f64; MAX_DIGITS] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14];
    if text.len() > MAX_DIGITS {
        return None;
    }
    let mut digits = 0u64;
    let mut behind_point = None;
    for byte in text {
        match byte {
            b'0'..=b'9' => {
                digits = digits * 10 + u64::from(byte - b'0');
                behind_point = behind_point.map(|count| count + 1);
            }
            b'.' if behind_point.is_none() => behind_point = Some(0),
            _ => return None,
        }
    }
    let has_digits = text.len() > usize::from(behind_point.is_some());
    has_digits.then(|| digits as f64 / POWERS[behind_point.unwrap_or(0)])
}

impl TimingSource {
    /// Returns the headers that are read if the user names none: those of the W3C, of Envoy, and of Rails.
    pub fn usual() -> Vec<TimingSource> {
        let header = |name: &str, unit| TimingSource::Header { name: name.to_owned(), unit };
        vec![
            TimingSource::ServerTiming,
            header("x-envoy-upstream-service-time", HeaderUnit::Milliseconds),
            header("x-runtime", HeaderUnit::Seconds),
        ]
    }
}

impl fmt::Display for TimingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimingSource::ServerTiming => f.write_str("server-timing"),
            TimingSource::Header { name, unit } => write!(f, "header:{name}:{}", unit.name()),
        }
    }
}

/// A header that is not written as `header:NAME:UNIT`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "'{0}' names no header with times; write header:NAME:UNIT with the unit s, ms or us, such as header:x-time:ms, or \
     only --server-timing"
)]
pub struct SourceError(String);

impl FromStr for TimingSource {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<TimingSource, SourceError> {
        if text.eq_ignore_ascii_case("server-timing") {
            return Ok(TimingSource::ServerTiming);
        }
        let error = || SourceError(text.to_owned());
        let (name, unit) = text.strip_prefix("header:").and_then(|rest| rest.rsplit_once(':')).ok_or_else(error)?;
        let unit = HeaderUnit::ALL.into_iter().find(|known| known.name() == unit).ok_or_else(error)?;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let is_valid = !name.is_empty() && name.len() <= MAX_NAME && name.bytes().all(is_name);
        match is_valid {
            true => Ok(TimingSource::Header { name: name.to_ascii_lowercase(), unit }),
            false => Err(error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_header_is_written_in_one_way() {
        for text in ["server-timing", "header:x-time:ms", "header:x_a.b:s", "header:x:us"] {
            assert_eq!(text.parse::<TimingSource>().unwrap().to_string(), text);
        }
        for text in ["", "x-time", "header:x-time", "header::ms", "header:x time:ms", "header:x:h", "http://127.0.0.1/"]
        {
            assert!(text.parse::<TimingSource>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_possible_durations_are_read() {
        let ms = |text: &str| HeaderUnit::Milliseconds.duration(text.as_bytes()).map(|time| time.0);
        assert_eq!([ms("1.5"), ms(" 0 "), ms("1e3")], [Some(1_500_000), Some(0), Some(1_000_000_000)]);
        assert_eq!([ms("-1"), ms("NaN"), ms("inf"), ms(""), ms("1ms"), ms("1e30")], [None; 6]);
        assert_eq!(HeaderUnit::Seconds.duration(b"0.012345"), Some(Nanos(12_345_000)));
    }
    proptest! {
        #[test]
        fn a_short_number_is_the_one_that_its_text_means(text in "[0-9]{0,9}[.]?[0-9]{0,9}") {
            if let Some(number) = short_decimal(text.as_bytes()) {
                prop_assert_eq!(Ok(number), text.parse::<f64>());
            } else {
                prop_assert!(text.len() > 15 || text.parse::<f64>().is_err(), "{}", text);
            }
        }
    }
}
