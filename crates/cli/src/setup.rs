//! What is done once before the load of a flow (`--setup`).
//!
//! Everything else is checked first, with values that stand for those that it will find, so that what is wrong is said before
//! anything is sent.

use std::path::PathBuf;

use truetail_engine::{Control, Plan};
use truetail_flow::{Flow, FlowRun};
use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::time::Nanos;
use truetail_model::workload::{Limits, LoadModel, Workload};

use crate::args::flow::Variable;
use crate::args::run::RunArgs;
use crate::error::{Result, runtime_error};
use crate::output;
use crate::resolve::load::DEFAULT_SEED;
use crate::resolve::run::ResolvedRun;
use crate::resolve::{self, flow, load, request, tls};

/// How long it may take in all.
const MOST_TIME: Nanos = Nanos::from_secs(60);

/// As [`resolve::run::resolve`], after the setup, if there is one.
///
/// # Errors
/// As there, and why the setup was not completed.
pub fn resolve(args: RunArgs) -> Result<ResolvedRun> {
    let Some(setup) = Setup::of(&args)? else { return resolve::run::resolve(args) };
    let checked = check(args.clone())?;
    let mut found = args.clone();
    // What it captured replaces what it began with.
    found.flow.variable.extend(setup.run(&args)?);
    let mut resolved = resolve::run::resolve(found)?;
    // Another token makes no other load.
    resolved.plan.target.same_requests_as(checked.plan.target.requests());
    Ok(resolved)
}

/// As [`resolve`], with values that stand for those that the setup will find. Nothing is sent.
fn check(mut args: RunArgs) -> Result<ResolvedRun> {
    let stand_ins = Setup::of(&args)?.map_or_else(Vec::new, |setup| setup.stand_ins());
    args.flow.variable.splice(0..0, stand_ins);
    resolve::run::resolve(args)
}

/// A flow that is run once.
struct Setup {
    file: PathBuf,
    flow: Flow,
}

impl Setup {
    /// The one of `--setup`; `None` where there is none.
    fn of(args: &RunArgs) -> Result<Option<Setup>> {
        let Some(file) = args.flow.setup.clone() else { return Ok(None) };
        let flow = flow::read(&file, &args.flow.variable, |_| Ok(None))?;
        let flow = flow.over(flow::version(args)).map_err(|error| flow::wrong(&file, &error))?;
        Ok(Some(Setup { file, flow }))
    }

    /// The variables that it may set, with a value that stands for what they will have.
    fn stand_ins(&self) -> Vec<Variable> {
        let stand_in = |name: &String| Variable { name: name.clone(), value: "0".to_owned() };
        self.flow.variable_names().iter().map(stand_in).collect()
    }

    /// Does it, and returns the variables as it left them.
    fn run(self, args: &RunArgs) -> Result<Vec<Variable>> {
        let file = self.file.display();
        let is_secure = self.flow.origin().is_https();
        let mut target = request::of_flows(args, &self.flow.clone().into())?;
        if is_secure {
            tls::secure(&mut target, args)?;
        }
        let mut plan = Plan::new(one_session(args, &self.flow), target);
        plan.threads = Some(1);
        let sessions = flow::sessions(Some(self.flow.into()), args.seed, &mut plan);
        let sessions: FlowRun = sessions.expect("there is a flow");
        truetail_engine::run(&plan, &Control::new())
            .map_err(|error| runtime_error(format!("--setup {file}: {error}")))?;
        let facts = sessions.facts();
        if facts.tally.completed == 0 {
            return Err(runtime_error(format!("--setup {file}: {}", why(&sessions))));
        }
        let requests: u64 = facts.steps.iter().map(|step| step.reached + step.further()).sum();
        let requests = if requests == 1 { "1 request".to_owned() } else { format!("{requests} requests") };
        output::note(&format!("--setup {file}: {requests} before the load, in none of its books"));
        let variables = sessions.variables().into_iter();
        Ok(variables.map(|(name, value)| Variable { name, value }).collect())
    }
}

/// Why the only session was not completed.
fn why(sessions: &FlowRun) -> String {
    if let Some((step, why)) = sessions.examples().into_iter().next() {
        return format!("it ended at {step}: {why}");
    }
    let facts = sessions.facts();
    let ended = facts.steps.iter().find_map(|step| Some((step, *step.ended_here.keys().next()?)));
    match ended {
        Some((step, cause)) => format!("it ended at {}: {}", step.name, cause.describe()),
        None => format!("it was not over after {MOST_TIME}"),
    }
}

/// The load of one session.
fn one_session(args: &RunArgs, flow: &Flow) -> Workload {
    let sessions = Schedule {
        profile: Profile::constant("1/s".parse().expect("a rate")),
        spacing: Spacing::Even,
        seed: args.seed.unwrap_or(DEFAULT_SEED),
        horizon: Horizon { duration: Some(Nanos::from_secs(1)), requests: Some(1) },
    };
    let requests_per_session = flow.requests_per_session();
    let model = LoadModel::PartlyOpen { sessions, requests_per_session, think_time: Nanos::ZERO };
    let limits = Limits { drain: MOST_TIME, timeout: load::limits(args).timeout, connections: None };
    Workload { model, limits, warmup: Nanos::ZERO }
}
