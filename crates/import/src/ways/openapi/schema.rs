use std::collections::BTreeSet;

use serde_json::Value;

use super::document::Document;

/// Limit on nested references and parts.
const DEEPEST: usize = 16;
/// Limit on the parts of one schema.
const MAX_PARTS: usize = 256;

/// A schema, combined with its references, all of its `allOf`, and the first non-null of its `oneOf` and `anyOf`.
pub(super) struct Schema<'a> {
    document: &'a Document,
    parts: Vec<Part<'a>>,
    problem: Option<&'static str>,
}

struct Part<'a> {
    of: &'a Value,
    /// The part describes the whole value: it is the schema itself, or the target of its reference.
    is_whole: bool,
}

impl<'a> Schema<'a> {
    /// Combines these schemas into one.
    pub(super) fn combined(document: &'a Document, schemas: &[&'a Value]) -> Schema<'a> {
        let mut schema = Schema { document, parts: Vec::new(), problem: None };
        schemas.iter().for_each(|one| schema.add(one, schemas.len() == 1, DEEPEST));
        if !schema.parts.is_empty() && schema.problem.is_none() && !schema.any(|part| part.get("$ref").is_none()) {
            schema.problem = Some("it refers to itself");
        }
        schema
    }

    fn add(&mut self, of: &'a Value, is_whole: bool, deeper: usize) {
        if self.problem.is_some() || self.parts.iter().any(|part| std::ptr::eq(part.of, of)) {
            return;
        }
        if deeper == 0 || self.parts.len() == MAX_PARTS || !self.document.spend(1) {
            self.problem = Some("the description has too many parts");
            return;
        }
        let deeper = deeper - 1;
        self.parts.push(Part { of, is_whole });
        match of.get("$ref").map(|reference| self.document.target(reference)) {
            Some(Some(target)) => self.add(target, is_whole, deeper),
            Some(None) => self.problem = Some("it refers to another file, or to nothing"),
            None => {}
        }
        let list = |key: &str| of.get(key).and_then(Value::as_array).into_iter().flatten();
        for part in list("allOf") {
            self.add(part, false, deeper);
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(choice) = list(key).find(|choice| choice["type"] != "null").or(list(key).next()) {
                self.add(choice, false, deeper);
            }
        }
    }

    fn all(&self, key: &'static str) -> impl Iterator<Item = &'a Value> {
        self.parts.iter().filter_map(move |part| part.of.get(key))
    }

    /// Returns the reason why the schema is not fully known.
    pub(super) fn problem(&self) -> Option<&'static str> {
        self.problem
    }

    /// Returns the schema itself, and the targets of its references.
    pub(super) fn own(&self) -> impl Iterator<Item = &'a Value> {
        self.parts.iter().filter(|part| part.is_whole).map(|part| part.of)
    }

    pub(super) fn any(&self, is: impl Fn(&'a Value) -> bool) -> bool {
        self.parts.iter().any(|part| is(part.of))
    }

    /// Returns a value from the description. An example of only a part must have all required members.
    pub(super) fn value(&self) -> Option<&'a Value> {
        const LOOKED_AT: [&str; 5] = ["example", "examples", "const", "default", "enum"];
        LOOKED_AT.iter().find_map(|key| {
            self.parts.iter().find_map(|part| {
                let found = part.of.get(key)?;
                let found = if matches!(*key, "examples" | "enum") { found.as_array()?.first()? } else { found };
                let is_all = |members: &serde_json::Map<String, Value>| {
                    self.required().iter().all(|name| members.contains_key(*name))
                };
                let fits = match found {
                    Value::Null => *key != "default" && self.parts.iter().all(|part| allows_null(part.of)),
                    Value::Object(members) => part.is_whole || is_all(members),
                    _ => true,
                };
                fits.then_some(found)
            })
        })
    }

    /// Returns the type of its values, other than null.
    pub(super) fn kind(&self) -> Option<&'a str> {
        let named = self.all("type").find_map(|kind| match kind {
            Value::String(kind) => Some(kind.as_str()),
            kind => {
                let kinds = || kind.as_array().into_iter().flatten().filter_map(Value::as_str);
                kinds().find(|kind| *kind != "null").or(kinds().next())
            }
        });
        named.or_else(|| self.any(|part| part.get("properties").is_some()).then_some("object"))
    }

    pub(super) fn required(&self) -> BTreeSet<&'a str> {
        self.all("required").filter_map(Value::as_array).flatten().filter_map(Value::as_str).collect()
    }

    pub(super) fn properties(&self) -> impl Iterator<Item = &'a str> {
        self.all("properties").filter_map(Value::as_object).flatten().map(|(name, _)| name.as_str())
    }

    /// Returns the combined schema of a property.
    pub(super) fn property(&self, name: &str) -> Schema<'a> {
        let said: Vec<&Value> = self.all("properties").filter_map(|properties| properties.get(name)).collect();
        Schema::combined(self.document, &said)
    }

    /// Returns the combined schema of the items.
    pub(super) fn items(&self) -> Schema<'a> {
        Schema::combined(self.document, &self.all("items").collect::<Vec<_>>())
    }

    pub(super) fn needs_items(&self) -> bool {
        self.all("minItems").any(|least| least.as_u64() > Some(0))
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.all("readOnly").any(|is| *is == true)
    }
}

fn allows_null(schema: &Value) -> bool {
    schema["nullable"] == true
        || schema.get("type").is_none_or(|kind| {
            kind == "null" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "null"))
        })
}
