//! `truetail run`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use truetail_analysis::stopping_rule::StoppingRule;
use truetail_engine::Resolve;
use truetail_model::time::{DurationError, Nanos, Rate};

use super::checks::CheckArgs;
use super::gates::GateArgs;
use super::values::{count, length};

const EXAMPLE: &str = "\
Examples:
  truetail run http://127.0.0.1:8080/api -r 1000 -d 30s
  truetail run http://127.0.0.1:8080/api --profile ramp:100..2000/60s --spacing poisson --fail-if 'p99 > 50ms'
  truetail run http://127.0.0.1:8080/api -r 200 --until 'p99 ±5%' --warmup auto
  truetail run http://127.0.0.1:8080/items -r 50 -X POST --data '{\"n\":1}' --body-type application/json
  truetail run 'http://127.0.0.1:8080/items/{{id}}' -r 500 --data-from ids.csv
  truetail run -r 500 --targets targets.txt
  truetail run -r 50 -- curl http://127.0.0.1:8080/items -H 'Accept: text/html'";

/// Offer load on a schedule, measure every arrival from its intended start, judge, report
///
/// Times are written 500us, 10ms, 1s, 2m.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub struct RunArgs {
    /// What is asked for: http://HOST[:PORT]/PATH, or https://
    #[arg(required_unless_present_any = ["targets", "curl", "command"])]
    pub url: Option<String>,
    /// In place of a URL: a whole curl command, as one copies it
    #[arg(last = true, value_name = "curl …")]
    pub command: Vec<String>,

    /// Requests a second: 1000 or 1000/s; or a minute: 60/m
    #[arg(short, long, allow_hyphen_values = true, help_heading = "Load")]
    pub rate: Option<Rate>,
    /// A rate that moves: steps:100/10s,500/10s · ramp:100..2000/60s · sine:500..1500/60s · trace:FILE (an arrival a
    /// line, in seconds)
    #[arg(long, help_heading = "Load")]
    pub profile: Option<String>,
    /// How arrivals lie, given the rate: a metronome, or exponential gaps as independent users make them [default: even]
    #[arg(long, help_heading = "Load")]
    pub spacing: Option<SpacingName>,
    /// Seed of exponential gaps, and of which arrival gets which target and row: the same seed gives the same run
    /// [default: 1]
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub seed: Option<u64>,
    /// How long requests arrive [default: the length of the profile, else 10s, with --until 10m; none
    /// with --requests]
    #[arg(short, long, value_name = "TIME", value_parser = length, allow_hyphen_values = true, help_heading = "Load")]
    pub duration: Option<Nanos>,
    /// How many requests arrive, at most
    #[arg(short = 'n', long, value_name = "N", value_parser = count::<u64>, allow_hyphen_values = true)]
    #[arg(help_heading = "Load")]
    pub requests: Option<u64>,
    /// Who decides when the next request comes: a schedule; users who wait for their answer; or users who arrive on a
    /// schedule and then wait for their answers [default: open]
    #[arg(long, help_heading = "Load")]
    pub model: Option<ModelName>,
    /// Users of the closed model
    #[arg(long, value_name = "N", value_parser = count::<u32>, allow_hyphen_values = true, help_heading = "Load")]
    pub users: Option<u32>,
    /// From an answer to the same user's next request, closed and partly open model [default: 0s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Load")]
    pub think_time: Option<Nanos>,
    /// Requests of a session of the partly open model
    #[arg(long, value_name = "N", value_parser = count::<u32>, allow_hyphen_values = true, help_heading = "Load")]
    pub session_length: Option<u32>,
    /// Arrivals before this time are offered and not measured; part of the duration. 'auto' measures all and cuts off
    /// what comes before the response time has settled [default: 0s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Load")]
    pub warmup: Option<WarmupValue>,

    /// Go on until the 95 % interval of a quantile of the response time is this narrow, such as 'p99 ±5%' (or 'p99
    /// +-5%'), and at most for the duration [default: 10m then]. Looks after 10 s, 15 s, 22.5 s …
    #[arg(long, value_name = "QUANTILE ±SHARE", help_heading = "Load")]
    pub until: Option<StoppingRule>,
    /// Stop sending when the backlog grows without end, which takes 12 s to tell; the run is then INVALID, and gives the
    /// capacity
    #[arg(long, help_heading = "Load")]
    pub stop_when_saturated: bool,

    /// Most connections, and so requests in flight; an arrival that finds none free waits and keeps its intended start
    /// [default: what this machine can have]
    #[arg(short, long, value_name = "N", value_parser = count::<u32>, allow_hyphen_values = true)]
    #[arg(help_heading = "Limits")]
    pub connections: Option<u32>,
    /// How long a request may take, connecting included; 'none' for ever [default: 30s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Limits")]
    pub timeout: Option<TimeoutValue>,
    /// How long after the last arrival the backlog is issued and answers are waited for [default: 30s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Limits")]
    pub drain: Option<Nanos>,
    /// End response times when this program had read the answer, not when the kernel had received it
    #[arg(long, help_heading = "Result")]
    pub user_timestamps: bool,
    /// Precision of sending against processor time. 'auto' sends each request when it is due, and above some 4000/s a thread in
    /// groups that span at most 0.2 ms. 'balanced' never groups; 'precise' also spins before each request; 'cheap' sends
    /// once a millisecond [default: auto]
    #[arg(long, value_name = "HOW", help_heading = "Limits")]
    pub timing: Option<TimingName>,
    /// Worker threads [default: what the load needs, at most one a processor]
    #[arg(long, value_name = "N", value_parser = count::<u32>, allow_hyphen_values = true, help_heading = "Limits")]
    pub threads: Option<u32>,

    /// Method [default: GET]
    #[arg(short = 'X', long, help_heading = "Request")]
    pub method: Option<String>,
    /// 'Name: value', repeatable; replaces a default of the same name, and goes to all targets that have none of it
    #[arg(short = 'H', long, help_heading = "Request")]
    pub header: Vec<String>,
    /// Body
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = "Request")]
    pub data: Option<String>,
    /// Body from a file; '-' for standard input
    #[arg(long, value_name = "FILE", help_heading = "Request")]
    pub data_file: Option<PathBuf>,
    /// Content-Type of the body
    #[arg(long, value_name = "TYPE", help_heading = "Request")]
    pub body_type: Option<String>,
    /// Several requests in place of a URL: a file with 'METHOD URL', header lines and '@BODYFILE' for each, a blank line
    /// between, or with curl commands; '# weight: 3' before one gives it three shares of the arrivals
    #[arg(long, value_name = "FILE", help_heading = "Request")]
    pub targets: Option<PathBuf>,
    /// A curl command in place of a URL, in quotes; or without them after --
    #[arg(long, value_name = "COMMAND", help_heading = "Request")]
    pub curl: Option<String>,
    /// Rows that fill in {{name}} in path, query, header values and body: FILE.csv with a heading, or FILE.jsonl
    #[arg(long, value_name = "FILE", help_heading = "Request")]
    pub data_from: Option<PathBuf>,
    /// Row k for arrival k and from the beginning again, or one drawn by the seed [default: in-order]
    #[arg(long, value_name = "ORDER", help_heading = "Request")]
    pub feed: Option<FeedName>,
    /// Connect to this address for that host and port, whatever the name resolves to. Repeatable
    #[arg(long, value_name = "HOST:PORT:ADDRESS", help_heading = "Request")]
    pub resolve: Vec<Resolve>,
    /// Connect to this socket in the file system; the URL still says what is asked for
    #[arg(long, value_name = "PATH", help_heading = "Request")]
    pub unix_socket: Option<PathBuf>,
    /// Speak HTTP/2: with https:// if the server agrees to it, with http:// as one that is known to speak it. Each worker
    /// has one connection that carries many requests at once, or --connections so many together
    #[arg(long, help_heading = "Request")]
    pub http2: bool,
    /// Most requests in flight on one connection of HTTP/2; an arrival that finds no room waits and keeps its intended
    /// start [default: as many as the server allows]
    #[arg(long, value_name = "N", value_parser = count::<u32>, allow_hyphen_values = true, help_heading = "Limits")]
    pub max_streams: Option<u32>,
    /// Open a new connection for each request and say 'Connection: close'; the time to connect is in each response time
    #[arg(long, help_heading = "Request")]
    pub no_keepalive: bool,
    /// Do not send the one request that finds out, before the load, whether anybody answers
    #[arg(long, help_heading = "Request")]
    pub no_preflight: bool,

    /// Accept any certificate: whoever stands between can then read and change everything
    #[arg(long, help_heading = "TLS")]
    pub insecure: bool,
    /// Certificate authorities to trust in place of the system's, in PEM
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    pub ca: Option<PathBuf>,
    /// Certificate to show to a server that asks for one, in PEM, with what leads from it to its authority
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    pub cert: Option<PathBuf>,
    /// Private key of that certificate, in PEM
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    pub key: Option<PathBuf>,

    #[command(flatten)]
    pub gates: GateArgs,
    #[command(flatten)]
    pub checks: CheckArgs,
    /// Save the run in this folder [default: a new one under truetail-runs]
    #[arg(long, value_name = "DIR", help_heading = "Result")]
    pub out: Option<PathBuf>,
    /// Do not save the run
    #[arg(long, help_heading = "Result")]
    pub no_save: bool,
    /// Print run.json, and nothing else, on standard output
    #[arg(long, help_heading = "Result")]
    pub json: bool,
    /// No progress
    #[arg(long, help_heading = "Result")]
    pub quiet: bool,
}

/// `--spacing`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum SpacingName {
    /// A metronome.
    Even,
    /// Exponential gaps.
    Poisson,
}

/// `--feed`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum FeedName {
    /// One after the other.
    InOrder,
    /// Drawn.
    Random,
}

/// `--timing`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum TimingName {
    /// Spins at the end.
    Precise,
    /// Sleeps, once for several requests where the rate is high.
    Auto,
    /// Sleeps.
    Balanced,
    /// Once a millisecond.
    Cheap,
}

/// `--model`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ModelName {
    /// A schedule decides.
    Open,
    /// The answers decide.
    Closed,
    /// A schedule decides when sessions begin, the answers decide inside them.
    PartlyOpen,
}

/// `--timeout`: a time above zero, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeoutValue(pub Option<Nanos>);

impl FromStr for TimeoutValue {
    type Err = String;

    fn from_str(text: &str) -> Result<TimeoutValue, String> {
        if text == "none" { Ok(TimeoutValue(None)) } else { length(text).map(|time| TimeoutValue(Some(time))) }
    }
}

/// `--warmup`: a time, or wherever the response time settles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WarmupValue {
    /// So much.
    Time(Nanos),
    /// Up to where it settles.
    Auto,
}

impl FromStr for WarmupValue {
    type Err = String;

    fn from_str(text: &str) -> Result<WarmupValue, String> {
        if text == "auto" {
            return Ok(WarmupValue::Auto);
        }
        let time = text.parse().map_err(|error: DurationError| format!("{error}; or 'auto'"))?;
        Ok(WarmupValue::Time(time))
    }
}
