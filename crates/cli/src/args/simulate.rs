//! `truetail simulate`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use truetail_model::time::{Nanos, Rate};

use super::values::{count, length};

const EXAMPLE: &str = "\
Examples:
  truetail simulate 02-single-hiccup
  truetail simulate my-scenario.toml --json
  truetail simulate freeze --out freeze
  truetail simulate freeze --pause-length 1s --users 10
  truetail simulate every-nth --real-time
  truetail simulate order-router --pause 20ms --pause-every 1s";

const EVERY_LAB: &str = "Labs";
const FREEZE: &str = "Lab freeze: a service that stands still once, seen three ways";
const PAUSES: &str = "Labs every-nth and order-router";
const EVERY_NTH: &str = "Lab every-nth: a pause at every n-th request, closed loop against open loop";

/// A scenario in virtual time: what an ideal client would have measured, to the nanosecond
///
/// Three laboratories are simulated besides: freeze, every-nth and order-router. They have options of their own, and
/// every-nth runs in real time too. Times are written 500us, 10ms, 1s, 2m.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub struct SimulateArgs {
    /// The name of a scenario that comes with truetail, its beginning (02), a TOML file, or a lab
    #[arg(value_name = "NAME|FILE")]
    pub scenario: String,
    /// Save the run in this folder, or each series of a lab in one of its own in it; with pictures as SVG and PNG
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the result as JSON, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
    /// What a lab may be given.
    #[command(flatten)]
    pub lab: SimulateLabArgs,
}

/// Options of the labs, as they were given.
#[derive(Args, Clone, Default, Debug)]
pub struct SimulateLabArgs {
    /// What a request takes when nothing is wrong [default: freeze 10ms, every-nth 1ms, order-router 50us]
    #[arg(long, value_name = "TIME", value_parser = length, allow_hyphen_values = true, help_heading = EVERY_LAB)]
    pub base: Option<Nanos>,
    /// How long requests are sent [default: freeze 5s, every-nth 30s, order-router 8s]
    #[arg(long, value_name = "TIME", value_parser = length, allow_hyphen_values = true, help_heading = EVERY_LAB)]
    pub duration: Option<Nanos>,

    /// When the service stands still [default: 2500ms]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = FREEZE)]
    pub pause_start: Option<Nanos>,
    /// For how long; 0s for no freeze [default: 500ms]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = FREEZE)]
    pub pause_length: Option<Nanos>,
    /// Between two requests: what the correction expects and the open loop does [default: 10ms]
    #[arg(long, value_name = "TIME", value_parser = length, allow_hyphen_values = true, help_heading = FREEZE)]
    pub expected_interval: Option<Nanos>,
    /// How long a row of the interval files is [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = length, allow_hyphen_values = true, help_heading = FREEZE)]
    pub snapshot_interval: Option<Nanos>,
    /// Users of the closed loop [default: 1]
    #[arg(long, value_name = "N", value_parser = count::<u32>, allow_hyphen_values = true, help_heading = FREEZE)]
    pub users: Option<u32>,

    /// Requests a second of the open loop [default: every-nth 450, order-router 20000]
    #[arg(long, allow_hyphen_values = true, help_heading = PAUSES)]
    pub rate: Option<Rate>,
    /// How long a pause is [default: every-nth 200ms, order-router 10ms]
    #[arg(long, value_name = "TIME", value_parser = length, allow_hyphen_values = true, help_heading = PAUSES)]
    pub pause: Option<Nanos>,
    /// How often: every-nth at each so many requests, order-router each so long [default: 500, 800ms]
    #[arg(long, value_name = "N|TIME", allow_hyphen_values = true, help_heading = PAUSES)]
    pub pause_every: Option<PauseEvery>,

    /// Measure on the wall clock: the work is a spin that is calibrated on this machine first, the pause a sleep
    #[arg(long, help_heading = EVERY_NTH)]
    pub real_time: bool,
    /// No progress while --real-time measures
    #[arg(long, help_heading = EVERY_NTH)]
    pub quiet: bool,
}

impl SimulateLabArgs {
    /// Every option, and whether it was given.
    pub fn given(&self) -> [(&'static str, bool); 12] {
        [
            ("--base", self.base.is_some()),
            ("--duration", self.duration.is_some()),
            ("--pause-start", self.pause_start.is_some()),
            ("--pause-length", self.pause_length.is_some()),
            ("--expected-interval", self.expected_interval.is_some()),
            ("--snapshot-interval", self.snapshot_interval.is_some()),
            ("--users", self.users.is_some()),
            ("--rate", self.rate.is_some()),
            ("--pause", self.pause.is_some()),
            ("--pause-every", self.pause_every.is_some()),
            ("--real-time", self.real_time),
            ("--quiet", self.quiet),
        ]
    }
}

/// `--pause-every`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PauseEvery {
    /// After this many requests.
    Requests(u64),
    /// After this time.
    Time(Nanos),
}

impl FromStr for PauseEvery {
    type Err = String;

    fn from_str(text: &str) -> Result<PauseEvery, String> {
        if text.trim().parse::<f64>().is_ok() {
            count(text).map(PauseEvery::Requests)
        } else {
            length(text).map(PauseEvery::Time)
        }
    }
}
