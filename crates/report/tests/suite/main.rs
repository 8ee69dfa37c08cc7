//! Tests of the crate's output.

mod fixtures;
mod golden;
mod league;
mod of_runs;
mod of_sessions;
mod outputs;
mod pictures;
mod plots;
