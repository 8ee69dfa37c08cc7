//! Full-screen view of a run.

use clap::Args;

/// The full-screen view of a run.
#[derive(Args, Clone, Copy, Default, Debug)]
pub(crate) struct WatchArgs {
    /// Show the run in progress full-screen in the terminal. Keys: q stops it, Tab turns the page, ? helps
    #[arg(long, conflicts_with = "quiet", help_heading = "Result")]
    pub watch: bool,
}
