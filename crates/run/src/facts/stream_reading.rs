//! How answers are read as streams.

use serde::{Deserialize, Serialize};

/// Kind of event in a streamed answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamKind {
    /// Server-sent events.
    Sse,
    /// Lines that are not empty.
    Lines,
    /// Chunks in HTTP/1.1, or DATA frames in HTTP/2.
    Chunks,
    /// Messages of gRPC.
    Messages,
    /// Items that an asynchronous generator yields.
    Items,
    /// Pushes on subscribed channels: each channel is a stream.
    Pushes,
    /// Whole answers in JSON: the end of an answer is its only event.
    Whole,
}

/// Settings for reading answers as streams.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StreamReading {
    /// Kind of event.
    pub kind: StreamKind,
    /// Names of the flow steps whose answers are streams. Empty if all answers are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_steps: Vec<String>,
    /// Shortest gap that counts as a stall; `None` if no gap does.
    pub stall_ns: Option<u64>,
    /// Idle timeout: the longest time without a byte before a stream is given up; `None` without this limit.
    pub idle_timeout_ns: Option<u64>,
    /// Data of the event that must come before the end. `None` if the end of the answer is enough.
    pub end_mark: Option<String>,
}

impl StreamReading {
    /// Returns settings that read all answers as streams of this kind, without stalls, idle timeout or end mark.
    pub fn new(kind: StreamKind) -> StreamReading {
        StreamReading { kind, of_steps: Vec::new(), stall_ns: None, idle_timeout_ns: None, end_mark: None }
    }
}
