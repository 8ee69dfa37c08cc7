//! `truetail k8s run`: offers one load from the pods of a Job, and reports it as one run.

use std::cell::RefCell;
use std::ffi::OsString;

use truetail_analysis::gates::PlannedRun;
use truetail_cluster::{ClockOffset, DriveError, Fate, Outcome, ShardOutcome, Start, TimeLimits, drive};
use truetail_flow::Flows;
use truetail_model::arrival::Trace;
use truetail_model::time::Nanos;
use truetail_run::{MissingStripes, Run};

use super::client::Client;
use super::job::SharedLoad;
use super::shelf::Shelf;
use super::telling::Telling;
use crate::args::k8s::K8sRunArgs;
use crate::args::run::RunArgs;
use crate::args::run_options::{parse_run, words_of};
use crate::error::{CliError, ExitCode, Result, runtime_error};
use crate::gating::{self, Gating};
use crate::output_folder::OutputFolder;
use crate::resolve::run::{Printed, RunFiles, save_to};
use crate::resolve::{messages, stream};
use crate::stages::{Delivered, Delivery, Judged};
use crate::verbs::merge::merged;
use crate::{command_line, output, progress, signals};

/// Options about the merged run. The pods do not get them.
const OF_THE_WHOLE: [&str; 12] =
    ["slo", "fail-if", "junit", "markdown", "github", "html", "out", "force", "no-save", "json", "details", "quiet"];
/// Default time for the pods to become ready.
const READY_WITHIN: Nanos = Nanos::from_secs(180);

/// Offers the load from pods, and reports it as one run.
///
/// # Errors
/// If no pod could offer anything, or the result cannot be merged or saved.
pub(super) fn run(args: K8sRunArgs) -> Result<ExitCode> {
    let mut whole = whole_load_args(&args)?;
    messages::read_pushes(&mut whole);
    let mut words = args.load.words(|name| !OF_THE_WHOLE.contains(&name));
    // The pods count goodput. The share that must be met is judged for the merged run.
    words.extend(words_of("slo", whole.gates.per_request().iter().map(|slo| slo.to_string().into())));
    let load = SharedLoad::resolve(&args.job, words)?;
    let gating = Gating::resolve(whole.gates.clone())?;
    let flows = || load.flows.iter().flat_map(Flows::iter);
    gating.refuse_undecidable(&PlannedRun {
        workload: &load.workload,
        // Unknown here: a file in the image may name them.
        targets: None,
        has_checks: !whole.checks.checks.is_empty(),
        has_events: false,
        reading: stream::reading(&whole.streams),
        flows: flows().map(|flow| flow.name().to_owned()).collect(),
        asks_again: flows().any(|flow| flow.asks_again()),
    })?;
    whole.page.html.as_deref().map_or(Ok(()), |file| gating::check_place("--html", file))?;
    let save_to = save_to(&whole)?;
    OutputFolder::check(&save_to)?;
    let folder = OutputFolder::prepare(&save_to, "k8s")?;
    let shelf = Shelf::beside(folder.as_ref().map(OutputFolder::path), whole.force)?;
    let patience = patience(&args, &load);
    let telling = telling(&load, &whole);
    let deadline = patience.length.map(|length| patience.ready_within + patience.lead + length + patience.end_within);
    let recording = load.recording();
    let job = load.job(&args.job, Start::Told, deadline.map(|all| all + Nanos::from_secs(60)));
    let signals = signals::tell_of_signals(|_| {})?;
    let client = Client {
        program: args.kubectl.clone().map_or_else(|| OsString::from("kubectl"), OsString::from),
        common: common(&args),
        shelf: &shelf,
        stops: signals.count(),
        telling: RefCell::new(Telling { job: job.name.clone(), shards: job.shards, ..telling }),
    };
    let outcome = drive(&job, patience, &client);
    progress::clear_line();
    let signal = signals.first_signal();
    let outcome = match outcome {
        Err(stopped @ DriveError::Stopped) => {
            output::note(&stopped.to_string());
            return Ok(ExitCode::Signal(signal.unwrap_or_default()));
        }
        other => other.map_err(runtime_error)?,
    };
    let mut run = merged_run(&outcome, &shelf, recording)?;
    run.facts.command = Some(command_line::for_run(&whole));
    let signal = signal.filter(|_| outcome.stopped);
    let Delivered { code, steps, .. } = Judged { folder, signal, ..Judged::of(run, gating, &[]) }.deliver(&Delivery {
        printed: if whole.json { Printed::Json } else { Printed::Summary },
        screen: whole.screen,
        files: RunFiles { html: whole.page.html, vllm_json: None },
    });
    steps.end(code)
}

/// Parses all options as `run` does, for the merged run.
fn whole_load_args(args: &K8sRunArgs) -> Result<RunArgs> {
    let words: Vec<_> = args.job.url.iter().map(OsString::from).chain(args.load.words(|_| true)).collect();
    let mut whole = parse_run(words)?;
    whole.typed.words.clone_from(&args.typed.words);
    Ok(whole)
}

fn common(args: &K8sRunArgs) -> Vec<String> {
    let option = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("--{name}={value}"));
    [option("context", &args.context), option("namespace", &args.job.namespace)].into_iter().flatten().collect()
}

fn patience(args: &K8sRunArgs, load: &SharedLoad) -> TimeLimits {
    // Each pod is told by a kubectl process, and several of these run at once.
    let lead = Nanos::from_secs(5 + u64::from(args.job.shards) / 16);
    TimeLimits {
        lead: args.lead.unwrap_or(lead),
        ready_within: args.ready_within.unwrap_or(READY_WITHIN),
        length: load.length(),
        end_within: load.end_within(),
    }
}

fn telling(load: &SharedLoad, whole: &RunArgs) -> Telling {
    let requests = load.workload.model.horizon().requests;
    Telling { job: String::new(), shards: 0, total: load.length(), requests, quiet: whole.quiet, last_line: None }
}

/// Merges the runs of all shards, with notes on the lost ones.
fn merged_run(outcome: &Outcome, shelf: &Shelf, recording: Option<Trace>) -> Result<Run> {
    let there = outcome.shards.iter().filter(|shard| shard.fate == Fate::Gathered);
    let files: Vec<_> = there.map(|shard| shelf.file(shard.stripe)).collect();
    let kept = |error: CliError| {
        let message = format!("{}; what the pods measured is in {}", error.message, shelf.folder().display());
        CliError { message, ..error }
    };
    let mut run = merged(&files, MissingStripes::NeverIssued { recording }).map_err(kept)?;
    run.facts.notes.extend(outcome.shards.iter().filter_map(|shard| match &shard.fate {
        Fate::Lost(why) => Some(why.clone()),
        Fate::Gathered => None,
    }));
    run.facts.notes.extend(clocks(&outcome.shards));
    Ok(run)
}

/// Returns a note on the clocks of the pods, from the exchanges with them.
fn clocks(shards: &[ShardOutcome]) -> Option<String> {
    let known: Vec<ClockOffset> = shards.iter().filter_map(|shard| shard.clock).collect();
    let least = known.iter().min_by_key(|clock| clock.ahead_ns)?;
    let most = known.iter().max_by_key(|clock| clock.ahead_ns)?;
    let worst = known.iter().map(|clock| clock.plus_minus_ns).max()?;
    let ms = |ns: f64| format!("{:.1}ms", ns / 1e6);
    Some(format!(
        "the clocks of {} of {} pods were read: from {} to {} ahead of this machine's, each to within {}",
        known.len(),
        shards.len(),
        ms(least.ahead_ns as f64),
        ms(most.ahead_ns as f64),
        ms(worst as f64)
    ))
}
