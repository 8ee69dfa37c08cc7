//! Reasons why answers of language models ended.

use serde::{Deserialize, Serialize};

use super::session_books::is_zero;

/// Reason why a choice of an answer ended, as the server gives it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model ended its answer, or came to one of the texts that the request names as an end.
    Stop,
    /// The answer came to its limit of tokens.
    Length,
    /// The model calls a tool.
    ToolCalls,
    /// A filter ended the answer, or the model refused.
    ContentFilter,
    /// The server failed, or gave up the answer.
    Error,
    /// Another reason.
    Other,
}

impl FinishReason {
    /// Returns the name in files.
    pub const fn name(self) -> &'static str {
        match self {
            FinishReason::Stop => "stop",
            FinishReason::Length => "length",
            FinishReason::ToolCalls => "tool_calls",
            FinishReason::ContentFilter => "content_filter",
            FinishReason::Error => "error",
            FinishReason::Other => "other",
        }
    }
}

/// Complete answers by the reason that the server gave last.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FinishCounts {
    /// See [`FinishReason::Stop`].
    #[serde(skip_serializing_if = "is_zero")]
    pub stop: u64,
    /// See [`FinishReason::Length`].
    #[serde(skip_serializing_if = "is_zero")]
    pub length: u64,
    /// See [`FinishReason::ToolCalls`].
    #[serde(skip_serializing_if = "is_zero")]
    pub tool_calls: u64,
    /// See [`FinishReason::ContentFilter`].
    #[serde(skip_serializing_if = "is_zero")]
    pub content_filter: u64,
    /// See [`FinishReason::Other`].
    #[serde(skip_serializing_if = "is_zero")]
    pub other: u64,
    /// Answers without a reason.
    #[serde(skip_serializing_if = "is_zero")]
    pub none: u64,
}

impl FinishCounts {
    /// Counts a complete answer. An answer that ended with [`FinishReason::Error`] is not complete.
    pub fn count(&mut self, reason: Option<FinishReason>) {
        *match reason {
            Some(FinishReason::Stop) => &mut self.stop,
            Some(FinishReason::Length) => &mut self.length,
            Some(FinishReason::ToolCalls) => &mut self.tool_calls,
            Some(FinishReason::ContentFilter) => &mut self.content_filter,
            Some(FinishReason::Error | FinishReason::Other) => &mut self.other,
            None => &mut self.none,
        } += 1;
    }

    /// Returns each count with its name, in the order of the fields.
    pub fn named(&self) -> [(u64, &'static str); 6] {
        [
            (self.stop, "stop"),
            (self.length, "length"),
            (self.tool_calls, "tool calls"),
            (self.content_filter, "content filter"),
            (self.other, "another reason"),
            (self.none, "no reason"),
        ]
    }

    /// Returns the number of answers.
    pub fn answers(&self) -> u64 {
        self.named().into_iter().fold(0, |sum: u64, (count, _)| sum.saturating_add(count))
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == FinishCounts::default()
    }

    pub(super) fn each(&mut self) -> [&mut u64; 6] {
        [
            &mut self.stop,
            &mut self.length,
            &mut self.tool_calls,
            &mut self.content_filter,
            &mut self.other,
            &mut self.none,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_the_files() {
        for name in ["stop", "length", "tool_calls", "content_filter", "error", "other"] {
            let reason: FinishReason = serde_json::from_value(name.into()).unwrap();
            assert_eq!(reason.name(), name);
        }
    }
}
