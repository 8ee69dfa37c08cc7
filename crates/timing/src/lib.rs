//! What a service says of itself in the headers of its answers: times (`--server-timing`), from `Server-Timing` of the
//! W3C or a header with a number, and values of other headers (`--keep-header`).
//!
//! | module | content |
//! |---|---|
//! | `source` | a header to read, as users write it |
//! | `server_timing` | the grammar of `Server-Timing` |
//! | `observer` | copies the heads of one worker's answers |
//! | `head_log` | a log of copied heads |
//! | `beside` | the thread that reads the logs of all workers |
//! | `reader` | reads the reported times of one worker's answers |
//! | `remembered` | a text that was read, to read the next one by its digits alone |
//! | `timing_run` | those of a run, over all workers |
//! | `headers` | the values of chosen headers |

#![warn(unreachable_pub)]

#[cfg(test)]
mod answered;
mod beside;
mod head_log;
mod headers;
mod observer;
mod reader;
mod remembered;
mod server_timing;
mod source;
mod timing_run;

pub use headers::HeaderRun;
pub use server_timing::{Entry, entries};
pub use source::{SourceError, TimingSource};
pub use timing_run::TimingRun;
