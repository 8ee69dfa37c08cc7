//! `truetail flow`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

const EXAMPLE: &str = "\
Examples:
  truetail flow from-access-log access.log -o hour.replay
  truetail flow from-har recording.har -o shop.hurl
  truetail flow from-postman collection.json -o api.hurl
  truetail flow from-k6 load.js --out load
  truetail flow from-jmx plan.jmx --out plan
  truetail flow from-openapi openapi.yaml -o api.txt
  truetail flow from-conversations sharegpt.json --out chat";

const ACCESS_LOG_EXAMPLE: &str = "\
Examples:
  truetail flow from-access-log access.log -o hour.replay
  truetail flow from-access-log access.log.1.gz --from 2026-11-21T10:00:00Z --to 2026-11-21T11:00:00Z -o hour.replay
  truetail run http://127.0.0.1:8080 --replay hour.replay --speed 2";

const HAR_EXAMPLE: &str = "\
Examples:
  truetail flow from-har recording.har -o shop.hurl
  truetail run --flow shop.hurl -r 5 -d 30s --variable host=http://127.0.0.1:8080";

const POSTMAN_EXAMPLE: &str = "\
Examples:
  truetail flow from-postman collection.json -o api.hurl
  truetail run --flow api.hurl -r 5 -d 30s --variable baseUrl=http://127.0.0.1:8080";

const K6_EXAMPLE: &str = "\
Examples:
  truetail flow from-k6 load.js --out load
  cd load && truetail run --all";

const JMX_EXAMPLE: &str = "\
Examples:
  truetail flow from-jmx plan.jmx --out plan
  cd plan && truetail run --all";

const CONVERSATIONS_EXAMPLE: &str = "\
Examples:
  truetail flow from-conversations sharegpt.json --out chat --delay 'exponential 5s'
  cd chat && truetail run conversations -r 1 -d 60s";

const OPENAPI_EXAMPLE: &str = "\
Examples:
  truetail flow from-openapi openapi.yaml --base http://127.0.0.1:8080 -o api.txt
  truetail run --targets api.txt --data-from rows.csv -r 50";

/// Make a load of an access log, a recording, a collection, a script, or a description of an interface
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct FlowVerbArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: FlowVerb,
}

/// Sources of flows. Clap finds the description of each at its arguments.
#[derive(Subcommand, Debug)]
pub(crate) enum FlowVerb {
    #[command(name = "from-access-log")]
    AccessLog(FromAccessLogArgs),
    #[command(name = "from-har")]
    Har(FromHarArgs),
    #[command(name = "from-postman")]
    Postman(FromPostmanArgs),
    #[command(name = "from-k6")]
    K6(FromK6Args),
    #[command(name = "from-jmx")]
    Jmx(FromJmxArgs),
    #[command(name = "from-openapi")]
    OpenApi(FromOpenApiArgs),
    #[command(name = "from-conversations")]
    Conversations(FromConversationsArgs),
}

/// Write the requests of an access log as arrivals, for --replay of 'truetail run'
///
/// Reads logs of nginx and Apache (common, combined, with $request_time), of Envoy and Istio (default format), and JSON
/// lines with the names of nginx or Envoy, also compressed with gzip. If nginx logs how long a request took, this is
/// subtracted from the time of its end. The log does not say when in its last digit a request came: see --spread. Lines
/// that become no arrival are counted by cause.
#[derive(Args, Debug)]
#[command(before_help = ACCESS_LOG_EXAMPLE)]
pub(crate) struct FromAccessLogArgs {
    /// The access log; - is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Write to this file, and not to standard output
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Take requests that came from this instant on, such as 2026-11-21T10:00:00Z; it becomes the beginning of the
    /// recording
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    pub from: Option<u64>,
    /// Take requests that came before this instant
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    pub to: Option<u64>,
    /// Take only requests of this host, if the log has it
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// Send each request with the host that the log has, and not with that of the URL of the run
    #[arg(long)]
    pub keep_host: bool,
    /// Take POST, PUT and PATCH too. Their bodies are not in the log, so they are sent without
    #[arg(long)]
    pub empty_bodies: bool,
    /// Position of arrivals within the resolution of the log, often 1 s: random by a seed, at equal distances, or all
    /// at its beginning
    #[arg(long, value_name = "HOW", default_value = "random")]
    pub spread: Spread,
    /// Seed of --spread random [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// `--spread`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(crate) enum Spread {
    /// Like arrivals of many independent users
    Random,
    /// At equal distances
    Even,
    /// All at the instant that the log has
    None,
}

/// Write what a browser recorded as a flow, for --flow of 'truetail run'
///
/// Reads HAR 1.2, as browsers and proxies save it, and writes a Hurl file. Its requests go to {{host}}, in the order in
/// which they began, with the recorded gaps as think time, and expect the recorded status. Cookies are left out,
/// because the jar of each session has them, and so is what the engine sets itself. What is not taken is counted by
/// cause.
#[derive(Args, Debug)]
#[command(before_help = HAR_EXAMPLE)]
pub(crate) struct FromHarArgs {
    /// The archive; - is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Write to this file, and not to standard output
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Keep images, style sheets, scripts and fonts too. A flow asks for them one after the other, unlike a browser
    #[arg(long)]
    pub assets: bool,
    /// Take the requests to this origin, such as https://shop.example; can be repeated. The first becomes {{host}},
    /// others {{host2}} and so on [default: that of the first page]
    #[arg(long, value_name = "URL")]
    pub origin: Vec<String>,
}

/// Write a collection of Postman as a flow, for --flow of 'truetail run'
///
/// Reads collections of the schema v2.1 or v2.0 and writes a Hurl file with their requests in order. Variables keep
/// their names, and folders become a part of the names of steps. Of scripts, the expected status and values that are
/// taken from an answer are read; each other line is a comment in the file that begins with 'not read'.
#[derive(Args, Debug)]
#[command(before_help = POSTMAN_EXAMPLE)]
pub(crate) struct FromPostmanArgs {
    /// The collection; - is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Write to this file, or to a file in this folder, and not to standard output
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Write a script of k6 as flows with a truetail.toml
///
/// Reads JavaScript without running it: options with scenarios and thresholds, requests with values that are known or
/// come from an answer, checks, pauses, groups, functions. Each other line is a comment that begins with 'not read'.
/// Virtual users whose number sets the load have no rate: you choose it.
#[derive(Args, Debug)]
#[command(before_help = K6_EXAMPLE)]
pub(crate) struct FromK6Args {
    #[command(flatten)]
    pub script: FromScriptArgs,
}

/// Write a test plan of JMeter as flows with a truetail.toml
///
/// Reads thread groups with HTTP requests, their defaults, headers, timers, assertions, extractors and variables. Each
/// other element that is switched on is a comment that begins with 'not read'. Threads whose number sets the load have
/// no rate: you choose it.
#[derive(Args, Debug)]
#[command(before_help = JMX_EXAMPLE)]
pub(crate) struct FromJmxArgs {
    #[command(flatten)]
    pub script: FromScriptArgs,
}

/// A script, and the folder for the load that it becomes.
#[derive(Args, Debug)]
pub(crate) struct FromScriptArgs {
    /// The script; - is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Folder for the files. It is made if it is missing, and no file in it is replaced
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,
}

/// Write the operations of an OpenAPI description as targets, for --targets of 'truetail run'
///
/// Reads OpenAPI 3 in JSON or YAML. Values come from the description: examples, defaults, the first of an enumeration.
/// What it has no value for becomes {{name}}, a column of --data-from. Each target has the weight 1, which you change
/// to how often your users send it. Operations that are not taken are counted by cause.
#[derive(Args, Debug)]
#[command(before_help = OPENAPI_EXAMPLE)]
pub(crate) struct FromOpenApiArgs {
    /// The description; - is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Write to this file, and not to standard output
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// URL that requests go to, such as http://127.0.0.1:8080/v1 [default: the first server of the description]
    #[arg(long, value_name = "URL")]
    pub base: Option<String>,
    /// Take only GET and HEAD, which change no data
    #[arg(long)]
    pub safe: bool,
}

fn instant(text: &str) -> Result<u64, String> {
    truetail_import::ways::unix_ns(text).ok_or_else(|| {
        format!("'{text}' is no instant; write one such as 2026-11-21T10:00:00Z or 21/Nov/2026:10:00:00 +0100")
    })
}

/// Write recorded conversations with a language model as a flow with a truetail.toml
///
/// Reads ShareGPT, and messages of OpenAI's API, also in requests of its batches: a JSON list, or one object per
/// line, also compressed with gzip. Each session of the flow is a conversation: it asks what the user asked, turn by
/// turn, and sends back what the model answers in this run. Recorded answers are left out. Conversations with tools
/// are left out and counted.
#[derive(Args, Debug)]
#[command(before_help = CONVERSATIONS_EXAMPLE)]
pub(crate) struct FromConversationsArgs {
    /// The conversations; - is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Folder for the files. It is made if it is missing, and no file in it is replaced
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,
    /// End longer conversations after this number of turns, at most 64
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub turns: u8,
    /// Think time before each turn but the first: '5s', 'exponential 5s' or 'uniform 1s..9s' [default: none]
    #[arg(long, value_name = "TIME")]
    pub delay: Option<String>,
}
