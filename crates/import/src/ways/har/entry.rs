//! An entry of an archive, and the request in it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use serde::Deserialize;

use super::host::Host;
use super::left_out::Cause;
use crate::har::no_exchange;
use crate::rows::instant::instant;
use crate::ways::hurl::{self, body_text};

/// Headers that are not sent again: they belong to the engine, the cookie jar, the connection or a browser's cache.
const DROPPED: [&str; 13] = [
    "host",
    "cookie",
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "proxy-connection",
    "upgrade",
    "te",
    "expect",
    "accept-encoding",
    "if-none-match",
    "if-modified-since",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    started_date_time: String,
    /// Milliseconds.
    time: Option<f64>,
    request: Request,
    response: Response,
    #[serde(rename = "_resourceType")]
    resource_type: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    method: String,
    url: String,
    #[serde(default)]
    headers: Vec<NameValue>,
    post_data: Option<PostData>,
    body_size: Option<i64>,
}

/// A header, or a field of a form.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NameValue {
    pub(super) name: String,
    #[serde(default)]
    pub(super) value: String,
    file_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PostData {
    mime_type: Option<String>,
    text: Option<String>,
    encoding: Option<String>,
    #[serde(default)]
    params: Vec<NameValue>,
}

#[derive(Deserialize)]
struct Response {
    /// 0 without an answer.
    status: i64,
    #[serde(default)]
    headers: Vec<NameValue>,
    content: Option<Content>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    mime_type: Option<String>,
}

enum Body {
    None,
    Form(Vec<(String, String)>),
    Text(String),
    Bytes(Vec<u8>),
}

/// A recorded request.
pub(super) struct Recorded {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    /// `https://shop.example`, with a port only if it is not the default.
    pub(super) origin: String,
    /// Path and query.
    path: String,
    method: String,
    headers: Vec<NameValue>,
    body: Body,
    status: i64,
    /// Names of cookies that were sent.
    cookies: Vec<String>,
    /// Names of cookies that the answer set.
    cookies_set: Vec<String>,
    pub(super) resource_type: String,
    answer_type: String,
}

impl Recorded {
    /// Reads the request of an entry. Fails if it cannot be sent again.
    pub(super) fn parse(json: &str) -> Result<Recorded, Cause> {
        if let Some(why) = no_exchange(json) {
            return Err(Cause::NoExchange(why));
        }
        let entry: Entry = serde_json::from_str(json).map_err(|_| Cause::Damaged)?;
        let start_ns = instant(entry.started_date_time.as_bytes()).map_err(|_| Cause::Damaged)?.ns;
        let time_ns = entry.time.filter(|time| *time > 0.0).map_or(0, |time| (time * 1e6) as u64);
        let resource_type = entry.resource_type.unwrap_or_default();
        let Request { method, url, mut headers, post_data, body_size } = entry.request;
        if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err(Cause::Method);
        }
        if !(200..=999).contains(&entry.response.status) {
            return Err(Cause::NoAnswer);
        }
        let (origin, path) = hurl::split_url(&url).ok_or(Cause::Damaged)?;
        if let Some(mime_type) = post_data.as_ref().and_then(|data| data.mime_type.clone())
            && !mime_type.is_empty()
            && !headers.iter().any(|header| header.is("content-type"))
        {
            headers.push(NameValue { name: "Content-Type".to_owned(), value: mime_type, file_name: None });
        }
        let cookies = cookies_in(&headers, "cookie");
        let body = body(post_data, body_size)?;
        let of_form = |header: &NameValue| matches!(body, Body::Form(_)) && header.is("content-type");
        headers.retain(|header| header.is_kept() && !of_form(header));
        Ok(Recorded {
            start_ns,
            end_ns: start_ns.saturating_add(time_ns),
            origin,
            path,
            method,
            headers,
            body,
            status: entry.response.status,
            cookies,
            cookies_set: cookies_in(&entry.response.headers, "set-cookie"),
            resource_type,
            answer_type: entry.response.content.and_then(|content| content.mime_type).unwrap_or_default(),
        })
    }

    /// Returns the path without the query.
    pub(super) fn path(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    /// Returns the media type of the answer in lower case, without its parameters.
    pub(super) fn answer_kind(&self) -> String {
        self.answer_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    pub(super) fn cookies(&self) -> Vec<String> {
        self.cookies.clone()
    }

    pub(super) fn cookies_set(&self) -> Vec<String> {
        self.cookies_set.clone()
    }

    /// Returns the names of secret headers and form fields.
    pub(super) fn names_of_secrets(&self, is_secret: impl Fn(&str) -> bool) -> Vec<String> {
        let headers = self.headers.iter().map(|header| header.name.as_str());
        let fields: &[(String, String)] = if let Body::Form(fields) = &self.body { fields } else { &[] };
        let names = headers.chain(fields.iter().map(|(name, _)| name.as_str()));
        names.filter(|name| is_secret(name)).map(str::to_owned).collect()
    }

    /// Writes the request as Hurl text, after a think time in milliseconds.
    pub(super) fn write(&self, hosts: &[Host<'_>], think_ms: u64, out: &mut String) {
        if self.answer_kind() == "text/event-stream" {
            out.push_str("# truetail: stream\n");
        }
        let mine = hosts.iter().find(|host| host.origin == self.origin).map_or("host", |host| &host.variable);
        out.push_str(&format!("{} {{{{{mine}}}}}{}\n", self.method, self.path));
        for NameValue { name, value, .. } in &self.headers {
            out.push_str(&hurl::key(name));
            out.push_str(": ");
            match hosts.iter().find_map(|host| host.in_front_of(value)) {
                Some((variable, rest)) => out.push_str(&format!("{{{{{variable}}}}}{}", hurl::value(rest))),
                None => out.push_str(&hurl::value(value)),
            }
            out.push('\n');
        }
        if think_ms > 0 {
            out.push_str(&format!("[Options]\ndelay: {think_ms}ms\n"));
        }
        match &self.body {
            Body::None => {}
            Body::Form(fields) => {
                out.push_str("[Form]\n");
                fields.iter().for_each(|(name, value)| {
                    out.push_str(&format!("{}: {}\n", hurl::form_key(name), hurl::value(value)));
                });
            }
            Body::Text(body) => out.push_str(&format!("{}\n", body_text(body))),
            Body::Bytes(bytes) => out.push_str(&format!("base64,{};\n", STANDARD.encode(bytes))),
        }
        // Without the cache of a browser, the answer is a whole one instead of 304.
        let status = if self.status == 304 { "*".to_owned() } else { self.status.to_string() };
        out.push_str(&format!("HTTP {status}\n"));
    }
}

impl NameValue {
    pub(super) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// Returns true if the header is sent again.
    fn is_kept(&self) -> bool {
        let is_value = !self.value.chars().any(char::is_control);
        hurl::is_header_name(&self.name) && is_value && !DROPPED.iter().any(|name| self.is(name))
    }
}

/// Returns the names of the cookies in these headers. Browsers join several headers of one name by line breaks.
fn cookies_in(headers: &[NameValue], name: &str) -> Vec<String> {
    let is_set = name == "set-cookie";
    let values = headers.iter().filter(|header| header.is(name)).flat_map(|header| header.value.split('\n'));
    let parts = values.flat_map(|value| value.split(';').take(if is_set { 1 } else { usize::MAX }));
    parts.filter_map(|part| Some(part.split_once('=')?.0.trim().to_owned())).collect()
}

fn body(data: Option<PostData>, size: Option<i64>) -> Result<Body, Cause> {
    let Some(PostData { mime_type, text, encoding, params }) = data else {
        return if size.is_some_and(|size| size > 0) { Err(Cause::NoBody) } else { Ok(Body::None) };
    };
    let is_form =
        mime_type.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded"));
    match text.filter(|text| !text.is_empty()) {
        Some(text) if encoding.as_deref() == Some("base64") => {
            STANDARD.decode(text.trim()).map(Body::Bytes).map_err(|_| Cause::NoBody)
        }
        Some(text) if is_form => {
            let fields = form(&text).filter(|fields| fields.iter().all(is_plain));
            Ok(fields.map_or(Body::Text(text), Body::Form))
        }
        Some(text) => Ok(Body::Text(text)),
        None if params.is_empty() && size.is_some_and(|size| size > 0) => Err(Cause::NoBody),
        None if params.is_empty() => Ok(Body::None),
        None if is_form && params.iter().all(|param| param.file_name.is_none()) => {
            let fields: Vec<_> = params.into_iter().map(|param| (param.name, param.value)).collect();
            if fields.iter().all(is_plain) { Ok(Body::Form(fields)) } else { Err(Cause::NoBody) }
        }
        None => Err(Cause::NoBody),
    }
}

/// Decodes the fields of a sent form. Returns `None` if the text is no form.
fn form(text: &str) -> Option<Vec<(String, String)>> {
    let decoded =
        |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8().ok().map(|text| text.into_owned());
    let field = |pair: &str| pair.split_once('=').and_then(|(name, value)| Some((decoded(name)?, decoded(value)?)));
    text.split('&').map(field).collect()
}

/// Returns true if Hurl's form can hold the field: it has a name, and no spaces that would be trimmed.
fn is_plain((name, value): &(String, String)) -> bool {
    let is_trimmed = |text: &str| text.trim() == text;
    !name.is_empty() && is_trimmed(name) && is_trimmed(value)
}
