//! A request of a collection, in Hurl's notation.

use serde_json::Value;

use super::collection::{Body, Headers, Item, Pair, Request, Url, WholeRequest};
use super::script::Tests;
use super::variables::Variables;
use crate::ways::hurl;

/// Headers of the engine and of the connection, which are not sent again.
const DROPPED: [&str; 6] = ["host", "content-length", "transfer-encoding", "connection", "accept-encoding", "cookie"];
/// Longest line of a script that is quoted, in characters.
const LONGEST_LINE: usize = 100;

/// Reason why an item is not a step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Cause {
    /// It has no URL, or the host of its URL is not a name.
    Url,
    /// Its method cannot be sent.
    Method,
}

impl Cause {
    pub(super) fn text(self) -> &'static str {
        match self {
            Cause::Url => "without a URL that can be sent",
            Cause::Method => "with a method that cannot be sent",
        }
    }
}

/// A request as it is written.
pub(super) struct Written {
    pub(super) hurl: String,
    /// Number of parts that a comment marks, because they are not read.
    pub(super) marked: usize,
}

/// Writes the request of an item under `name`. `auth` is that of the request, or else of the folders around it.
pub(super) fn write(
    item: &Item,
    (name, auth): (&str, Option<&Value>),
    tests: &Tests,
    unread: &[String],
    variables: &mut Variables,
) -> Result<Written, Cause> {
    let none = WholeRequest { method: None, url: None, header: Headers::default(), body: None, auth: None };
    let (request, url) = match item.request.as_ref() {
        Some(Request::Url(url)) => (&none, url.clone()),
        Some(Request::Whole(whole)) => (&**whole, whole.url.as_ref().map(whole_url).unwrap_or_default()),
        None => return Err(Cause::Url),
    };
    let method = request.method.as_deref().unwrap_or("GET");
    if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Err(Cause::Method);
    }
    let url = written_url(&url, variables).ok_or(Cause::Url)?;
    let mut marks: Vec<String> = unread.iter().chain(&tests.unread).map(|line| format!("script: {line}")).collect();
    let mut headers = headers(&request.header, &mut marks, variables);
    let mut sections = String::new();
    authorization(auth, &mut headers, &mut sections, &mut marks, variables);
    let body = request.body.as_ref().filter(|body| !body.disabled);
    let body = body.map_or_else(String::new, |body| written_body(body, &mut headers, &mut marks, variables));
    let mut hurl = format!("# truetail: name {name}\n");
    marks.iter().for_each(|mark| hurl.push_str(&format!("# not read: {}\n", shown_line(mark))));
    hurl.push_str(&format!("{method} {url}\n"));
    headers.iter().for_each(|(name, value)| hurl.push_str(&format!("{name}: {value}\n")));
    hurl.push_str(&sections);
    hurl.push_str(&body);
    let status = tests.status.map_or_else(|| "*".to_owned(), |status| status.to_string());
    hurl.push_str(&format!("HTTP {status}\n"));
    if !tests.captures.is_empty() {
        hurl.push_str(&format!("[Captures]\n{}\n", tests.captures.join("\n")));
    }
    Ok(Written { hurl, marked: marks.len() })
}

/// Returns a line for a comment, without control characters and not too long.
pub(super) fn shown_line(mark: &str) -> String {
    let plain: String = mark.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match plain.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{}…", &plain[..end]),
        None => plain,
    }
}

/// Returns a URL with the variables of its path filled in: `/users/:id`.
fn whole_url(url: &Url) -> String {
    let (raw, variables) = match url {
        Url::Text(raw) => return raw.clone(),
        Url::Parts { raw, variable } => (raw, variable),
    };
    let (path, query) = raw.split_at(raw.find('?').unwrap_or(raw.len()));
    let filled = path.split('/').map(|part| {
        let named = part.strip_prefix(':').and_then(|name| variables.iter().find(|pair| pair.key == name));
        named.map_or_else(|| part.to_owned(), Pair::text)
    });
    filled.collect::<Vec<_>>().join("/") + query
}

/// Writes a URL. One that begins with a variable keeps it; one without a scheme is of HTTP.
fn written_url(url: &str, variables: &mut Variables) -> Option<String> {
    let url = url.trim();
    if url.starts_with("{{") {
        return Some(variables.written(without_fragment(url), hurl::path_text));
    }
    let whole = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    let start = whole.find("://")? + 3;
    let end = whole[start..].find(['/', '?', '#']).map_or(whole.len(), |at| start + at);
    // Only the host itself must be plain; what follows may have placeholders.
    let (origin, _) = hurl::split_url(&whole[..end])?;
    Some(origin + &variables.written(without_fragment(&whole[end..]), hurl::path_text))
}

fn without_fragment(url: &str) -> &str {
    url.split('#').next().unwrap_or_default()
}

type Lines = Vec<(String, String)>;

fn headers(headers: &Headers, marks: &mut Vec<String>, variables: &mut Variables) -> Lines {
    let pairs: Lines = match headers {
        Headers::Pairs(pairs) => {
            pairs.iter().filter(|pair| !pair.disabled).map(|pair| (pair.key.clone(), pair.text())).collect()
        }
        Headers::Lines(text) => {
            let lines = text.lines().filter_map(|line| line.split_once(':'));
            lines.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect()
        }
        Headers::Nothing(()) => Vec::new(),
    };
    let mut kept = Vec::new();
    for (name, value) in pairs {
        match name.trim() {
            name if DROPPED.iter().any(|no| no.eq_ignore_ascii_case(name)) => {}
            name if hurl::is_header_name(name) => {
                kept.push((hurl::key(name), variables.written(value.trim(), hurl::value)));
            }
            name => marks.push(format!("the header {name}")),
        }
    }
    kept
}

fn authorization(
    auth: Option<&Value>,
    headers: &mut Lines,
    sections: &mut String,
    marks: &mut Vec<String>,
    variables: &mut Variables,
) {
    let Some(auth) = auth else { return };
    let kind = auth["type"].as_str().unwrap_or_default();
    let part = |name: &str| part_of(&auth[kind], name);
    match kind {
        "" | "noauth" => {}
        "bearer" => {
            let token = variables.written(&part("token"), hurl::value);
            headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
        }
        "basic" => {
            let user = variables.written(&part("username"), hurl::key);
            let password = variables.written(&part("password"), hurl::value);
            sections.push_str(&format!("[BasicAuth]\n{user}: {password}\n"));
        }
        "apikey" if part("in") == "query" => {
            let key = variables.written(&part("key"), hurl::form_key);
            let value = variables.written(&part("value"), hurl::value);
            sections.push_str(&format!("[Query]\n{key}: {value}\n"));
        }
        "apikey" => {
            let key = hurl::key(&part("key"));
            headers.push((key, variables.written(&part("value"), hurl::value)));
        }
        other => marks.push(format!("authorization of the type {other}")),
    }
}

/// Returns a part of an authorization: a list of pairs since v2.1, and before that an object.
fn part_of(parts: &Value, name: &str) -> String {
    let value = match parts {
        Value::Array(pairs) => {
            pairs.iter().find(|pair| pair["key"] == name).map_or(&Value::Null, |pair| &pair["value"])
        }
        parts => &parts[name],
    };
    value.as_str().unwrap_or_default().to_owned()
}

fn written_body(body: &Body, headers: &mut Lines, marks: &mut Vec<String>, variables: &mut Variables) -> String {
    let mode = body.mode.as_deref().unwrap_or("raw");
    let mut section = |title: &str, pairs: &[Pair], key: fn(&str) -> String, marks: &mut Vec<String>| {
        let mut out = format!("[{title}]\n");
        for pair in pairs.iter().filter(|pair| !pair.disabled) {
            let value = match (pair.kind.as_deref(), &pair.src) {
                (Some("file"), Some(Value::String(file))) => format!("file,{};", file.replace([';', '\n'], "_")),
                (Some("file"), _) => {
                    marks.push(format!("the file of the field {}", pair.key));
                    continue;
                }
                _ => variables.written(pair.text().trim(), hurl::value),
            };
            out.push_str(&format!("{}: {value}\n", variables.written(pair.key.trim(), key)));
        }
        out
    };
    match mode {
        "urlencoded" if !body.urlencoded.is_empty() => section("Form", &body.urlencoded, hurl::form_key, marks),
        "formdata" if !body.formdata.is_empty() => section("Multipart", &body.formdata, hurl::key, marks),
        "raw" => match body.raw.as_deref().filter(|raw| !raw.trim().is_empty()) {
            None => String::new(),
            Some(raw) => {
                let language = body.options["raw"]["language"].as_str().unwrap_or_default();
                if language == "json" {
                    give_content_type(headers);
                }
                variables.body(raw) + "\n"
            }
        },
        "graphql" => {
            let graphql = body.graphql.clone().unwrap_or_default();
            let asked = match graphql["variables"].as_str().map(serde_json::from_str::<Value>) {
                Some(Ok(parsed)) => serde_json::json!({ "query": graphql["query"], "variables": parsed }),
                _ => serde_json::json!({ "query": graphql["query"], "variables": graphql["variables"] }),
            };
            give_content_type(headers);
            variables.body(&asked.to_string()) + "\n"
        }
        "urlencoded" | "formdata" => String::new(),
        other => {
            marks.push(format!("a body of the kind {other}"));
            String::new()
        }
    }
}

fn give_content_type(headers: &mut Lines) {
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
    }
}
