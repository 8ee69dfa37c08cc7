//! Recorded bodies of requests, as rows.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::llm::refuses_stream;

const BEFORE: &str = "{\"body\":";
const AFTER: &str = "}\n";

/// Returns the row of a body.
pub(super) fn row(body: &str) -> String {
    [BEFORE, body, AFTER].concat()
}

/// Returns the body of a row; `None` if the row has another form.
fn body_of(line: &[u8]) -> Option<&[u8]> {
    line.strip_prefix(BEFORE.as_bytes())?.strip_suffix(AFTER.as_bytes())
}

/// Returns the place, from 0, of the first row whose body [refuses a stream](refuses_stream).
pub fn first_refusing_stream(json_lines: &[u8]) -> Option<usize> {
    json_lines.split_inclusive(|byte| *byte == b'\n').position(|line| body_of(line).is_some_and(refuses_stream))
}

/// Adds members (name, JSON value) to the bodies of these rows, unless a body has members of these names.
pub fn bodies_asking(json_lines: &[u8], members: &[(&str, &str)]) -> Vec<u8> {
    let mut all = Vec::with_capacity(json_lines.len());
    for line in json_lines.split_inclusive(|byte| *byte == b'\n') {
        let body = body_of(line);
        let there = body.and_then(|body| serde_json::from_slice::<Members<'_>>(body).ok());
        let (Some(body), Some(there)) = (body, there) else {
            all.extend_from_slice(line);
            continue;
        };
        let missing: Vec<String> = members
            .iter()
            .filter(|(name, _)| !there.0.iter().any(|(there, _)| there == name))
            .map(|(name, value)| format!("\"{name}\":{value}"))
            .collect();
        let between = if missing.is_empty() || there.0.is_empty() { "" } else { "," };
        let open = body.iter().position(|byte| *byte == b'{').map_or(body.len(), |at| at + 1);
        all.extend_from_slice(format!("{BEFORE}{{{}{between}", missing.join(",")).as_bytes());
        all.extend_from_slice(&body[open..]);
        all.extend_from_slice(AFTER.as_bytes());
    }
    all
}

/// Members of a JSON object in their order, with values as they are written.
pub(super) struct Members<'b>(Vec<(Cow<'b, str>, &'b RawValue)>);

impl Members<'_> {
    /// Returns the object with this model in front, in place of the recorded one.
    pub(super) fn with_model(&self, model: &str) -> String {
        let text = |value: &str| serde_json::to_string(value).expect("every text has a JSON form");
        let others = self.0.iter().filter(|(name, _)| name != "model");
        let others = others.map(|(name, value)| format!("{}:{}", text(name), value.get()));
        let all: Vec<String> = std::iter::once(format!("\"model\":{}", text(model))).chain(others).collect();
        format!("{{{}}}", all.join(","))
    }
}

impl<'de: 'b, 'b> Deserialize<'de> for Members<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a body that is a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    members.push((Cow::Owned(name), map.next_value()?));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}
