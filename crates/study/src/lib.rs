//! Several runs that answer one question: how much a service can take (`capacity`), and whether A and B differ when they
//! run in turns (`ab`).
//!
//! The rules of a search are pure and live in `truetail-analysis`. This crate drives them over a trait that runs one probe,
//! so that simulator and engine serve the same search. It prints nothing.

pub mod ab;
pub mod capacity;
