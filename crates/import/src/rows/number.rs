//! Numbers and durations from bytes, without allocation and exact to the nanosecond.

use std::collections::BTreeMap;

/// Reason why a field has no usable number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NotUsable {
    /// It is empty, or `-`.
    Absent,
    NoNumber,
    NoTime,
    Negative,
    /// It does not fit into 64 bits of nanoseconds.
    TooLarge,
    /// It is a number in an unknown unit.
    NoUnit,
}

/// A unit of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unit {
    Nanos,
    Micros,
    Millis,
    Seconds,
}

impl Unit {
    /// Returns its length in nanoseconds.
    pub(crate) const fn nanos(self) -> u64 {
        match self {
            Unit::Nanos => 1,
            Unit::Micros => 1_000,
            Unit::Millis => 1_000_000,
            Unit::Seconds => 1_000_000_000,
        }
    }

    /// Returns the unit with this name: `ns`, `us`, `ms` or `s`.
    pub(crate) fn by_name(name: &str) -> Option<Unit> {
        match name {
            "ns" => Some(Unit::Nanos),
            "us" | "µs" => Some(Unit::Micros),
            "ms" => Some(Unit::Millis),
            "s" => Some(Unit::Seconds),
            _ => None,
        }
    }
}

/// A time, and the smallest step that its digits can show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Measured {
    pub ns: u64,
    /// At least 1.
    pub resolution_ns: u64,
}

/// Finest resolution among the times. A time whose trailing zeros were not written looks coarser than it is.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Finest(Option<u64>);

impl Finest {
    pub(crate) fn see(&mut self, time: Measured) {
        self.0 = Some(self.0.unwrap_or(u64::MAX).min(time.resolution_ns));
    }

    /// Returns the resolution in nanoseconds, or 1 without times.
    pub(crate) fn ns(self) -> u64 {
        self.0.unwrap_or(1)
    }
}

/// Coarsest resolution of a notable part of the times. A few odd lines, or a few times whose trailing zeros were not
/// written, do not decide for a whole log.
#[derive(Clone, Default, Debug)]
pub(crate) struct Usual(BTreeMap<u64, u64>);

/// A notable part is at least one time in this many.
const NOTABLE: u64 = 5;

impl Usual {
    pub(crate) fn see(&mut self, time: Measured) {
        *self.0.entry(time.resolution_ns).or_default() += 1;
    }

    /// Returns the resolution in nanoseconds, or 1 without times.
    pub(crate) fn ns(&self) -> u64 {
        let all: u64 = self.0.values().sum();
        let notable = self.0.iter().rev().find(|(_, count)| *count * NOTABLE >= all);
        notable.or(self.0.first_key_value()).map_or(1, |(resolution_ns, _)| *resolution_ns)
    }
}

pub(crate) fn whole(text: &[u8]) -> Result<u64, NotUsable> {
    let text = text.trim_ascii();
    if text.is_empty() {
        return Err(NotUsable::Absent);
    }
    let mut sum = 0u64;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Err(odd(text));
        }
        sum = sum.checked_mul(10).and_then(|sum| sum.checked_add(u64::from(digit))).ok_or(NotUsable::TooLarge)?;
    }
    Ok(sum)
}

/// Reads a number of `unit`s, with or without decimals, in nanoseconds. Decimals below a nanosecond are dropped.
pub(crate) fn time(text: &[u8], unit: Unit) -> Result<Measured, NotUsable> {
    let text = text.trim_ascii();
    if matches!(text, b"" | b"-") {
        return Err(NotUsable::Absent);
    }
    let mut digits = text.iter();
    let mut per_step = unit.nanos();
    let mut sum = 0u64;
    let mut seen = false;
    for byte in digits.by_ref() {
        let digit = byte.wrapping_sub(b'0');
        match (digit, byte) {
            (0..=9, _) => {
                seen = true;
                sum =
                    sum.checked_mul(10).and_then(|sum| sum.checked_add(u64::from(digit))).ok_or(NotUsable::TooLarge)?;
            }
            (_, b'.') => break,
            _ => return by_float(text, unit),
        }
    }
    let mut ns = sum.checked_mul(per_step).ok_or(NotUsable::TooLarge)?;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return by_float(text, unit);
        }
        seen = true;
        per_step /= 10;
        ns = ns.checked_add(u64::from(digit) * per_step).ok_or(NotUsable::TooLarge)?;
    }
    if seen { Ok(Measured { ns, resolution_ns: per_step.max(1) }) } else { Err(NotUsable::NoNumber) }
}

/// Reads a number with an exponent, such as Python's `9e-05`, which is rare.
fn by_float(text: &[u8], unit: Unit) -> Result<Measured, NotUsable> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
    let number = number.filter(|number| number.is_finite()).ok_or(NotUsable::NoNumber)?;
    float(number, unit)
}

/// Converts a JSON number of `unit`s to a time.
pub(crate) fn float(number: f64, unit: Unit) -> Result<Measured, NotUsable> {
    let ns = number * unit.nanos() as f64;
    match ns {
        _ if ns < 0.0 => Err(NotUsable::Negative),
        _ if ns < 1.8e19 => Ok(Measured { ns: ns.round() as u64, resolution_ns: 1 }),
        _ => Err(NotUsable::TooLarge),
    }
}

/// Returns the reason why a text is not a whole number.
fn odd(text: &[u8]) -> NotUsable {
    match text {
        b"-" => NotUsable::Absent,
        [b'-', digits @ ..] if digits.iter().all(u8::is_ascii_digit) => NotUsable::Negative,
        _ => NotUsable::NoNumber,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_keep_every_digit_and_say_how_fine_they_are() {
        for (text, unit, ns, resolution_ns) in [
            ("1795157978.127368", Unit::Seconds, 1_795_157_978_127_368_000, 1_000),
            ("102", Unit::Millis, 102_000_000, 1_000_000),
            ("11.443003", Unit::Millis, 11_443_003, 1),
            ("0.0108", Unit::Seconds, 10_800_000, 100_000),
            ("5.", Unit::Seconds, 5_000_000_000, 1_000_000_000),
            (".5", Unit::Seconds, 500_000_000, 100_000_000),
            ("9e-05", Unit::Seconds, 90_000, 1),
            (" 7 ", Unit::Nanos, 7, 1),
            ("7.9", Unit::Nanos, 7, 1),
        ] {
            assert_eq!(time(text.as_bytes(), unit), Ok(Measured { ns, resolution_ns }), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_says_why() {
        for (text, why) in [
            ("", NotUsable::Absent),
            ("-", NotUsable::Absent),
            ("-3", NotUsable::Negative),
            ("-0.5", NotUsable::Negative),
            (".", NotUsable::NoNumber),
            ("1.2.3", NotUsable::NoNumber),
            ("NaN", NotUsable::NoNumber),
            ("inf", NotUsable::NoNumber),
            ("0x10", NotUsable::NoNumber),
            ("99999999999999999999", NotUsable::TooLarge),
            ("18446744073709551615", NotUsable::TooLarge),
        ] {
            assert_eq!(time(text.as_bytes(), Unit::Seconds), Err(why), "{text}");
        }
        assert_eq!(whole(b"-7"), Err(NotUsable::Negative));
        assert_eq!(whole(b"7x"), Err(NotUsable::NoNumber));
        assert_eq!(whole(b"18446744073709551616"), Err(NotUsable::TooLarge));
    }

    proptest! {
        #[test]
        fn any_number_of_nanoseconds_survives_being_printed(ns in 0u64..=u64::MAX / 2) {
            let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
            prop_assert_eq!(time(text.as_bytes(), Unit::Seconds), Ok(Measured { ns, resolution_ns: 1 }));
            prop_assert_eq!(whole(ns.to_string().as_bytes()), Ok(ns));
        }
    }
}
