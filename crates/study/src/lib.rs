//! Several runs that answer one question: the capacity of a service (`capacity`), a curve over rates (`sweep`), or the
//! difference of A and B (`ab`).
//!
//! The rules of a search are pure and live in `truetail-analysis`. This crate applies them through a trait that runs
//! one probe, so that simulator and engine share one search. It prints nothing.

#![warn(unreachable_pub)]

pub mod ab;
pub mod capacity;
pub mod journal;
pub mod sweep;
