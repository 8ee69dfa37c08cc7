//! `truetail ab`.

use std::path::PathBuf;

use clap::Args;

use super::comparison::ComparisonArgs;
use super::page::TypedArgs;
use super::run_options::{Omits, RunOptions};
use super::values::count;

const EXAMPLE: &str = "\
Examples:
  truetail ab http://127.0.0.1:8080/api http://127.0.0.1:8081/api -r 500 -d 30s
  truetail ab http://127.0.0.1:8080/api http://127.0.0.1:8081/api -r 500 -d 30s --until-decided --fail-if 'p99 worse than 5%'";

/// Tell whether service B is slower than service A, by runs in turns
///
/// Machines drift, so the runs alternate: A B, B A, A B, and so on. Each side gets the same requests in a round. The
/// result is that of truetail compare for these runs, and each run is saved in a separate folder.
///
/// The load, the requests and their limits are given as for truetail run.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub(crate) struct AbArgs {
    /// URL of A, such as the build before a change
    #[arg(value_name = "URL_A")]
    pub a: String,
    /// URL of B
    #[arg(value_name = "URL_B")]
    pub b: String,
    #[command(flatten)]
    pub rounds: RoundsArgs,
    #[command(flatten)]
    pub run: RunOptions<OmittedByAb>,
    #[command(flatten)]
    pub result: ComparisonArgs,
    /// Save the runs in this folder, which must be new or empty [default: a new folder under truetail-runs]
    #[arg(long, value_name = "DIR", help_heading = "Result")]
    pub out: Option<PathBuf>,
    /// Compare the runs even if some are INVALID
    #[arg(long, help_heading = "Result")]
    pub anyway: bool,
    /// Show no progress
    #[arg(long, help_heading = "Result")]
    pub quiet: bool,
    #[command(flatten)]
    pub typed: TypedArgs,
}

/// End of the rounds.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct RoundsArgs {
    /// Number of rounds; a round is one run of A and one of B [default: 5]
    #[arg(long, value_name = "N", value_parser = count::<u32>, allow_hyphen_values = true, help_heading = "Rounds")]
    pub rounds: Option<u32>,
    /// Stop as soon as every condition of --fail-if is decided. The intervals are wider for that, because each look at
    /// the result is another chance to be wrong
    #[arg(long, conflicts_with = "rounds", requires = "fail_if", help_heading = "Rounds")]
    pub until_decided: bool,
    /// Maximum number of rounds with --until-decided [default: 12]
    #[arg(long, value_name = "N", value_parser = count::<u32>, allow_hyphen_values = true, requires = "until_decided")]
    #[arg(help_heading = "Rounds")]
    pub max_rounds: Option<u32>,
}

/// Options of `run` that `ab` leaves out: options that name requests other than by a URL, end runs at different times,
/// or process the result of a single run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OmittedByAb;

impl Omits for OmittedByAb {
    const NAMES: &'static [&'static str] = &[
        "url",
        "more",
        "all",
        "config",
        "baseline",
        "baseline_fail_if",
        "write_baseline",
        "command",
        "script",
        "otlp_receive",
        "otlp_grace",
        "scrape",
        "scrape_show",
        "event",
        "event_at",
        "script_allow",
        "targets",
        "curl",
        "unix_socket",
        "until",
        "stripe",
        "start_at",
        "stop_when_saturated",
        "abort_on",
        "fail_if",
        "junit",
        "markdown",
        "github",
        "checks",
        "flow",
        "variable",
        "file_root",
        "setup",
        "replay",
        "speed",
        "vllm_json",
        "html",
        "out",
        "force",
        "no_save",
        "pack",
        "json",
        "details",
        "live",
        "otlp",
        "watch",
        "quiet",
    ];
}
