//! Screen of a run.

use clap::Args;

/// Content of the screen of a run.
#[derive(Args, Clone, Copy, Default, Debug)]
pub(crate) struct ScreenArgs {
    /// Show more: how exact p99 is, start delay, the generator, how punctual the requests were, closed-loop shadow
    #[arg(long, help_heading = "Result")]
    pub details: bool,
}
