//! `truetail doctor`.

use clap::Args;

const EXAMPLE: &str = "\
Examples:
  truetail doctor
  truetail doctor --json";

/// Say what about this machine will disturb a measurement, and what mends it
///
/// Looks at the machine for a second, which should be as quiet as for a measurement: its processors and their quota,
/// other work, the timer and the clock, and limits on files and ports. Nothing is changed.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub(crate) struct DoctorArgs {
    /// Print the findings as JSON on standard output, and nothing else
    #[arg(long)]
    pub json: bool,
}
