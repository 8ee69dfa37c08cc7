//! Writes a [`Scenario`] as TOML, and as the same tree of keys for serde, so that `run.json` can hold a scenario.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Scenario;
use super::keys::{Keys, Value};
use super::{faults, routes, stream};
use crate::arrival::{Profile, Schedule, Spacing};
use crate::service::{Fault, Route, Service, StreamDescription, Variation};
use crate::workload::{LoadModel, Workload};

impl Scenario {
    /// Returns the scenario as a file, which [`Scenario::parse`] reads back to the same value, recordings included.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        let mut table = |title: &str, keys: &Keys| {
            if !title.is_empty() {
                let _ = writeln!(text, "\n{title}");
            }
            for (key, value) in keys.iter() {
                let _ = writeln!(text, "{key} = {value}");
            }
        };
        table("", &top_keys(self));
        table("[workload]", &workload_keys(&self.workload));
        table("[service]", &service_keys(&self.service));
        if let Some(description) = &self.service.stream {
            table("[service.stream]", &stream::keys(description));
            description.batch().iter().for_each(|batch| table("[service.batch]", &stream::batch_keys(batch)));
        }
        self.service.faults.iter().for_each(|fault| table("[[service.fault]]", &faults::keys(fault)));
        for route in &self.service.routes {
            table("[[service.route]]", &routes::keys(route));
            route.faults.iter().for_each(|fault| table("[[service.route.fault]]", &faults::keys(fault)));
        }
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
    if workload.has_connection_per_session() {
        keys.put("connection-per-session", Value::Flag(true));
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
        Profile::Steps(_) | Profile::Ramp(_) | Profile::Sine(_) => {
            keys.put("profile", schedule.profile.to_string().as_str());
        }
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

/// The tree that serde writes: the keys of the file, in its order.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<Keys>,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<Keys>,
    fault: Vec<Keys>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    route: Vec<WrittenRoute>,
}

#[derive(Serialize)]
struct WrittenRoute {
    #[serde(flatten)]
    own: Keys,
    fault: Vec<Keys>,
}

impl Serialize for Scenario {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let faults = |faults: &[Fault]| faults.iter().map(faults::keys).collect();
        let route = |route: &Route| WrittenRoute { own: routes::keys(route), fault: faults(&route.faults) };
        let description = self.service.stream.as_ref();
        let service = WrittenService {
            own: service_keys(&self.service),
            stream: description.map(stream::keys),
            batch: description.and_then(StreamDescription::batch).as_ref().map(stream::batch_keys),
            fault: faults(&self.service.faults),
            route: self.service.routes.iter().map(route).collect(),
        };
        Written { top: top_keys(self), workload: workload_keys(&self.workload), service }.serialize(serializer)
    }
}

/// The tree that serde reads: any keys, since [`Scenario::parse`] checks them.
#[derive(Deserialize)]
struct Read {
    workload: BTreeMap<String, Value>,
    service: ReadService,
    #[serde(flatten)]
    top: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct ReadService {
    stream: Option<BTreeMap<String, Value>>,
    batch: Option<BTreeMap<String, Value>>,
    #[serde(default)]
    fault: Vec<BTreeMap<String, Value>>,
    #[serde(default)]
    route: Vec<ReadRoute>,
    #[serde(flatten)]
    own: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct ReadRoute {
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
        self.service.stream.iter().for_each(|stream| table("[service.stream]", stream));
        self.service.batch.iter().for_each(|batch| table("[service.batch]", batch));
        self.service.fault.iter().for_each(|fault| table("[[service.fault]]", fault));
        for route in &self.service.route {
            table("[[service.route]]", &route.own);
            route.fault.iter().for_each(|fault| table("[[service.route.fault]]", fault));
        }
        text
    }
}

impl<'de> Deserialize<'de> for Scenario {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Scenario, D::Error> {
        let tree = Read::deserialize(deserializer)?;
        // Lines of this generated text mean nothing to the reader of the original.
        Scenario::parse(&tree.to_toml(), "scenario").map_err(|error| D::Error::custom(error.message))
    }
}
