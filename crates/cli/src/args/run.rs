//! `truetail run`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use truetail_analysis::capacity::AbortRule;
use truetail_analysis::stopping_rule::StoppingRule;
use truetail_engine::Resolve;
use truetail_model::arrival::Spacing;
use truetail_model::cancellation::Cancellation;
use truetail_model::time::{DurationError, Nanos, Rate};
use truetail_model::users::Users;

use super::baseline::BaselineArgs;
use super::checks::CheckArgs;
use super::event::EventArgs;
use super::flow::FlowArgs;
use super::gates::GateArgs;
use super::grpc::GrpcArgs;
use super::kept_headers::KeptHeaderArgs;
use super::labels::LabelArgs;
use super::live::LiveArgs;
use super::messages::MessageArgs;
use super::page::{RunPageArgs, TypedArgs};
use super::prompts::MadeRows;
use super::replay::ReplayArgs;
use super::scrape::ScrapeArgs;
use super::screen::ScreenArgs;
use super::script::ScriptArgs;
use super::server_timing::ServerTimingArgs;
use super::several::SeveralArgs;
use super::spans::SpanArgs;
use super::stream::{StreamArgs, VllmArgs};
use super::stripe::StripeArgs;
use super::trace::TraceArgs;
use super::values::{above_zero, count, length, users};

const EXAMPLE: &str = "\
Examples:
  truetail run http://127.0.0.1:8080/api -r 1000 -d 30s
  truetail run http://127.0.0.1:8080/api -r 1k -d 1m30s --slo 'p99 < 50ms'
  truetail run http://127.0.0.1:8080/api --profile ramp:100..2000/60s --spacing poisson
  truetail run http://127.0.0.1:8080/api -r 200 --until 'p99 ±5%' --warmup auto
  truetail run http://127.0.0.1:8080/items -r 50 --data '{\"n\":1}' --body-type application/json
  truetail run 'http://127.0.0.1:8080/items/{{id}}' -r 500 --data-from ids.csv
  truetail run -r 500 --targets targets.txt
  truetail run http://127.0.0.1:8080 --replay hour.replay --speed 2
  truetail run tcp://127.0.0.1:9000 -r 500 -c 20 --framing line --data '{\"id\":{{seq}}}' --match json:/id
  truetail run redis://127.0.0.1:6379 -r 20k --command 'GET key:{{id}}' --data-from ids.csv
  truetail run grpc://127.0.0.1:50051/helloworld.Greeter/SayHello -r 500 --data '{\"name\":\"a\"}'
  truetail run http://127.0.0.1:8080/events -r 20 --stream sse --stall 500ms --idle-timeout 5s
  truetail run -r 50 -- curl http://127.0.0.1:8080/items -H 'Accept: text/html'
  truetail run http://127.0.0.1:8080/api -r 400k -d 60s --stripe 2/8 --start-at +10s
  truetail run checkout --config truetail.toml
  truetail run --all --junit runs.xml";

/// Send requests on a schedule and report the response times
///
/// The schedule does not wait for the server. Response time starts when a request is due, so a stall of the server
/// delays every request that falls due meanwhile, and the report shows it. Every planned request is accounted for.
///
/// Durations: 500us, 10ms, 1.5s, 2m, 1m30s. Rates: 1000, 1.5k, 10rps, 60/m.
#[derive(Args, Clone, Debug)]
#[command(before_help = EXAMPLE)]
pub(crate) struct RunArgs {
    /// URL to request, such as http://127.0.0.1:8080/api. USER:PASSWORD@ before the host becomes basic authentication.
    /// Or the name of a run in truetail.toml; without either, the only run there, or its default
    #[arg(value_name = "URL|NAME")]
    pub url: Option<String>,
    #[command(flatten)]
    pub several: SeveralArgs,
    /// A curl command, in place of a URL; with --script, arguments of the script
    #[arg(last = true, value_name = "curl …")]
    pub command: Vec<String>,

    /// Requests per second: 1000, 1k or 10rps; or per minute: 60/m
    #[arg(short, long, allow_hyphen_values = true, help_heading = "Load")]
    pub rate: Option<Rate>,
    /// A rate that changes over time: stages such as 5..30/5s,30/15s,30..0/5s, sine:500..1500/60s, or trace:FILE with
    /// one arrival time per line, in seconds
    #[arg(long, help_heading = "Load")]
    pub profile: Option<String>,
    /// Spacing of requests: even, poisson (random, like independent users), or gamma:SHAPE (in bursts with a shape
    /// below 1, such as gamma:0.5; vLLM's benchmark calls the shape burstiness) [default: even]
    #[arg(long, help_heading = "Load")]
    pub spacing: Option<Spacing>,
    /// Seed of everything random: spacing, and the choice of targets and rows. The same seed gives the same
    /// requests [default: 1]
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub seed: Option<u64>,
    /// How long to send requests [default: the length of the profile or of the stages of users, or 10s; 10m with
    /// --until; no limit with --requests]
    #[arg(short, long, value_name = "TIME", value_parser = length, allow_hyphen_values = true, help_heading = "Load")]
    pub duration: Option<Nanos>,
    /// Maximum number of requests
    #[arg(short = 'n', long, value_name = "N", value_parser = count::<u64>, allow_hyphen_values = true)]
    #[arg(help_heading = "Load")]
    pub requests: Option<u64>,
    /// What triggers a request: a schedule (open), the user's previous answer (closed), or a schedule for the first
    /// request of a session and answers for the others (partly-open) [default: open]
    #[arg(long, help_heading = "Load")]
    pub model: Option<ModelName>,
    /// Number of users in the closed model. It changes over time in stages such as 0..50/10s,50/30s,50..0/10s
    #[arg(long, value_name = "N|STAGES", value_parser = users, allow_hyphen_values = true, help_heading = "Load")]
    pub users: Option<Users>,
    /// Time between an answer and the user's next request, in the closed and partly open models [default: 0s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Load")]
    pub think_time: Option<Nanos>,
    /// Requests per session in the partly open model
    #[arg(long, value_name = "N", value_parser = count::<u32>, allow_hyphen_values = true, help_heading = "Load")]
    pub session_length: Option<u32>,
    /// Do not measure requests that are due before this time; it is part of the duration. With 'auto', drop what came
    /// before response times settled [default: 0s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Load")]
    pub warmup: Option<WarmupValue>,

    /// Stop once the 95 % confidence interval of a percentile is this narrow, such as 'p99 ±5%' (or 'p99 +-5%'), or at
    /// the end of the duration. Checked after 10 s, 15 s, 22.5 s and so on
    #[arg(long, value_name = "PERCENTILE ±SHARE", help_heading = "Load")]
    pub until: Option<StoppingRule>,
    /// Stop when the backlog keeps growing, and report the server's capacity. Detection takes 12 s
    #[arg(long, help_heading = "Load")]
    pub stop_when_saturated: bool,
    /// End the load, and fail the run (exit code 3), once this is shown to hold, such as 'error-rate > 20%'.
    /// Repeatable
    ///
    /// Write METRIC > LIMIT or METRIC >= LIMIT. METRIC is error-rate, unanswered, or a percentile or max of response
    /// time, service-time or first-byte. Checked after 5 s, then each second, later each time the run is a tenth
    /// longer. A few failures do not end a run, and an outage ends it once the rest of the plan cannot make up for it.
    #[arg(long, value_name = "CONDITION", help_heading = "Load")]
    pub abort_on: Vec<AbortRule>,
    /// Do not call a run INVALID because every answer is an error or no request is answered: such a service is what you
    /// want to measure
    #[arg(long, help_heading = "Load")]
    pub allow_errors: bool,

    /// Maximum number of connections, in HTTP/2 to each origin. A request that finds none free waits, and its response
    /// time includes the wait [default: what this machine allows]
    #[arg(short, long, value_name = "N", value_parser = count::<u32>, allow_hyphen_values = true)]
    #[arg(help_heading = "Limits")]
    pub connections: Option<u32>,
    /// Time limit for each request, connecting included; 'none' for no limit [default: 30s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Limits")]
    pub timeout: Option<TimeoutValue>,
    /// Cancel a random share of the requests that have not ended some time after they were due, as users who leave do:
    /// '5% after 1s'. The chosen requests are load; they have separate books, and no figure includes them. Not for
    /// messages and sessions
    #[arg(long, value_name = "SHARE after TIME", allow_hyphen_values = true, help_heading = "Limits")]
    pub cancel: Option<Cancellation>,
    /// Same as --timeout, as curl names it. A number without a unit means seconds
    #[arg(long, value_name = "SECONDS", value_parser = curl_time, allow_hyphen_values = true, conflicts_with = "timeout")]
    #[arg(help_heading = "Limits")]
    pub max_time: Option<Nanos>,
    /// How long to send the backlog and wait for answers at the end [default: 30s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Limits")]
    pub drain: Option<Nanos>,
    /// End each response when truetail reads it, not when the kernel received it
    #[arg(long, help_heading = "Generator")]
    pub user_timestamps: bool,
    /// Trade precision of sending against CPU time [default: auto]
    #[arg(long, value_name = "HOW", help_heading = "Generator")]
    pub timing: Option<TimingName>,
    /// Give workers real-time priority, so that other programs on this machine do not delay them. Linux; needs root or
    /// CAP_SYS_NICE
    #[arg(long, help_heading = "Generator")]
    pub realtime: bool,
    /// Number of worker threads [default: what the load needs, at most one per CPU]
    #[arg(long, value_name = "N", value_parser = count::<u32>, allow_hyphen_values = true, help_heading = "Generator")]
    pub threads: Option<u32>,

    /// HTTP method [default: GET, or POST with a body]
    #[arg(short = 'X', long, help_heading = "Request")]
    pub method: Option<String>,
    /// Header 'Name: value'; repeatable. Replaces the default header of that name. With several targets it goes to each
    /// one that does not set it
    #[arg(short = 'H', long, help_heading = "Request")]
    pub header: Vec<String>,
    /// Request body; implies POST
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = "Request")]
    pub data: Option<String>,
    /// Read the request body from a file, or from standard input with '-'; implies POST
    #[arg(long, value_name = "FILE", help_heading = "Request")]
    pub data_file: Option<PathBuf>,
    /// Content-Type of the body
    #[arg(long, value_name = "TYPE", help_heading = "Request")]
    pub body_type: Option<String>,
    #[command(flatten)]
    pub messages: MessageArgs,
    #[command(flatten)]
    pub traces: TraceArgs,
    #[command(flatten)]
    pub server_timing: ServerTimingArgs,
    #[command(flatten)]
    pub kept_headers: KeptHeaderArgs,
    #[command(flatten)]
    pub spans: SpanArgs,
    #[command(flatten)]
    pub scrapes: ScrapeArgs,
    #[command(flatten)]
    pub events: EventArgs,
    #[command(flatten)]
    pub script: ScriptArgs,
    #[command(flatten)]
    pub grpc: GrpcArgs,
    /// User name and password for basic authentication
    #[arg(short, long, value_name = "USER:PASSWORD", help_heading = "Request")]
    pub user: Option<Credentials>,
    /// File with several targets, in place of a URL: for each one 'METHOD URL', header lines and '@BODYFILE', then a
    /// blank line; or curl commands. 'GRPC URL' calls a method of gRPC. '# weight: 3' before a target gives it three
    /// times the share of requests
    #[arg(long, value_name = "FILE", help_heading = "Request")]
    pub targets: Option<PathBuf>,
    /// A curl command in place of a URL, in quotes. To write it without quotes, put it after --
    #[arg(long, value_name = "COMMAND", help_heading = "Request")]
    pub curl: Option<String>,
    /// Fill in {{name}} in path, query, header values and body from the rows of this file: FILE.csv, whose first row
    /// names the columns, or FILE.jsonl. With --flow, a row for each session, with the columns as variables
    #[arg(long, value_name = "FILE", help_heading = "Request")]
    pub data_from: Option<PathBuf>,
    /// Make prompts for a language model, as rows with the fields prompt, input_tokens, output_tokens and group: for
    /// example synthetic:input=512±128,output=128, also with prefix=1024,groups=8 for shared beginnings. Lengths are in
    /// tokens: 512, 512±128 or 512+-128 (normal), lognormal:512±256, 256..1024 (uniform), or file:FILE with one a line.
    /// Or take requests from a file: with their arrivals mooncake:FILE.jsonl and burstgpt:FILE.csv, without
    /// sharegpt:FILE.json and batch:FILE.jsonl. A few calls before the load tell how many tokens the server counts for
    /// a word. Needs --llm
    #[arg(long, value_name = "SPEC", help_heading = "Request")]
    pub prompts: Option<String>,
    /// Number of rows of `--prompts` for a load that takes several runs; `None`: as many as the load has requests.
    #[arg(skip)]
    pub prompt_rows: Option<u64>,
    /// Rows of `--prompts`.
    #[arg(skip)]
    pub made_rows: Option<MadeRows>,
    /// Order in which requests, or the sessions of --flow, use the rows of --data-from [default: in-order]
    #[arg(long, value_name = "ORDER", help_heading = "Request")]
    pub feed: Option<FeedName>,
    /// Use HTTP/2. With https:// the server must agree to it; with http:// it must accept HTTP/2 at once (prior
    /// knowledge). Each worker opens one connection to each origin, or as many as --connections allows. With ws:// and
    /// wss:// each channel is a stream on a connection of its own (RFC 8441)
    #[arg(long, help_heading = "Request")]
    pub http2: bool,
    /// Maximum number of concurrent requests on one HTTP/2 connection [default: what the server allows]
    #[arg(long, value_name = "N", value_parser = count::<u32>, allow_hyphen_values = true, help_heading = "Limits")]
    pub max_streams: Option<u32>,
    /// Connect to ADDRESS for this host and port, as curl does; repeatable
    #[arg(long, value_name = "HOST:PORT:ADDRESS", help_heading = "Request")]
    pub resolve: Vec<Resolve>,
    /// Connect to this Unix socket. Path and Host still come from the URL
    #[arg(long, value_name = "PATH", help_heading = "Request")]
    pub unix_socket: Option<PathBuf>,
    /// Open a new connection for each request. Each response time then includes the time to connect
    #[arg(long, help_heading = "Request")]
    pub no_keepalive: bool,
    /// Give each session its own connection, as a browser has: opened with its first request and closed at its end.
    /// Then --connections limits the sessions under way. Without it, all sessions share connections
    #[arg(long, conflicts_with = "no_keepalive", help_heading = "Request")]
    pub connection_per_session: bool,
    /// Do not try before the load whether the server answers
    #[arg(long, help_heading = "Request")]
    pub no_preflight: bool,

    /// Accept any certificate. Anyone between you and the server can then read and change the traffic
    #[arg(short = 'k', long, help_heading = "TLS")]
    pub insecure: bool,
    /// PEM file of certificates to trust in place of the system's: of authorities, or the server's own
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    pub ca: Option<PathBuf>,
    /// PEM file of the client certificate, followed by its chain
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    pub cert: Option<PathBuf>,
    /// PEM file of the client certificate's private key
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    pub key: Option<PathBuf>,

    #[command(flatten)]
    pub machines: StripeArgs,

    /// Read runs from this file [default: truetail.toml in this folder, unless a URL is given]
    #[arg(long, value_name = "FILE", help_heading = "Runs by name")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub gates: GateArgs,
    #[command(flatten)]
    pub baseline: BaselineArgs,
    #[command(flatten)]
    pub checks: CheckArgs,
    #[command(flatten)]
    pub streams: StreamArgs,
    #[command(flatten)]
    pub flow: FlowArgs,
    #[command(flatten)]
    pub replay: ReplayArgs,
    #[command(flatten)]
    pub page: RunPageArgs,
    #[command(flatten)]
    pub vllm: VllmArgs,
    #[command(flatten)]
    pub typed: TypedArgs,
    #[command(flatten)]
    pub labels: LabelArgs,
    /// Save the run in this folder [default: a new folder under truetail-runs]
    #[arg(long, value_name = "DIR", help_heading = "Result")]
    pub out: Option<PathBuf>,
    /// Replace the run that the folder of --out holds
    #[arg(long, help_heading = "Result")]
    pub force: bool,
    /// Do not save the run
    #[arg(long, help_heading = "Result")]
    pub no_save: bool,
    /// Print run.json on standard output, and nothing else
    #[arg(long, help_heading = "Result")]
    pub json: bool,
    /// Print the run, with all that a folder holds, as text on standard output and nothing else; save no folder. For
    /// engines that keep only what a process prints: 'truetail merge' and 'report' read the file with that text.
    /// Stripes end with exit code 0
    #[arg(long, conflicts_with_all = ["out", "force", "json", "html", "junit", "markdown", "github", "baseline", "baseline_fail_if", "write_baseline"], help_heading = "Result")]
    pub pack: bool,
    #[command(flatten)]
    pub screen: ScreenArgs,
    #[command(flatten)]
    pub live: LiveArgs,
    /// Show no progress
    #[arg(long, help_heading = "Result")]
    pub quiet: bool,
}

/// `--feed`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum FeedName {
    /// One row after the other, then from the first again.
    InOrder,
    /// A row drawn at random for each request.
    Random,
    /// Each row once; the load ends with the last one.
    Once,
}

/// `--timing`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum TimingName {
    /// Sleep, then spin until each request is due; in a closed loop, spin until each answer.
    Precise,
    /// Like balanced; above about 4000/s per thread, one sleep serves several requests and delays none by more than 0.2
    /// ms.
    Auto,
    /// Sleep until each request is due.
    Balanced,
    /// Send once a millisecond.
    Cheap,
}

/// `--model`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ModelName {
    /// Requests come on a schedule, whatever the server does.
    Open,
    /// Each user waits for an answer before the next request.
    Closed,
    /// Sessions come on a schedule; inside one, each request waits for the answer before.
    PartlyOpen,
}

/// Value of `--user`: user name and password. The password is never printed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Credentials(pub String);

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

impl FromStr for Credentials {
    type Err = String;

    fn from_str(text: &str) -> Result<Credentials, String> {
        if text.contains(':') {
            Ok(Credentials(text.to_owned()))
        } else {
            Err("the password is missing; write USER:PASSWORD".to_owned())
        }
    }
}

/// Parses `--max-time`: a time above zero, in seconds unless it has a unit.
fn curl_time(text: &str) -> Result<Nanos, String> {
    above_zero(text, Nanos::parse_in(text, Nanos::from_secs(1)))
}

/// Value of `--timeout`: a time above zero, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TimeoutValue(pub Option<Nanos>);

impl FromStr for TimeoutValue {
    type Err = String;

    fn from_str(text: &str) -> Result<TimeoutValue, String> {
        if text == "none" { Ok(TimeoutValue(None)) } else { length(text).map(|time| TimeoutValue(Some(time))) }
    }
}

/// Value of `--warmup`: a time, or automatic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WarmupValue {
    Time(Nanos),
    /// Until response times have settled.
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
