//! A check, and its text.

use std::fmt;

use crate::json_path::BoundedPath;
use crate::tests_of::{JsonTest, Quoted, StatusTest, TextTest};

/// What an answer has to be, such as `status == 200`.
///
/// It is displayed in one form, whatever form it was written in; [`Check::text`] is what was written.
#[derive(Clone, Debug)]
pub struct Check {
    pub(crate) text: String,
    pub(crate) subject: Subject,
    /// `not`, or `!=`: the opposite is asked for.
    pub(crate) negated: bool,
}

/// What is looked at, and what is asked of it.
#[derive(Clone, Debug)]
pub(crate) enum Subject {
    Status(StatusTest),
    /// A header field of this name; `None`: that there is one.
    Header(String, Option<TextTest>),
    Body(TextTest),
    /// What is at this path of a body that is JSON.
    Json(Box<Path>, JsonTest),
}

/// A JSONPath (RFC 9535), and how it was written.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) text: String,
    pub(crate) parsed: BoundedPath,
}

impl Check {
    /// As it was written, without blanks around it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// It looks at the body.
    pub fn needs_body(&self) -> bool {
        matches!(self.subject, Subject::Body(_) | Subject::Json(..))
    }

    /// It looks at header fields.
    pub fn needs_fields(&self) -> bool {
        matches!(self.subject, Subject::Header(..))
    }
}

/// Equal checks ask for the same, however they were written.
impl PartialEq for Check {
    fn eq(&self, other: &Check) -> bool {
        self.to_string() == other.to_string()
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = if self.negated { "not " } else { "" };
        match &self.subject {
            Subject::Status(test) => write!(f, "status {not}{test}"),
            Subject::Header(name, None) => write!(f, "header {} {not}exists", Quoted(name)),
            Subject::Header(name, Some(test)) => write!(f, "header {} {not}{test}", Quoted(name)),
            Subject::Body(test) => write!(f, "body {not}{test}"),
            Subject::Json(path, test) => write!(f, "jsonpath {} {not}{test}", Quoted(&path.text)),
        }
    }
}
