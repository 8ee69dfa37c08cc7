//! `truetail mcp`.

use std::path::PathBuf;

use clap::Args;
use truetail_mcp::AllowedHost;
use truetail_model::time::{Nanos, Rate};

use super::values::length;

const EXAMPLE: &str = "\
Examples:
  truetail mcp
  truetail mcp --out-dir truetail-runs --max-duration 10m
  truetail mcp --allow-host staging.example.com --max-rate 200 --allow-method POST";

/// Let an agent measure, as a server of the Model Context Protocol
///
/// Speaks the protocol on standard input and output; an agent's client starts it. Its tools run a load, compare saved
/// runs, find a capacity, audit the result file of a load tool, and explain a verdict. The options limit what the agent
/// may do. Without any, it requests only this machine, reads only files of this folder, and writes nothing.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub(crate) struct McpArgs {
    /// Allow requests to this host, at any port or only at the given one. Repeatable. Loopback is always allowed
    #[arg(long, value_name = "HOST[:PORT]")]
    pub allow_host: Vec<AllowedHost>,
    /// Allow requests with this method. Repeatable. GET, HEAD and OPTIONS are always allowed
    #[arg(long, value_name = "METHOD")]
    pub allow_method: Vec<String>,
    /// Longest time that one call may offer load, up to 24h
    #[arg(long, value_name = "TIME", value_parser = length_of_a_call, default_value = "5m", allow_hyphen_values = true)]
    pub max_duration: Nanos,
    /// Highest request rate
    #[arg(long, value_name = "RATE", default_value = "1000", allow_hyphen_values = true)]
    pub max_rate: Rate,
    /// Save runs in new folders in this one, which is created. Without it, no run is saved and there is no search for a
    /// capacity
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
    /// Allow reading runs and result files in this folder. Repeatable. The folder of --out-dir is always allowed
    /// [default: this folder]
    #[arg(long, value_name = "DIR")]
    pub read: Vec<PathBuf>,
}

fn length_of_a_call(text: &str) -> Result<Nanos, String> {
    const LONGEST: Nanos = Nanos::from_secs(24 * 3600);
    let time = length(text)?;
    if time <= LONGEST { Ok(time) } else { Err(format!("'{text}' is too long; write a time up to 24h")) }
}
