//! Question of a search: the checked arguments of `truetail capacity`, with defaults.

use truetail_analysis::capacity::{Objective, SearchLimits};
use truetail_analysis::figures::quantile_name;
use truetail_engine::Plan;
use truetail_model::arrival::Profile;
use truetail_model::record::Metric;
use truetail_model::time::{Nanos, Rate};
use truetail_model::workload::LoadModel;
use truetail_study::capacity::Question;

use crate::args::capacity::{CapacityArgs, NOT_FOR_PROBES};
use crate::args::run::{RunArgs, SpacingName};
use crate::args::run_options::given_in_run;
use crate::args::{CliAction, Command, parse};
use crate::error::{Result, usage_error};
use crate::resolve::load::DEFAULT_SEED;
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
/// Limits of the full length of a probe.
const FULL_LENGTH: (Nanos, Nanos) = (Nanos::from_secs(1), Nanos::from_secs(120));

/// Question of a search, with the requests that it sends.
pub(super) struct Asked {
    pub objectives: Vec<Objective>,
    /// The requests and how they are sent. Each probe replaces the load.
    pub plan: Plan,
    /// Preflight before the search.
    pub trial: Trial,
    /// Identity of the search: only a search with an equal question is continued.
    pub question: Question,
    /// Time limit of this command.
    pub max_time: Nanos,
    /// Name of the server, for the folder.
    pub server: String,
    /// Command line of `truetail run` for these requests at [`ANY_RATE`], without secrets.
    command: String,
}

impl Asked {
    /// Checks the arguments, reads the files that they name, and resolves the host.
    pub(super) fn resolve(args: CapacityArgs) -> Result<Asked> {
        if args.slo.is_empty() {
            return Err(usage_error("no objective given; add --slo, such as --slo 'p99 < 50ms'"));
        }
        let max_time = args.max_time.unwrap_or(DEFAULT_MAX_TIME);
        let limits = limits(&args, max_time)?;
        let run_args = run_args(&args)?;
        refuse_once(run_args.feed, "capacity")?;
        let target = command_line::for_run(&run_args);
        let resolved: ResolvedRun = resolve(run_args)?;
        resolved.notes.iter().for_each(|note| output::note(note));
        let requests = format!("{:016x}", resolved.plan.target.requests().hash());
        let texts = args.slo.iter().map(ToString::to_string).collect();
        Ok(Asked {
            server: name_of(&resolved.plan.target),
            objectives: args.slo,
            plan: resolved.plan,
            trial: resolved.trial,
            question: Question::new(texts, target.clone(), requests, limits),
            max_time,
            command: target,
        })
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

    fn seed(&self) -> u64 {
        self.plan.workload.model.seed().unwrap_or(DEFAULT_SEED)
    }

    /// Returns the first objective that is a percentile of a time, by default p99 of response time.
    pub(super) fn percentile(&self) -> (Metric, f64) {
        self.objectives.iter().find_map(Objective::quantile).unwrap_or((Metric::ResponseTime, 0.99))
    }

    /// Returns the name of the percentile in the figures of the probes.
    pub(super) fn time_name(&self) -> String {
        quantile_name(self.percentile().1)
    }
}

fn limits(args: &CapacityArgs, max_time: Nanos) -> Result<SearchLimits> {
    let rate = |rate: Option<Rate>, default: f64| rate.map_or(default, Rate::as_per_second);
    let min_rate = rate(args.min_rate, DEFAULT_RATES.0);
    let max_rate = rate(args.max_rate, DEFAULT_RATES.1);
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
        allowed: args.slo.iter().map(Objective::allowed).fold(1.0, f64::min),
        full_length: Nanos(max_time.0 / PROBES).clamp(FULL_LENGTH.0, FULL_LENGTH.1),
    })
}

/// Parses the requests as a `truetail run` command line. Each probe replaces the load.
fn run_args(args: &CapacityArgs) -> Result<RunArgs> {
    let spacing = match args.spacing {
        None | Some(SpacingName::Poisson) => "poisson",
        Some(SpacingName::Even) => "even",
    };
    refuse_load(&args.run_options)?;
    let seed = args.seed.unwrap_or(DEFAULT_SEED).to_string();
    let own = ["truetail", "run", &args.url, "--rate", ANY_RATE, "--spacing", spacing, "--seed", &seed, "--no-save"];
    let words = own.into_iter().chain(args.run_options.iter().map(String::as_str));
    let parsed = match parse(words.map(Into::into))? {
        CliAction::Execute(command) => match *command {
            Command::Run(run) => Some(*run),
            _ => None,
        },
        CliAction::Show(_) => None,
    };
    parsed.ok_or_else(|| usage_error("after --, write options of 'truetail run', such as -H 'Accept: text/html'"))
}

/// Refuses options that the search sets itself, or that have no effect in it.
fn refuse_load(words: &[String]) -> Result<()> {
    match given_in_run(words)?.keys().find(|name| NOT_FOR_PROBES.contains(&name.as_str())) {
        Some(name) => Err(usage_error(format!("--{name} has no meaning in the requests of a search; leave it out"))),
        None => Ok(()),
    }
}
