//! A run that is going on, for those who watch it, and for those who find what is left of it.
//!
//! | module | content |
//! |---|---|
//! | `so_far` | what was recorded so far, as a run of its own |
//! | `due` | the arrivals that were due so far |
//! | `feed` | the thread that makes the states |
//! | `states` | the newest state, for any number of observers |
//! | `checkpoints` | what is left of a run that is killed |
//! | `listen`, `site` | where the live page is served, and what it answers |
//! | `otlp` | metrics for OpenTelemetry receivers, with the feature `otlp` |
//! | `terminal` | the terminal while the view fills it |
//! | `watch` | the view of `--watch`, and its keys |
//! | `view` | all of them, from before the run to after its end |

mod checkpoints;
mod due;
mod feed;
mod listen;
#[cfg(feature = "otlp")]
mod otlp;
#[cfg(not(feature = "otlp"))]
#[path = "otlp_absent.rs"]
mod otlp;
mod site;
mod so_far;
mod states;
pub mod terminal;
mod view;
mod watch;

pub use checkpoints::Checkpoints;
pub use due::DueArrivals;
pub use so_far::{FeedSource, run_so_far};
pub use states::LiveStates;
pub use view::LiveView;
pub use watch::Watch;
