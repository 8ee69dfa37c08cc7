//! What this program does without the services of `linux/`, which lists each of them.

pub mod contention;
pub mod machine;
pub(crate) mod readiness;
pub mod sending;
pub mod stamps;
pub mod threads;

/// The services that this build has of those that only Linux has.
pub const LINUX_SERVICES: &[&str] = &[];
