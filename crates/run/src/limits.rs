//! What no run exceeds. Sums over the parts of a run, and over many runs, do not overflow.

use std::fmt;

use serde_json::Value;

use crate::Facts;

/// More arrivals than a run can have: a million a second for nine years.
pub(crate) const MAX_ARRIVALS: u64 = 1 << 48;
/// Longer than a run can be, in nanoseconds: 36 years.
pub(crate) const LONGEST_NS: u64 = 1 << 60;
/// More bytes than the answers that were kept can have: an exbibyte.
pub(crate) const MAX_BYTES: u64 = 1 << 60;
/// Larger than anything that a run counts or measures, be it in arrivals, nanoseconds or bytes.
const LARGEST: u64 = 1 << 60;

/// What somebody said, or a date: it may be any number, and is added to nothing.
const OF_ANY_SIZE: [&str; 5] = ["offered", "claims", "seed", "stall_ns", "idle_timeout_ns"];

/// A number of a run that is larger than any run can have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TooLarge {
    /// Its place in `run.json`.
    pub place: String,
    /// The number.
    pub value: u128,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}, but no run has more than {LARGEST}", self.place, self.value)
    }
}

/// The first number of these facts that no run can have. A field that is added to the facts is looked at too.
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
