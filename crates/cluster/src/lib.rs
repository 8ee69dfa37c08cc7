//! One load, dealt out over the pods of a Kubernetes Job: the manifest, what kubectl says, and the steps from the one to the
//! result.
//!
//! Nothing here is a client of Kubernetes. The steps call the user's own `kubectl` through the trait [`Kubectl`], so that they
//! run against a made-up cluster in virtual time too. What a pod prints comes back as text; unpacking and merging it is
//! `truetail-run`'s.
//!
//! | module | content |
//! |---|---|
//! | `manifest`, `files`, `yaml` | the Job, the files of its options, and how both are written |
//! | `pods` | what `kubectl get pods` says, as facts |
//! | `shard_line` | what a pod says about itself in its log |
//! | `clock` | how far a pod's clock is from ours |
//! | `kubectl` | what the steps need: kubectl, a clock, and the user |
//! | `outcome` | how long the steps wait, and what comes of them |
//! | `drive`, `ready`, `watch`, `clean` | the steps |

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
mod yaml;

pub use clock::{ClockOffset, Exchange};
pub use drive::drive;
pub use files::{FILES_FOLDER, JobFile, MAX_FILE_BYTES};
pub use kubectl::{Event, Kubectl, Order, Progress};
pub use manifest::{CONTAINER, Job, PROGRAM, Resources, START_FILE, Start, is_name};
pub use outcome::{DriveError, Fate, Outcome, Patience, ShardOutcome};
pub use pods::{Pod, PodState, pods_of};
pub use shard_line::{Sent, ShardLine};
pub use yaml::to_yaml;
