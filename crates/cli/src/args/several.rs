//! Several runs of truetail.toml, made in turn.

use clap::Args;

/// The runs to make besides the first.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct SeveralArgs {
    /// Further runs in truetail.toml, which are made one after another
    #[arg(value_name = "NAME")]
    pub more: Vec<String>,
    /// Make all runs in truetail.toml, in the order of the file. The exit code is the worst of theirs
    #[arg(long, help_heading = "Runs by name")]
    pub all: bool,
}

impl SeveralArgs {
    /// Returns true if several runs were asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.all || !self.more.is_empty()
    }
}
