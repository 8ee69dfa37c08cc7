//! Recorded arrivals with their requests.

use std::path::PathBuf;

use clap::Args;

/// Recorded arrivals with their requests.
#[derive(Args, Clone, Debug)]
pub(crate) struct ReplayArgs {
    /// Send what this file recorded, when it recorded it, in place of a rate. Each line is an arrival, such as '1.5,GET
    /// /items'; 'truetail flow from-access-log' writes such files. The URL says where to: scheme, host and port
    #[arg(long, value_name = "FILE", help_heading = "Load")]
    pub replay: Option<PathBuf>,
    /// Replay this many times as fast, from 0.01 to 100; 0.5 is half as fast. Arrivals of --prompts too [default: 1]
    #[arg(long, value_name = "FACTOR", value_parser = speed, help_heading = "Load")]
    pub speed: Option<f64>,
}

pub(super) fn speed(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok().filter(|speed| (0.01..=100.0).contains(speed));
    number.ok_or_else(|| format!("'{text}' is not a speed; write a number from 0.01 to 100, such as 2"))
}
