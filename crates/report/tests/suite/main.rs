//! What is drawn, from the outside.

mod fixtures;
mod golden;
mod pictures;
mod plots;
