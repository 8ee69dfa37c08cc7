//! What `truetail run` is to do.

use std::path::PathBuf;

use truetail_analysis::gates::PlannedRun;
use truetail_engine::{Plan, TooFewFiles};
use truetail_flow::{FlowRun, Flows};
use truetail_run::EndClock;

use super::{checks, flow, generator, load, replay, request, rows, stream, stripe, tls};
use crate::args::live::LiveArgs;
use crate::args::run::{FeedName, RunArgs, WarmupValue};
use crate::baseline;
use crate::command_line;
use crate::error::{CliError, Result, runtime_error, usage_error};
use crate::gating::{self, Gating};
use crate::judging::Observed;
use crate::output_folder::SaveTo;
use crate::supervisor::StopConditions;
use crate::vllm;

/// What a run prints.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Printing {
    /// On standard output, at the end.
    pub result: Printed,
    /// Show no progress.
    pub quiet: bool,
}

/// What a run prints on standard output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Printed {
    /// What people read.
    Summary,
    /// `run.json`.
    Json,
    /// All that a folder would hold, as text.
    Packed,
}

/// What is tried before the load, so that a mistake is reported at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trial {
    /// A request and its whole answer.
    Request,
    /// A connection without a request: a stream may last for as long as it likes, and a row that is used once is the load's.
    Connection,
    /// Nothing.
    Nothing,
}

impl Trial {
    fn of(no_preflight: bool, spares_requests: bool) -> Trial {
        match (no_preflight, spares_requests) {
            (true, _) => Trial::Nothing,
            (false, true) => Trial::Connection,
            (false, false) => Trial::Request,
        }
    }
}

/// What `truetail run` is to do.
#[derive(Debug)]
pub struct ResolvedRun {
    /// The load and the target.
    pub plan: Plan,
    /// Notes for the run.
    pub notes: Vec<String>,
    /// What is tried before the load.
    pub trial: Trial,
    /// What is to be judged.
    pub gating: Gating,
    /// Who looks at its answers.
    pub observed: Observed,
    /// Where the run is saved.
    pub save_to: SaveTo,
    /// What is printed.
    pub printing: Printing,
    /// The file that will hold the instant at which the run begins.
    pub start_file: Option<PathBuf>,
    /// When the run stops early, and whether its warm-up is cut off.
    pub stop_conditions: StopConditions,
    /// Who may watch it.
    pub live: LiveArgs,
    /// Files that it is written to besides its folder.
    pub files: RunFiles,
    /// The command line, without secrets.
    pub command: String,
}

/// Files that a run is written to besides its folder.
#[derive(Debug)]
pub struct RunFiles {
    /// Its page.
    pub html: Option<PathBuf>,
    /// What it measured, under the names of vLLM's benchmark.
    pub vllm_json: Option<PathBuf>,
}

/// Checks the arguments, reads the files that they name, resolves the host, and raises the limit on open files.
///
/// # Errors
/// What is wrong, in one line.
pub fn resolve(mut args: RunArgs) -> Result<ResolvedRun> {
    let command = command_line::of_run(&args);
    let flows = flow::flows(&mut args)?;
    let replay = replay::replay(&args)?;
    let mut workload = load::workload(&args, replay.as_ref().map(|replay| &replay.trace))?;
    let (stripe, start_at_unix_ns) = (stripe::stripe(&args, &workload)?, stripe::start_at(&args, &workload)?);
    let start_file = stripe::start_file(&args);
    let printing = Printing { result: printed(&args), quiet: args.quiet };
    let save_to = save_to(&args)?;
    let mut gating = Gating::resolve(args.gates.clone())?;
    gating.allow_errors = args.allow_errors;
    args.page.html.as_deref().map_or(Ok(()), |file| gating::check_place("--html", file))?;
    vllm::check(&args.vllm, args.streams.llm.is_some())?;
    let timing = generator::timing(&args)?;
    let mut target = match (&flows, &replay) {
        (Some(flows), _) => request::of_flows(&args, flows)?,
        (None, Some(replay)) => request::of_replay(&args, replay)?,
        (None, None) => request::target(&args)?,
    };
    tls::secure(&mut target, &args)?;
    let of_rows = rows::use_up(&args, target.requests().rows(), &mut workload)?;
    load::refuse_endless_warmup(&workload.model, workload.warmup)?;
    let mut plan = Plan::new(workload, target);
    (plan.stripe, plan.start_at_unix_ns) = (stripe, start_at_unix_ns);
    plan.keep_alive = !args.no_keepalive;
    plan.max_streams = args.max_streams;
    plan.threads = args.threads;
    if args.user_timestamps {
        plan.end_clock = EndClock::User;
    }
    plan.precision.timing = timing;
    plan.precision.realtime = generator::realtime(&args, &plan)?;
    plan.check_rate().map_err(|error| usage_error(format!("{error}; lower --rate")))?;
    plan.check_open_files().map_err(too_few_files)?;
    let cut_warmup = args.warmup == Some(WarmupValue::Auto);
    let of_replay = replay.iter().flat_map(|replay| replay::notes(&args, replay));
    let notes = tls::notes(&args).into_iter().chain(of_replay).chain(of_rows).collect();
    let checks = checks::checks(args.checks, &mut plan, cut_warmup);
    let reading = stream::reading(&args.streams);
    let streams = stream::streams(args.streams, args.gates.of_each_request(), &mut plan, flows.as_ref(), cut_warmup)?;
    let flow_names: Vec<String> = flows.iter().flat_map(Flows::iter).map(|flow| flow.name().to_owned()).collect();
    let sessions = flow::sessions(flows, args.seed, &mut plan);
    let offered = plan.offered();
    // A step of a flow has more requests than others where it is repeated, and a recording has them as it has them.
    let has_shares = replay.is_none() && flow_names.is_empty();
    let planned = PlannedRun {
        flows: flow_names,
        asks_again: sessions.as_ref().is_some_and(FlowRun::asks_again),
        ..PlannedRun::of(&plan.workload, &offered, checks.is_some(), reading)
    };
    let planned = if has_shares { planned } else { planned.with_unknown_shares() };
    gating.refuse_undecidable(&planned)?;
    baseline::refuse_undecidable("--baseline-fail-if", &args.baseline.baseline_fail_if, &planned)?;
    Ok(ResolvedRun {
        plan,
        notes,
        trial: Trial::of(args.no_preflight, streams.is_some() || args.feed == Some(FeedName::Once)),
        observed: Observed { checks, streams, sessions },
        gating,
        save_to,
        printing,
        start_file,
        stop_conditions: StopConditions {
            until: args.until,
            cut_warmup,
            stop_when_saturated: args.stop_when_saturated,
        },
        live: args.live,
        files: RunFiles { html: args.page.html, vllm_json: args.vllm.vllm_json },
        command,
    })
}

fn printed(args: &RunArgs) -> Printed {
    match (args.json, args.pack) {
        (_, true) => Printed::Packed,
        (true, false) => Printed::Json,
        (false, false) => Printed::Summary,
    }
}

/// Where the run is saved.
///
/// # Errors
/// If the options contradict each other.
pub fn save_to(args: &RunArgs) -> Result<SaveTo> {
    match (&args.out, args.no_save || args.pack) {
        (Some(_), true) => Err(usage_error("--out and --no-save contradict each other; give one of them")),
        (Some(folder), false) => Ok(SaveTo::folder(folder.clone(), args.force)),
        (None, _) if args.force => Err(usage_error("--force replaces the run in the folder of --out; add --out DIR")),
        (None, true) => Ok(SaveTo::Nowhere),
        (None, false) => Ok(SaveTo::NewFolder),
    }
}

fn too_few_files(error: TooFewFiles) -> CliError {
    let asked = error.asked;
    runtime_error(format!(
        "--connections {asked} is more than the limit on open files allows: {error}; raise the limit with ulimit -n, or \
         use fewer connections"
    ))
}
