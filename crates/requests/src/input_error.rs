//! What is wrong with the input, and where.

use std::fmt;

/// Where something is written: a file and a line, or an argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// The file, or the argument such as `--curl`; empty where the message says enough.
    pub name: String,
    /// Counted from 1; 0 where there are no lines.
    pub line: u64,
}

impl Location {
    /// A location without lines.
    pub fn named(name: &str) -> Location {
        Location { name: name.to_owned(), line: 0 }
    }

    /// Line `line` of `name`.
    pub fn at(name: &str, line: u64) -> Location {
        Location { name: name.to_owned(), line }
    }

    /// An error: `what` is wrong at this location.
    pub fn invalid(&self, what: impl fmt::Display) -> InputError {
        InputError::Invalid { location: self.clone(), what: one_line(&what.to_string()) }
    }

    /// An error: a file that is named at this location cannot be read.
    pub fn unreadable(&self, what: String) -> InputError {
        InputError::Unreadable { location: self.clone(), what: one_line(&what) }
    }
}

/// `file:3: `, `--curl: ` or nothing: the prefix of an error message.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name.as_str(), self.line) {
            ("", _) => Ok(()),
            (name, 0) => write!(f, "{name}: "),
            (name, line) => write!(f, "{name}:{line}: "),
        }
    }
}

/// Why no requests can be made of the input.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InputError {
    /// The input is invalid.
    #[error("{location}{what}")]
    Invalid {
        /// Where.
        location: Location,
        /// What is wrong, and what would help.
        what: String,
    },
    /// A file that the input names cannot be read.
    #[error("{location}{what}")]
    Unreadable {
        /// Where it is named.
        location: Location,
        /// Which file, and why.
        what: String,
    },
}

/// `text` with its line breaks and other control characters escaped as in Rust.
fn one_line(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut line, c| {
        if c.is_control() {
            line.extend(c.escape_default())
        } else {
            line.push(c)
        }
        line
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse_curl, split_words};

    #[test]
    fn a_problem_is_one_line_whatever_it_quotes() {
        let words = split_words("curl -X $'G\\nET' http://a").unwrap();
        let problem = parse_curl(&words[1..], &Location::named("--curl"), &|_| Err("no file".to_owned())).unwrap_err();
        let text = problem.to_string();
        assert!(text.contains(r"'G\nET'") && !text.contains('\n'), "{text}");
        assert_eq!(Location::at("a", 3).unreadable("no\tfile\u{1b}".to_owned()).to_string(), r"a:3: no\tfile\u{1b}");
    }
}
