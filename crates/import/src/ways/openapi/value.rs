//! Values of parameters and bodies.

use serde_json::Value;

use super::document::Document;
use super::names::Names;

/// Objects inside of objects.
const DEEPEST: usize = 12;

/// What the description has as a value: of a parameter or media type, or of its schema.
pub(super) fn known<'a>(document: &'a Document, described: &'a Value) -> Option<&'a Value> {
    let examples = described.get("examples").and_then(Value::as_object);
    let first = examples.and_then(|examples| document.resolve(examples.values().next()?)?.get("value"));
    described.get("example").or(first).or_else(|| of_schema(document.resolve(described.get("schema")?)?))
}

fn of_schema(schema: &Value) -> Option<&Value> {
    let first = |list: &'static str| schema.get(list)?.as_array()?.first();
    schema
        .get("example")
        .or_else(|| first("examples"))
        .or_else(|| schema.get("const"))
        .or_else(|| schema.get("default").filter(|value| !value.is_null()).or_else(|| first("enum")))
}

/// A value in a path, a query or a header; `None`: it is none of a single piece.
pub(super) fn in_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        Value::Array(list) => list.iter().map(in_text).collect::<Option<Vec<_>>>().map(|list| list.join(",")),
        Value::Null | Value::Object(_) => None,
    }
}

/// Makes bodies.
pub(super) struct BodyMaker<'a> {
    pub(super) document: &'a Document,
    pub(super) names: &'a mut Names,
    /// The path of the operation.
    pub(super) path: &'a str,
}

impl BodyMaker<'_> {
    /// A body of this schema as JSON, with what it has to have; `None`, where a reference leads nowhere or round in a circle.
    pub(super) fn json(&mut self, schema: &Value) -> Option<String> {
        self.value("body", schema, DEEPEST)
    }

    fn value(&mut self, name: &str, schema: &Value, deeper: usize) -> Option<String> {
        let document = self.document;
        let schema = document.resolve(schema)?;
        if let Some(value) = of_schema(schema) {
            return Some(value.to_string());
        }
        let deeper = deeper.checked_sub(1)?;
        let part = ["allOf", "oneOf", "anyOf"].into_iter().find_map(|of| Some((of, schema.get(of)?.as_array()?)));
        match part {
            Some(("allOf", parts)) => {
                let mut members = Vec::new();
                for part in parts.iter().chain([schema]) {
                    self.members(document.resolve(part)?, &mut members, deeper)?;
                }
                return Some(format!("{{{}}}", members.join(",")));
            }
            Some((_, choices)) => return self.value(name, choices.first()?, deeper),
            None => {}
        }
        let kind = schema.get("type").and_then(|kind| kind.as_str().or_else(|| kind.get(0)?.as_str()));
        Some(match kind {
            Some("array") => match schema.get("items").filter(|_| schema["minItems"].as_u64() > Some(0)) {
                Some(items) => format!("[{}]", self.value(name, items, deeper)?),
                None => "[]".to_owned(),
            },
            Some("integer" | "number" | "boolean") => self.placeholder(name),
            Some("string") => format!("\"{}\"", self.placeholder(name)),
            Some("null") => "null".to_owned(),
            _ if kind == Some("object") || schema.get("properties").is_some() => {
                let mut members = Vec::new();
                self.members(schema, &mut members, deeper)?;
                format!("{{{}}}", members.join(","))
            }
            _ => format!("\"{}\"", self.placeholder(name)),
        })
    }

    /// The members that an object has to have, and those for which there is a value.
    fn members(&mut self, schema: &Value, members: &mut Vec<String>, deeper: usize) -> Option<()> {
        let document = self.document;
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let described = document.resolve(property)?;
            let is_written = described["readOnly"] != true;
            if is_written && (required.contains(&name.as_str()) || of_schema(described).is_some()) {
                members.push(format!("{}:{}", Value::from(name.as_str()), self.value(name, described, deeper)?));
            }
        }
        Some(())
    }

    fn placeholder(&mut self, name: &str) -> String {
        self.names.placeholder(name, &format!("body {} {name}", self.path), self.path)
    }
}
