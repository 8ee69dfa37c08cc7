//! What is wrong with what was written, and where.

use std::fmt;

/// Where something was written: a file and a line, or an argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// The file, or the argument such as `--curl`; empty where neither says more than the problem itself.
    pub name: String,
    /// Counted from 1; 0 where there are no lines.
    pub line: u64,
}

impl Location {
    /// A place without lines.
    pub fn named(name: &str) -> Location {
        Location { name: name.to_owned(), line: 0 }
    }

    /// Line `line` of `name`.
    pub fn at(name: &str, line: u64) -> Location {
        Location { name: name.to_owned(), line }
    }

    /// That `what` is wrong here.
    pub fn invalid(&self, what: impl fmt::Display) -> InputError {
        InputError::Invalid { location: self.clone(), what: one_line(&what.to_string()) }
    }

    /// That a file which is named here cannot be read.
    pub fn unreadable(&self, what: String) -> InputError {
        InputError::Unreadable { location: self.clone(), what: one_line(&what) }
    }
}

/// `file:3: `, `--curl: ` or nothing: what stands before a problem.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name.as_str(), self.line) {
            ("", _) => Ok(()),
            (name, 0) => write!(f, "{name}: "),
            (name, line) => write!(f, "{name}:{line}: "),
        }
    }
}

/// Why there are no requests.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InputError {
    /// What was written makes no sense.
    #[error("{location}{what}")]
    Invalid {
        /// Where.
        location: Location,
        /// What, and what would help.
        what: String,
    },
    /// A file that is named there cannot be read.
    #[error("{location}{what}")]
    Unreadable {
        /// Where it is named.
        location: Location,
        /// Which, and why.
        what: String,
    },
}

/// Line breaks and other control characters that stand in what is quoted, as they would be written in Rust.
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
        let words = split_words("curl http://a $'http://b\\nc'").unwrap();
        let problem = parse_curl(&words[1..], &Location::named("--curl"), &|_| Err("no file".to_owned())).unwrap_err();
        let text = problem.to_string();
        assert!(text.contains(r"'http://b\nc'") && !text.contains('\n'), "{text}");
        assert_eq!(Location::at("a", 3).unreadable("no\tfile\u{1b}".to_owned()).to_string(), r"a:3: no\tfile\u{1b}");
    }
}
