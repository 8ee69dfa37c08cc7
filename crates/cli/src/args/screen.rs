//! What the screen of a run shows.

use clap::Args;

/// What the screen of a run shows.
#[derive(Args, Clone, Copy, Default, Debug)]
pub struct ScreenArgs {
    /// Show more: uncertainty of p99, start delay, the generator, punctuality of the requests, closed-loop shadow
    #[arg(long, help_heading = "Result")]
    pub details: bool,
}
