//! One load distributed over the pods of a Kubernetes Job: the manifest, the answers of kubectl, and the steps from
//! the manifest to the result.
//!
//! This crate is not a Kubernetes client. The steps call the user's own `kubectl` through the trait [`Kubectl`], so
//! they can also run against a simulated cluster in virtual time. The output of a pod comes back as text;
//! `truetail-run` unpacks and merges it.
//!
//! | module | content |
//! |---|---|
//! | `manifest`, `files` | the Job, and the files of its options |
//! | `pods` | the output of `kubectl get pods` |
//! | `shard_line` | progress lines in the log of a pod |
//! | `clock` | offset between a pod's clock and ours |
//! | `kubectl` | the environment of the steps: kubectl, a clock, and the user |
//! | `outcome` | time limits of the steps, and their outcome |
//! | `drive`, `ready`, `watch`, `clean` | the steps |

#![warn(unreachable_pub)]

mod clean;
mod clock;
mod drive;
mod files;
mod kubectl;
mod manifest;
mod outcome;
mod pods;
mod ready;
mod shard_line;
mod watch;

pub use clock::{ClockOffset, Exchange};
pub use drive::drive;
pub use files::{FILES_FOLDER, JobFile, MAX_FILE_BYTES};
pub use kubectl::{Event, Kubectl, Order, Progress};
pub use manifest::{CONTAINER, Job, PROGRAM, Resources, START_FILE, Start, is_name};
pub use outcome::{DriveError, Fate, Outcome, ShardOutcome, TimeLimits};
pub use pods::{Pod, PodState, parse_pods};
pub use shard_line::{ShardLine, ShardProgress};
