//! `truetail certify`.

use std::path::PathBuf;

use clap::Args;
use truetail_model::time::{Nanos, Rate};

use super::values::length;

const EXAMPLE: &str = "\
Examples:
  truetail certify -- oha -q {rate} -z {duration} -c 1000 --no-tui {url}
  truetail certify --rate 500 --duration 30s -- wrk -t2 -c10 -d{duration} --latency {url}
  truetail certify -- ab -k -t {seconds} -n 10000000 -c 10 {url}";

const MORE: &str = "\
The command is run three times, each time against a server of its own: one that is healthy, one that stands still once, and \
one with the pauses of a garbage collector. In the command, {url}, {rate} (requests a second), {duration} (such as 20s) and \
{seconds} (such as 20) are filled in.\n\n\
Exit code 0: it kept its schedule; 4: it did not, so that what it says of a tail cannot be trusted; 1: it could not be told.";

/// Does this load tool lie? What kind of generator it is, from what the server sees of it
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE, after_help = MORE)]
pub struct CertifyArgs {
    /// Requests a second that the command is to offer
    #[arg(long, default_value = "1000", allow_hyphen_values = true)]
    pub rate: Rate,
    /// How long each of the three runs is
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = length, allow_hyphen_values = true)]
    pub duration: Nanos,
    /// Where what the command prints, and what the servers saw, is kept [default: truetail-lab/certify]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the certificate as JSON, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// No progress
    #[arg(long)]
    pub quiet: bool,
    /// The command, after --
    #[arg(value_name = "COMMAND", last = true, required = true)]
    pub command: Vec<String>,
}
