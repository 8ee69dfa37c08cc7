//! What is drawn, from the outside.

mod fixtures;
mod golden;
mod league;
mod pictures;
mod plots;
