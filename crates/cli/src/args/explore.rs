//! `truetail explore`.

use clap::Args;

const EXAMPLE: &str = "\
Examples:
  truetail explore
  truetail explore --open
  truetail explore --listen 127.0.0.1:8090";

/// Open a page where sliders show coordinated omission
///
/// Prints the address of a local page and serves it until Ctrl-C, SIGTERM or SIGHUP. Sliders for load, server and
/// faults drive the simulator, and the curves of a closed loop, of its correction, of an open loop and of the truth
/// change at once. 'Run it for real' on the page starts a misbehaving server and measures it with the same settings.
/// See docs/explore.md.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub(crate) struct ExploreArgs {
    /// Address and port of the page; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub listen: String,
    /// Open the page in the browser of this desktop
    #[arg(long)]
    pub open: bool,
}
