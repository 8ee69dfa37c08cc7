//! Built-in values: placeholders such as `{{seq}}` and `{{randomInt 1 100}}` that need no rows.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use truetail_model::random::mix64;

/// Limit on the words of `randomChoice`.
const MAX_CHOICES: usize = 1000;
/// Growth of the state of SplitMix64 from one output to the next.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
/// Separates these random numbers from others of the same seed.
const PURPOSE: u64 = 0x7661_6c75_6573_0001;

/// A value that a request gets when it begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BuiltIn {
    /// `seq`: the index of the arrival in the whole schedule, from 0; in a session, the number of the session.
    Seq,
    /// `now`: the time of the clock in milliseconds since 1970.
    Now,
    /// `now_ns`: the time of the clock in nanoseconds since 1970.
    NowNs,
    /// `newDate`: the time of the clock in UTC, as RFC 3339 has it, with microseconds.
    NewDate,
    /// `newUuid`: a random UUID, version 4 (RFC 9562).
    NewUuid,
    /// `randomInt LOWEST HIGHEST`: a whole number from `lowest` to `highest`, both included, each equally likely.
    RandomInt {
        /// Lowest number.
        lowest: i64,
        /// Highest number, not below the lowest.
        highest: i64,
    },
    /// `randomChoice WORD…`: one of at least one word, each equally likely.
    RandomChoice(Arc<[String]>),
}

/// Returns the built-in values in one line, for error messages.
pub const BUILT_INS: &str = "seq, now, now_ns, newDate, newUuid, randomInt LOWEST HIGHEST, randomChoice WORD WORD …";

impl BuiltIn {
    /// Parses the text of a placeholder. Returns `None` if it begins with the name of no built-in value.
    ///
    /// # Errors
    /// Missing or wrong words after the name.
    pub fn parse(placeholder: &str) -> Option<Result<BuiltIn, String>> {
        let mut words = placeholder.split_whitespace();
        let plain = match words.next()? {
            "seq" => BuiltIn::Seq,
            "now" => BuiltIn::Now,
            "now_ns" => BuiltIn::NowNs,
            "newDate" => BuiltIn::NewDate,
            "newUuid" => BuiltIn::NewUuid,
            "randomInt" => return Some(random_int(words)),
            "randomChoice" => return Some(random_choice(words)),
            _ => return None,
        };
        Some(match words.next() {
            None => Ok(plain),
            Some(word) => Err(format!("nothing can follow its name, and '{word}' does")),
        })
    }

    /// Returns the value with each of its texts changed by `change`. Numbers, dates and UUIDs stay.
    ///
    /// # Errors
    /// The first error of `change`.
    pub(crate) fn map<E>(&self, change: impl Fn(&str) -> Result<String, E>) -> Result<BuiltIn, E> {
        match self {
            BuiltIn::RandomChoice(words) => {
                let words: Result<Vec<String>, E> = words.iter().map(|word| change(word)).collect();
                Ok(BuiltIn::RandomChoice(words?.into()))
            }
            other => Ok(other.clone()),
        }
    }

    /// Appends the value to `out`.
    pub fn write(&self, source: &mut impl ValueSource, out: &mut Vec<u8>) {
        match self {
            BuiltIn::Seq => out.extend_from_slice(source.number().to_string().as_bytes()),
            BuiltIn::Now => out.extend_from_slice(source.now().as_millis().to_string().as_bytes()),
            BuiltIn::NowNs => out.extend_from_slice(source.now().as_nanos().to_string().as_bytes()),
            BuiltIn::NewDate => {
                let date = humantime::format_rfc3339_micros(UNIX_EPOCH + source.now());
                out.extend_from_slice(date.to_string().as_bytes());
            }
            BuiltIn::NewUuid => out.extend_from_slice(uuid(source.draw(), source.draw()).as_bytes()),
            BuiltIn::RandomInt { lowest, highest } => {
                let number = between(*lowest, *highest, source.draw());
                out.extend_from_slice(number.to_string().as_bytes());
            }
            BuiltIn::RandomChoice(words) => {
                let index = between(0, words.len() as i64 - 1, source.draw());
                out.extend_from_slice(words[index as usize].as_bytes());
            }
        }
    }
}

impl fmt::Display for BuiltIn {
    /// Writes the text between the braces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuiltIn::Seq => f.write_str("seq"),
            BuiltIn::Now => f.write_str("now"),
            BuiltIn::NowNs => f.write_str("now_ns"),
            BuiltIn::NewDate => f.write_str("newDate"),
            BuiltIn::NewUuid => f.write_str("newUuid"),
            BuiltIn::RandomInt { lowest, highest } => write!(f, "randomInt {lowest} {highest}"),
            BuiltIn::RandomChoice(words) => write!(f, "randomChoice {}", words.join(" ")),
        }
    }
}

/// Source of the varying parts of built-in values.
pub trait ValueSource {
    /// Returns the number of the arrival or session, from 0.
    fn number(&self) -> u64;

    /// Returns 64 random bits, others in each call.
    fn draw(&mut self) -> u64;

    /// Returns the time of the clock since 1970.
    fn now(&self) -> Duration;
}

/// Returns the time of the clock since 1970; 0 before.
pub fn unix_time() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Values of one arrival: a pure function of seed and index, but for the time.
pub(crate) struct ArrivalValues {
    index: u64,
    state: u64,
    /// True for values that stand for all: the same in each run of the same load.
    is_sample: bool,
}

impl ArrivalValues {
    pub(crate) fn new(seed: u64, index: u64) -> ArrivalValues {
        ArrivalValues { index, state: mix64(mix64(seed ^ PURPOSE) ^ mix64(index)), is_sample: false }
    }

    /// Returns values that depend neither on a seed nor on the time.
    pub(crate) fn sample() -> ArrivalValues {
        ArrivalValues { is_sample: true, ..ArrivalValues::new(0, 0) }
    }
}

impl ValueSource for ArrivalValues {
    fn number(&self) -> u64 {
        self.index
    }

    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix64(self.state)
    }

    fn now(&self) -> Duration {
        if self.is_sample { Duration::ZERO } else { unix_time() }
    }
}

fn random_int<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<BuiltIn, String> {
    const HELP: &str = "write two whole numbers, the lowest and the highest, such as {{randomInt 1 100}}";
    let (Some(lowest), Some(highest), None) = (words.next(), words.next(), words.next()) else {
        return Err(HELP.to_owned());
    };
    let number = |word: &str| word.parse::<i64>().map_err(|_| format!("'{word}' is not a whole number; {HELP}"));
    let lowest = number(lowest)?;
    let highest = number(highest)?;
    if lowest > highest {
        return Err(format!("{lowest} is above {highest}; {HELP}"));
    }
    Ok(BuiltIn::RandomInt { lowest, highest })
}

fn random_choice<'a>(words: impl Iterator<Item = &'a str>) -> Result<BuiltIn, String> {
    let words: Vec<String> = words.map(str::to_owned).collect();
    match words.len() {
        0 => Err("write the words to choose from, such as {{randomChoice red green blue}}".to_owned()),
        1..=MAX_CHOICES => Ok(BuiltIn::RandomChoice(words.into())),
        count => Err(format!("it has {count} words; at most {MAX_CHOICES} are possible")),
    }
}

/// Returns a number from `lowest` to `highest` for 64 random bits: the high half of a product. The bias is below one
/// in 2^64 divided by the count of numbers.
fn between(lowest: i64, highest: i64, bits: u64) -> i64 {
    let count = (i128::from(highest) - i128::from(lowest) + 1) as u128;
    let drawn = match u64::try_from(count) {
        Ok(count) => (u128::from(count) * u128::from(bits)) >> 64,
        // All 2^64 numbers.
        Err(_) => u128::from(bits),
    };
    (i128::from(lowest) + drawn as i128) as i64
}

/// Returns the UUID, version 4 (RFC 9562), of these random bits.
fn uuid(high: u64, low: u64) -> String {
    let high = high & !0xf000 | 0x4000;
    let low = low & !(0b11 << 62) | (0b10 << 62);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn value(placeholder: &str, seed: u64, index: u64) -> String {
        let mut out = Vec::new();
        BuiltIn::parse(placeholder).unwrap().unwrap().write(&mut ArrivalValues::new(seed, index), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_value_has_its_form() {
        assert_eq!(value("seq", 1, 41), "41");
        assert_eq!(value("randomInt -3 -3", 1, 0), "-3");
        let uuid = value("newUuid", 1, 0);
        assert!(uuid.len() == 36 && &uuid[14..15] == "4" && "89ab".contains(&uuid[19..20]), "{uuid}");
        // Since 2001, in the units that are promised.
        assert_eq!(value("now", 1, 0).len(), 13);
        assert_eq!(value("now_ns", 1, 0).len(), 19);
        let date = value("newDate", 1, 0);
        assert!(date.len() == 27 && date.ends_with('Z') && &date[10..11] == "T", "{date}");
    }

    #[test]
    fn all_choices_and_numbers_come_up_equally_often() {
        for placeholder in ["randomInt 0 9", "randomChoice 0 1 2 3 4 5 6 7 8 9"] {
            let mut counts = [0; 10];
            (0..10_000).for_each(|index| counts[value(placeholder, 7, index).parse::<usize>().unwrap()] += 1);
            // Five standard deviations of 30 each. The seed is fixed.
            assert!(counts.iter().all(|count| (850..=1150).contains(count)), "{placeholder}: {counts:?}");
        }
    }

    #[test]
    fn a_value_depends_on_seed_index_and_place_only() {
        assert_eq!(value("newUuid", 1, 5), value("newUuid", 1, 5));
        let of = |seed| (0..1000).map(|index| value("newUuid", seed, index)).collect::<BTreeSet<_>>();
        assert_eq!(of(1).union(&of(2)).count(), 2000);
        let mut values = ArrivalValues::new(1, 5);
        let mut out = Vec::new();
        (0..2).for_each(|_| BuiltIn::NewUuid.write(&mut values, &mut out));
        assert_ne!(out[..36], out[36..]);
    }

    /// A seed names the requests of a run, so the numbers of a seed must never change.
    #[test]
    fn the_values_of_a_seed_never_change() {
        let drawn: Vec<String> = (0..4).map(|index| value("randomInt 1 1000", 1, index)).collect();
        assert_eq!(drawn, ["377", "707", "990", "941"]);
    }

    #[test]
    fn wrong_words_are_refused() {
        for (placeholder, part) in [
            ("seq 1", "nothing can follow its name, and '1' does"),
            ("randomInt", "write two whole numbers"),
            ("randomInt 1", "write two whole numbers"),
            ("randomInt 1 2 3", "write two whole numbers"),
            ("randomInt 1 x", "'x' is not a whole number"),
            ("randomInt 2 1", "2 is above 1"),
            ("randomChoice", "write the words to choose from"),
        ] {
            let told = BuiltIn::parse(placeholder).unwrap().unwrap_err();
            assert!(told.contains(part), "{told}");
        }
        assert_eq!(BuiltIn::parse("sequence"), None);
        assert_eq!(BuiltIn::parse("id"), None);
    }

    proptest! {
        #[test]
        fn a_number_lies_between_its_bounds(one: i64, other: i64, bits: u64) {
            let lowest = one.min(other);
            let highest = one.max(other);
            prop_assert!((lowest..=highest).contains(&between(lowest, highest, bits)));
            prop_assert_eq!(between(lowest, highest, 0), lowest);
            prop_assert_eq!(between(lowest, highest, u64::MAX), highest);
        }
    }
}
