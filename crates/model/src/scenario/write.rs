//! Writes a [`Scenario`] as TOML, and as the same tree of keys for serde, so that `run.json` can hold a scenario.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Scenario;
use super::keys::{Keys, Value};
use super::{faults, routes, stream};
use crate::arrival::{Horizon, Profile, Schedule};
use crate::service::{ReplyOrder, Service, StreamDescription, Variation};
use crate::workload::{LoadModel, Workload};

impl Scenario {
    /// Returns the scenario as a file, which [`Scenario::parse`] reads back to the same value, recordings included.
    pub fn to_toml(&self) -> String {
        self.keys().to_toml()
    }

    fn keys(&self) -> Keys {
        let mut keys = Keys::default();
        keys.put("name", self.name.as_str());
        keys.put("about", self.about.as_str());
        keys.put("path", self.path.as_str());
        keys.put("workload", workload_keys(&self.workload));
        keys.put("service", service_keys(&self.service));
        keys
    }
}

fn workload_keys(workload: &Workload) -> Keys {
    let mut keys = Keys::default();
    keys.put("model", workload.model.kind().name());
    match &workload.model {
        LoadModel::Open(schedule) => schedule_keys(&mut keys, schedule, "requests"),
        LoadModel::Closed { users, think_time, horizon } => {
            let number =
                if users.is_constant() { Value::from(users.most()) } else { Value::from(users.to_string().as_str()) };
            keys.put("users", number);
            keys.put("think-time", *think_time);
            horizon_keys(&mut keys, horizon, "requests");
        }
        LoadModel::PartlyOpen { sessions, requests_per_session, think_time } => {
            schedule_keys(&mut keys, sessions, "sessions");
            keys.put("requests-per-session", *requests_per_session);
            keys.put("think-time", *think_time);
        }
    }
    keys.put_if_any("connections", workload.limits.connections);
    keys.put_if_any("connection-per-session", workload.has_connection_per_session().then_some(true));
    keys.put_if_any("channels", workload.limits.channels);
    keys.put("timeout", workload.limits.timeout.map_or(Value::from("none"), Value::from));
    keys.put("drain", workload.limits.drain);
    keys.put("warmup", workload.warmup);
    keys
}

fn schedule_keys(keys: &mut Keys, schedule: &Schedule, count_key: &'static str) {
    match &schedule.profile {
        Profile::Constant(constant) => keys.put("rate", constant.rate.as_per_second()),
        Profile::Trace(trace) => {
            keys.put("trace-ns", trace.instants().iter().map(|instant| instant.0).collect::<Vec<_>>());
        }
        Profile::Stages(_) | Profile::Sine(_) => {
            keys.put("profile", schedule.profile.to_string().as_str());
        }
    }
    keys.put("spacing", schedule.spacing.to_string().as_str());
    keys.put("seed", schedule.seed);
    horizon_keys(keys, &schedule.horizon, count_key);
}

fn horizon_keys(keys: &mut Keys, horizon: &Horizon, count_key: &'static str) {
    keys.put_if_any("duration", horizon.duration);
    keys.put_if_any(count_key, horizon.requests);
}

fn service_keys(service: &Service) -> Keys {
    let stream = service.stream.as_ref();
    let routes: Vec<Keys> = service.routes.iter().map(routes::keys).collect();
    let mut keys = Keys::default();
    keys.put("baseline", service.baseline);
    keys.put("variation", if service.variation == Variation::Constant { "constant" } else { "exponential" });
    keys.put_if_any("concurrency", service.concurrency);
    keys.put("body-bytes", service.body_bytes);
    keys.put_if_any("replies", (service.replies == ReplyOrder::AsReady).then_some("as-ready"));
    keys.put("seed", service.seed);
    keys.put_if_any("stream", stream.map(stream::keys));
    keys.put_if_any("batch", stream.and_then(StreamDescription::batch).as_ref().map(stream::batch_keys));
    keys.put("fault", faults::all_keys(&service.faults));
    keys.put_if_any("route", (!routes.is_empty()).then_some(routes));
    keys
}

impl Serialize for Scenario {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.keys().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Scenario {
    /// Reads any keys, since [`Scenario::parse`] checks them.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Scenario, D::Error> {
        let text = Keys::deserialize(deserializer)?.to_toml();
        // Lines of this generated text mean nothing to the reader of the original.
        Scenario::parse(&text, "scenario").map_err(|error| D::Error::custom(error.message))
    }
}
