//! The rates of a sweep.

use std::fmt;
use std::str::FromStr;

use truetail_model::time::Rate;

/// Fewest and most rates of a range, and most rates of a list.
const COUNTS: (usize, usize) = (2, 64);
/// Fewest rates of a range without a count.
const FEWEST_UNASKED: usize = 4;
/// Significant digits of the rates between the ends of a range.
const DIGITS: i32 = 3;

/// The rates of a sweep per second, in ascending order.
#[derive(Clone, PartialEq, Debug)]
pub struct Ladder {
    rates: Vec<f64>,
}

/// Error for a text that is not a ladder of rates: one line, which quotes the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LadderError(String);

impl fmt::Display for LadderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LadderError {}

impl FromStr for Ladder {
    type Err = LadderError;

    /// Parses `LOWEST..HIGHEST`, `LOWEST..HIGHEST/COUNT`, or rates in ascending order with commas between them.
    fn from_str(text: &str) -> Result<Ladder, LadderError> {
        let text = text.trim();
        let refuse = |why: &str| Err(LadderError(format!("'{text}' {why}")));
        let rate = |part: &str| match part.trim().parse::<Rate>() {
            Ok(rate) => Ok(rate.as_per_second()),
            Err(error) => Err(LadderError(format!("'{text}': {error}; write 1..32, 1..32/8 or 1,2,4,8"))),
        };
        let Some((lowest, rest)) = text.split_once("..") else {
            let rates = text.split(',').map(rate).collect::<Result<Vec<f64>, _>>()?;
            if rates.len() < COUNTS.0 {
                return refuse("is one rate, and a sweep needs at least two; write 1..32, 1..32/8 or 1,2,4,8");
            }
            if rates.len() > COUNTS.1 {
                return refuse("has more than 64 rates; leave some out");
            }
            if !rates.is_sorted_by(|a, b| a < b) {
                return refuse("is not in ascending order; a sweep goes from the lowest rate to the highest");
            }
            return Ok(Ladder { rates });
        };
        // A rate may end in `/s`, so only digits after the last stroke are a count.
        let is_count = |count: &str| !count.trim().is_empty() && count.trim().bytes().all(|byte| byte.is_ascii_digit());
        let (highest, count) = match rest.rsplit_once('/').filter(|(_, count)| is_count(count)) {
            Some((highest, count)) => (highest, Some(count.trim().parse::<usize>().unwrap_or(usize::MAX))),
            None => (rest, None),
        };
        let low = rate(lowest)?;
        let high = rate(highest)?;
        if low >= high {
            return refuse("does not go up; write the lowest rate first, such as 1..32");
        }
        match count.unwrap_or_else(|| usual_count(low, high)) {
            count if (COUNTS.0..=COUNTS.1).contains(&count) => Ok(Ladder::geometric(low, high, count)),
            _ => refuse("has another number of rates than from 2 to 64"),
        }
    }
}

impl Ladder {
    /// Returns `count` rates from `low` to `high`, each the same factor above the one before, to three digits.
    fn geometric(low: f64, high: f64, count: usize) -> Ladder {
        let factor = (high / low).powf(1.0 / (count - 1) as f64);
        let between = (1..count - 1).map(|step| rounded(low * factor.powi(step as i32)).clamp(low, high));
        let mut rates: Vec<f64> = [low].into_iter().chain(between).chain([high]).collect();
        rates.dedup();
        Ladder { rates }
    }

    /// Returns the rates per second, in ascending order.
    pub fn rates(&self) -> &[f64] {
        &self.rates
    }
}

/// Returns the number of rates with which each is about twice the one before.
fn usual_count(low: f64, high: f64) -> usize {
    let doublings = libm::log2(high / low).round() as usize;
    (doublings + 1).clamp(FEWEST_UNASKED, COUNTS.1)
}

fn rounded(rate: f64) -> f64 {
    let power = libm::pow(10.0, f64::from(DIGITS - 1) - libm::floor(libm::log10(rate)));
    let rounded = (rate * power).round() / power;
    if rounded.is_finite() && rounded > 0.0 { rounded } else { rate }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(text: &str) -> Vec<f64> {
        text.parse::<Ladder>().unwrap_or_else(|error| panic!("{error}")).rates
    }

    #[test]
    fn a_range_is_a_ladder_of_equal_factors() {
        assert_eq!(rates("1..32"), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
        assert_eq!(rates("1..32/8"), [1.0, 1.64, 2.69, 4.42, 7.25, 11.9, 19.5, 32.0]);
        assert_eq!(rates(" 60/m .. 8/s / 4 "), [1.0, 2.0, 4.0, 8.0]);
        assert_eq!(rates("1k..8k/s"), [1_000.0, 2_000.0, 4_000.0, 8_000.0]);
        assert_eq!(rates("10..15").len(), 4);
        assert_eq!(rates("10..15/2"), [10.0, 15.0]);
        assert_eq!(rates("0.1..0.2/3"), [0.1, 0.141, 0.2]);
    }

    #[test]
    fn a_list_is_taken_as_it_is() {
        assert_eq!(rates("1,2.5, 4/s ,60rps"), [1.0, 2.5, 4.0, 60.0]);
    }

    #[test]
    fn rates_that_cannot_be_told_apart_are_one() {
        assert!(rates("1000..1001/64").is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn what_is_no_ladder_is_refused() {
        for (text, says) in [
            ("5", "needs at least two"),
            ("32..1", "does not go up"),
            ("1..1", "does not go up"),
            ("1..32/1", "from 2 to 64"),
            ("1..32/65", "from 2 to 64"),
            ("1..32/99999999999999999999999", "from 2 to 64"),
            ("4,2,1", "not in ascending order"),
            ("1,1", "not in ascending order"),
            ("0..8", "out of range"),
            ("1..", "is not a rate"),
            ("a,b", "is not a rate"),
            ("", "is not a rate"),
            ("1..8..16", "is not a rate"),
        ] {
            let error = text.parse::<Ladder>().expect_err(text).to_string();
            assert!(error.contains(says) && !error.contains('\n'), "{text}: {error}");
        }
        let many: Vec<String> = (1..=65).map(|rate| rate.to_string()).collect();
        assert!(many.join(",").parse::<Ladder>().is_err());
    }
}
