use serde_json::Value;
use truetail_requests::BaseUrl;

use super::document::Document;
use super::left_out::{Cause, LeftOut};
use super::names::Names;
use super::schema::Schema;
use super::style::{encoded, written};
use super::value::{BodyMaker, in_json, known};

/// Methods of operations (OpenAPI 3.1, Path Item Object) that truetail sends.
const METHODS: [&str; 7] = ["get", "head", "post", "put", "patch", "delete", "options"];

/// An operation as a request that can be sent.
pub(super) struct Operation {
    method: String,
    /// The path in the description.
    path: String,
    /// With values and placeholders.
    url: String,
    headers: Vec<(String, String)>,
    body: Option<String>,
    /// Descriptions of the values that could not be filled in, one per line.
    unfilled: Vec<String>,
}

/// Returns the operations that can be sent, in the order of their paths.
pub(super) fn operations(
    document: &Document,
    base: &BaseUrl,
    safe: bool,
    names: &mut Names,
    left_out: &mut LeftOut,
) -> Vec<Operation> {
    let mut found = Vec::new();
    for (path, item) in document.paths() {
        let Some(item) = document.resolve(item) else {
            left_out.count(Cause::Reference);
            continue;
        };
        for method in METHODS {
            let Some(operation) = item.get(method) else { continue };
            let maker = Maker { document, base, names, path, item, operation };
            match maker.make(method, safe) {
                Ok(operation) => found.push(operation),
                Err(cause) => left_out.count(cause),
            }
        }
    }
    found
}

impl Operation {
    /// Returns true if its method changes nothing.
    pub(super) fn is_safe(&self) -> bool {
        matches!(&*self.method, "GET" | "HEAD" | "OPTIONS")
    }

    pub(super) fn is_unfilled(&self) -> bool {
        !self.unfilled.is_empty()
    }

    /// Returns `POST /items`.
    pub(super) fn title(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Writes the operation as a target.
    pub(super) fn write(&self) -> String {
        let unfilled: String = self.unfilled.iter().map(|what| format!("# {what}\n")).collect();
        let mut out = format!("\n{unfilled}# weight: 1\ncurl -X {} {}", self.method, quoted(&self.url));
        for (name, value) in &self.headers {
            out.push_str(&format!(" -H {}", quoted(&format!("{name}: {value}"))));
        }
        if let Some(body) = &self.body {
            out.push_str(&format!(" -H 'Content-Type: application/json' --data-raw {}", quoted(body)));
        }
        out + "\n"
    }
}

/// Puts a word in a shell's single quotes.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Makes a request of an operation.
struct Maker<'a, 'n> {
    document: &'a Document,
    base: &'a BaseUrl,
    names: &'n mut Names,
    path: &'a str,
    item: &'a Value,
    operation: &'a Value,
}

impl<'a> Maker<'a, '_> {
    fn make(mut self, method: &str, safe: bool) -> Result<Operation, Cause> {
        let method = method.to_ascii_uppercase();
        if safe && !matches!(&*method, "GET" | "HEAD") {
            return Err(Cause::NotSafe);
        }
        if self.operation["deprecated"] == true {
            return Err(Cause::Deprecated);
        }
        let mut target = self.path.to_owned();
        let mut query = Vec::new();
        let mut headers = Vec::new();
        for parameter in self.parameters()? {
            let name = parameter["name"].as_str().ok_or(Cause::Reference)?;
            let Some(value) = self.value(name, parameter) else { continue };
            match parameter["in"].as_str() {
                Some("path") => target = target.replace(&format!("{{{name}}}"), &value),
                Some("query") => query.push(value),
                Some("header") => headers.push((name.to_owned(), value)),
                // A cookie belongs to a session, so the description's value is not used.
                _ => {}
            }
        }
        self.sign(&mut query, &mut headers);
        let (body, unfilled) = self.body()?;
        if !query.is_empty() {
            target = format!("{target}?{}", query.join("&"));
        }
        let texts = headers.iter().flat_map(|(name, value)| [name, value]).chain([&target]);
        if texts.into_iter().any(|text| text.contains(char::is_control)) || has_lone_brace(&target) {
            return Err(Cause::Unsendable);
        }
        let url = self.base.join(&target).ok_or(Cause::Path)?;
        Ok(Operation { method, path: self.path.to_owned(), url, headers, body, unfilled })
    }

    /// Returns the parameters of the operation, and the path's parameters without an override.
    fn parameters(&self) -> Result<Vec<&'a Value>, Cause> {
        let item = self.item;
        let operation = self.operation;
        let document = self.document;
        let listed = |of: &'a Value| of["parameters"].as_array().into_iter().flatten();
        let mut found: Vec<&'a Value> = Vec::new();
        for parameter in listed(operation).chain(listed(item)) {
            let parameter = document.resolve(parameter).ok_or(Cause::Reference)?;
            let is_same = |known: &&Value| known["name"] == parameter["name"] && known["in"] == parameter["in"];
            if !found.iter().any(is_same) {
                found.push(parameter);
            }
        }
        Ok(found)
    }

    /// Returns the text of a parameter, or `None` if it has no value and does not need one.
    fn value(&mut self, name: &str, parameter: &'a Value) -> Option<String> {
        let media = parameter["content"].as_object().and_then(|content| content.values().next());
        let described = media.unwrap_or(parameter);
        let said: Vec<&Value> = described.get("schema").into_iter().collect();
        let schema = Schema::combined(self.document, &said);
        let of_items = || schema.items().value().map(|item| Value::from(vec![item.clone()]));
        let known = known(self.document, described).cloned();
        let known = known.or_else(|| of_items().filter(|_| schema.kind() == Some("array")));
        if let Some(written) = known.and_then(|known| written(parameter, &schema, name, &known)) {
            return Some(written);
        }
        let place = parameter["in"].as_str().unwrap_or_default();
        if place != "path" && parameter["required"] != true {
            return None;
        }
        // The path before the placeholder shows what it identifies.
        let before = self.path.split(&format!("{{{name}}}")).next().unwrap_or_default();
        let path = if place == "path" { before } else { self.path };
        let placeholder = self.names.placeholder(name, &format!("{place} {path} {name}"), path);
        Some(if place == "query" { format!("{}={placeholder}", encoded(name)) } else { placeholder })
    }

    /// Adds the credentials of the first security requirement.
    fn sign(&mut self, query: &mut Vec<String>, headers: &mut Vec<(String, String)>) {
        for scheme in self.document.security(self.operation) {
            let text = |key: &str| scheme.get(key).and_then(Value::as_str).unwrap_or_default();
            let mut secret = |name: &str| self.names.placeholder(name, &format!("secret {name}"), "");
            match (text("type"), text("in")) {
                ("apiKey", "header") => headers.push((text("name").to_owned(), secret(text("name")))),
                ("apiKey", "query") => query.push(format!("{}={}", encoded(text("name")), secret(text("name")))),
                ("http", _) if text("scheme").eq_ignore_ascii_case("basic") => {
                    headers.push(("Authorization".to_owned(), format!("Basic {}", secret("credentials"))));
                }
                ("http" | "oauth2" | "openIdConnect", _) => {
                    headers.push(("Authorization".to_owned(), format!("Bearer {}", secret("token"))));
                }
                _ => {}
            }
        }
    }

    /// Returns the body as JSON, if there is one, and descriptions of the values that could not be filled in.
    fn body(&mut self) -> Result<(Option<String>, Vec<String>), Cause> {
        let Some(body) = self.operation.get("requestBody") else { return Ok((None, Vec::new())) };
        let body = self.document.resolve(body).ok_or(Cause::Reference)?;
        let content = body["content"].as_object().ok_or(Cause::Body)?;
        let is_json = |kind: &&String| kind.starts_with("application/json") || kind.contains("+json");
        let Some(kind) = content.keys().find(is_json) else {
            return if body["required"] == true { Err(Cause::Body) } else { Ok((None, Vec::new())) };
        };
        let media = &content[kind];
        if let Some(known) = known(self.document, media) {
            let said: Vec<&Value> = media.get("schema").into_iter().collect();
            return Ok((Some(in_json(known, &Schema::combined(self.document, &said))), Vec::new()));
        }
        let mut maker = BodyMaker::new(self.document, self.names, self.path);
        let made = maker.json(&media["schema"]);
        let mut unfilled: Vec<String> =
            maker.unfilled.iter().map(|(name, why)| format!("not filled in: {name}, because {why}")).collect();
        if made == "{}" {
            unfilled.push(
                "the body is empty: the description names no member that has to be there, or has a value".to_owned(),
            );
        }
        Ok((Some(made), unfilled))
    }
}

/// Returns true if a part of the path has no value, because no parameter has its name.
fn has_lone_brace(target: &str) -> bool {
    target.replace("{{", "").replace("}}", "").contains(['{', '}'])
}
