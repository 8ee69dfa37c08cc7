//! Recordings as loads.

mod access_log;
mod har;
mod openapi;
