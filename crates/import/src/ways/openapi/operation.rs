//! An operation as a request.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::document::Document;
use super::left_out::{Cause, LeftOut};
use super::names::Names;
use super::value::{BodyMaker, in_text, known};

/// Methods of operations (OpenAPI 3.1, Path Item Object) that truetail sends.
const METHODS: [&str; 7] = ["get", "head", "post", "put", "patch", "delete", "options"];
/// What has to be encoded in a part of a path or query.
const IN_PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b',');

/// An operation that can be sent.
pub(super) struct Operation {
    method: String,
    /// As the description writes it.
    path: String,
    /// Path and query, with values and placeholders.
    target: String,
    headers: Vec<(String, String)>,
    body: Option<String>,
}

/// The operations that can be sent, in the order of their paths.
pub(super) fn operations(document: &Document, safe: bool, names: &mut Names, left_out: &mut LeftOut) -> Vec<Operation> {
    let mut found = Vec::new();
    for (path, item) in document.paths() {
        let Some(item) = document.resolve(item) else {
            left_out.count(Cause::Reference);
            continue;
        };
        for method in METHODS {
            let Some(operation) = item.get(method) else { continue };
            let maker = Maker { document, names, path, item, operation };
            match maker.make(method, safe) {
                Ok(operation) => found.push(operation),
                Err(cause) => left_out.count(cause),
            }
        }
    }
    found
}

impl Operation {
    /// Its method changes nothing.
    pub(super) fn is_safe(&self) -> bool {
        matches!(&*self.method, "GET" | "HEAD" | "OPTIONS")
    }

    /// `POST /items`.
    pub(super) fn title(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// As a target.
    pub(super) fn write(&self, base: &str) -> String {
        let mut out = format!("\n# weight: 1\ncurl -X {} {}", self.method, quoted(&format!("{base}{}", self.target)));
        for (name, value) in &self.headers {
            out.push_str(&format!(" -H {}", quoted(&format!("{name}: {value}"))));
        }
        if let Some(body) = &self.body {
            out.push_str(&format!(" -H 'Content-Type: application/json' --data-raw {}", quoted(body)));
        }
        out + "\n"
    }
}

/// A word in a shell's single quotes.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Makes a request of an operation.
struct Maker<'a, 'n> {
    document: &'a Document,
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
        let (mut target, mut query, mut headers) = (self.path.to_owned(), Vec::new(), Vec::new());
        for parameter in self.parameters()? {
            let name = parameter["name"].as_str().ok_or(Cause::Reference)?;
            let Some(value) = self.value(name, parameter) else { continue };
            match parameter["in"].as_str() {
                Some("path") => target = target.replace(&format!("{{{name}}}"), &value.encoded()),
                Some("query") => query.push(format!("{}={}", encoded(name), value.encoded())),
                Some("header") => headers.push((name.to_owned(), value.text())),
                // A cookie belongs to a session, and is no value of a description.
                _ => {}
            }
        }
        self.sign(&mut query, &mut headers);
        let body = self.body()?;
        if !query.is_empty() {
            target = format!("{target}?{}", query.join("&"));
        }
        let texts = headers.iter().flat_map(|(name, value)| [name, value]).chain([&target]);
        if texts.into_iter().any(|text| text.contains(char::is_control)) || has_lone_brace(&target) {
            return Err(Cause::Unsendable);
        }
        Ok(Operation { method, path: self.path.to_owned(), target, headers, body })
    }

    /// Parameters of the operation, and those of its path that it does not have itself.
    fn parameters(&self) -> Result<Vec<&'a Value>, Cause> {
        let (item, operation, document) = (self.item, self.operation, self.document);
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

    /// The value of a parameter; `None`: it has none, and does not need one.
    fn value(&mut self, name: &str, parameter: &Value) -> Option<Text> {
        if let Some(known) = known(self.document, parameter).and_then(in_text) {
            return Some(Text::Known(known));
        }
        let place = parameter["in"].as_str().unwrap_or_default();
        if place != "path" && parameter["required"] != true {
            return None;
        }
        // What stands before it in the path says what it is of.
        let before = self.path.split(&format!("{{{name}}}")).next().unwrap_or_default();
        let path = if place == "path" { before } else { self.path };
        Some(Text::Placeholder(self.names.placeholder(name, &format!("{place} {path} {name}"), path)))
    }

    /// What the first way to be let in asks for.
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

    /// The body as JSON; `None`: it has none.
    fn body(&mut self) -> Result<Option<String>, Cause> {
        let Some(body) = self.operation.get("requestBody") else { return Ok(None) };
        let body = self.document.resolve(body).ok_or(Cause::Reference)?;
        let content = body["content"].as_object().ok_or(Cause::Body)?;
        let is_json = |kind: &&String| kind.starts_with("application/json") || kind.contains("+json");
        let Some(kind) = content.keys().find(is_json) else {
            return if body["required"] == true { Err(Cause::Body) } else { Ok(None) };
        };
        let media = &content[kind];
        if let Some(known) = known(self.document, media) {
            return Ok(Some(known.to_string()));
        }
        let mut maker = BodyMaker { document: self.document, names: self.names, path: self.path };
        maker.json(&media["schema"]).map(Some).ok_or(Cause::Reference)
    }
}

/// The text of a parameter.
enum Text {
    Known(String),
    Placeholder(String),
}

impl Text {
    /// In a path or a query.
    fn encoded(&self) -> String {
        match self {
            Text::Known(text) => encoded(text),
            Text::Placeholder(name) => name.clone(),
        }
    }

    fn text(self) -> String {
        match self {
            Text::Known(text) | Text::Placeholder(text) => text,
        }
    }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, IN_PART).to_string()
}

/// A part of the path has no value, because no parameter has its name.
fn has_lone_brace(target: &str) -> bool {
    target.replace("{{", "").replace("}}", "").contains(['{', '}'])
}
