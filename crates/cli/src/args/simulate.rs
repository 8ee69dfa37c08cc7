//! `truetail simulate`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use truetail_model::driver::Stripe;
use truetail_model::time::{Nanos, Rate};

use super::flow::FlowInputs;
use super::gates::GateArgs;
use super::page::TypedArgs;
use super::values::{count, length};

const EXAMPLE: &str = "\
Examples:
  truetail simulate 02-single-hiccup
  truetail simulate my-scenario.toml --json
  truetail simulate 07-login-that-stalls --flow shop.hurl --variable host=http://127.0.0.1:8080
  truetail simulate freeze --out freeze
  truetail simulate freeze --pause-length 1s --users 10
  truetail simulate every-nth --real-time
  truetail simulate order-router --pause 20ms --pause-every 1s";

const EVERY_LAB: &str = "All labs";
const FREEZE: &str = "Lab freeze: one stall, measured in three ways";
const PAUSES: &str = "Labs every-nth and order-router";
const EVERY_NTH: &str = "Lab every-nth: a pause at every n-th request, in a closed and an open loop";

/// Compute what an ideal client would measure in a scenario
///
/// Everything happens in virtual time, exact to the nanosecond. There are also three labs, small experiments with
/// options of their own: freeze, every-nth and order-router.
///
/// Durations: 500us, 10ms, 1.5s, 2m, 1m30s. Rates: 1000, 1.5k, 10rps, 60/m.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub(crate) struct SimulateArgs {
    /// Built-in scenario, by name or by the start of its name (02), a TOML file, or a lab
    #[arg(value_name = "NAME|FILE")]
    pub scenario: String,
    /// Save the run and its plots (SVG and PNG) in this folder; a lab saves one folder per series in it
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the runs that the folder of --out holds
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Print the result as JSON on standard output, and nothing else
    #[arg(long)]
    pub json: bool,
    /// Keep only the requests of part I of N of the load, such as 2/8, as one of N machines would have them. The
    /// service meets the whole load
    #[arg(long, value_name = "I/N", allow_hyphen_values = true)]
    pub stripe: Option<Stripe>,
    /// Let sessions arrive on the schedule of the scenario, and let each do what this Hurl file says. Nothing is sent:
    /// captures find something, and asserts hold if no fault changes the answer. Repeatable: then each session follows
    /// one of the flows, drawn by their weights
    #[arg(long, value_name = "FILE.hurl", help_heading = "Flows")]
    pub flow: Vec<PathBuf>,
    /// Let sessions of agents arrive on the schedule of the scenario, and let each make the calls of a session in this
    /// file, as truetail run does. Nothing is sent, so texts are not known
    #[arg(long, value_name = "FILE.jsonl", conflicts_with_all = ["flow", "stripe"], help_heading = "Flows")]
    pub agents: Option<PathBuf>,
    #[command(flatten)]
    pub given: FlowInputs,
    #[command(flatten)]
    pub gates: GateArgs,
    /// Options of the labs.
    #[command(flatten)]
    pub lab: SimulateLabArgs,
    #[command(flatten)]
    pub typed: TypedArgs,
}

/// Options of the labs, as they were given.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct SimulateLabArgs {
    /// Service time of a healthy request [default: freeze 10ms, every-nth 1ms, order-router 50us]
    #[arg(long, value_name = "TIME", value_parser = length, allow_hyphen_values = true, help_heading = EVERY_LAB)]
    pub base: Option<Nanos>,
    /// How long to send requests [default: freeze 5s, every-nth 30s, order-router 8s]
    #[arg(long, value_name = "TIME", value_parser = length, allow_hyphen_values = true, help_heading = EVERY_LAB)]
    pub duration: Option<Nanos>,

    /// When the service stalls [default: 2500ms]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = FREEZE)]
    pub pause_start: Option<Nanos>,
    /// How long the service stalls; 0s for no stall [default: 500ms]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = FREEZE)]
    pub pause_length: Option<Nanos>,
    /// Interval between requests: the open loop keeps it, the correction expects it [default: 10ms]
    #[arg(long, value_name = "TIME", value_parser = length, allow_hyphen_values = true, help_heading = FREEZE)]
    pub expected_interval: Option<Nanos>,
    /// Length of one row in the interval files [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = length, allow_hyphen_values = true, help_heading = FREEZE)]
    pub snapshot_interval: Option<Nanos>,
    /// Number of users in the closed loop [default: 1]
    #[arg(long, value_name = "N", value_parser = count::<u32>, allow_hyphen_values = true, help_heading = FREEZE)]
    pub users: Option<u32>,

    /// Request rate of the open loop [default: every-nth 450, order-router 20000]
    #[arg(long, allow_hyphen_values = true, help_heading = PAUSES)]
    pub rate: Option<Rate>,
    /// Length of a pause [default: every-nth 200ms, order-router 10ms]
    #[arg(long, value_name = "TIME", value_parser = length, allow_hyphen_values = true, help_heading = PAUSES)]
    pub pause: Option<Nanos>,
    /// Requests between two pauses (every-nth), or time between them (order-router) [default: 500, 800ms]
    #[arg(long, value_name = "N|TIME", allow_hyphen_values = true, help_heading = PAUSES)]
    pub pause_every: Option<PauseEvery>,

    /// Measure in real time: the work is a busy loop, calibrated on this machine first, and the pause a sleep
    #[arg(long, help_heading = EVERY_NTH)]
    pub real_time: bool,
    /// Show no progress during --real-time
    #[arg(long, help_heading = EVERY_NTH)]
    pub quiet: bool,
}

impl SimulateLabArgs {
    /// Returns every option, and true for each that was given.
    pub(crate) fn given(&self) -> [(&'static str, bool); 12] {
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

/// Value of `--pause-every`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PauseEvery {
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
