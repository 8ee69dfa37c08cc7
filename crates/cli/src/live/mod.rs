//! Live view of a run, and its checkpoints.
//!
//! | module | content |
//! |---|---|
//! | `so_far` | the data recorded until now, as a run |
//! | `due` | counts the arrivals that are due |
//! | `feed` | thread that publishes the states |
//! | `states` | the newest state, for any number of observers |
//! | `checkpoints` | saved states of a run, for when its process is killed |
//! | `site` | answers of the live page |
//! | `otlp` | metrics for OpenTelemetry receivers, with the feature `otlp` |
//! | `terminal` | full-screen mode of the terminal |
//! | `watch` | view of `--watch`, and its keys |
//! | `view` | all views of a run, from before its start to after its end |

mod checkpoints;
mod due;
mod feed;
#[cfg(feature = "otlp")]
mod otlp;
#[cfg(not(feature = "otlp"))]
#[path = "otlp_absent.rs"]
mod otlp;
mod site;
mod so_far;
mod states;
pub(crate) mod terminal;
mod view;
mod watch;

pub(crate) use checkpoints::Checkpoints;
pub(crate) use due::DueArrivals;
pub(crate) use so_far::{FeedSource, run_so_far};
pub(crate) use states::LiveStates;
pub(crate) use view::{LiveView, RunningView};
pub(crate) use watch::Watch;
