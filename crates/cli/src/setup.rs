//! Setup of a flow (`--setup`), done once before the load.
//!
//! Everything else is checked first, with placeholder values for the variables that the setup will set.

use std::path::PathBuf;

use truetail_engine::{Control, Plan, Target};
use truetail_flow::{Flow, FlowRun};
use truetail_model::arrival::{Horizon, Profile, Schedule, Spacing};
use truetail_model::time::Nanos;
use truetail_model::workload::{Limits, LoadModel, Workload};

use crate::args::flow::Variable;
use crate::args::run::RunArgs;
use crate::error::{Result, runtime_error, usage_error};
use crate::output;
use crate::output_folder::OutputFolder;
use crate::resolve::grpc_schema::Schemas;
use crate::resolve::load::DEFAULT_SEED;
use crate::resolve::run::ResolvedRun;
use crate::resolve::{self, flow, grpc, load, recognise, request, tls};

/// Time limit of the whole setup.
const MAX_TIME: Nanos = Nanos::from_secs(60);
/// Length of the schedule, which has a single arrival at its start.
const ARRIVALS: Nanos = Nanos::from_secs(1);

/// Resolves the arguments like [`resolve::run::resolve`], after running the setup, if any.
///
/// # Errors
/// If the arguments are not valid, or the setup was not completed.
pub(crate) fn resolve(args: RunArgs) -> Result<ResolvedRun> {
    if args.flow.setup.is_none() {
        return resolve::run::resolve(args);
    }
    refuse_what_is_read_once(&args)?;
    let setup = Setup::read(&args)?.with_methods(&args)?;
    let checked = setup.check(args.clone())?;
    OutputFolder::check(&checked.save_to)?;
    let mut found = args.clone();
    // Captured values replace the initial ones.
    found.flow.given.variable.extend(setup.run(&args)?);
    // The setup may last beyond the start. Then the run is late, but no longer refused.
    found.machines.start_at = None;
    let mut resolved = resolve::run::resolve(found)?;
    (resolved.plan.start_at_unix_ns, resolved.start_file) = (checked.plan.start_at_unix_ns, checked.start_file);
    // A new token does not make a different load.
    resolved.plan.target.same_requests_as(checked.plan.target.requests());
    Ok(resolved)
}

/// Sets the variables of the setup, if any, and an API that is not recognised yet to placeholder values, to check the
/// load without sending anything.
pub(crate) fn stand_in(args: &mut RunArgs) -> Result<()> {
    recognise::stand_in(&mut args.streams);
    if args.flow.setup.is_some() {
        refuse_what_is_read_once(args)?;
        Setup::read(args)?.stand_in(args);
    }
    Ok(())
}

/// Refuses inputs that can be read only once, because files are read before and after the setup.
fn refuse_what_is_read_once(args: &RunArgs) -> Result<()> {
    let files = [
        &args.flow.setup,
        &args.data_from,
        &args.ca,
        &args.cert,
        &args.key,
        &args.streams.tokenizer,
        &args.streams.llm_dialect,
        &args.messages.hello,
        &args.messages.subscribe,
    ];
    let files = files.into_iter().flatten().chain(&args.flow.flow);
    match files.into_iter().find(|file| file.as_os_str() == "-" || file.exists() && !file.is_file()) {
        Some(file) => {
            let help = "beside --setup, files are read twice; write it to a file";
            Err(usage_error(format!("{} can be read once only: {help}", file.display())))
        }
        None => Ok(()),
    }
}

/// Flow that is run once.
struct Setup {
    file: PathBuf,
    flow: Flow,
}

impl Setup {
    /// Reads the flow of `--setup`.
    fn read(args: &RunArgs) -> Result<Setup> {
        let file = args.flow.setup.clone().unwrap_or_default();
        let flow = flow::read(&file, &args.flow.given.variable, args.flow.given.file_root.as_deref(), |_| Ok(None))?;
        let flow = flow.over(flow::version(args)).map_err(|error| flow::wrong(&file, &error))?;
        if flow.has_streams() {
            let help = "a setup measures nothing; take '# truetail: stream' out";
            return Err(usage_error(format!("--setup {}: {help}", file.display())));
        }
        Ok(Setup { file, flow })
    }

    /// Finds the methods of its gRPC calls, if it makes any. May ask servers for their schemas.
    fn with_methods(self, args: &RunArgs) -> Result<Setup> {
        let flow = flow::with_methods(self.flow, &self.file, args, &mut Schemas::new(args))?;
        Ok(Setup { flow, file: self.file })
    }

    /// Resolves the run with placeholder values. Sends nothing, but may ask servers of gRPC calls for their schemas.
    fn check(&self, mut args: RunArgs) -> Result<ResolvedRun> {
        self.stand_in(&mut args);
        let mine = self.target(&args)?;
        let checked = resolve::run::resolve(args.clone())?;
        if !self.flow.makes_calls() && checked.plan.target.protocol().calls().is_none() {
            grpc::refuse_in_http(&args)?;
        }
        let both = [&mine, &checked.plan.target];
        request::check_used(&args, &both)?;
        tls::check_used(&both, &args)?;
        Ok(checked)
    }

    fn stand_in(&self, args: &mut RunArgs) {
        let of = |name: &String| Variable { name: name.clone(), value: "0".to_owned() };
        args.flow.stands_in = true;
        args.flow.given.variable.splice(0..0, self.flow.variable_names().iter().map(of));
    }

    fn target(&self, args: &RunArgs) -> Result<Target> {
        let mut target = request::for_flows(args, &self.flow.clone().into())?;
        tls::secure(&mut target, args)?;
        Ok(target)
    }

    /// Runs the setup, and returns the variables at its end.
    fn run(self, args: &RunArgs) -> Result<Vec<Variable>> {
        let file = self.file.display();
        let names = self.flow.variable_names().to_vec();
        let mut plan = Plan::new(one_session(args, &self.flow), self.target(args)?);
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
        let variables = sessions.variables();
        for name in names.iter().filter(|name| !variables.iter().any(|(known, _)| known == *name)) {
            output::note(&format!("--setup {file}: {name} is no text and no number at its end, and is not set"));
        }
        Ok(variables.into_iter().map(|(name, value)| Variable { name, value }).collect())
    }
}

/// Returns why the only session was not completed.
fn why(sessions: &FlowRun) -> String {
    if let Some((step, why)) = sessions.examples().into_iter().next() {
        return format!("it ended at {step}: {why}");
    }
    let facts = sessions.facts();
    let ended = facts.steps.iter().find_map(|step| Some((step, *step.ended_here.keys().next()?)));
    match ended {
        Some((step, cause)) => format!("it ended at {}: {}", step.name, cause.describe()),
        None => format!("it was not over after {MAX_TIME}"),
    }
}

/// Returns the load of one session.
fn one_session(args: &RunArgs, flow: &Flow) -> Workload {
    let sessions = Schedule {
        profile: Profile::constant("1/s".parse().expect("a rate")),
        spacing: Spacing::Even,
        seed: args.seed.unwrap_or(DEFAULT_SEED),
        horizon: Horizon { duration: Some(ARRIVALS), requests: Some(1) },
    };
    let requests_per_session = flow.requests_per_session();
    let model = LoadModel::PartlyOpen { sessions, requests_per_session, think_time: Nanos::ZERO };
    let limits =
        Limits { drain: MAX_TIME.saturating_sub(ARRIVALS), timeout: load::limits(args).timeout, ..Limits::default() };
    Workload { model, limits, warmup: Nanos::ZERO }
}
