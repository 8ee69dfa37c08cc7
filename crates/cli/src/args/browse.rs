//! `truetail browse`.

use std::path::PathBuf;

use clap::Args;

use super::runs::RunsPlaceArgs;
use super::values::count;

const EXAMPLE: &str = "\
Examples:
  truetail browse
  truetail browse --open
  truetail browse ci-runs --tag branch=main --export site";

/// Look at saved runs in a browser
///
/// Prints the address of a local site and serves it until Ctrl-C, SIGTERM or SIGHUP: the list of the runs with
/// conditions, the page of each run, two runs compared, and the series of each name with its changes. It follows runs
/// in progress. With --export, writes the site as files and ends.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub(crate) struct BrowseArgs {
    #[command(flatten)]
    pub place: RunsPlaceArgs,
    /// Address and port of the site; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0", conflicts_with = "export")]
    pub listen: String,
    /// Open the site in the browser of this desktop
    #[arg(long, conflicts_with = "export")]
    pub open: bool,
    /// Let the site remove runs, after a question. Only on a loopback address
    #[arg(long, conflicts_with = "export")]
    pub allow_remove: bool,
    /// Write the site into this folder, for artifacts of a build or a web server
    #[arg(long, value_name = "DIR", help_heading = "Export")]
    pub export: Option<PathBuf>,
    /// Number of runs, the newest, that have a page of their own in the export
    #[arg(long, value_name = "N", value_parser = count::<usize>, default_value = "100", requires = "export", help_heading = "Export")]
    pub last: usize,
}
