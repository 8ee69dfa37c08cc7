//! Messages on channels: what was asked for, and what came without a match.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use truetail_model::record::Cause;

use super::llm::is_false;
use super::session_books::is_zero;

/// Requested protocol of the messages.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MessageConfig {
    /// The end of each message, as `--framing` has it, or `redis`, `websocket`, `websocket-binary` or `grpc`.
    pub framing: String,
    /// The message that a reply belongs to, as `--match` has it.
    pub matching: String,
    /// WebSocket: the client offered to compress messages.
    #[serde(default, skip_serializing_if = "is_false")]
    pub offers_deflate: bool,
    /// WebSocket: each channel is a stream of HTTP/2.
    #[serde(default, skip_serializing_if = "is_false")]
    pub http2: bool,
}

/// Books of what a run received besides one reply for each message.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct MessageBooks {
    /// Replies whose id no message had, or that have no id.
    pub unmatched: u64,
    /// Replies whose id belongs to a message that had its reply already.
    pub doubled: u64,
    /// Messages that nobody asked for.
    pub pushes: u64,
    /// Replies to messages that had timed out by then.
    pub late: u64,
    /// Replies that say that the command failed; they are answers, and errors in `error-rate`. Without the warm-up.
    pub error_replies: u64,
    /// Channels that ended before the run did.
    pub channels_lost: u64,
    /// Channels that were opened before the load. Their connect times belong to no message.
    #[serde(default)]
    pub channels_opened_before: u64,
    /// Channels on which messages are compressed, because the server agreed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub channels_compressed: u64,
    /// Channels that could not be opened before the load, by cause. Messages opened them later.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub channels_failed_before: BTreeMap<Cause, u64>,
    /// Channels that were not open in time for the load, so that messages opened them later.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub channels_late: u64,
    /// Channels that the peer closed, by its code of WebSocket; 1005 if it gave none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub close_codes: BTreeMap<u16, u64>,
    /// Calls of gRPC that the server ended, each a channel, by the name of their status.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub call_statuses: BTreeMap<String, u64>,
}

impl MessageBooks {
    /// Returns the books with this number of further lost channels.
    #[must_use]
    pub fn with_channels_lost(self, channels_lost: u64) -> MessageBooks {
        MessageBooks { channels_lost: self.channels_lost.saturating_add(channels_lost), ..self }
    }

    /// Returns a note about channels that were not open when the load began; `None` if all were that should be.
    pub fn note_about_channels(&self) -> Option<String> {
        let failed = self.channels_failed_before.values().fold(0, |sum: u64, count| sum.saturating_add(*count));
        let missing = failed.saturating_add(self.channels_late);
        let all = missing.saturating_add(self.channels_opened_before);
        let causes = self.channels_failed_before.iter().map(|(cause, count)| (*count, cause.describe()));
        let late = (self.channels_late, "not open in time");
        let why: Vec<_> = causes.chain([late].into_iter().filter(|(count, _)| *count > 0)).collect();
        let why = why.iter().map(|(count, why)| format!("{count}× {why}")).collect::<Vec<_>>().join(", ");
        (missing > 0).then(|| {
            format!("{missing} of {all} channels were not open when the load began ({why}); messages had to open them")
        })
    }

    /// Returns a note if a server that answered did not agree to compress messages, as was offered.
    pub fn note_about_compression(&self, config: &MessageConfig, has_answered: bool) -> Option<String> {
        let note = "the server did not agree to permessage-deflate, so messages were not compressed";
        (has_answered && config.offers_deflate && self.channels_compressed == 0).then(|| note.to_owned())
    }

    /// Adds the books of another worker or machine. Sums saturate, since files may hold any numbers.
    #[must_use]
    pub fn merged_with(self, other: MessageBooks) -> MessageBooks {
        MessageBooks {
            unmatched: self.unmatched.saturating_add(other.unmatched),
            doubled: self.doubled.saturating_add(other.doubled),
            pushes: self.pushes.saturating_add(other.pushes),
            late: self.late.saturating_add(other.late),
            error_replies: self.error_replies.saturating_add(other.error_replies),
            channels_lost: self.channels_lost.saturating_add(other.channels_lost),
            channels_opened_before: self.channels_opened_before.saturating_add(other.channels_opened_before),
            channels_compressed: self.channels_compressed.saturating_add(other.channels_compressed),
            channels_failed_before: added(self.channels_failed_before, other.channels_failed_before),
            channels_late: self.channels_late.saturating_add(other.channels_late),
            close_codes: added(self.close_codes, other.close_codes),
            call_statuses: added(self.call_statuses, other.call_statuses),
        }
    }
}

fn added<K: Ord>(mut counts: BTreeMap<K, u64>, others: BTreeMap<K, u64>) -> BTreeMap<K, u64> {
    for (key, count) in others {
        let sum = counts.entry(key).or_default();
        *sum = sum.saturating_add(count);
    }
    counts
}
