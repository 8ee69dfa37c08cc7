//! The suite of situations, and the load tools that go through it.
//!
//! | module | content |
//! |---|---|
//! | `situations` | the situations: what each tests, its source, its scenario |
//! | `adapter` | adapter files: how to start a tool, and the places of its figures |
//! | `figures` | figures in a tool's output, found by the places of an adapter |
//! | `adapted` | a command with such figures as a tool, and a tool with more options |
//! | `passage` | one tool in one situation |

mod adapted;
mod adapter;
mod figures;
mod passage;
mod situations;

pub use adapter::Adapter;
pub use passage::{Subject, go_through, plan};
pub use situations::{SITUATIONS, Situation};
