//! The request of a load, and the folder for its runs.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::option;
use crate::limits::{Files, Limits, time};
use crate::schema;

/// Parts of a request beside its URL.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestArguments {
    method: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<String>,
    timeout: Option<String>,
    connections: Option<u32>,
    #[serde(default)]
    http2: bool,
}

pub(super) fn schema(limits: &Limits) -> Value {
    let methods: Vec<&str> = limits.methods.iter().map(String::as_str).collect();
    let mut schema = schema::arguments(
        &[
            ("method", schema::one_of(&methods, "GET unless given; POST with a body")),
            ("headers", json!({"type": "object", "additionalProperties": {"type": "string"}})),
            ("body", schema::value("string", "")),
            ("timeout", schema::value("string", "For each request, such as 5s; 30s unless given")),
            ("connections", schema::value("integer", "Most connections; requests wait for a free one")),
            ("http2", schema::value("boolean", "")),
        ],
        &[],
    );
    schema["description"] = json!("Parts of the request beside its URL");
    schema
}

pub(super) fn url_schema(limits: &Limits) -> Value {
    let more: String = limits.hosts.iter().map(|host| format!(", {host}")).collect();
    schema::value("string", &format!("http:// or https://; allowed hosts: loopback{more}"))
}

impl RequestArguments {
    /// Returns options of `truetail run`.
    pub(super) fn options(&self, limits: &Limits) -> Result<Vec<String>, String> {
        let usual = if self.body.is_some() { "POST" } else { "GET" };
        let method = limits.method(self.method.as_deref().unwrap_or(usual))?;
        let mut words = Vec::new();
        option(&mut words, "method", method);
        for (name, value) in &self.headers {
            option(&mut words, "header", limits.header(name, value)?);
        }
        if let Some(body) = &self.body {
            option(&mut words, "data", body);
        }
        if let Some(timeout) = &self.timeout {
            option(&mut words, "timeout", time("timeout", timeout)?.min(limits.longest));
        }
        if let Some(connections) = self.connections {
            option(&mut words, "connections", connections);
        }
        if self.http2 {
            words.push("--http2".to_owned());
        }
        Ok(words)
    }
}

/// Returns the new folder of a run: below the user's folder, with this name, or a free one with this start.
///
/// # Errors
/// If the name is no plain name.
pub(super) fn folder(
    name: Option<&str>,
    start: &str,
    limits: &Limits,
    files: &dyn Files,
) -> Result<Option<std::path::PathBuf>, String> {
    let plain = |letter: u8| letter.is_ascii_alphanumeric() || b"-_.".contains(&letter);
    let is_plain = |name: &str| name.len() <= 64 && name.bytes().all(plain) && !name.starts_with(['.', '-']);
    if let Some(name) = name.filter(|name| name.is_empty() || !is_plain(name)) {
        let rule = "letters, digits, '-', '_' and '.' inside, at most 64";
        return Err(format!("'name' must be a plain name ({rule}), not '{}'", name.escape_debug()));
    }
    let Some(out) = &limits.out else {
        let help = "the user can name a folder: truetail mcp --out-dir DIR";
        return if name.is_some() {
            Err(format!("runs are not saved, so 'name' has no use; {help}"))
        } else {
            Ok(None)
        };
    };
    let name = name.map_or_else(|| files.free_name(out, start), str::to_owned);
    Ok(Some(out.join(name)))
}
