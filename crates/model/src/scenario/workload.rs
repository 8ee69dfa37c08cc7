//! The section `[workload]`.

use super::fields::{Field, Section};
use crate::arrival::{Horizon, Profile, Schedule, Spacing, Trace};
use crate::time::{Nanos, Rate, Timestamp};
use crate::toml_file::TomlError;
use crate::users::Users;
use crate::workload::{Limits, LoadModel, LoadModelKind, Workload};

/// Returns the text of a file that a scenario refers to, or the reason why it cannot be read.
pub(super) type ReadFile<'a> = dyn Fn(&str) -> Result<String, String> + 'a;

type Result<T, E = TomlError> = std::result::Result<T, E>;

const MODELS: [(&str, LoadModelKind); 3] = [
    (LoadModelKind::Open.name(), LoadModelKind::Open),
    (LoadModelKind::Closed.name(), LoadModelKind::Closed),
    (LoadModelKind::PartlyOpen.name(), LoadModelKind::PartlyOpen),
];

/// Keys for the rate; exactly one is given if the model has a schedule.
const RATES: [&str; 3] = ["rate", "profile", "trace-ns"];

/// Largest number of channels: each has a number in memory.
const MAX_CHANNELS: u32 = 1_000_000;
const CHANNELS: &str = "a whole number from 1 to 1000000; leave it out unless the requests are messages on channels";

const COUNT: &str = "a whole number from 1";

pub(super) fn read(section: &Section<'_>, read: &ReadFile<'_>) -> Result<Workload> {
    let kind = section.get("model").map_or(Ok(LoadModelKind::Open), |model| model.choice(&MODELS))?;
    let model = match kind {
        LoadModelKind::Open => open(section, read)?,
        LoadModelKind::Closed => closed(section)?,
        LoadModelKind::PartlyOpen => partly_open(section, read)?,
    };
    let limits = limits(section, kind)?;
    let warmup = warmup(section, model.horizon().duration)?;
    section.no_more_keys()?;
    Ok(Workload { model, limits, warmup })
}

fn open(section: &Section<'_>, read: &ReadFile<'_>) -> Result<LoadModel> {
    let asks = "applies only to the closed model; write model = \"closed\", or leave it out";
    section.refuse(&["users", "think-time"], asks)?;
    section.refuse(&["requests-per-session", "sessions"], "applies only to model = \"partly-open\"")?;
    schedule(section, "requests", read).map(LoadModel::Open)
}

fn closed(section: &Section<'_>) -> Result<LoadModel> {
    let waits = "the closed model has no rate: each user sends when its last answer has arrived; leave it out, or \
                 write model = \"open\"";
    section.refuse(&RATES, waits)?;
    section.refuse(&["spacing", "seed"], "the closed model has no schedule; leave it out")?;
    section.refuse(&["requests-per-session", "sessions"], "applies only to model = \"partly-open\"")?;
    let users = read_users(&section.require("users", "the closed model needs it; for example users = 10")?)?;
    if !users.is_constant() {
        let help = "requests are dealt out to users, and one who leaves could not send the rest; leave it out";
        section.refuse(&["requests"], help)?;
    }
    let horizon = horizon(section, "requests", users.natural_length())?;
    Ok(LoadModel::Closed { users, think_time: think_time(section)?, horizon })
}

fn read_users(field: &Field<'_>) -> Result<Users> {
    if field.is_string() {
        return field.string()?.parse().map_err(|error| field.error(error));
    }
    field.whole(1..=u32::MAX, COUNT).map(Users::constant)
}

fn partly_open(section: &Section<'_>, read: &ReadFile<'_>) -> Result<LoadModel> {
    section.refuse(&["users"], "applies only to model = \"closed\"; here the rate sets how many sessions arrive")?;
    section.refuse(&["requests"], "the partly open model counts sessions; write sessions = N")?;
    let per_session = section.require("requests-per-session", "for example requests-per-session = 5")?;
    Ok(LoadModel::PartlyOpen {
        requests_per_session: per_session.whole(1..=u32::MAX, COUNT)?,
        sessions: schedule(section, "sessions", read)?,
        think_time: think_time(section)?,
    })
}

fn think_time(section: &Section<'_>) -> Result<Nanos> {
    section.get("think-time").map_or(Ok(Nanos::ZERO), |time| time.duration())
}

fn schedule(section: &Section<'_>, count_key: &'static str, read: &ReadFile<'_>) -> Result<Schedule> {
    let profile = profile(section, read)?;
    let spacing = section.get("spacing").map_or(Ok(Spacing::Even), |field| read_spacing(&field))?;
    let seed = section.get("seed").map_or(Ok(1), |seed| seed.whole(0..=u64::MAX, "a whole number from 0"))?;
    let horizon = horizon(section, count_key, profile.natural_length())?;
    Ok(Schedule { profile, spacing, seed, horizon })
}

fn read_spacing(field: &Field<'_>) -> Result<Spacing> {
    field.string()?.parse().map_err(|error| field.error(error))
}

/// Reads the profile from `rate`, `profile` or `trace-ns`; they exclude each other.
fn profile(section: &Section<'_>, read: &ReadFile<'_>) -> Result<Profile> {
    let given: Vec<Field<'_>> = RATES.into_iter().filter_map(|key| section.get(key)).collect();
    if let [first, second, ..] = &given[..] {
        return Err(second.error(format!("the rate is already set on line {}; keep only one", first.line())));
    }
    match given.first() {
        Some(field) if field.key() == "rate" => read_rate(field).map(Profile::constant),
        Some(field) if field.key() == "profile" => read_profile(field, read),
        Some(field) => {
            let instants = field.whole_numbers()?.into_iter().map(Timestamp).collect();
            Trace::new(instants).map(Profile::Trace).map_err(|error| field.error(error))
        }
        None => {
            let help = "write rate = 1000, or profile = \"ramp:100..2000/60s\"";
            Err(section.error(format!("missing key 'rate' in [workload]; {help}")))
        }
    }
}

fn read_rate(field: &Field<'_>) -> Result<Rate> {
    if field.is_string() {
        return field.string()?.parse().map_err(|error| field.error(error));
    }
    Rate::per_second(field.number()?).map_err(|error| field.error(error))
}

fn read_profile(field: &Field<'_>, read: &ReadFile<'_>) -> Result<Profile> {
    let text = field.string()?;
    let Some(file) = text.strip_prefix("trace:") else {
        return text.parse().map_err(|error| field.error(error));
    };
    let recording = read(file).map_err(|problem| field.error(format!("trace '{file}': {problem}")))?;
    Trace::parse(&recording).map(Profile::Trace).map_err(|error| field.error(format!("{file}: {error}")))
}

/// Reads the horizon; without one, `natural`, the length of the profile, is the duration.
fn horizon(section: &Section<'_>, count_key: &'static str, natural: Option<Nanos>) -> Result<Horizon> {
    let duration = section.get("duration").map(|duration| duration.length()).transpose()?;
    let requests = section.get(count_key).map(|count| count.whole(1..=u64::MAX, COUNT)).transpose()?;
    match (duration, requests, natural) {
        (None, None, None) => {
            Err(section.error(format!("[workload] has no end; write duration = \"60s\" or {count_key} = 60000")))
        }
        (None, None, natural) => Ok(Horizon { duration: natural, requests }),
        _ => Ok(Horizon { duration, requests }),
    }
}

fn limits(section: &Section<'_>, kind: LoadModelKind) -> Result<Limits> {
    let default = Limits::default();
    if kind != LoadModelKind::PartlyOpen {
        section.refuse(&["connection-per-session"], "applies only to model = \"partly-open\", which has sessions")?;
    }
    let wanted = "a whole number from 1; leave it out for no cap";
    let channels = section.get("channels").map(|n| n.whole(1..=MAX_CHANNELS, CHANNELS)).transpose()?;
    if channels.is_some() {
        let help = "messages share the channels, and none waits for a free one; leave it out, or leave out channels";
        section.refuse(&["connections", "connection-per-session"], help)?;
    }
    Ok(Limits {
        connections: section.get("connections").map(|n| n.whole(1..=u32::MAX, wanted)).transpose()?,
        connection_per_session: section.get("connection-per-session").map_or(Ok(false), |given| given.flag())?,
        timeout: section.get("timeout").map_or(Ok(default.timeout), |timeout| read_timeout(&timeout))?,
        channels,
        drain: section.get("drain").map_or(Ok(default.drain), |drain| drain.duration())?,
    })
}

fn read_timeout(field: &Field<'_>) -> Result<Option<Nanos>> {
    if field.is_string() && field.string()? == "none" {
        return Ok(None);
    }
    match field.duration()? {
        Nanos::ZERO => Err(field.error("must be longer than zero; write \"none\" for no timeout")),
        timeout => Ok(Some(timeout)),
    }
}

fn warmup(section: &Section<'_>, duration: Option<Nanos>) -> Result<Nanos> {
    let Some(field) = section.get("warmup") else { return Ok(Nanos::ZERO) };
    let warmup = field.duration()?;
    match duration {
        Some(duration) if warmup >= duration => {
            Err(field.error(format!("a warm-up of {warmup} leaves nothing to measure in a run of {duration}")))
        }
        _ => Ok(warmup),
    }
}
