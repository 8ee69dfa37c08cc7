//! `truetail serve`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLE: &str = "\
Example:
  truetail serve --scenario 02-single-hiccup --listen 127.0.0.1:8080 --truth truth.csv";

/// A server that misbehaves as a scenario says, and keeps the truth of every request
///
/// Prints 'listening on http://ADDRESS' when it is ready. The fault clock starts at the first request that is not a
/// health check (GET /healthy), or at POST /clock. Ctrl-C, SIGTERM or SIGHUP ends it, with the truth log complete.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub struct ServeArgs {
    /// The name of a scenario that comes with truetail, its beginning (02), or a TOML file
    #[arg(long, value_name = "NAME|FILE", default_value = "01-healthy")]
    pub scenario: String,
    /// Where to listen; port 0: any that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    pub listen: String,
    /// Write what became of each request to this file, as CSV
    #[arg(long, value_name = "FILE")]
    pub truth: Option<PathBuf>,
}
