//! The stripe of one machine.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

/// Stripe `index` of `of`: what one machine offers of a load that several share.
///
/// Things are dealt one by one: of the arrivals of a schedule, stripe i gets i, i + n, i + 2n … So the stripes of all
/// machines are together the whole load, exactly, whatever n is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stripe {
    index: u32,
    of: u32,
}

/// Why a text is no stripe.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StripeError {
    /// It is not `i/n`.
    #[error("'{0}' is not a stripe; write which one of how many, such as 2/8")]
    Malformed(String),
    /// There is none of that number.
    #[error("there is no stripe {index} of {of}; stripes count from 1 to {of}")]
    OutOfRange {
        /// Counted from 1.
        index: u32,
        /// How many there are.
        of: u32,
    },
    /// No load is dealt out to so many.
    #[error("'{0}' deals the load to more than {most} machines; give fewer stripes", most = Stripe::MOST)]
    TooMany(String),
    /// There is none at all.
    #[error("'{0}' deals the load to no machine; write which stripe of how many, such as 2/8")]
    OfNone(String),
}

impl Stripe {
    /// The whole load: the stripe of the only machine.
    pub const WHOLE: Stripe = Stripe { index: 0, of: 1 };

    /// Most stripes of a load. Nobody has so many machines, and a file that says more would fill the memory with names.
    pub const MOST: u32 = 65_536;

    /// Stripe `number` of `of`, counted from 1, as people write it; `None` where there is none.
    pub const fn numbered(number: u32, of: u32) -> Option<Stripe> {
        if number == 0 || number > of || of > Stripe::MOST { None } else { Some(Stripe { index: number - 1, of }) }
    }

    /// All stripes of `of`, in order.
    pub fn all(of: u32) -> impl Iterator<Item = Stripe> {
        (0..of).map(move |index| Stripe { index, of })
    }

    /// Its place, from 0.
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Its number, from 1.
    pub const fn number(self) -> u32 {
        self.index + 1
    }

    /// How many stripes there are.
    pub const fn of(self) -> u32 {
        self.of
    }

    /// How many of `total` things, dealt one by one, fall to it.
    pub const fn share_of(self, total: u64) -> u64 {
        let (index, of) = (self.index as u64, self.of as u64);
        total / of + if index < total % of { 1 } else { 0 }
    }
}

impl fmt::Display for Stripe {
    /// `2/8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number(), self.of)
    }
}

impl FromStr for Stripe {
    type Err = StripeError;

    /// Reads `2/8`, and `1+1/8` for the same: so can an engine whose numbers begin at 0 fill in its number without a shell.
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
        if of > Stripe::MOST {
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
        assert_eq!((stripe.index(), stripe.number(), stripe.of(), stripe.to_string().as_str()), (1, 2, 8, "2/8"));
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
