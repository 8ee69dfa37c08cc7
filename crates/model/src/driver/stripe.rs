//! The stripe of one machine.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

/// Stripe `index` of `of`: the part of a shared load that one machine offers.
///
/// Stripe i of n gets the arrivals i, i + n, i + 2n … All stripes together are exactly the whole load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stripe {
    index: u32,
    of: u32,
}

/// Error of a text that is not a stripe.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StripeError {
    /// The text is not `i/n`.
    #[error("'{0}' is not a stripe; write which one of how many, such as 2/8")]
    Malformed(String),
    /// The number is not between 1 and the number of stripes.
    #[error("there is no stripe {index} of {of}; stripes count from 1 to {of}")]
    OutOfRange {
        /// Counted from 1.
        index: u32,
        /// Number of stripes.
        of: u32,
    },
    /// The number of stripes is above [`Stripe::MAX`].
    #[error("'{0}' deals the load to more than {most} machines; give fewer stripes", most = Stripe::MAX)]
    TooMany(String),
    /// The number of stripes is 0.
    #[error("'{0}' deals the load to no machine; write which stripe of how many, such as 2/8")]
    OfNone(String),
}

impl Stripe {
    /// The whole load: the stripe of the only machine.
    pub const WHOLE: Stripe = Stripe { index: 0, of: 1 };

    /// Maximum number of stripes of a load: a file that says more would fill the memory with names.
    pub const MAX: u32 = 65_536;

    /// Returns stripe `number` of `of`, counted from 1 as people write it; `None` if either is out of range.
    pub const fn numbered(number: u32, of: u32) -> Option<Stripe> {
        if number == 0 || number > of || of > Stripe::MAX { None } else { Some(Stripe { index: number - 1, of }) }
    }

    /// Returns all stripes of `of`, in order.
    pub fn all(of: u32) -> impl Iterator<Item = Stripe> {
        (0..of).map(move |index| Stripe { index, of })
    }

    /// Index, from 0.
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Number, from 1.
    pub const fn number(self) -> u32 {
        self.index + 1
    }

    /// Number of stripes.
    pub const fn count(self) -> u32 {
        self.of
    }

    /// Returns how many of `total` items, dealt one by one, this stripe gets.
    pub const fn share_of(self, total: u64) -> u64 {
        let index = self.index as u64;
        let of = self.of as u64;
        total / of + if index < total % of { 1 } else { 0 }
    }
}

impl fmt::Display for Stripe {
    /// Writes `2/8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number(), self.of)
    }
}

impl FromStr for Stripe {
    type Err = StripeError;

    /// Reads `2/8`, and `1+1/8` as the same: an engine that counts from 0 can fill in its number without a shell.
    fn from_str(text: &str) -> Result<Stripe, StripeError> {
        let malformed = || StripeError::Malformed(text.to_owned());
        let count = |text: &str| text.trim().parse::<u32>().map_err(|_: ParseIntError| malformed());
        let (number, of) = text.split_once('/').ok_or_else(malformed)?;
        let number = match number.split_once('+') {
            Some((index, more)) if !index.trim().is_empty() => {
                count(index)?.checked_add(count(more)?).ok_or_else(malformed)?
            }
            _ => count(number)?,
        };
        let of = count(of)?;
        if of == 0 {
            return Err(StripeError::OfNone(text.to_owned()));
        }
        if of > Stripe::MAX {
            return Err(StripeError::TooMany(text.to_owned()));
        }
        Stripe::numbered(number, of).ok_or(StripeError::OutOfRange { index: number, of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stripes_are_written_as_people_count() {
        let stripe: Stripe = "2/8".parse().unwrap();
        assert_eq!((stripe.index(), stripe.number(), stripe.count(), stripe.to_string().as_str()), (1, 2, 8, "2/8"));
        assert_eq!("1/1".parse(), Ok(Stripe::WHOLE));
        assert_eq!(
            ("0+1/8".parse(), "7 + 1 / 8".parse()),
            (Ok(Stripe::numbered(1, 8).unwrap()), Ok(Stripe::numbered(8, 8).unwrap()))
        );
        for (text, says) in [
            ("0/8", "there is no stripe 0 of 8; stripes count from 1 to 8"),
            ("9/8", "there is no stripe 9 of 8; stripes count from 1 to 8"),
            ("1/0", "deals the load to no machine"),
            ("-1/8", "is not a stripe"),
            ("2", "is not a stripe"),
            ("2/8/9", "is not a stripe"),
            ("", "is not a stripe"),
            ("1/4294967296", "is not a stripe"),
            ("1/65537", "more than 65536 machines"),
            ("8+1/8", "there is no stripe 9 of 8"),
            ("+/8", "is not a stripe"),
            ("1+1+1/8", "is not a stripe"),
            ("-1+2/8", "is not a stripe"),
            ("4294967295+1/8", "is not a stripe"),
        ] {
            let error = text.parse::<Stripe>().unwrap_err().to_string();
            assert!(error.contains(says) && !error.contains('\n'), "{text}: {error}");
        }
    }

    #[test]
    fn all_that_is_dealt_was_there() {
        for (total, of) in [(0, 3), (1, 3), (10, 3), (12, 3), (5, 64)] {
            assert_eq!(Stripe::all(of).map(|stripe| stripe.share_of(total)).sum::<u64>(), total, "{total} among {of}");
        }
    }
}
