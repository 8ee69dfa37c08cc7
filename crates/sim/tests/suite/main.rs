//! The simulator against theory, definitions and itself.

mod bracket;
mod channels;
mod common;
mod equivalence;
mod labs;
mod limits;
mod outcomes;
mod queueing;
mod scenarios;
mod streams;
mod stripes;
