//! A text that was read, to read the next one by its digits alone.

use truetail_model::time::Nanos;
use truetail_run::{MAX_PARTS, ReportedTimes};

use crate::source::{Decimal, HeaderUnit};

/// Longest text that is kept. 0 switches this off.
const LONGEST: usize = 2048;
/// Number of texts in a row that are kept although the one before did not help.
const FIRST_MISSES: u64 = 8;
/// Of later ones, one in this many is kept.
const ONE_IN: u64 = 64;

/// A text with durations, and what was found in it. Answers of a service often differ in the digits of their times
/// alone, and comparing bytes is cheaper than parsing.
#[derive(Default, Debug)]
pub(crate) struct Remembered {
    numbers: Vec<Number>,
    /// Text after the last number.
    after: Vec<u8>,
    /// Texts since the last one that was like the kept one.
    misses: u64,
}

/// A number in a text.
#[derive(Debug)]
struct Number {
    /// Text between the number before and this one.
    before: Vec<u8>,
    unit: HeaderUnit,
    /// The place of the name that it belongs to.
    place: usize,
}

impl Remembered {
    /// Adds the times in `text`, if it differs from the kept one only in its numbers. Otherwise returns false, and adds
    /// nothing.
    #[inline]
    pub(crate) fn read(&mut self, text: &[u8], times: &mut ReportedTimes) -> bool {
        let mut found = [Nanos::ZERO; MAX_PARTS];
        let is_alike = self.compare(text, &mut found).is_some();
        if is_alike {
            self.misses = 0;
            self.numbers.iter().zip(found).for_each(|(number, time)| times.add(number.place, time));
        }
        is_alike
    }

    #[inline]
    fn compare(&self, text: &[u8], found: &mut [Nanos; MAX_PARTS]) -> Option<()> {
        let mut rest = text;
        for (number, time) in self.numbers.iter().zip(found) {
            let digits = rest.strip_prefix(&number.before[..])?;
            let decimal = Decimal::at_start(digits)?;
            *time = number.unit.exact(decimal)?;
            rest = &digits[decimal.length..];
        }
        (rest == self.after).then_some(())
    }

    /// Begins to note the numbers of a text that was not like the kept one. Returns `None` if it will not be kept.
    pub(crate) fn notes<'a>(&mut self, text: &'a [u8]) -> Option<Notes<'a>> {
        self.misses += 1;
        let is_kept = self.misses <= FIRST_MISSES || self.misses.is_multiple_of(ONE_IN);
        (is_kept && text.len() <= LONGEST).then_some(Notes {
            text,
            numbers: [None; MAX_PARTS],
            count: 0,
            is_plain: true,
        })
    }

    /// Keeps the text of the notes, if all in it was read.
    pub(crate) fn keep(&mut self, notes: &Notes<'_>) {
        if !notes.is_plain {
            return;
        }
        let mut from = 0;
        self.numbers.clear();
        for noted in notes.numbers.iter().flatten() {
            let before = notes.text[from..noted.start].to_vec();
            self.numbers.push(Number { before, unit: noted.unit, place: noted.place });
            from = noted.end;
        }
        self.after = notes.text[from..].to_vec();
    }
}

/// The numbers of a text that is being read, from its start to its end.
#[derive(Debug)]
pub(crate) struct Notes<'a> {
    text: &'a [u8],
    numbers: [Option<Noted>; MAX_PARTS],
    count: usize,
    is_plain: bool,
}

/// Where a number is in a text, and what it means.
#[derive(Clone, Copy, Debug)]
struct Noted {
    start: usize,
    end: usize,
    unit: HeaderUnit,
    place: usize,
}

impl Notes<'_> {
    /// Notes a time: `number` is its part of the text. The text will not be kept if the time has no place.
    pub(crate) fn time(&mut self, number: &[u8], unit: HeaderUnit, place: Option<usize>) {
        let noted = place.and_then(|place| self.number(number, unit, place));
        match self.numbers.get_mut(self.count) {
            Some(free) if noted.is_some() => *free = noted,
            _ => self.is_plain = false,
        }
        self.count += 1;
    }

    /// Notes whether the text, or a value in it, was read to its end.
    pub(crate) fn end(&mut self, is_read: bool) {
        self.is_plain &= is_read;
    }

    fn number(&self, number: &[u8], unit: HeaderUnit, place: usize) -> Option<Noted> {
        // Part of a longer number would be read differently.
        let decimal = Decimal::at_start(number).filter(|decimal| decimal.length == number.len())?;
        unit.exact(decimal)?;
        let start = (number.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize)?;
        let before = self.numbers.iter().flatten().last().map_or(0, |last| last.end);
        let end = start + number.len();
        (before <= start && end <= self.text.len()).then_some(Noted { start, end, unit, place })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(found: &ReportedTimes) -> Vec<Option<u64>> {
        (0..3).map(|place| found.get(place).map(|time| time.0)).collect()
    }

    /// Keeps `text` with these numbers, in milliseconds, each at another place.
    fn kept(text: &str, numbers: &[&str]) -> Remembered {
        let mut remembered = Remembered::default();
        let mut notes = remembered.notes(text.as_bytes()).expect("the first one is kept");
        for (place, number) in numbers.iter().enumerate() {
            let start = text.find(number).expect("a part of the text");
            notes.time(&text.as_bytes()[start..start + number.len()], HeaderUnit::Milliseconds, Some(place));
        }
        remembered.keep(&notes);
        remembered
    }

    #[test]
    fn only_digits_may_differ() {
        let mut remembered = kept("a;dur=1.5, b;dur=20\r\n", &["1.5", "20"]);
        let mut read = |text: &str| {
            let mut found = ReportedTimes::none(0);
            remembered.read(text.as_bytes(), &mut found).then(|| times(&found))
        };
        assert_eq!(read("a;dur=1.5, b;dur=20\r\n"), Some(vec![Some(1_500_000), Some(20_000_000), None]));
        assert_eq!(read("a;dur=007, b;dur=.25\r\n"), Some(vec![Some(7_000_000), Some(250_000), None]));
        for other in [
            "a;dur=1.5, c;dur=20\r\n",
            "a;dur=1.5, b;dur=20\n",
            "a;dur=1.5, b;dur=20\r\n\n",
            "a;dur=, b;dur=20\r\n",
            "a;dur=1.5.1, b;dur=20\r\n",
            "a;dur=1e3, b;dur=20\r\n",
            "a;dur=-1, b;dur=20\r\n",
            "a;dur=0.1234567, b;dur=20\r\n",
            "a;dur=1.5, b;dur=999999999\r\n",
            "a;dur=1.5, b;dur=2000000000000000\r\n",
            "a;dur=1.5",
            "",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn a_text_that_was_not_read_as_digits_is_not_kept() {
        for (text, numbers) in [("a;dur=1e3", &["1e3"][..]), ("b;dur=2, a;dur=1", &["1", "2"]), ("a;dur=x", &["x"])] {
            let mut remembered = kept(text, numbers);
            assert!(!remembered.read(text.as_bytes(), &mut ReportedTimes::none(0)), "{text}");
        }
        let many = "1".repeat(MAX_PARTS + 2);
        let mut remembered = Remembered::default();
        let mut notes = remembered.notes(many.as_bytes()).expect("the first one is kept");
        (0..many.len()).for_each(|at| notes.time(&many.as_bytes()[at..=at], HeaderUnit::Milliseconds, Some(0)));
        remembered.keep(&notes);
        assert!(!remembered.read(many.as_bytes(), &mut ReportedTimes::none(0)));
        let other = "1.5".to_owned();
        let mut remembered = Remembered::default();
        let mut notes = remembered.notes(b"a;dur=1.5").expect("the first one is kept");
        notes.time(other.as_bytes(), HeaderUnit::Seconds, Some(0));
        remembered.keep(&notes);
        assert!(!remembered.read(b"a;dur=1.5", &mut ReportedTimes::none(0)));
    }

    #[test]
    fn texts_that_never_repeat_are_seldom_kept() {
        let mut remembered = Remembered::default();
        let kept = (0..640).filter(|_| remembered.notes(b"x").is_some()).count() as u64;
        assert_eq!(kept, FIRST_MISSES + 640 / ONE_IN);
        assert!(remembered.notes(&[b'x'; LONGEST + 1]).is_none());
    }
}
