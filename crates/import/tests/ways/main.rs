//! Recordings as loads.

mod access_log;
mod dates;
mod har;
mod openapi;
