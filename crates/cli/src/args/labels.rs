//! Labels of a run.

use std::str::FromStr;

use clap::Args;

/// Labels of a run.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct LabelArgs {
    /// Label the saved run, to find it again with 'truetail runs --tag KEY=VALUE'; repeatable. The commit, the branch
    /// and the job of a build server are labels already
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Result")]
    pub tag: Vec<Tag>,
    /// Name of the run in truetail.toml.
    #[arg(skip)]
    pub name: Option<String>,
}

/// Value of `--tag`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Tag {
    pub key: String,
    pub value: String,
}

/// Longest value of a label, bytes.
const LONGEST: usize = 256;

impl FromStr for Tag {
    type Err = String;

    fn from_str(text: &str) -> Result<Tag, String> {
        let (key, value) = text.split_once('=').ok_or_else(|| wrong(text))?;
        check_key(key).map_err(|()| wrong(text))?;
        let is_too_long = value.len() > LONGEST;
        if is_too_long || value.chars().any(char::is_control) {
            return Err(format!("the value of '{key}' has control characters or is longer than {LONGEST} bytes"));
        }
        Ok(Tag { key: key.to_owned(), value: value.to_owned() })
    }
}

/// Accepts 1 to 64 letters, digits, dots, hyphens and underscores.
pub(crate) fn check_key(key: &str) -> Result<(), ()> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if (1..=64).contains(&key.len()) && key.chars().all(fits) { Ok(()) } else { Err(()) }
}

fn wrong(text: &str) -> String {
    format!("'{text}' is no label; write KEY=VALUE, with letters, digits, '.', '-' and '_' in the key")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_a_key_and_a_value() {
        let tag = |text: &str| text.parse::<Tag>().map(|tag| (tag.key, tag.value));
        assert_eq!(tag("build=12=3"), Ok(("build".to_owned(), "12=3".to_owned())));
        assert_eq!(tag("a.b-c_d="), Ok(("a.b-c_d".to_owned(), String::new())));
        for text in ["", "build", "=1", "a b=1", "a=\u{1b}[31m", &format!("a={}", "x".repeat(257))] {
            assert!(tag(text).is_err(), "{text}");
        }
    }
}
