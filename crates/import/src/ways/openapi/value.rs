//! Values of parameters and bodies.

use std::collections::BTreeSet;

use serde_json::Value;

use super::document::Document;
use super::names::Names;
use super::schema::Schema;
use super::yaml::number_as_written;

/// Limit on nested objects.
const DEEPEST: usize = 12;

/// Returns the value that the description has for a parameter or media type, or for its schema.
pub(super) fn known<'a>(document: &'a Document, described: &'a Value) -> Option<&'a Value> {
    let examples = described.get("examples").and_then(Value::as_object);
    let first = examples.and_then(|examples| document.resolve(examples.values().next()?)?.get("value"));
    described.get("example").or(first).or_else(|| Schema::combined(document, &[described.get("schema")?]).value())
}

/// Returns a value for a path, a query or a header, or `None` if it is not a single value.
pub(super) fn in_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(number_as_written(text).map_or(text.as_str(), |number| number.text).to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Writes a value of this schema as JSON. A number keeps its notation, and becomes text if the schema is a string.
pub(super) fn in_json(value: &Value, schema: &Schema<'_>) -> String {
    let is_string = schema.kind() == Some("string");
    match value {
        Value::String(text) => match number_as_written(text) {
            Some(number) if is_string => Value::from(number.text).to_string(),
            Some(number) => number.json().to_owned(),
            None => value.to_string(),
        },
        Value::Number(_) | Value::Bool(_) if is_string => Value::from(value.to_string()).to_string(),
        Value::Array(list) => {
            let items = schema.items();
            format!("[{}]", list.iter().map(|item| in_json(item, &items)).collect::<Vec<_>>().join(","))
        }
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                format!("{}:{}", Value::from(name.as_str()), in_json(value, &schema.property(name)))
            };
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
        }
        _ => value.to_string(),
    }
}

pub(super) struct BodyMaker<'a, 'n> {
    pub(super) document: &'a Document,
    pub(super) names: &'n mut Names,
    /// The path of the operation.
    pub(super) path: &'n str,
    /// Placeholders of values that could not be filled in, with the reason.
    pub(super) unfilled: BTreeSet<(String, &'static str)>,
    /// The schemas whose values are being made.
    under_way: Vec<&'a Value>,
    /// Nesting depth of the values that are being made.
    depth: usize,
}

impl<'a, 'n> BodyMaker<'a, 'n> {
    pub(super) fn new(document: &'a Document, names: &'n mut Names, path: &'n str) -> BodyMaker<'a, 'n> {
        BodyMaker { document, names, path, unfilled: BTreeSet::new(), under_way: Vec::new(), depth: 0 }
    }

    /// Makes a body of this schema as JSON, with its required parts.
    pub(super) fn json(&mut self, schema: &'a Value) -> String {
        self.value("body", &Schema::combined(self.document, &[schema]))
    }

    fn value(&mut self, name: &str, schema: &Schema<'a>) -> String {
        if let Some(value) = schema.value() {
            let json = in_json(value, schema);
            self.document.spend(json.len() / 16);
            return json;
        }
        if let Some(why) = schema.problem() {
            return self.unfilled(name, why);
        }
        if self.depth == DEEPEST || schema.any(|part| self.under_way.iter().any(|one| std::ptr::eq(*one, part))) {
            return self.unfilled(name, "it contains itself, or too much");
        }
        let before = self.under_way.len();
        self.under_way.extend(schema.own());
        self.depth += 1;
        let made = self.made(name, schema);
        self.depth -= 1;
        self.under_way.truncate(before);
        made
    }

    fn made(&mut self, name: &str, schema: &Schema<'a>) -> String {
        match schema.kind() {
            Some("array") if schema.needs_items() => format!("[{}]", self.value(name, &schema.items())),
            Some("array") => "[]".to_owned(),
            Some("integer" | "number" | "boolean") => self.placeholder(name),
            Some("null") => "null".to_owned(),
            Some("object") => self.object(schema),
            _ => format!("\"{}\"", self.placeholder(name)),
        }
    }

    /// Makes an object with its required members, and members with a known value.
    fn object(&mut self, schema: &Schema<'a>) -> String {
        let required = schema.required();
        let names: BTreeSet<&str> = schema.properties().chain(required.iter().copied()).collect();
        let mut members = Vec::new();
        for name in names {
            let property = schema.property(name);
            if !property.is_read_only() && (required.contains(name) || property.value().is_some()) {
                members.push(format!("{}:{}", Value::from(name), self.value(name, &property)));
            }
        }
        format!("{{{}}}", members.join(","))
    }

    fn placeholder(&mut self, name: &str) -> String {
        self.names.placeholder(name, &format!("body {} {name}", self.path), self.path)
    }

    /// Returns a placeholder for any JSON.
    fn unfilled(&mut self, name: &str, why: &'static str) -> String {
        let placeholder = self.placeholder(name);
        self.unfilled.insert((placeholder.clone(), why));
        placeholder
    }
}
