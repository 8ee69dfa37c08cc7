//! Upper bounds of every number of a run, so that sums over parts of a run, and over many runs, do not overflow.

use std::fmt;

use serde_json::Value;

use crate::Facts;

/// Limit on the arrivals of a run: a million per second for nine years.
pub(crate) const MAX_ARRIVALS: u64 = 1 << 48;
/// Limit on the duration of a run, nanoseconds: 36 years.
pub(crate) const LONGEST_NS: u64 = 1 << 60;
/// Limit on the bytes of all kept answers: an exbibyte.
pub(crate) const MAX_BYTES: u64 = 1 << 60;
/// Limit on every other number of a run: arrivals, nanoseconds or bytes.
const LARGEST: u64 = 1 << 60;

/// Fields that may hold any number: settings, dates and statements of other tools. They are added to nothing.
const OF_ANY_SIZE: [&str; 5] = ["offered", "claims", "seed", "stall_ns", "idle_timeout_ns"];

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TooLarge {
    /// Its path in `run.json`.
    pub place: String,
    pub value: u128,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}, but no run has more than {LARGEST}", self.place, self.value)
    }
}

/// Returns the first number in these facts that is above the limit. It visits every field, also ones added later.
pub(crate) fn too_large(facts: &Facts) -> Option<TooLarge> {
    let value = serde_json::to_value(facts).expect("a part of run.json");
    let steps = facts.sessions.iter().flat_map(|sessions| &sessions.steps);
    let requests: u128 = steps.map(|step| u128::from(step.reached) + u128::from(step.further())).sum();
    let of_steps = TooLarge {
        place: "sessions.steps[].reached, together with hops, retries and repeats,".to_owned(),
        value: requests,
    };
    in_value(&value, "").or_else(|| Some(of_steps).filter(|sum| sum.value > u128::from(LARGEST)))
}

fn in_value(value: &Value, place: &str) -> Option<TooLarge> {
    match value {
        Value::Number(number) => number
            .as_u64()
            .filter(|number| *number > LARGEST)
            .map(|number| TooLarge { place: place.to_owned(), value: u128::from(number) }),
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(nth, item)| in_value(item, &format!("{place}[{nth}]")))
        }
        Value::Object(fields) => {
            let mut bounded =
                fields.iter().filter(|(key, _)| !OF_ANY_SIZE.contains(&key.as_str()) && !key.ends_with("unix_ns"));
            bounded.find_map(|(key, field)| match place {
                "" => in_value(field, key),
                _ => in_value(field, &format!("{place}.{key}")),
            })
        }
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}
