//! Question of a search: the checked arguments of `truetail capacity`, with defaults.

use std::fmt::Display;

use truetail_analysis::capacity::{Objective, SearchLimits};
use truetail_analysis::gates::{Gate, ReadingMode, Slo};
use truetail_engine::Plan;
use truetail_model::arrival::{Profile, Spacing};
use truetail_model::record::Metric;
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::LoadModel;
use truetail_requests::redacted_url;
use truetail_run::{Quantile, Run};
use truetail_stream::StreamRun;
use truetail_study::capacity::Question;
use truetail_study::sweep::{SweepCourse, SweepQuestion};

use clap::ValueEnum;

use crate::args::capacity::{CapacityArgs, NOT_FOR_PROBES};
use crate::args::gates::empty_goodput;
use crate::args::run::RunArgs;
use crate::args::run_options::{Given, given_in_run};
use crate::args::slo::SearchSlo;
use crate::args::{CliAction, Command, parse};
use crate::error::{CliError, Result, usage_error};
use crate::resolve::load::DEFAULT_SEED;
use crate::resolve::prompts;
use crate::resolve::rows::refuse_once;
use crate::resolve::run::{ResolvedRun, Trial, resolve};
use crate::stages::name_of;
use crate::{command_line, output};

/// Default range of rates, requests per second.
const DEFAULT_RATES: (f64, f64) = (1.0, 100_000.0);
/// Placeholder rate of the resolved requests. Each probe replaces it.
const ANY_RATE: &str = "1";
/// First rate of a search, clamped to its range.
const FIRST_RATE: f64 = 100.0;
const DEFAULT_RESOLUTION: f64 = 0.05;
const DEFAULT_CONFIDENCE: f64 = 0.95;
/// Default time limit of a search.
const DEFAULT_MAX_TIME: Nanos = Nanos::from_secs(20 * 60);
/// Approximate number of full-length probes that fit into a search.
const PROBES: u64 = 20;
/// Rows of prompts that are made for a search, whose number of requests nobody knows.
const ROWS_OF_SEARCH: u64 = 20_000;
/// Limits of the full length of a probe.
const FULL_LENGTH: (Nanos, Nanos) = (Nanos::from_secs(1), Nanos::from_secs(120));

/// Question of a search, with the requests that it sends.
pub(super) struct Asked {
    pub objectives: Vec<Objective>,
    /// The objectives that each request must meet to count in goodput, as words.
    pub each_request: Vec<String>,
    /// The requests and how they are sent. Each probe replaces the load.
    pub plan: Plan,
    /// Their answers, if they are streams.
    pub streams: Option<StreamRun>,
    /// The objectives as gates of a probe's run.
    pub gates: Vec<Gate>,
    /// Preflight before the search.
    pub trial: Trial,
    /// Identity of the search: only a search with an equal question is continued.
    pub question: Question,
    /// Time limit of this command.
    pub max_time: Nanos,
    /// Name of the server, for the folder.
    pub server: String,
    /// The URL, without secrets.
    pub url: String,
    /// The command line, without secrets.
    pub typed: String,
    /// Command line of `truetail run` for these requests at [`ANY_RATE`], without secrets.
    command: String,
}

impl Asked {
    /// Checks the arguments, reads the files that they name, and resolves the host. `requests` is about the number of
    /// requests of all probes, if it is known.
    pub(super) fn resolve(args: CapacityArgs, requests: Option<u64>) -> Result<Asked> {
        let is_sweep = args.sweep.sweep.is_some();
        if args.slo.is_empty() && !is_sweep {
            return Err(usage_error("no objective given; add --slo, such as --slo 'p99 < 50ms', or --sweep 10..1000"));
        }
        let max_time = args.max_time.unwrap_or(DEFAULT_MAX_TIME);
        let objectives = objectives(&args.slo, is_sweep)?;
        let limits = limits(&args, &objectives, max_time)?;
        let run_args = run_args(&args, &objectives)?;
        let run_args = RunArgs { prompt_rows: Some(requests.unwrap_or(ROWS_OF_SEARCH)), ..run_args };
        let makes_prompts = prompts::are_made(&run_args);
        let template = if makes_prompts { prompts::hash_of_template(&run_args)? } else { 0 };
        let is_llm = run_args.streams.reads_llm();
        if let Some(each) = args.slo.iter().find(|slo| matches!(slo, SearchSlo::OfEachRequest(_)) && !is_llm) {
            return Err(llm_is_needed(each));
        }
        refuse_once(run_args.feed, "capacity")?;
        let target = command_line::for_run(&run_args);
        let typed = command_line::for_capacity(&args.typed.words, &run_args);
        let each = of_each_request(&args, &objectives);
        let resolved: ResolvedRun = resolve(run_args)?;
        refuse_unread(&objectives, is_llm, resolved.observed.streams.is_some())?;
        refuse_stream_times(&objectives, resolved.observed.reading())?;
        resolved.observed.streams.iter().for_each(StreamRun::keep_rows);
        if !each.is_empty() {
            output::note(&format!("goodput counts requests that meet {}", each.join(" and ")));
        }
        resolved.notes.iter().for_each(|note| output::note(note));
        let set = resolved.plan.target.requests();
        // The words of made prompts follow from the server's count, which may change a little from day to day.
        let requests = match makes_prompts {
            true => format!("made prompts in {template:016x}"),
            false => format!("{:016x}", set.hash()),
        };
        let texts = args.slo.iter().map(ToString::to_string).collect();
        Ok(Asked {
            url: redacted_url(&args.url),
            typed,
            server: name_of(&resolved.plan.target),
            gates: objectives.iter().filter_map(gate).collect(),
            objectives,
            each_request: each,
            plan: resolved.plan,
            streams: resolved.observed.streams,
            trial: resolved.trial,
            question: Question::new(texts, target.clone(), requests, limits),
            max_time,
            command: target,
        })
    }

    /// Returns the question of a sweep with these requests.
    pub(super) fn sweep_question(&self, course: SweepCourse) -> SweepQuestion {
        let Question { objectives, target, .. } = &self.question;
        SweepQuestion::new(objectives.clone(), target.clone(), self.question.requests().to_owned(), course)
    }

    /// Returns the command line that repeats a probe with this plan.
    pub(super) fn command_of(&self, plan: &Plan) -> String {
        let LoadModel::Open(schedule) = &plan.workload.model else { return self.command.clone() };
        let Profile::Constant(constant) = &schedule.profile else { return self.command.clone() };
        let rate = constant.rate.as_per_second();
        let duration = schedule.horizon.duration.map_or(String::new(), |duration| format!(" --duration {duration}"));
        let requests = schedule.horizon.requests.map_or(String::new(), |requests| format!(" --requests {requests}"));
        let load = format!(" --rate {rate}{duration}{requests} ");
        let seed = format!(" --seed {} ", schedule.seed);
        let other_seed = format!(" --seed {} ", self.seed());
        self.command.replacen(&format!(" --rate {ANY_RATE} "), &load, 1).replacen(&other_seed, &seed, 1)
    }

    /// Returns the number of rows with prompts of a language model, 0 without rows. Each run takes the next ones: a
    /// server may have earlier rows in its cache.
    pub(super) fn prompt_rows(&self) -> u64 {
        let is_llm = self.streams.as_ref().is_some_and(StreamRun::is_of_llm);
        if is_llm { u64::from(self.plan.target.requests().rows()) } else { 0 }
    }

    fn seed(&self) -> u64 {
        self.plan.workload.model.seed().unwrap_or(DEFAULT_SEED)
    }

    /// Returns the first percentile of a time that an objective limits, by default p99 of response time.
    pub(super) fn percentile(&self, run: &Run) -> Quantile {
        let limited = self.objectives.iter().find_map(|objective| objective.quantile_in(run));
        limited.unwrap_or_else(|| truetail_analysis::quantile(run, Metric::ResponseTime, 0.99))
    }

    /// Returns the name of the percentile in the figures of the probes.
    pub(super) fn time_name(&self) -> String {
        self.objectives.iter().find_map(Objective::time_name).unwrap_or("p99").to_owned()
    }
}

/// Returns the objectives of the service.
///
/// # Errors
/// If each request has objectives and their share is not asked for, or the other way round. A sweep shows their share
/// unasked.
fn objectives(slo: &[SearchSlo], is_sweep: bool) -> Result<Vec<Objective>> {
    let of_service = |slo: &SearchSlo| match slo {
        SearchSlo::OfService(objective) => Some(objective.clone()),
        SearchSlo::OfEachRequest(_) => None,
    };
    let objectives: Vec<Objective> = slo.iter().filter_map(of_service).collect();
    let goodput = objectives.iter().find(|objective| objective.is_about_goodput());
    let each = slo.iter().find(|slo| matches!(slo, SearchSlo::OfEachRequest(_)));
    match (goodput, each) {
        (None, Some(each)) if !is_sweep => Err(usage_error(format!(
            "--slo '{each}' is about each request: say how many must meet it with --slo 'goodput > 98%', or name a \
             percentile, such as 'ttft p99 < 500ms'"
        ))),
        (Some(goodput), None) if objectives.iter().all(|objective| objective.for_each_request().is_none()) => {
            Err(usage_error(empty_goodput(goodput)))
        }
        _ => Ok(objectives),
    }
}

/// Refuses objectives about answers that are read in another way.
fn refuse_unread(objectives: &[Objective], is_llm: bool, is_stream: bool) -> Result<()> {
    let needs_llm = objectives.iter().find(|objective| objective.is_about_llm() && !is_llm);
    let needs_streams = objectives.iter().find(|objective| objective.is_about_streams() && !is_llm && !is_stream);
    match (needs_llm, needs_streams) {
        (Some(objective), _) => Err(llm_is_needed(objective)),
        (None, Some(objective)) => {
            Err(usage_error(format!("'{objective}' needs --stream sse, --stream chunks or --llm")))
        }
        (None, None) => Ok(()),
    }
}

/// Refuses objectives about times of streams if answers come whole.
fn refuse_stream_times(objectives: &[Objective], reading: ReadingMode) -> Result<()> {
    let of_pieces = objectives.iter().find(|objective| objective.is_about_stream_times());
    match of_pieces.and_then(|objective| reading.objection_to_stream_time(objective)) {
        Some(objection) => Err(usage_error(objection)),
        None => Ok(()),
    }
}

fn llm_is_needed(objective: impl Display) -> CliError {
    usage_error(format!("'{objective}' needs --llm, such as --llm openai-chat"))
}

/// Returns the objectives that each request must meet to count in goodput, as words. A search needs them for goodput
/// only; a sweep of a language model shows goodput whenever they are known.
fn of_each_request(args: &CapacityArgs, objectives: &[Objective]) -> Vec<String> {
    let is_shown = args.sweep.sweep.is_some() && reads_llm(args);
    if !is_shown && !objectives.iter().any(Objective::is_about_goodput) {
        return Vec::new();
    }
    let given = args.slo.iter().filter(|slo| matches!(slo, SearchSlo::OfEachRequest(_)));
    let given: Vec<String> = given.map(ToString::to_string).collect();
    match given.is_empty() {
        true => objectives.iter().filter_map(Objective::for_each_request).collect(),
        false => given,
    }
}

fn reads_llm(args: &CapacityArgs) -> bool {
    let is_given = |given: &Given| ["llm", "llm-dialect"].iter().any(|name| given.contains_key(*name));
    let reading = &args.reading;
    reading.llm.is_some()
        || reading.llm_dialect.is_some()
        || given_in_run(&args.run_options).is_ok_and(|of| is_given(&of))
}

fn gate(objective: &Objective) -> Option<Gate> {
    objective.to_string().parse::<Slo>().ok().map(|slo| slo.0)
}

fn limits(args: &CapacityArgs, objectives: &[Objective], max_time: Nanos) -> Result<SearchLimits> {
    let rate = |rate: Option<Rate>, default: f64| rate.map_or(default, Rate::as_per_second);
    let min_rate = rate(args.rates.min_rate, DEFAULT_RATES.0);
    let max_rate = rate(args.rates.max_rate, DEFAULT_RATES.1);
    if min_rate >= max_rate {
        return Err(usage_error(format!(
            "--min-rate {min_rate}/s is not below --max-rate {max_rate}/s; there is nothing to search"
        )));
    }
    Ok(SearchLimits {
        min_rate,
        max_rate,
        first_rate: FIRST_RATE.clamp(min_rate, max_rate),
        resolution: args.resolution.unwrap_or(DEFAULT_RESOLUTION),
        confidence: args.confidence.unwrap_or(DEFAULT_CONFIDENCE),
        allowed: objectives.iter().map(Objective::allowed).fold(1.0, f64::min),
        full_length: Nanos(max_time.0 / PROBES).clamp(FULL_LENGTH.0, FULL_LENGTH.1),
    })
}

/// Parses the requests as a `truetail run` command line. Each probe replaces the load.
fn run_args(args: &CapacityArgs, objectives: &[Objective]) -> Result<RunArgs> {
    let spacing = args.arrivals.spacing.unwrap_or(Spacing::Poisson).to_string();
    refuse_load(&args.run_options)?;
    let seed = args.arrivals.seed.unwrap_or(DEFAULT_SEED).to_string();
    let own = ["truetail", "run", &args.url, "--rate", ANY_RATE, "--spacing", &spacing, "--seed", &seed, "--no-save"];
    let each = of_each_request(args, objectives);
    let dialect = args.reading.llm_dialect.as_ref().map(|file| file.display().to_string());
    let read = [
        ("--stream", value_name(args.reading.stream.as_ref())),
        ("--llm", value_name(args.reading.llm.as_ref())),
        ("--llm-dialect", dialect),
    ];
    let read = read.iter().filter_map(|(option, name)| Some([*option, name.as_deref()?])).flatten();
    let each = each.iter().flat_map(|objective| ["--slo", objective]);
    let words = own.into_iter().chain(read).chain(each).chain(args.run_options.iter().map(String::as_str));
    let parsed = match parse(words.map(Into::into))? {
        CliAction::Execute(command) => match *command {
            Command::Run(run) => Some(*run),
            _ => None,
        },
        CliAction::Show(_) => None,
    };
    parsed.ok_or_else(|| usage_error("after --, write options of 'truetail run', such as -H 'Accept: text/html'"))
}

/// Returns the name of a value as users write it.
fn value_name(value: Option<&impl ValueEnum>) -> Option<String> {
    Some(value?.to_possible_value()?.get_name().to_owned())
}

/// Refuses options that the search sets itself, or that have no effect in it.
fn refuse_load(words: &[String]) -> Result<()> {
    match given_in_run(words)?.keys().find(|name| NOT_FOR_PROBES.contains(&name.as_str())) {
        Some(name) => Err(usage_error(format!("--{name} has no meaning in the requests of a search; leave it out"))),
        None => Ok(()),
    }
}
