//! A check, and its text.

use std::fmt;

use truetail_model::record::GrpcStatus;

use crate::conditions::{JsonTest, Quoted, StatusTest, TextTest};
use crate::json_path::BoundedPath;

/// A condition on an answer, such as `status == 200`.
///
/// Displays in one normalized form. [`Check::text`] is the text that the user wrote.
#[derive(Clone, Debug)]
pub struct Check {
    pub(crate) text: String,
    pub(crate) subject: Subject,
    /// Inverts the condition: `not`, or `!=`.
    pub(crate) negated: bool,
}

/// The part of an answer that a check reads, and its condition.
#[derive(Clone, Debug)]
pub(crate) enum Subject {
    Status(StatusTest),
    /// A header field of this name. Without a test, the field must exist.
    Header(String, Option<TextTest>),
    Body(TextTest),
    /// The name of the status of a gRPC call.
    GrpcStatus(GrpcStatus),
    /// The value at this path of a JSON body.
    Json(Box<Path>, JsonTest),
}

/// A JSONPath (RFC 9535), and its text.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) text: String,
    pub(crate) parsed: BoundedPath,
}

impl Check {
    /// Returns the text that the user wrote, without blanks around it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns true if the check reads the body.
    pub fn needs_body(&self) -> bool {
        matches!(self.subject, Subject::Body(_) | Subject::Json(..))
    }

    /// Returns true if the check reads what is known only when the answer has ended, besides its body.
    pub(crate) fn needs_end(&self) -> bool {
        matches!(self.subject, Subject::GrpcStatus(_))
    }

    /// Returns true if the check reads header fields.
    pub fn needs_fields(&self) -> bool {
        matches!(self.subject, Subject::Header(..))
    }
}

/// Checks are equal if they mean the same, however they were written.
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
            Subject::GrpcStatus(status) => write!(f, "grpc-status {not}== {}", status.name()),
            Subject::Json(path, test) => write!(f, "jsonpath {} {not}{test}", Quoted(&path.text)),
        }
    }
}
