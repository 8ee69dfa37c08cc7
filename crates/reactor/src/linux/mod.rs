//! The services of the operating system that only Linux has. `portable/` has the same files and items for other
//! systems, and for Linux with the feature `portable`, which tests use.
//!
//! | file | Linux | elsewhere |
//! |---|---|---|
//! | `readiness` | epoll, and a timerfd for deadlines | the crate `polling`, and a timeout for each wait |
//! | `sending` | no signal if the peer has closed | the runtimes of Rust and Python ignore the signal |
//! | `stamps` | arrivals are stamped, segments out of order counted | an answer ends when it is read |
//! | `threads` | timer slack, priority and time of a thread | default slack, equal threads, time of the process |
//! | `contention` | steal, throttling of control groups, pressure | unknown |
//! | `machine` | files, ports, memory, groups, ignored signals by `/proc` | unknown, and no signal counts as ignored |

pub mod contention;
pub mod machine;
pub(crate) mod readiness;
pub mod sending;
pub mod stamps;
pub mod threads;

/// The services that this build has of those that only Linux has.
pub const LINUX_SERVICES: &[&str] = &[
    "epoll",
    "timerfd",
    "kernel-stamps",
    "out-of-order-counts",
    "timer-slack",
    "thread-priority",
    "real-time",
    "thread-cpu-time",
    "proc",
    "control-groups",
    "pressure",
];
