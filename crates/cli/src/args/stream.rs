//! Answers that come in pieces.

use clap::{Args, ValueEnum};
use truetail_model::time::Nanos;

use super::values::length;

/// How answers are read as streams.
#[derive(Args, Clone, Debug)]
pub struct StreamArgs {
    /// Read each answer as a stream and measure its events: server-sent events (sse), or chunks, which are frames of data in
    /// HTTP/2. No trial request is sent before the load
    #[arg(long, value_name = "KIND", help_heading = "Streams")]
    pub stream: Option<StreamName>,
    /// Count gaps between events that last at least this long as stalls
    #[arg(long, value_name = "TIME", value_parser = length, allow_hyphen_values = true, requires = "stream")]
    #[arg(help_heading = "Streams")]
    pub stall: Option<Nanos>,
    /// Give up a stream that brings no byte for this long, after its head. --timeout limits the whole request
    #[arg(long, value_name = "TIME", value_parser = length, allow_hyphen_values = true, requires = "stream")]
    #[arg(help_heading = "Streams")]
    pub idle_timeout: Option<Nanos>,
    /// A server-sent event with this data must come before a stream ends, such as '[DONE]'. Without it the stream counts as
    /// unfinished
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, requires = "stream", help_heading = "Streams")]
    pub end_mark: Option<String>,
}

/// `--stream`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum StreamName {
    /// Server-sent events.
    Sse,
    /// Chunks of HTTP/1.1, frames of data of HTTP/2.
    Chunks,
}
