//! `truetail man`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLE: &str = "\
Examples:
  truetail man --out ~/.local/share/man/man1
  man truetail-run";

/// Write the man pages: truetail.1 and one page per verb
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub(crate) struct ManArgs {
    /// Folder for the pages; created if it is missing
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}
