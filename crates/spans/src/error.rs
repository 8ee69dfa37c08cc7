//! The reason why a message could not be read.

use std::fmt;

/// Limits on the letters that are kept from the beginning and from the end of a longer reason. The input is quoted at
/// the beginning, and the place of the fault is at the end.
const BEGIN: usize = 120;
const END: usize = 80;

/// A message that could not be read to its end. The spans before that place count. The reason is one line of at most
/// about 200 letters, whatever the message holds.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct SpanError(String);

impl SpanError {
    /// Cuts the reason, which may quote the message, and replaces its control characters.
    pub(crate) fn new(reason: impl fmt::Display) -> SpanError {
        let reason = reason.to_string();
        let visible = |c: char| if c.is_control() { ' ' } else { c };
        let length = reason.chars().count();
        if length <= BEGIN + END {
            return SpanError(reason.chars().map(visible).collect());
        }
        let begin = reason.chars().take(BEGIN);
        let end = reason.chars().skip(length - END);
        SpanError(begin.chain(['…']).chain(end).map(visible).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_short_line() {
        assert_eq!(SpanError::new("it is cut off").to_string(), "it is cut off");
        assert_eq!(SpanError::new("a\u{1b}[31m\nb\u{9b}").to_string(), "a [31m b ");
        let long = SpanError::new(format!("{}\u{7} at line 1", "é\r".repeat(1 << 20))).to_string();
        assert_eq!(long.chars().count(), BEGIN + 1 + END);
        assert!(long.starts_with("é é") && long.ends_with("é   at line 1"), "{long}");
        assert!(!long.contains(char::is_control), "{long}");
    }
}
