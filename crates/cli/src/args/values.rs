//! Parsers of values that several verbs share.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use truetail_model::time::Nanos;

/// A whole number from 1.
pub fn count<T: FromStr + Default + PartialEq>(text: &str) -> Result<T, String> {
    let number: T = text.trim().parse().map_err(|_| format!("'{text}' is not a whole number from 1"))?;
    if number == T::default() { Err("0 is too few; write a whole number from 1".to_owned()) } else { Ok(number) }
}

/// A time above zero.
pub fn length(text: &str) -> Result<Nanos, String> {
    let time: Nanos = text.parse().map_err(|error| format!("{error}"))?;
    if time.is_zero() { Err(format!("'{text}' is zero; write a time above zero, such as 10s")) } else { Ok(time) }
}

/// The folder of a saved run, given as the folder or as the run.json in it.
pub fn run_folder(text: &str) -> Result<PathBuf, String> {
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
