//! `truetail capacity`.

use std::path::PathBuf;

use clap::Args;
use truetail_analysis::sweep::Ladder;
use truetail_model::arrival::Spacing;
use truetail_model::time::{Nanos, Rate};

use super::page::TypedArgs;
use super::slo::SearchSlo;
use super::stream::{LlmName, StreamName};
use super::values::{length, share_in};

const EXAMPLE: &str = "\
Examples:
  truetail capacity http://127.0.0.1:8080/api --slo 'p99 < 50ms'
  truetail capacity http://127.0.0.1:8080/api --slo 'p99 < 50ms' --slo 'error-rate < 0.1%' --max-time 30m
  truetail capacity http://127.0.0.1:8080/api --slo 'p99.9 < 200ms' --min-rate 500 --max-rate 5k --resolution 2%
  truetail capacity http://127.0.0.1:8000/v1/chat/completions --llm openai-chat --slo 'ttft p99 < 500ms' \\
    --slo 'tpot p99 < 50ms' --slo 'goodput > 98%' -- --data '{\"model\": \"m\", \"messages\": […]}'
  truetail capacity http://127.0.0.1:8080/api --sweep 100..3200
  truetail capacity http://127.0.0.1:8000/v1/chat/completions --llm openai-chat --sweep 1..32/8 --step 60s \\
    --beside truetail-runs/sweep-other-1c04a7e2 -- --data '{\"model\": \"m\", \"messages\": […]}'";

/// Long names of the options of `truetail run` that a search sets itself, or that have no effect in it.
pub(crate) const NOT_FOR_PROBES: &[&str] = &[
    "rate",
    "spacing",
    "seed",
    "profile",
    "model",
    "duration",
    "requests",
    "warmup",
    "until",
    "stop-when-saturated",
    "abort-on",
    "allow-errors",
    "fail-if",
    "baseline",
    "baseline-fail-if",
    "write-baseline",
    "check",
    "script",
    "otlp-receive",
    "otlp-grace",
    "scrape",
    "scrape-show",
    "event",
    "event-at",
    "script-allow",
    "agents",
    "flow",
    "replay",
    "speed",
    "variable",
    "file-root",
    "setup",
    "slo",
    "tokenizer",
    "cache-bust",
    "vllm-json",
    "live",
    "otlp",
    "watch",
    "junit",
    "markdown",
    "github",
    "html",
    "details",
    "config",
    "out",
    "no-save",
    "pack",
    "force",
    "quiet",
    "json",
    "url",
    "more",
    "all",
    "stripe",
    "start-at",
];

/// Find the highest request rate at which a service meets its objectives
///
/// Probes one rate after the other. Each probe lasts until its percentiles prove that the service meets the objectives
/// or misses one. In the end both sides of the limit are probed again at full length: the result is a rate that is
/// proven and one, a little higher, that is refuted. The same command continues a search that was interrupted.
///
/// With --sweep it offers the given rates instead, each for the same time, and draws throughput against response times.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub(crate) struct CapacityArgs {
    /// URL to request, or the name of a search in truetail.toml
    #[arg(value_name = "URL|NAME")]
    pub url: String,
    /// Options of 'truetail run' for the requests, after --: such as -- -H 'Accept: text/html' --http2 -c 100
    #[arg(last = true, value_name = "OPTIONS OF run", allow_hyphen_values = true)]
    pub run_options: Vec<String>,

    /// Objective that the service must keep, such as 'p99 < 50ms' or 'error-rate < 0.1%'. Repeatable: it must keep them
    /// all
    ///
    /// Write METRIC < LIMIT or METRIC <= LIMIT. METRIC is p99 or any other percentile of response time, the same after
    /// service-time or first-byte, error-rate, or unanswered. Of streams also after first-event, event-gap or
    /// longest-gap, and incomplete-streams; of language models after ttft, itl or tpot, and 'goodput > 98%': the share
    /// of requests that meet 'ttft < 500ms', 'tpot < 50ms' or 'e2e < 5s'. Without these objectives of each request,
    /// goodput takes the limits of the percentiles of ttft and tpot.
    #[arg(long, value_name = "OBJECTIVE", help_heading = "Search")]
    pub slo: Vec<SearchSlo>,
    #[command(flatten)]
    pub reading: SearchReadingArgs,
    #[command(flatten)]
    pub sweep: SweepArgs,
    #[command(flatten)]
    pub rates: SearchRangeArgs,
    /// Stop when the refuted rate is at most this much above the proven one, from 0.5% to 100% [default: 5%]
    #[arg(long, value_name = "SHARE", value_parser = share_in::<5, 1000>, help_heading = "Search")]
    pub resolution: Option<f64>,
    /// Confidence in the result, from 50% to 99.9% [default: 95%]
    #[arg(long, value_name = "SHARE", value_parser = share_in::<500, 999>, help_heading = "Search")]
    pub confidence: Option<f64>,
    /// Longest time that this command may offer load. Probes take up to a twentieth of it, and longer if that is not
    /// enough. The last answers and the last cool-down come on top [default: 20m]
    #[arg(long, value_name = "TIME", value_parser = length, allow_hyphen_values = true, help_heading = "Search")]
    pub max_time: Option<Nanos>,
    #[command(flatten)]
    pub arrivals: SearchArrivalArgs,

    #[command(flatten)]
    pub result: CapacityResultArgs,
    #[command(flatten)]
    pub typed: TypedArgs,
}

/// Reading of answers as streams.
#[derive(Args, Debug)]
pub(crate) struct SearchReadingArgs {
    /// Read each answer as a stream: sse or chunks. As --stream of truetail run
    #[arg(long, value_name = "KIND", help_heading = "Search")]
    pub stream: Option<StreamName>,
    /// Read each answer as that of a language model, such as openai-chat. As --llm of truetail run
    #[arg(long, value_name = "API", help_heading = "Search")]
    pub llm: Option<LlmName>,
    /// Read each answer by a TOML file that describes the API. As --llm-dialect of truetail run
    #[arg(long, value_name = "FILE", conflicts_with = "llm", help_heading = "Search")]
    pub llm_dialect: Option<PathBuf>,
}

/// Arrivals of the requests.
#[derive(Args, Debug)]
pub(crate) struct SearchArrivalArgs {
    /// Spacing of requests: poisson (random, like independent users), gamma:SHAPE (in bursts with a shape below 1), or
    /// even. Even spacing hides queues: a service meets its objectives up to a higher rate [default: poisson]
    #[arg(long, help_heading = "Search")]
    pub spacing: Option<Spacing>,
    /// Seed of the spacing [default: 1]
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub seed: Option<u64>,
}

/// A sweep over rates.
#[derive(Args, Debug)]
pub(crate) struct SweepArgs {
    /// Offer these rates, each for the same time, instead of searching: 1..32 (each about twice the one before),
    /// 1..32/8 (8 rates, each the same factor above the one before), or a list such as 1,2,4,8. Ends after the first
    /// saturated rate
    #[arg(
        long,
        value_name = "RATES",
        allow_hyphen_values = true,
        help_heading = "Sweep",
        conflicts_with_all = ["min_rate", "max_rate", "resolution", "confidence", "max_time"]
    )]
    pub sweep: Option<Ladder>,
    /// Length of each step of a sweep [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = length, requires = "sweep", help_heading = "Sweep")]
    pub step: Option<Nanos>,
    /// Go on with higher rates after a saturated one
    #[arg(long, requires = "sweep", help_heading = "Sweep")]
    pub past_saturation: bool,
    /// Draw the curve of a saved sweep beside this one: its folder, or its sweep.json. Repeatable
    #[arg(long, value_name = "SWEEP", requires = "sweep", help_heading = "Sweep")]
    pub beside: Vec<PathBuf>,
}

/// Range of the rates.
#[derive(Args, Debug)]
pub(crate) struct SearchRangeArgs {
    /// Lowest rate to probe [default: 1/s]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, help_heading = "Search")]
    pub min_rate: Option<Rate>,
    /// Highest rate to probe [default: 100k/s]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, help_heading = "Search")]
    pub max_rate: Option<Rate>,
}

/// Destination of the result.
#[derive(Args, Clone, Debug)]
pub(crate) struct CapacityResultArgs {
    /// Folder of the search, with a run folder for each probe. A search in it is continued, and a sweep needs a new or
    /// empty folder [default: a folder under truetail-runs, named after the server and the question]
    #[arg(long, value_name = "DIR", help_heading = "Result")]
    pub out: Option<PathBuf>,
    /// Print the result as JSON on standard output, and nothing else
    #[arg(long, help_heading = "Result")]
    pub json: bool,
    /// Show no progress
    #[arg(long, help_heading = "Result")]
    pub quiet: bool,
}
