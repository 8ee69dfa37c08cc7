//! Answers that come in pieces: when did the first event come, how long are the gaps between events, how did it end?
//!
//! | file | what is in it |
//! |---|---|
//! | `event_parser` | server-sent events, without I/O |
//! | `options` | what is asked for, and which answers are streams |
//! | `open_stream` | the clocks of one answer |
//! | `found` | what a worker found: counts and histograms |
//! | `idle` | when streams that stand still are given up |
//! | `observer` | all that at work in one worker of the engine |
//! | `stream_run` | the streams of a run, over all workers |

mod event_parser;
mod found;
mod idle;
mod observer;
mod open_stream;
mod options;
mod stream_run;

pub use event_parser::{EventParser, MOST_DATA_BYTES, ServerSentEvent};
pub use options::StreamOptions;
pub use stream_run::StreamRun;
