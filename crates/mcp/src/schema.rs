//! Parts of JSON schemas.

use serde_json::{Map, Value, json};

/// Returns the schema of an object with these members, and no others.
pub(crate) fn arguments(members: &[(&str, Value)], required: &[&str]) -> Value {
    let mut schema = object(members, required);
    schema["additionalProperties"] = json!(false);
    schema
}

/// Returns the schema of an object with these members, and perhaps others.
pub(crate) fn object(members: &[(&str, Value)], required: &[&str]) -> Value {
    let properties: Map<String, Value> = members.iter().map(|(name, of)| ((*name).to_owned(), of.clone())).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// Returns the schema of a value of this type: `string`, `number`, `integer`, `boolean` or `object`.
pub(crate) fn value(of: &str, about: &str) -> Value {
    json!({"type": of, "description": about})
}

/// Returns the schema of a value that may be null.
pub(crate) fn optional(of: &str, about: &str) -> Value {
    json!({"type": [of, "null"], "description": about})
}

/// Returns the schema of an array.
pub(crate) fn array(items: &Value, about: &str) -> Value {
    json!({"type": "array", "items": items, "description": about})
}

/// Returns the schema of a text that is one of these.
pub(crate) fn one_of(names: &[&str], about: &str) -> Value {
    json!({"type": "string", "enum": names, "description": about})
}

/// Returns the schema of a verdict.
pub(crate) fn verdict() -> Value {
    let reason = object(
        &[("code", value("string", "")), ("state", value("string", "")), ("message", value("string", ""))],
        &["code", "message"],
    );
    object(
        &[
            ("state", one_of(&["VALID", "SUSPECT", "INVALID"], "INVALID: do not use the numbers")),
            ("reasons", array(&reason, "Why it is not VALID")),
        ],
        &["state", "reasons"],
    )
}

/// Returns the schema of a distribution of times.
pub(crate) fn distribution(about: &str) -> Value {
    let quantile = object(
        &[
            ("q", value("number", "0.99 for p99")),
            ("value_ns", optional("integer", "null: the run has too few requests for it")),
            ("low_ns", optional("integer", "95 % confidence interval")),
            ("high_ns", optional("integer", "null: unbounded")),
            ("at_least", value("boolean", "The true value is this or more")),
            ("supported", value("boolean", "Whether the run has enough requests for it")),
        ],
        &["q", "value_ns", "supported"],
    );
    let mut schema = object(
        &[
            ("count", value("integer", "Number of values")),
            ("mean_ns", optional("number", "")),
            ("max_ns", optional("integer", "")),
            ("quantiles", array(&quantile, "Percentiles, ascending")),
        ],
        &["count", "quantiles"],
    );
    schema["description"] = json!(about);
    schema
}

/// Returns the schema of the gates of a run.
pub(crate) fn gates() -> Value {
    let gate = object(
        &[
            ("text", value("string", "The objective")),
            ("state", one_of(&["holds", "fails", "open"], "open: the run cannot decide it")),
            ("message", value("string", "")),
        ],
        &["text", "state"],
    );
    array(&gate, "Objectives, each decided by the bounds of the measurement")
}
