//! [`Scenario`] → TOML, and the same tree of keys for serde, so that a scenario can stand in `run.json` and be read
//! back from there.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Scenario;
use crate::arrival::{Profile, Schedule, Spacing};
use crate::service::{Fault, Gate, Selector, Service, Variation};
use crate::time::Nanos;
use crate::workload::{LoadModel, Workload};

/// A value of the tree.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Value {
    Flag(bool),
    Whole(u64),
    Number(f64),
    Text(String),
    Wholes(Vec<u64>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<Nanos> for Value {
    fn from(nanos: Nanos) -> Value {
        Value::Text(nanos.to_string())
    }
}

impl fmt::Display for Value {
    /// As TOML writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::Whole(whole) => write!(f, "{whole}"),
            // A whole number without a point would read back as an integer, which may be too long to be one.
            Value::Number(number) => write!(f, "{number:?}"),
            Value::Text(text) => write!(f, "{}", toml::Value::String(text.clone())),
            Value::Wholes(wholes) => write!(f, "{wholes:?}"),
        }
    }
}

/// The keys of one table, in the order in which they are written.
#[derive(Default)]
struct Keys(Vec<(&'static str, Value)>);

impl Keys {
    fn put(&mut self, key: &'static str, value: impl Into<Value>) {
        self.0.push((key, value.into()));
    }

    fn put_whole(&mut self, key: &'static str, value: impl Into<u64>) {
        self.0.push((key, Value::Whole(value.into())));
    }
}

impl Serialize for Keys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl Scenario {
    /// The scenario as a file. [`Scenario::parse`] reads it back to the same value; a recording is written out as
    /// `trace-ns`, so that no second file is needed.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        let mut table = |title: &str, keys: &Keys| {
            if !title.is_empty() {
                let _ = writeln!(text, "\n{title}");
            }
            for (key, value) in &keys.0 {
                let _ = writeln!(text, "{key} = {value}");
            }
        };
        table("", &top_keys(self));
        table("[workload]", &workload_keys(&self.workload));
        table("[service]", &service_keys(&self.service));
        self.service.faults.iter().for_each(|fault| table("[[service.fault]]", &fault_keys(fault)));
        text
    }
}

fn top_keys(scenario: &Scenario) -> Keys {
    let mut keys = Keys::default();
    keys.put("name", scenario.name.as_str());
    keys.put("about", scenario.about.as_str());
    keys.put("path", scenario.path.as_str());
    keys
}

fn workload_keys(workload: &Workload) -> Keys {
    let mut keys = Keys::default();
    keys.put("model", workload.model.kind().name());
    match &workload.model {
        LoadModel::Open(schedule) => schedule_keys(&mut keys, schedule, "requests"),
        LoadModel::Closed { users, think_time, horizon } => {
            keys.put_whole("users", *users);
            keys.put("think-time", *think_time);
            horizon_keys(&mut keys, horizon, "requests");
        }
        LoadModel::PartlyOpen { sessions, requests_per_session, think_time } => {
            schedule_keys(&mut keys, sessions, "sessions");
            keys.put_whole("requests-per-session", *requests_per_session);
            keys.put("think-time", *think_time);
        }
    }
    if let Some(connections) = workload.limits.connections {
        keys.put_whole("connections", connections);
    }
    match workload.limits.timeout {
        Some(timeout) => keys.put("timeout", timeout),
        None => keys.put("timeout", "none"),
    }
    keys.put("drain", workload.limits.drain);
    keys.put("warmup", workload.warmup);
    keys
}

fn schedule_keys(keys: &mut Keys, schedule: &Schedule, count_key: &'static str) {
    match &schedule.profile {
        Profile::Constant(constant) => keys.put("rate", Value::Number(constant.rate.as_per_second())),
        Profile::Trace(trace) => {
            keys.put("trace-ns", Value::Wholes(trace.instants().iter().map(|instant| instant.0).collect()));
        }
        other => keys.put("profile", other.to_string().as_str()),
    }
    keys.put("spacing", if schedule.spacing == Spacing::Even { "even" } else { "poisson" });
    keys.put_whole("seed", schedule.seed);
    horizon_keys(keys, &schedule.horizon, count_key);
}

fn horizon_keys(keys: &mut Keys, horizon: &crate::arrival::Horizon, count_key: &'static str) {
    if let Some(duration) = horizon.duration {
        keys.put("duration", duration);
    }
    if let Some(requests) = horizon.requests {
        keys.put_whole(count_key, requests);
    }
}

fn service_keys(service: &Service) -> Keys {
    let mut keys = Keys::default();
    keys.put("baseline", service.baseline);
    keys.put("variation", if service.variation == Variation::Constant { "constant" } else { "exponential" });
    if let Some(concurrency) = service.concurrency {
        keys.put_whole("concurrency", concurrency);
    }
    keys.put_whole("body-bytes", service.body_bytes);
    keys.put_whole("seed", service.seed);
    keys
}

fn fault_keys(fault: &Fault) -> Keys {
    let mut keys = Keys::default();
    keys.put("kind", fault.kind().name());
    match fault {
        Fault::Stall { at, length, gate } => {
            keys.put("at", at.since_origin());
            keys.put("for", *length);
            keys.put("gate", gate_name(*gate));
        }
        Fault::RecurringStall { first, every, length, times, gate } => {
            keys.put("first", first.since_origin());
            keys.put("every", *every);
            keys.put("for", *length);
            if let Some(times) = times {
                keys.put_whole("times", *times);
            }
            keys.put("gate", gate_name(*gate));
        }
        Fault::Ramp { from, to, target } => {
            keys.put("from", from.since_origin());
            keys.put("to", to.since_origin());
            keys.put("target", *target);
        }
        Fault::EveryNth { every, pause } => {
            keys.put_whole("every", *every);
            keys.put("pause", *pause);
        }
        Fault::ErrorStatus { status, immediately, select } => {
            keys.put_whole("status", *status);
            keys.put("immediately", Value::Flag(*immediately));
            select_keys(&mut keys, select);
        }
        Fault::SlowBody { over, select } => {
            keys.put("over", *over);
            select_keys(&mut keys, select);
        }
        Fault::Reset { select }
        | Fault::BlackHole { select }
        | Fault::ShortBody { select }
        | Fault::Garbage { select } => select_keys(&mut keys, select),
    }
    keys
}

const fn gate_name(gate: Gate) -> &'static str {
    match gate {
        Gate::Answers => "answers",
        Gate::Arrivals => "arrivals",
    }
}

fn select_keys(keys: &mut Keys, select: &Selector) {
    if let Some(every) = select.every {
        keys.put_whole("every", every);
    }
    if let Some(share) = select.share {
        keys.put("share", Value::Number(share));
    }
    if let Some(at) = select.at {
        keys.put("at", at.since_origin());
    }
    if let Some(length) = select.length {
        keys.put("for", length);
    }
}

/// The tree as serde writes it: the keys of the file, in its order.
#[derive(Serialize)]
struct Written {
    #[serde(flatten)]
    top: Keys,
    workload: Keys,
    service: WrittenService,
}

#[derive(Serialize)]
struct WrittenService {
    #[serde(flatten)]
    own: Keys,
    fault: Vec<Keys>,
}

impl Serialize for Scenario {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fault = self.service.faults.iter().map(fault_keys).collect();
        let service = WrittenService { own: service_keys(&self.service), fault };
        Written { top: top_keys(self), workload: workload_keys(&self.workload), service }.serialize(serializer)
    }
}

/// The tree as serde reads it: any keys, since [`Scenario::parse`] judges them.
#[derive(Deserialize)]
struct Read {
    workload: BTreeMap<String, Value>,
    service: ReadService,
    #[serde(flatten)]
    top: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct ReadService {
    #[serde(default)]
    fault: Vec<BTreeMap<String, Value>>,
    #[serde(flatten)]
    own: BTreeMap<String, Value>,
}

impl Read {
    fn to_toml(&self) -> String {
        let mut text = String::new();
        let mut table = |title: &str, keys: &BTreeMap<String, Value>| {
            let _ = writeln!(text, "{title}");
            for (key, value) in keys {
                let _ = writeln!(text, "{} = {value}", toml::Value::String(key.clone()));
            }
        };
        table("", &self.top);
        table("[workload]", &self.workload);
        table("[service]", &self.service.own);
        self.service.fault.iter().for_each(|fault| table("[[service.fault]]", fault));
        text
    }
}

impl<'de> Deserialize<'de> for Scenario {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Scenario, D::Error> {
        let tree = Read::deserialize(deserializer)?;
        // The lines of the text made here mean nothing to the reader of the original.
        Scenario::parse(&tree.to_toml(), "scenario").map_err(|error| D::Error::custom(error.message))
    }
}
