//! The core types of truetail: schedule, records, and a state machine without I/O that connects them.
//!
//! | module | content |
//! |---|---|
//! | [`time`] | durations, instants, rates, and the [`time::Clock`] trait |
//! | [`arrival`] | rate profile × spacing = schedule, and its division into stripes |
//! | [`service`] | how a server behaves: processing time, concurrency limit, faults |
//! | [`workload`] | the load: load model and limits |
//! | [`cancellation`] | requests that their users give up |
//! | [`users`] | the users of the closed model over time |
//! | [`scenario`] | service × workload, and its TOML format |
//! | [`toml_file`] | TOML that users write: errors with their place |
//! | [`driver`] | the state machine without I/O that decides what starts when, and how long it waited for a permit |
//! | [`trace`] | ids that find a request again in the traces of the services behind it |
//! | [`record`] | what happened to each arrival: outcomes, tallies, histograms, recorder, snapshot |
//!
//! This crate opens no sockets, starts no threads, touches no files and reads no clock.

#![warn(unreachable_pub)]

pub mod arrival;
pub mod cancellation;
pub mod driver;
pub mod random;
pub mod record;
pub mod scenario;
pub mod service;
pub mod time;
pub mod toml_file;
pub mod trace;
pub mod users;
pub mod workload;
