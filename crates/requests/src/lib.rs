//! What a run asks for, as its users write it down: files of targets, curl commands, rows of data; and the bytes that
//! come of them before the run, for [`truetail_engine::RequestSet`].
//!
//! Text goes in and values come out: nothing here opens a file, a socket or a terminal.
//!
//! | module | what is at home there |
//! |---|---|
//! | `draft` | one target as it was written, with its placeholders |
//! | `targets` | a file of targets: Vegeta's HTTP format, curl commands, weights |
//! | `curl` | a curl command |
//! | `shell` | words as a shell would read them |
//! | `rows` | CSV and JSON lines |
//! | `template` | a target whose placeholders wait for a row |
//! | `prepare` | drafts and rows become requests |
//! | `problem` | what is wrong, and where |

mod curl;
mod draft;
mod prepare;
mod problem;
mod rows;
mod shell;
mod targets;
mod template;

pub use curl::curl;
pub use draft::Draft;
pub use prepare::{Ask, Feed, prepare};
pub use problem::{Place, Problem};
pub use rows::{Format, Rows};
pub use shell::{ShellError, words};
pub use targets::targets;

/// Gives the bytes of a file that a target names, or says why not.
pub type Read<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;
