use std::cell::Cell;

use serde_json::Value;
use truetail_requests::BaseUrl;

use super::yaml;

/// Limit on the references that are followed in sequence.
const MAX_REFERENCES: usize = 16;
/// Limit on the work: a part of a schema counts 1, and so do 16 bytes of output.
const MAX_STEPS: usize = 1_000_000;

/// A description in OpenAPI 3, with its references.
pub(super) struct Document {
    root: Value,
    steps: Cell<usize>,
}

impl Document {
    /// Reads JSON or YAML.
    pub(super) fn parse(bytes: &[u8]) -> Result<Document, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let document: Value = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|error| format!("this is no JSON: {error}"))?
        } else {
            yaml::read(text).map_err(|error| format!("this is no YAML: {}", first_line(&error)))?
        };
        match document.get("openapi").and_then(Value::as_str) {
            Some(version) if version.starts_with("3.") => Ok(Document { root: document, steps: Cell::new(MAX_STEPS) }),
            Some(version) => Err(format!("this is OpenAPI {version}; only version 3 is read")),
            None if document.get("swagger").is_some() => {
                Err("this is Swagger 2; a converter to OpenAPI 3, such as swagger2openapi, helps".to_owned())
            }
            None => Err("this is no OpenAPI: it has no 'openapi: 3…'".to_owned()),
        }
    }

    /// Returns the base of the requests' URLs.
    pub(super) fn base(&self, given: Option<&str>) -> Result<BaseUrl, String> {
        let server = self.root["servers"][0].get("url").and_then(Value::as_str);
        let base = given.or(server).unwrap_or_default();
        if !(base.starts_with("http://") || base.starts_with("https://")) || base.contains('{') {
            let of_it = server.map_or_else(|| "it names no server".to_owned(), |url| format!("its server is '{url}'"));
            return Err(format!("{of_it}; say where requests go, such as --base http://127.0.0.1:8080"));
        }
        BaseUrl::parse(base).map_err(|error| error.to_string())
    }

    /// Returns the paths with their descriptions.
    pub(super) fn paths(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.root["paths"].as_object().into_iter().flatten()
    }

    /// Returns the value, or the target of its reference if the document has it.
    pub(super) fn resolve<'a>(&'a self, value: &'a Value) -> Option<&'a Value> {
        let mut found = value;
        for _ in 0..MAX_REFERENCES {
            let Some(reference) = found.get("$ref") else { return Some(found) };
            found = self.target(reference)?;
        }
        None
    }

    /// Returns the target of a reference, or `None` if it is outside of the document or missing.
    pub(super) fn target(&self, reference: &Value) -> Option<&Value> {
        let pointer = reference.as_str()?.strip_prefix('#')?;
        self.root.pointer(&percent_decoded(pointer))
    }

    /// Counts work against the limit. Returns false when the limit is reached.
    pub(super) fn spend(&self, steps: usize) -> bool {
        self.steps.set(self.steps.get().saturating_sub(steps));
        self.steps.get() > 0
    }

    /// Returns the schemes of the first security requirement of `operation`, or else of the document.
    pub(super) fn security<'a>(&'a self, operation: &'a Value) -> impl Iterator<Item = &'a Value> {
        let asked = operation.get("security").or_else(|| self.root.get("security"));
        let first = asked.and_then(|list| list.get(0)).and_then(Value::as_object);
        let schemes = &self.root["components"]["securitySchemes"];
        first.into_iter().flatten().filter_map(|(name, _)| self.resolve(schemes.get(name)?))
    }
}

fn percent_decoded(pointer: &str) -> String {
    percent_encoding::percent_decode_str(pointer).decode_utf8_lossy().into_owned()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or(text)
}
