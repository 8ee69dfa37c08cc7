//! Sessions of agents: each is a graph of calls of a language model.
//!
//! A call starts when all calls that it waits for have ended, plus its think time. Calls that wait for the same ones
//! are in flight at the same time.

mod books;
mod graph;
mod open;
mod parse;
mod progress;
mod run;
mod script;
mod session;
mod shared;
mod simulated;
mod template;

pub use graph::AgentGraphs;
pub use parse::{AgentForm, PromptMember};
pub use run::AgentRun;
pub use simulated::simulate_agents;
