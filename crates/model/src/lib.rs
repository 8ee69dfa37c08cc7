//! The vocabulary of truetail as types. *When* a request should start is a value, *what happened* to it is a value, and
//! between them stands a state machine that does no I/O.
//!
//! | module | what is at home there |
//! |---|---|
//! | [`time`] | durations, instants, rates, the [`time::Clock`] seam |
//! | [`arrival`] | rate profiles × spacings, the schedule, striping |
//! | [`service`] | how a system under test behaves: baseline, concurrency, faults |
//! | [`workload`] | load model and limits: what is offered |
//! | [`scenario`] | service × workload, and its TOML |
//! | [`driver`] | the sans-I/O state machine that decides what starts when, and how long it waited for a permit |
//! | [`record`] | what happened to an arrival, the books, histograms, recorder, snapshot |
//!
//! Nothing here opens a socket, starts a thread, touches a file or reads a clock.

pub mod arrival;
pub mod driver;
pub mod random;
pub mod record;
pub mod scenario;
pub mod service;
pub mod time;
pub mod workload;
