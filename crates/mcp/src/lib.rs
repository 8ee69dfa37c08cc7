//! A server of the Model Context Protocol without I/O: it lets an agent run loads, compare and explain them, within
//! limits that the user sets.
//!
//! A call of a tool becomes a command line of truetail with `--json`. The caller runs it in a child process, without a
//! shell, and returns its output. Nothing that a client writes reaches a command line unchecked: each tool knows its
//! arguments, each path must be in a folder that the user named, and each host must be allowed.
//!
//! | module | content |
//! |---|---|
//! | `message` | messages of JSON-RPC: reading and writing |
//! | `session` | the conversation with one client: calls that wait, run, and end |
//! | `limits`, `hosts` | what the user allows |
//! | `arguments` | reading the arguments of a tool, with one clear line for each mistake |
//! | `schema` | parts of the tools' JSON schemas |
//! | `job` | a command to run, and its output |
//! | `tools` | the tools, a file for each |

#![warn(unreachable_pub)]

mod arguments;
mod hosts;
mod job;
mod limits;
mod message;
mod schema;
mod session;
mod tools;

pub use hosts::AllowedHost;
pub use job::{Job, JobOutput};
pub use limits::{Files, Limits};
pub use message::MAX_LINE_BYTES;
pub use session::{Session, Step};
