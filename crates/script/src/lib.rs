//! Scripts in Lua that decide the content of requests (`run --script`), with the interface of wrk and wrk2.
//!
//! A script decides the content of the next request, and never its time: arrivals come from the schedule. Each worker
//! has a Lua state, and one more state runs `setup` and `done`. The time that a script takes is part of the worker's
//! lag.
//!
//! | file | contents |
//! |---|---|
//! | `run` | the states of a run, from `setup` to `done` |
//! | `state` | one Lua state with limits on memory and instructions |
//! | `prelude.lua` | the table `wrk` |
//! | `thread` | `thread`: values of another state, and the end of the load |
//! | `worker` | the requests and answers of one worker, behind `engine::RequestMaker` |
//! | `pieces` | the requests in the text that a script returned |
//! | `summary` | the arguments of `done` |
//! | `error` | errors of scripts |
//! | `shared` | state that all workers of a run share |
//!
//! Without the feature `lua` this crate is empty.

#![warn(unreachable_pub)]
#![cfg(feature = "lua")]

mod error;
mod pieces;
mod run;
mod shared;
mod state;
mod summary;
mod thread;
mod worker;

pub use error::ScriptError;
pub use run::{ScriptFile, ScriptRun, ScriptTarget};
pub use shared::Output;
