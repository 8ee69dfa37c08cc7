//! Parsers of values that several verbs share.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use truetail_model::time::{DurationError, Nanos};
use truetail_model::users::{Users, UsersError};

/// Parses a whole number from 1.
pub(super) fn count<T: FromStr + Default + PartialEq>(text: &str) -> Result<T, String> {
    let number: T = text.trim().parse().map_err(|_| format!("'{text}' is not a whole number from 1"))?;
    if number == T::default() { Err("0 is too few; write a whole number from 1".to_owned()) } else { Ok(number) }
}

/// Parses a number of users, constant or in stages.
pub(super) fn users(text: &str) -> Result<Users, String> {
    if text.contains(['/', ',', ':']) || text.contains("..") {
        return text.parse().map_err(|error: UsersError| error.to_string());
    }
    count(text).map(Users::constant)
}

/// Parses one of these names.
pub(super) fn one_of<T: Clone + Send + Sync + 'static>(
    named: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let names = PossibleValuesParser::new(named.iter().map(|(name, _)| *name));
    names.try_map(|name| {
        let found = named.iter().find(|(known, _)| known.eq_ignore_ascii_case(&name));
        found.map(|(_, value)| value.clone()).ok_or("an unknown name")
    })
}

/// Parses a time above zero.
pub(super) fn length(text: &str) -> Result<Nanos, String> {
    above_zero(text, text.parse())
}

/// Refuses a text that is no time, and zero.
pub(super) fn above_zero(text: &str, time: Result<Nanos, DurationError>) -> Result<Nanos, String> {
    let time = time.map_err(|error| error.to_string())?;
    if time.is_zero() { Err(format!("'{text}' is zero; write a time above zero, such as 10s")) } else { Ok(time) }
}

/// Parses a share such as `5%` or `0.05`, from `LOW` to `HIGH` thousandths.
pub(super) fn share_in<const LOW: u32, const HIGH: u32>(text: &str) -> Result<f64, String> {
    let low = f64::from(LOW) / 1e3;
    let high = f64::from(HIGH) / 1e3;
    let malformed = || format!("'{text}' is not a share; write a number such as {}%", high * 10.0);
    let number = |text: &str| text.trim().parse::<f64>().map_err(|_| malformed());
    let share = match text.trim().strip_suffix('%') {
        Some(percent) => number(percent)? / 100.0,
        None => number(text)?,
    };
    // Tolerates rounding of the division by 100.
    if (low - 1e-12..=high + 1e-12).contains(&share) {
        Ok(share)
    } else {
        Err(format!("'{text}' is out of range; write a share from {}% to {}%", low * 100.0, high * 100.0))
    }
}

/// Returns the folder of a saved run, given as that folder or as the run.json in it.
pub(super) fn run_folder(text: &str) -> Result<PathBuf, String> {
    let path = Path::new(text);
    if path.file_name() != Some(OsStr::new("run.json")) {
        return Ok(path.to_owned());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    Ok(folder.unwrap_or(Path::new(".")).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_named_by_its_folder_or_its_file() {
        for (text, folder) in [("a/b", "a/b"), ("a/b/run.json", "a/b"), ("run.json", "."), ("a/b/", "a/b/")] {
            assert_eq!(run_folder(text), Ok(PathBuf::from(folder)), "{text}");
        }
    }

    #[test]
    fn shares_have_a_range() {
        let share = share_in::<5, 1000>;
        assert_eq!(
            (share("5%"), share("0.05"), share("100 %"), share("0.5%")),
            (Ok(0.05), Ok(0.05), Ok(1.0), Ok(0.005))
        );
        for text in ["0", "0.4%", "101%", "-5%", "NaN", "inf", "", "%", "many"] {
            assert!(share(text).is_err(), "{text}");
        }
    }

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
