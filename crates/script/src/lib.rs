//! Scripts in Lua that decide the content of requests (`run --script`), with the interface of wrk and wrk2, or that
//! lead sessions.
//!
//! A script decides the content of the next request, and never its time: arrivals come from the schedule. Each worker
//! has a Lua state, and one more state runs `setup` and `done`. The time that a script takes is part of the worker's
//! lag.
//!
//! | file | contents |
//! |---|---|
//! | `file` | a script before it runs, and the values of `wrk` |
//! | `run` | the states of a run, from `setup` to `done` |
//! | `state` | one Lua state with limits on memory and instructions |
//! | `prelude.lua` | the table `wrk` |
//! | `format` | `wrk.format` without steps of Lua |
//! | `thread` | `thread`: values of another state, and the end of the load |
//! | `worker` | the requests and answers of one worker, behind `engine::RequestMaker` |
//! | `sessions`, `session.lua` | the functions for `session(s)`, and the names of its steps |
//! | `calls` | messages of gRPC calls, from Lua values and back |
//! | `messages` | messages on channels, and values of Redis |
//! | `guide` | the sessions of one worker, behind `flow::Guide` |
//! | `pieces` | the requests in the text that a script returned |
//! | `summary` | the arguments of `done` |
//! | `error` | errors of scripts |
//! | `shared` | state that all workers of a run share |
//!
//! Without the feature `lua` this crate is empty.

#![warn(unreachable_pub)]
#![cfg(feature = "lua")]

mod calls;
mod error;
mod file;
mod format;
mod guide;
mod messages;
mod pieces;
mod run;
mod sessions;
mod shared;
mod state;
mod summary;
mod thread;
mod worker;

pub use error::ScriptError;
pub use file::{ScriptFile, ScriptTarget, SessionAsks, SessionPlan};
pub use run::ScriptRun;
pub use sessions::steps_of;
pub use shared::Output;
