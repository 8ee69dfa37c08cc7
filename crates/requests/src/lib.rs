//! The requests of a run as users write them (files of targets, curl commands, rows of data), and the bytes that are made
//! of them before the run, for [`truetail_engine::RequestSet`].
//!
//! Text goes in and values come out: nothing here opens a file, a socket or a terminal.
//!
//! | module | what is at home there |
//! |---|---|
//! | `spec` | one target as it was written, with its placeholders |
//! | `targets` | parser for a file of targets: Vegeta's HTTP format, curl commands, weights |
//! | `curl` | parser for a curl command |
//! | `credentials` | user name and password, from a URL or as `USER:PASSWORD` |
//! | `shell` | splits a command line into words, as a shell would |
//! | `rows` | readers for CSV and JSON lines |
//! | `template` | a target whose placeholders are filled in from a row |
//! | `prepare` | makes requests of targets and rows |
//! | `input_error` | what is wrong with the input, and where |

mod credentials;
mod curl;
mod input_error;
mod prepare;
mod rows;
mod shell;
mod spec;
mod targets;
mod template;

pub use credentials::basic_authorization;
pub use curl::parse_curl;
pub use input_error::{InputError, Location};
pub use prepare::{Feed, PreparedRequests, prepare};
pub use rows::{RowFormat, Rows};
pub use shell::{ShellError, split_words};
pub use spec::TargetSpec;
pub use targets::parse_targets;

/// Returns the bytes of a file that a target names, or says why it cannot be read.
pub type FileReader<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;
