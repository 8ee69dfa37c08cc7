//! Stages of a load. Each is made of the one before it: prepared → measured → judged → delivered.
//!
//! | module | content |
//! |---|---|
//! | `prepared` | a load that was checked, and its server tried (`preflight`) |
//! | `measured` | its run on real sockets, with progress, views, checkpoints and Ctrl-C |
//! | `judged` | the run with its findings, gates and comparison with the baseline |
//! | `delivered` | the same, saved, printed and written to files; the exit code |
//!
//! A saved or merged run begins as a judged one.

mod delivered;
mod judged;
mod measured;
mod preflight;
mod prepared;

pub(crate) use delivered::{Delivered, Delivery};
pub(crate) use judged::Judged;
pub(crate) use measured::{RunContext, Turns, measure};
pub(crate) use preflight::preflight;
pub(crate) use prepared::{Prepared, name_of};
