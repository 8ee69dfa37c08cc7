use std::fmt;

/// Location of an input: a file and a line, or an argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// The file, or an argument such as `--curl`. Empty if the message says enough.
    pub name: String,
    /// Line number, from 1; 0 for an input without lines.
    pub line: u64,
}

impl Location {
    /// Creates a location without lines.
    pub fn named(name: &str) -> Location {
        Location { name: name.to_owned(), line: 0 }
    }

    /// Creates the location of line `line` of `name`.
    pub fn at(name: &str, line: u64) -> Location {
        Location { name: name.to_owned(), line }
    }

    /// Creates an error that says `what` is wrong at this location.
    pub fn invalid(&self, what: impl fmt::Display) -> InputError {
        InputError::Invalid { location: self.clone(), what: one_line(&what.to_string()) }
    }

    /// Creates an error about a file that is named at this location and cannot be read.
    pub fn unreadable(&self, what: String) -> InputError {
        InputError::Unreadable { location: self.clone(), what: one_line(&what) }
    }
}

/// Writes the prefix of an error message: `file:3: `, `--curl: ` or nothing.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name.as_str(), self.line) {
            ("", _) => Ok(()),
            (name, 0) => write!(f, "{name}: "),
            (name, line) => write!(f, "{name}:{line}: "),
        }
    }
}

/// Reason why no requests can be made from the input.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InputError {
    /// The input is invalid.
    #[error("{location}{what}")]
    Invalid {
        /// Location of the problem.
        location: Location,
        /// The problem, and what would help.
        what: String,
    },
    /// A file that the input names cannot be read.
    #[error("{location}{what}")]
    Unreadable {
        /// Location of the file's name.
        location: Location,
        /// The file, and why it cannot be read.
        what: String,
    },
}

/// Escapes line breaks and other control characters in `text`, as string literals in Rust do.
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
