//! Parsers of values that several verbs share.

use std::str::FromStr;

use truetail_model::time::Nanos;

/// A whole number from 1.
pub fn count<T: FromStr + Default + PartialEq>(text: &str) -> Result<T, String> {
    let number: T = text.trim().parse().map_err(|_| format!("'{text}' is not a whole number from 1"))?;
    if number == T::default() { Err("0 is not enough; write a whole number from 1".to_owned()) } else { Ok(number) }
}

/// A time above zero.
pub fn length(text: &str) -> Result<Nanos, String> {
    let time: Nanos = text.parse().map_err(|error| format!("{error}"))?;
    if time.is_zero() {
        Err(format!("'{text}' is no time at all; write one above zero, such as 10s"))
    } else {
        Ok(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_not_a_number_of_things() {
        assert_eq!(count::<u32>("7"), Ok(7));
        for text in ["0", "-1", "1.5", "", "many", "4294967296"] {
            assert!(count::<u32>(text).is_err(), "{text}");
        }
        assert_eq!(length("1ms"), Ok(Nanos::from_millis(1)));
        for text in ["0s", "-1s", "NaNs", "infs", "1", ""] {
            assert!(length(text).is_err(), "{text}");
        }
    }
}
