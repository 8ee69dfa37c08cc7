//! `truetail k8s`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use truetail_cluster::is_name;
use truetail_model::driver::Stripe;
use truetail_model::time::Nanos;

use super::page::TypedArgs;
use super::run_options::{Omits, RunOptions};
use super::stripe::StartAt;
use super::values::{count, length};

const EXAMPLE: &str = "\
Examples:
  truetail k8s run http://api.shop:8080/items -r 40k -d 60s --shards 4 --image example/truetail:0.1
  truetail k8s render http://api.shop:8080/items -r 40k -d 60s --shards 4 --image truetail:0.1 --start-at +60s";

const RENDER_EXAMPLE: &str = "\
Example:
  truetail k8s render http://api.shop:8080/items -r 40k -d 60s --shards 4 --image truetail:0.1 --start-at +60s";

const RUN_EXAMPLE: &str = "\
Examples:
  truetail k8s run http://api.shop:8080/items -r 40k -d 60s --shards 4 --image example/truetail:0.1
  truetail k8s run http://api.shop:8080/items -r 1k -d 30s --shards 2 --image truetail:0.1 --slo 'p99 < 50ms'";

const ATTEND_EXAMPLE: &str = "\
Example:
  truetail k8s attend /run/truetail/start";

/// Offer a load from the pods of a Kubernetes Job
///
/// Each pod offers one stripe of the load (see --stripe of 'truetail run'). All options of 'truetail run' that describe
/// the load are taken. Files that they name are carried to the pods in a Secret, 1 MiB in all; a file that is not here
/// is one in the image.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct K8sArgs {
    /// The verb.
    #[command(subcommand)]
    pub verb: K8sVerb,
}

/// The verbs. Clap finds the description of each at its arguments.
#[derive(Subcommand, Debug)]
pub(crate) enum K8sVerb {
    Render(Box<RenderArgs>),
    Run(Box<K8sRunArgs>),
    #[command(hide = true)]
    Attend(AttendArgs),
}

impl K8sArgs {
    /// Stores the typed words in the arguments.
    pub(crate) fn remember(&mut self, words: Vec<String>) {
        if let K8sVerb::Run(args) = &mut self.verb {
            args.typed.words = words;
        }
    }
}

/// Print the Job as JSON, for 'kubectl apply -f -'
///
/// The pods begin together at --start-at and print their runs (see --pack of 'truetail run'); read them with 'kubectl
/// logs', and put them together with 'truetail merge'.
#[derive(Args, Debug)]
#[command(before_help = RENDER_EXAMPLE)]
pub(crate) struct RenderArgs {
    #[command(flatten)]
    pub job: JobArgs,
    /// Begin the schedule at this instant, such as 2026-01-01T00:00:00Z, or in this time from now, such as +60s. Leave
    /// time for the pods to be started
    #[arg(long, value_name = "INSTANT|+TIME", help_heading = "Job")]
    pub start_at: StartAt,
    #[command(flatten)]
    pub load: RunOptions<OmittedByRender>,
}

/// Create the Job with kubectl, begin when all pods are ready, and report one merged run
///
/// Calls kubectl with its own context, credentials and plugins. Ctrl-C stops sending in all pods, waits for answers,
/// and reports; Ctrl-C again gives up. Either way the Job, its pods and its files are removed. The logs of the pods are
/// kept beside the run, in DIR.shards.
#[derive(Args, Debug)]
#[command(before_help = RUN_EXAMPLE)]
pub(crate) struct K8sRunArgs {
    #[command(flatten)]
    pub job: JobArgs,
    /// Context of kubectl [default: its current one]
    #[arg(long, value_name = "NAME", help_heading = "Job")]
    pub context: Option<String>,
    /// The program to call [default: kubectl]
    #[arg(long, value_name = "PROGRAM", help_heading = "Job")]
    pub kubectl: Option<PathBuf>,
    /// Give up if not all pods are ready within this time [default: 3m]
    #[arg(long, value_name = "TIME", value_parser = length, help_heading = "Job")]
    pub ready_within: Option<Nanos>,
    /// From all pods being ready to the beginning of the schedule [default: 5s, and more for many pods]
    #[arg(long, value_name = "TIME", value_parser = length, help_heading = "Job")]
    pub lead: Option<Nanos>,
    #[command(flatten)]
    pub load: RunOptions<OmittedByK8sRun>,
    #[command(flatten)]
    pub typed: TypedArgs,
}

/// The Job.
#[derive(Args, Debug)]
pub(crate) struct JobArgs {
    /// URL to request, as the pods reach it
    #[arg(value_name = "URL")]
    pub url: Option<String>,
    /// Number of pods, each with one stripe of the load
    #[arg(long, value_name = "N", value_parser = shards, help_heading = "Job")]
    pub shards: u32,
    /// Image of the pods, with truetail of this version at /truetail
    #[arg(long, value_name = "IMAGE", help_heading = "Job")]
    pub image: String,
    /// Namespace of the Job [default: that of kubectl's context]
    #[arg(short = 'N', long, value_name = "NAME", help_heading = "Job")]
    pub namespace: Option<String>,
    /// Name of the Job [default: truetail- and the time]
    #[arg(long, value_name = "NAME", value_parser = name, help_heading = "Job")]
    pub name: Option<String>,
    /// Processors that each pod requests, such as 2 or 500m [default: 1]
    #[arg(long, value_name = "CPUS", value_parser = quantity, help_heading = "Job")]
    pub cpu: Option<String>,
    /// Limit on the processors of each pod, for namespaces that demand one. It can hold a generator back for up to 100
    /// ms [default: none]
    #[arg(long, value_name = "CPUS", value_parser = quantity, help_heading = "Job")]
    pub cpu_limit: Option<String>,
    /// Memory that each pod requests and may use, such as 1Gi [default: 512Mi]
    #[arg(long, value_name = "BYTES", value_parser = quantity, help_heading = "Job")]
    pub memory: Option<String>,
}

/// Tell the truetail in this container when to begin. 'truetail k8s run' calls it in each pod
///
/// Reads orders from standard input, a line each, and answers each with a line: 'clock' with the time in nanoseconds
/// since 1970, 'begin NANOSECONDS' and 'stop' with 'ok'.
#[derive(Args, Debug)]
#[command(before_help = ATTEND_EXAMPLE)]
pub(crate) struct AttendArgs {
    /// The file of --start-at @FILE
    pub file: PathBuf,
}

fn shards(text: &str) -> Result<u32, String> {
    let shards = count::<u32>(text)?;
    if shards > Stripe::MAX {
        Err(format!("{shards} are more than the {} that a load can be dealt out to", Stripe::MAX))
    } else {
        Ok(shards)
    }
}

fn name(text: &str) -> Result<String, String> {
    is_name(text).map(|()| text.to_owned())
}

/// Parses an amount in the syntax of Kubernetes, which checks the details itself.
fn quantity(text: &str) -> Result<String, String> {
    let fits =
        text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
    if fits { Ok(text.to_owned()) } else { Err(format!("'{text}' is no amount; write one such as 2, 500m or 1Gi")) }
}

/// Options that neither verb takes: the Job sets them for the pods, or each pod would decide differently.
macro_rules! omitted_by_both {
    ($($more:literal),*) => {
        &["url", "more", "all", "config", "baseline", "baseline_fail_if", "write_baseline", "command", "unix_socket", "until", "stripe", "start_at",
          "stop_when_saturated", "abort_on", "live", "otlp", "watch", "pack", "vllm_json", "realtime", "tokenizer", "agents", "script", "script_allow",
          "otlp_receive", "otlp_grace", "scrape", "scrape_show", "event", "event_at",
          $($more),*]
    };
}

/// Options that `k8s render` leaves out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OmittedByRender;

impl Omits for OmittedByRender {
    const NAMES: &'static [&'static str] = omitted_by_both![
        "fail_if", "junit", "markdown", "github", "html", "out", "force", "no_save", "json", "details", "quiet"
    ];
}

/// Options that `k8s run` leaves out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OmittedByK8sRun;

impl Omits for OmittedByK8sRun {
    const NAMES: &'static [&'static str] = omitted_by_both![];
}
