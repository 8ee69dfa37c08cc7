//! `truetail completions`.

use clap::Args;
use clap_complete::Shell;

const EXAMPLE: &str = "\
Examples:
  truetail completions bash > ~/.local/share/bash-completion/completions/truetail
  truetail completions zsh > ~/.zfunc/_truetail
  truetail completions fish > ~/.config/fish/completions/truetail.fish";

/// Print the completion script of a shell
///
/// For zsh, ~/.zfunc must be in $fpath before compinit runs.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub(crate) struct CompletionsArgs {
    /// The shell that reads the script
    pub shell: Shell,
}
