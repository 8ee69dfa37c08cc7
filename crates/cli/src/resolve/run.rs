//! Resolved arguments of `truetail run`.

use std::path::PathBuf;

use truetail_analysis::gates::PlannedRun;
use truetail_engine::{Plan, TooFewFiles};
use truetail_flow::{FlowRun, Flows};
use truetail_run::EndClock;

use super::load_target::LoadTarget;
use super::prompts::Prompts;
use super::{
    agents, cancel, checks, flow, generator, grpc, kept_headers, load, messages, prompts, recognise, replay, request,
    rows, server_timing, stream, stripe, tls, trace,
};
use crate::args::live::LiveArgs;
use crate::args::run::{FeedName, RunArgs, WarmupValue};
use crate::args::scrape::ScrapeArgs;
use crate::args::spans::SpanArgs;
use crate::args::stream::StreamName;
use crate::baseline;
use crate::command_line;
use crate::error::{CliError, Result, runtime_error, usage_error};
use crate::events::{self, Event};
use crate::gating::{self, Gating};
use crate::judging::Observed;
use crate::labels::RunLabels;
use crate::output_folder::SaveTo;
use crate::scraping::Scrapers;
use crate::script::{ReadScript, Script};
use crate::supervisor::StopConditions;
use crate::vllm;

/// Output of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Printing {
    /// Result on standard output.
    pub result: Printed,
    /// Show no progress.
    pub quiet: bool,
}

/// Form of the result on standard output.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Printed {
    /// Text for people.
    #[default]
    Summary,
    Json,
    /// The content of a run folder, as text.
    Packed,
    /// Nothing: the caller prints it.
    Elsewhere,
}

/// Kind of preflight, which shows mistakes before the load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trial {
    /// A request and its whole answer.
    Request,
    /// A connection without a request, if a trial request could last for any time (a stream), would run the user's
    /// script, or would use up a row that belongs to the load.
    Connection,
    Nothing,
}

impl Trial {
    fn new(no_preflight: bool, spares_requests: bool) -> Trial {
        match (no_preflight, spares_requests) {
            (true, _) => Trial::Nothing,
            (false, true) => Trial::Connection,
            (false, false) => Trial::Request,
        }
    }
}

/// Resolved arguments of `truetail run`.
#[derive(Debug)]
pub(crate) struct ResolvedRun {
    pub plan: Plan,
    /// Notes for the run.
    pub notes: Vec<String>,
    /// Kind of preflight.
    pub trial: Trial,
    pub gating: Gating,
    /// Observers of its answers.
    pub observed: Observed,
    pub save_to: SaveTo,
    pub printing: Printing,
    /// File that will hold the start of the run.
    pub start_file: Option<PathBuf>,
    /// Conditions that stop the run early, and whether its warm-up is cut off.
    pub stop_conditions: StopConditions,
    pub beside: BesideRun,
    /// Files to write besides the run folder.
    pub files: RunFiles,
    pub labels: RunLabels,
}

/// Work beside the load.
#[derive(Debug)]
pub(crate) struct BesideRun {
    pub live: LiveArgs,
    /// Spans to receive.
    pub spans: SpanArgs,
    /// Services to read.
    pub scrapes: ScrapeArgs,
    /// Commands to start.
    pub events: Vec<Event>,
}

/// Files to write besides the run folder.
#[derive(Default, Debug)]
pub(crate) struct RunFiles {
    /// The page.
    pub html: Option<PathBuf>,
    /// Measurements under the names of vLLM's benchmark.
    pub vllm_json: Option<PathBuf>,
}

/// Checks the arguments, reads the files that they name, resolves the hosts, and raises the limit on open files. For a
/// gRPC call without a schema file, asks the server for its schema.
pub(crate) fn resolve(args: RunArgs) -> Result<ResolvedRun> {
    resolved(args, true)
}

/// Resolves arguments like [`resolve`], to find mistakes only: sends no request, so a load of `--prompts` has one row.
pub(crate) fn check(args: RunArgs) -> Result<ResolvedRun> {
    resolved(args, false)
}

fn resolved(mut args: RunArgs, asks: bool) -> Result<ResolvedRun> {
    let labels = RunLabels::new(&args.labels, command_line::for_run(&args));
    let script = ReadScript::read(&mut args)?;
    let guided = script.as_ref().and_then(ReadScript::guided);
    messages::refuse_elsewhere(&args)?;
    grpc::refuse_elsewhere(&args)?;
    let prompts = prompts::prepare(&mut args)?;
    let of_api = if asks { recognise::recognise(&mut args)? } else { None };
    let flows = flow::flows(&mut args)?;
    let agents = agents::agents(&mut args)?;
    let replay = replay::replay(&args)?;
    let recorded = replay.as_ref().map(|replay| &replay.trace).or(prompts.as_ref().and_then(Prompts::arrivals));
    let mut workload = load::workload(&args, recorded)?;
    let (stripe, start_at_unix_ns) = (stripe::stripe(&args, &workload)?, stripe::start_at(&args, &workload)?);
    let start_file = stripe::start_file(&args);
    let printing = Printing { result: printed(&args), quiet: args.quiet };
    let save_to = save_to(&args)?;
    let mut gating = Gating::resolve(args.gates.clone())?;
    gating.allow_errors = args.allow_errors;
    args.page.html.as_deref().map_or(Ok(()), |file| gating::check_place("--html", file))?;
    Scrapers::check(&args.scrapes)?;
    let events = events::events(&args.events)?;
    vllm::check(&args.vllm, args.streams.reads_llm())?;
    let timing = generator::timing(&args)?;
    let made_by = [("--flow", flows.is_some()), ("--replay", replay.is_some()), ("--script", script.is_some())];
    stream::refuse_cache_bust(
        &args.streams,
        made_by.iter().find(|(_, is_given)| *is_given).map(|(option, _)| *option),
    )?;
    let has_one_row = prompts.is_some() && !asks;
    let of_prompts = match &prompts {
        Some(prompts) if asks => Some(prompts::make(&mut args, prompts, &workload)?),
        _ => None,
    };
    let LoadTarget { mut target, called } = match (&flows, &agents, &replay, guided) {
        (Some(flows), ..) => request::for_flows(&args, flows)?.into(),
        (_, Some(agents), ..) => request::for_agents(&args, &agents.graphs, &agents.base)?.into(),
        (.., Some(replay), _) => request::for_replay(&args, replay)?.into(),
        (.., Some(guided)) => request::for_guided(&args, guided)?.into(),
        _ => LoadTarget::of(&args)?,
    };
    trace::trace(&args, start_at_unix_ns, &mut target)?;
    if target.protocol().calls().is_some_and(|calls| calls.kind.server_streams()) {
        args.streams.stream = Some(StreamName::Messages);
    }
    messages::read_pushes(&mut args);
    tls::secure(&mut target, &args)?;
    let rows = script.as_ref().and_then(ReadScript::rows).unwrap_or_else(|| target.requests().rows());
    let rows = if has_one_row { u32::MAX } else { rows };
    let has_sessions = flows.is_some() || agents.is_some() || guided.is_some();
    let of_rows = rows::use_up(&args, rows, has_sessions, &mut workload)?;
    let led_by_script = guided.map(|guided| guided.name().to_owned());
    load::refuse_endless_warmup(&workload.model, workload.warmup)?;
    let mut plan = Plan::new(workload, target);
    (plan.stripe, plan.start_at_unix_ns) = (stripe, start_at_unix_ns);
    plan.keep_alive = !args.no_keepalive;
    plan.max_streams = args.max_streams;
    plan.threads = args.threads;
    if args.user_timestamps {
        plan.precision.end_clock = EndClock::User;
    }
    plan.precision.timing = timing;
    plan.precision.realtime = generator::realtime(&args, &plan)?;
    plan.cancel = cancel::cancel(&args, &plan)?;
    plan.check_rate().map_err(|error| usage_error(format!("{error}; lower --rate")))?;
    plan.check_open_files().map_err(too_few_files)?;
    let cut_warmup = args.warmup == Some(WarmupValue::Auto);
    let of_replay = replay.iter().flat_map(|replay| replay::notes(&args, replay));
    let of_messages = messages::notes(&args);
    let stamps = messages::stamps(&args);
    let mut notes: Vec<String> = tls::notes(&args)
        .into_iter()
        .chain(of_api)
        .chain(of_prompts)
        .chain(of_replay)
        .chain(of_rows)
        .chain(of_messages)
        .collect();
    let script = Script::load(&args, script, &mut plan)?;
    let checks = checks::checks(args.checks, &mut plan, called, cut_warmup);
    let timing_of_service = server_timing::server_timing(args.server_timing, &mut plan);
    let headers = kept_headers::kept_headers(&args.kept_headers, &mut plan)?;
    let reading = stream::reading(&args.streams);
    let graphs = agents.as_ref().map(|agents| &agents.graphs);
    let per_request = args.gates.per_request();
    let streams = stream::streams(args.streams, stamps, per_request, &mut plan, flows.as_ref(), graphs, cut_warmup)?;
    notes.extend(streams.as_ref().and_then(stream::note_on_echo));
    let asks_again = led_by_script.is_some() || agents.is_some();
    let flow_names = flows.iter().flat_map(Flows::iter).map(|flow| flow.name().to_owned());
    let of_agents = agents.iter().map(|agents| agents.graphs.name().to_owned());
    let flow_names: Vec<String> = flow_names.chain(of_agents).chain(led_by_script).collect();
    let agents = agents.zip(streams.as_ref()).map(|(agents, streams)| agents::sessions(agents, streams, &mut plan));
    let sessions = flow::sessions(flows, args.seed, &mut plan);
    let offered = plan.offered();
    // The shares of requests are unknown in flows, which may repeat steps, and in recordings.
    let has_shares = replay.is_none() && flow_names.is_empty();
    let planned = PlannedRun {
        has_events: !events.is_empty(),
        flows: flow_names,
        asks_again: asks_again || sessions.as_ref().is_some_and(FlowRun::asks_again),
        ..PlannedRun::new(&plan.workload, &offered, checks.is_some(), reading)
    };
    let planned = if has_shares { planned } else { planned.with_unknown_shares() };
    gating.refuse_undecidable(&planned)?;
    gating.add_abort_rules(&args.abort_on, &planned)?;
    let has_objectives = !args.gates.per_request().is_empty();
    baseline::refuse_undecidable("--baseline-fail-if", &args.baseline.baseline_fail_if, &planned, has_objectives)?;
    Ok(ResolvedRun {
        plan,
        notes,
        trial: Trial::new(
            args.no_preflight,
            streams.is_some() || script.is_some() || args.feed == Some(FeedName::Once),
        ),
        observed: Observed { checks, streams, sessions, agents, server_timing: timing_of_service, headers, script },
        gating,
        save_to,
        printing,
        start_file,
        stop_conditions: StopConditions {
            until: args.until,
            cut_warmup,
            stop_when_saturated: args.stop_when_saturated,
            abort_on: args.abort_on,
        },
        beside: BesideRun { live: args.live, spans: args.spans, scrapes: args.scrapes, events },
        files: RunFiles { html: args.page.html, vllm_json: args.vllm.vllm_json },
        labels,
    })
}

fn printed(args: &RunArgs) -> Printed {
    match (args.json, args.pack) {
        (_, true) => Printed::Packed,
        (true, false) => Printed::Json,
        (false, false) => Printed::Summary,
    }
}

/// Returns the place to save the run.
pub(crate) fn save_to(args: &RunArgs) -> Result<SaveTo> {
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
