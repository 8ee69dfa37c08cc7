use truetail_model::time::days_since_1970;

use super::number::{Measured, NotUsable, Unit, time};

const NANOS_PER_SECOND: u64 = Unit::Seconds.nanos();
const MONTHS: [&[u8]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// Reads an instant, in nanoseconds since 1970: a number or a date with a time of day. The number of digits tells the
/// unit of a number (10 are seconds, 13 milliseconds, 16 microseconds, 19 nanoseconds). Without a zone, a date is in
/// UTC. Fails for instants before 1970 or after 2554.
pub(crate) fn instant(text: &[u8]) -> Result<Measured, NotUsable> {
    let text = text.trim_ascii();
    match text.iter().position(|byte| !byte.is_ascii_digit()) {
        None => time(text, unit_of(text.len())),
        Some(digits) if text[digits] == b'.' => time(text, unit_of(digits)),
        Some(0) => Err(time(text, Unit::Seconds).err().unwrap_or(NotUsable::NoTime)),
        Some(_) => date(text).map(|date| date.instant).ok_or(NotUsable::NoTime),
    }
}

/// Returns the nanoseconds since 1970 of a date with a time of day and a zone, such as `2026-01-01T00:00:00+01:00`;
/// `None` for any other text.
pub fn date_with_zone(text: &str) -> Option<u64> {
    date(text.as_bytes()).filter(|date| date.has_zone).map(|date| date.instant.ns)
}

/// Returns the unit of a Unix time of the years 2001 to 2286, by its digits before the point.
pub(crate) fn unit_of_unix_time(text: &[u8]) -> Option<Unit> {
    let digits = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let is_number = matches!(text.get(digits), None | Some(b'.'));
    match digits {
        10 if is_number => Some(Unit::Seconds),
        13 if is_number => Some(Unit::Millis),
        16 if is_number => Some(Unit::Micros),
        19 if is_number => Some(Unit::Nanos),
        _ => None,
    }
}

/// Returns the most likely unit of a current Unix time with this many digits before the point.
fn unit_of(digits: usize) -> Unit {
    match digits {
        0..=11 => Unit::Seconds,
        12..=14 => Unit::Millis,
        15..=17 => Unit::Micros,
        _ => Unit::Nanos,
    }
}

struct Date {
    instant: Measured,
    has_zone: bool,
}

/// Reads `2026-11-20T06:56:03.037549531+01:00`, `2026/11/20 06:56:03,037`, `20/Nov/2026:06:55:45 +0000`.
fn date(text: &[u8]) -> Option<Date> {
    let mut scan = Scan { rest: text };
    let days = scan.day()?;
    scan.one_of(b"T: ")?;
    let (hour, minute, second) = scan.time_of_day()?;
    let (fraction_ns, resolution_ns) = scan.fraction()?;
    let has_zone = !scan.rest.is_empty();
    let offset = scan.offset()?;
    if !scan.rest.is_empty() {
        return None;
    }
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - offset;
    let ns = u64::try_from(seconds).ok()?.checked_mul(NANOS_PER_SECOND)?.checked_add(fraction_ns)?;
    Some(Date { instant: Measured { ns, resolution_ns }, has_zone })
}

struct Scan<'t> {
    rest: &'t [u8],
}

impl Scan<'_> {
    /// Reads a day, as days since 1970-01-01.
    fn day(&mut self) -> Option<i64> {
        if self.rest.get(2) == Some(&b'/') {
            let day = self.number(2)?;
            self.one_of(b"/")?;
            let month = MONTHS.iter().position(|month| self.rest.starts_with(month))? as i64 + 1;
            self.rest = &self.rest[3..];
            self.one_of(b"/")?;
            let year = self.number(4)?;
            return days_since_1970(year, month, day);
        }
        let year = self.number(4)?;
        self.one_of(b"-/")?;
        let month = self.number(2)?;
        self.one_of(b"-/")?;
        days_since_1970(year, month, self.number(2)?)
    }

    fn time_of_day(&mut self) -> Option<(i64, i64, i64)> {
        let hour = in_range(self.number(2)?, 0, 23)?;
        self.one_of(b":")?;
        let minute = in_range(self.number(2)?, 0, 59)?;
        self.one_of(b":")?;
        Some((hour, minute, in_range(self.number(2)?, 0, 60)?))
    }

    /// Reads the fraction of a second. Returns it and its resolution, in nanoseconds.
    fn fraction(&mut self) -> Option<(u64, u64)> {
        if self.one_of(b".,").is_none() {
            return Some((0, NANOS_PER_SECOND));
        }
        let mut ns = 0;
        let mut worth = NANOS_PER_SECOND;
        while let [digit @ b'0'..=b'9', rest @ ..] = self.rest {
            worth /= 10;
            ns += u64::from(digit - b'0') * worth;
            self.rest = rest;
        }
        (worth < NANOS_PER_SECOND).then_some((ns, worth.max(1)))
    }

    /// Reads an offset and returns it in seconds east of Greenwich: `Z`, `+01:00`, ` +0100` or nothing.
    fn offset(&mut self) -> Option<i64> {
        if self.rest.first() == Some(&b' ') {
            self.rest = &self.rest[1..];
        }
        let sign = match self.one_of(b"Zz+-") {
            None | Some(b'Z' | b'z') => return Some(0),
            Some(b'-') => -1,
            Some(_) => 1,
        };
        let hours = in_range(self.number(2)?, 0, 23)?;
        let _ = self.one_of(b":");
        Some(sign * (hours * 3_600 + in_range(self.number(2)?, 0, 59)? * 60))
    }

    fn number(&mut self, digits: usize) -> Option<i64> {
        let (number, rest) = self.rest.split_at_checked(digits)?;
        self.rest = rest;
        number.iter().try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0')))
    }

    fn one_of(&mut self, any: &[u8]) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        any.contains(first).then(|| {
            self.rest = rest;
            *first
        })
    }
}

fn in_range(number: i64, least: i64, most: i64) -> Option<i64> {
    (least..=most).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_as_tools_write_them() {
        let base = 1_795_157_763_000_000_000;
        for (text, ns, resolution_ns) in [
            ("1795157763", base, 1_000_000_000),
            ("1795157763.037", base + 37_000_000, 1_000_000),
            ("1795157763037", base + 37_000_000, 1_000_000),
            ("1795157763037549", base + 37_549_000, 1_000),
            ("1795157763037549531", base + 37_549_531, 1),
            ("2026-11-20T06:56:03.037549531Z", base + 37_549_531, 1),
            ("2026-11-20T07:56:03.037+01:00", base + 37_000_000, 1_000_000),
            ("2026-11-20T06:56:03Z", base, 1_000_000_000),
            ("2026/11/20 06:56:03.037", base + 37_000_000, 1_000_000),
            ("2026-11-20 06:56:03,037", base + 37_000_000, 1_000_000),
            ("20/Nov/2026:01:56:03 -0500", base, 1_000_000_000),
            ("0.05", 50_000_000, 10_000_000),
            ("1970-01-01T00:00:00Z", 0, 1_000_000_000),
        ] {
            assert_eq!(instant(text.as_bytes()), Ok(Measured { ns, resolution_ns }), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_says_why() {
        for (text, why) in [
            ("", NotUsable::Absent),
            ("-5", NotUsable::Negative),
            ("soon", NotUsable::NoNumber),
            ("2026-13-20T06:56:03Z", NotUsable::NoTime),
            ("2026-11-20", NotUsable::NoTime),
            ("2026-11-20T06:56:03.Z", NotUsable::NoTime),
            ("1969-12-31T23:59:59Z", NotUsable::NoTime),
            ("9999-12-31T23:59:59Z", NotUsable::NoTime),
            ("2026-11-20T06:56:03Zand more", NotUsable::NoTime),
        ] {
            assert_eq!(instant(text.as_bytes()), Err(why), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_time_or_not(text in prop::collection::vec(prop::sample::select(b"0123456789-+:/TZ. Nov".to_vec()), 0..40)) {
            let _ = instant(&text);
        }
    }
}
