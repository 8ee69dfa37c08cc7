//! Times that a service reports with its answers (`--server-timing`): `Server-Timing` of the W3C, or a header with a
//! number.
//!
//! | module | content |
//! |---|---|
//! | `source` | a header to read, as users write it |
//! | `server_timing` | the grammar of `Server-Timing` |
//! | `observer` | the reported times of one worker's answers |
//! | `timing_run` | those of a run, over all workers |

#![warn(unreachable_pub)]

mod observer;
mod server_timing;
mod source;
mod timing_run;

pub use server_timing::{Entry, entries};
pub use source::{SourceError, TimingSource};
pub use timing_run::TimingRun;
