//! Workload of `truetail run`.

use std::path::Path;

use truetail_model::arrival::{Horizon, Profile, ProfileError, Schedule, Trace};
use truetail_model::time::Nanos;
use truetail_model::workload::{Limits, LoadModel, LoadModelKind, Workload};

use super::input;
use crate::args::run::{ModelName, RunArgs, WarmupValue};
use crate::error::{Result, usage_error};

/// Default seed. It is constant, so that a repeated command gives the same schedule.
pub(crate) const DEFAULT_SEED: u64 = 1;

/// Prefix of a `--profile` that names a file with recorded arrivals.
pub(crate) const TRACE: &str = "trace:";

const DEFAULT_DURATION: Nanos = Nanos::from_secs(10);

const DEFAULT_UNTIL_DURATION: Nanos = Nanos::from_secs(600);

/// Returns the workload. `recorded` holds the intended starts if they were recorded.
///
/// # Errors
/// If options contradict each other or are missing, or a trace is not valid.
pub(crate) fn workload(args: &RunArgs, recorded: Option<&Trace>) -> Result<Workload> {
    let kind = kind(args);
    refuse_contradictions(args, kind)?;
    let model = match kind {
        LoadModelKind::Open => LoadModel::Open(schedule(args, recorded)?),
        LoadModelKind::Closed => {
            let users = args.users.clone().ok_or_else(|| {
                usage_error("--model closed needs the number of users; add --users N, such as --users 10")
            })?;
            let horizon = horizon(args, users.natural_length());
            LoadModel::Closed { users, think_time: args.think_time.unwrap_or_default(), horizon }
        }
        LoadModelKind::PartlyOpen => LoadModel::PartlyOpen {
            requests_per_session: args.session_length.ok_or_else(|| {
                usage_error("--model partly-open needs the requests per session; add --session-length N, such as 5")
            })?,
            sessions: schedule(args, recorded)?,
            think_time: args.think_time.unwrap_or_default(),
        },
    };
    let warmup = match args.warmup {
        Some(WarmupValue::Time(warmup)) => warmup,
        Some(WarmupValue::Auto) | None => Nanos::ZERO,
    };
    refuse_endless_warmup(&model, warmup)?;
    Ok(Workload { model, limits: limits(args), warmup })
}

fn kind(args: &RunArgs) -> LoadModelKind {
    match args.model {
        None | Some(ModelName::Open) => LoadModelKind::Open,
        Some(ModelName::Closed) => LoadModelKind::Closed,
        Some(ModelName::PartlyOpen) => LoadModelKind::PartlyOpen,
    }
}

/// Refuses flags of other load models, and `--rate` with `--profile`.
fn refuse_contradictions(args: &RunArgs, kind: LoadModelKind) -> Result<()> {
    use LoadModelKind::{Closed, Open, PartlyOpen};
    let bound: [(&str, bool, &[LoadModelKind]); 9] = [
        ("--rate", args.rate.is_some(), &[Open, PartlyOpen]),
        ("--profile", args.profile.is_some(), &[Open, PartlyOpen]),
        ("--spacing", args.spacing.is_some(), &[Open, PartlyOpen]),
        ("--users", args.users.is_some(), &[Closed]),
        ("--think-time", args.think_time.is_some(), &[Closed, PartlyOpen]),
        ("--session-length", args.session_length.is_some(), &[PartlyOpen]),
        ("--connection-per-session", args.connection_per_session, &[PartlyOpen]),
        ("--stop-when-saturated", args.stop_when_saturated, &[Open]),
        ("--requests", args.requests.is_some(), &[Open, Closed]),
    ];
    for (flag, given, models) in bound {
        if given && !models.contains(&kind) {
            let homes = models.iter().map(|model| format!("--model {}", model.name())).collect::<Vec<_>>().join(" or ");
            let name = kind.name();
            return Err(usage_error(format!("{flag} has no meaning in the {name} model; use it with {homes}")));
        }
    }
    if args.rate.is_some() && args.profile.is_some() {
        return Err(usage_error("--rate and --profile contradict each other; give one of them"));
    }
    if let (Some(_), Some(users)) = (args.requests, args.users.as_ref().filter(|users| !users.is_constant())) {
        return Err(usage_error(format!(
            "--requests and --users {users} contradict each other: requests are dealt out to users, and one who leaves could not \
             send the rest; leave --requests out: the load ends with the stages, or after -d TIME"
        )));
    }
    Ok(())
}

fn schedule(args: &RunArgs, recorded: Option<&Trace>) -> Result<Schedule> {
    let profile = recorded.map_or_else(|| profile(args), |trace| Ok(Profile::Trace(trace.clone())))?;
    Ok(Schedule {
        horizon: horizon(args, profile.natural_length()),
        spacing: args.spacing.unwrap_or_default(),
        seed: args.seed.unwrap_or(DEFAULT_SEED),
        profile,
    })
}

fn profile(args: &RunArgs) -> Result<Profile> {
    match (&args.profile, args.rate) {
        (Some(text), _) => match text.strip_prefix(TRACE) {
            Some(file) => Ok(Profile::Trace(trace(file.as_ref())?)),
            None => text.parse().map_err(|error| usage_error(format!("--profile: {error}"))),
        },
        (None, Some(rate)) => Ok(Profile::constant(rate)),
        (None, None) => Err(usage_error(
            "no rate given; add -r REQUESTS_PER_SECOND, such as -r 100, or --profile, or --model closed --users 10",
        )),
    }
}

/// Reads recorded arrivals from a file.
///
/// # Errors
/// If it cannot be read, or a line is no arrival.
pub(crate) fn trace(path: &Path) -> Result<Trace> {
    let file = path.display();
    match Trace::parse(&input::recording(path)?) {
        Ok(trace) => Ok(trace),
        Err(ProfileError::Trace { line: 0, problem }) => Err(usage_error(format!("{file}: {problem}"))),
        Err(ProfileError::Trace { line, problem }) => {
            let help = "write one arrival time per line, in seconds and in order, such as 0.0015";
            Err(usage_error(format!("{file}:{line}: {problem}; {help}")))
        }
        Err(other) => Err(usage_error(format!("{file}: {other}"))),
    }
}

fn horizon(args: &RunArgs, natural_length: Option<Nanos>) -> Horizon {
    let unbounded = args.duration.is_none() && args.requests.is_none();
    let usual = if args.until.is_some() { DEFAULT_UNTIL_DURATION } else { DEFAULT_DURATION };
    let duration = if unbounded { natural_length.or(Some(usual)) } else { args.duration };
    Horizon { duration, requests: args.requests }
}

/// Returns the limits on requests and connections.
pub(crate) fn limits(args: &RunArgs) -> Limits {
    let usual = Limits::default();
    Limits {
        connections: args.connections,
        connection_per_session: args.connection_per_session,
        channels: None,
        timeout: args.timeout.map_or(args.grpc.deadline.or(args.max_time).or(usual.timeout), |timeout| timeout.0),
        drain: args.drain.unwrap_or(usual.drain),
    }
}

/// Refuses a warm-up that leaves nothing to measure.
pub(super) fn refuse_endless_warmup(model: &LoadModel, warmup: Nanos) -> Result<()> {
    let too_long = |end: String| {
        Err(usage_error(format!("--warmup {warmup} leaves nothing to measure: the last request is due at {end}")))
    };
    if warmup.is_zero() {
        return Ok(());
    }
    match (model, model.horizon()) {
        (_, Horizon { duration: Some(duration), .. }) if warmup >= duration => too_long(duration.to_string()),
        (LoadModel::Open(schedule), Horizon { requests: Some(requests), .. }) => {
            match schedule.stripe(requests - 1, requests).next() {
                Some(last) if last.intended_start.since_origin() < warmup => {
                    too_long(format!("{:.3}s", last.intended_start.as_secs_f64()))
                }
                _ => Ok(()),
            }
        }
        (LoadModel::Open(_) | LoadModel::Closed { .. } | LoadModel::PartlyOpen { .. }, _) => Ok(()),
    }
}
