//! Recordings as loads.

mod access_log;
mod dates;
mod har;
mod jmx;
mod k6;
mod openapi;
