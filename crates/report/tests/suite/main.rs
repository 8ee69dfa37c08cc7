//! What is drawn, from the outside.

mod fixtures;
mod golden;
mod league;
mod outputs;
mod pictures;
mod plots;
