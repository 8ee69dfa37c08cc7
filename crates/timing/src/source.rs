//! Headers to read.

use std::fmt;
use std::str::FromStr;

use truetail_model::time::Nanos;

use crate::server_timing::MAX_NAME;

/// Limit on a duration: a week. A longer one is no duration of a request.
const LONGEST_NS: u64 = 7 * 86_400 * 1_000_000_000;

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

/// Unit of the number in a header, with the decimals after which it ends at a nanosecond.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeaderUnit {
    /// Seconds.
    Seconds = 9,
    /// Milliseconds.
    Milliseconds = 6,
    /// Microseconds.
    Microseconds = 3,
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

    /// Returns the decimals after which the unit ends at a nanosecond.
    fn decimals(self) -> usize {
        self as usize
    }

    /// Returns the duration; `None` if the text is not a decimal number from 0 to a week.
    pub(crate) fn duration(self, text: &[u8]) -> Option<Nanos> {
        let short = Decimal::at_start(text).filter(|decimal| decimal.length == text.len());
        if let Some(exact) = short.and_then(|decimal| self.exact(decimal)) {
            return Some(exact);
        }
        let number: f64 = std::str::from_utf8(text).ok()?.trim().parse().ok()?;
        let ns = number * POWERS[self.decimals()] as f64;
        (0.0..=LONGEST_NS as f64).contains(&ns).then(|| Nanos(ns.round() as u64))
    }

    /// Returns the duration if it is a whole number of nanoseconds, up to a week. It equals the rounded product of
    /// floating-point numbers, because two roundings change a duration of up to a week by less than a quarter of a
    /// nanosecond.
    #[inline]
    pub(crate) fn exact(self, decimal: Decimal) -> Option<Nanos> {
        let scale = POWERS.get(self.decimals().wrapping_sub(decimal.behind_point))?;
        let ns = decimal.digits.checked_mul(*scale)?;
        (ns <= LONGEST_NS).then_some(Nanos(ns))
    }
}

/// The powers of ten from 1, up to the nanoseconds of a second.
const POWERS: [u64; 10] = {
    let mut powers = [1; 10];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// A number of up to 15 digits, with or without a point.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Decimal {
    digits: u64,
    /// Digits behind the point.
    behind_point: usize,
    /// Bytes of its text.
    pub(crate) length: usize,
}

impl Decimal {
    /// Limit on the bytes of a number: so many digits do not overflow.
    const LONGEST: usize = 16;

    /// Reads the digits at the start of `text`, with a point among them.
    #[inline]
    pub(crate) fn at_start(text: &[u8]) -> Option<Decimal> {
        let text = &text[..text.len().min(Decimal::LONGEST)];
        let mut digits = 0u64;
        let mut length = 0;
        let mut behind_point = 0;
        let mut has_point = false;
        loop {
            // Twice at most: before the point, and behind it.
            let first = length;
            while let Some(digit) = text.get(length).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit <= 9) {
                digits = digits * 10 + u64::from(digit);
                length += 1;
            }
            if has_point {
                behind_point = length - first;
                break;
            }
            has_point = text.get(length) == Some(&b'.');
            if !has_point {
                break;
            }
            length += 1;
        }
        let is_number = length > usize::from(has_point) && length < Decimal::LONGEST;
        is_number.then_some(Decimal { digits, behind_point, length })
    }
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

    /// Returns the name of the header, in lower case.
    pub(crate) fn header(&self) -> &str {
        match self {
            TimingSource::ServerTiming => "server-timing",
            TimingSource::Header { name, .. } => name,
        }
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
        fn a_short_number_is_the_one_that_its_text_means(text in "[0-9]{0,9}[.]?[0-9]{0,9}", unit in 0..3usize) {
            let unit = HeaderUnit::ALL[unit];
            let number = text.parse::<f64>().ok();
            let expected = number.map(|number| (number * POWERS[unit.decimals()] as f64).round() as u64);
            let expected = expected.filter(|ns| *ns <= LONGEST_NS).map(Nanos);
            prop_assert_eq!(unit.duration(text.as_bytes()), expected);
            if let Some(decimal) = Decimal::at_start(text.as_bytes()) {
                prop_assert_eq!(decimal.length, text.len());
                prop_assert!(unit.exact(decimal).is_none() || unit.exact(decimal) == expected);
            } else {
                prop_assert!(text.len() > 15 || number.is_none(), "{}", text);
            }
        }
    }
}
