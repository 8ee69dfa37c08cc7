//! Makes a step that can be run from a request as written.

use std::collections::{BTreeMap, BTreeSet};

use truetail_engine::{Method, Request, contradicts_framing, is_header_value};
use truetail_grpc::GrpcUrl;
use truetail_model::random::mix64;
use truetail_model::time::Nanos;

use crate::call::StepCall;
use crate::error::FlowError;
use crate::origins::{FlowOrigin, Origins};
use crate::request::{FixedFields, StepBody, StepRequest, is_name, written_path};
use crate::scope::VariableId;
use crate::step::{AnswerReading, FollowUps, Step, StepProtocol};
use crate::syntax::{Body, Entry, Field, FlowFile, Options, Pair};
use crate::template::{Piece, Source, Template};
use crate::value::Value;

/// Limit on the bytes of all files that a flow names: 16 MiB. Each open session holds its own request.
const MAX_FILE_BYTES: usize = 16 << 20;

/// Default limit on redirects, as in Hurl.
const USUAL_REDIRECTS: u32 = 50;

/// Default time from a failed attempt to the next, as in Hurl.
const USUAL_RETRY_INTERVAL: Nanos = Nanos::from_secs(1);

/// Reads a file that a flow names.
pub type ReadFile<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

/// Makes the steps of a flow, one after the other.
pub(crate) struct StepMaker<'a> {
    names: &'a [String],
    initial: &'a [Option<Value>],
    /// Variables that change during a session.
    changing: BTreeSet<VariableId>,
    read_file: ReadFile<'a>,
    files: BTreeMap<String, Vec<u8>>,
    origins: Origins,
}

/// Returns the start of the path or query of a URL, if it has one.
fn authority_end(url: &str) -> Option<usize> {
    let authority = url.find("://")? + 3;
    url[authority..].find(['/', '?', '#', '\\']).map(|at| authority + at)
}

/// Returns true if `text` can follow a known host without changing the host.
fn may_follow_authority(text: &str) -> bool {
    let is_port = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit()) && !rest.contains('@');
    text.is_empty() || text.starts_with(['/', '?', '#', '\\']) || text.strip_prefix(':').is_some_and(is_port)
}

type Made<T> = Result<T, String>;

impl<'a> StepMaker<'a> {
    pub(crate) fn new(file: &'a FlowFile, initial: &'a [Option<Value>], read_file: ReadFile<'a>) -> StepMaker<'a> {
        let set = file.entries.iter().flat_map(|entry| entry.options.variables.iter().map(|(variable, _)| *variable));
        let captured = file.entries.iter().filter_map(|entry| entry.response.as_ref());
        let captured = captured.flat_map(|expected| expected.captures.iter().map(|capture| capture.variable));
        StepMaker {
            names: &file.names,
            initial,
            changing: set.chain(captured).collect(),
            read_file,
            files: BTreeMap::new(),
            origins: Origins::default(),
        }
    }

    /// Returns the origins of the steps that were made.
    pub(crate) fn origins(self) -> Origins {
        self.origins
    }

    /// Makes a step. Its name is set later.
    pub(crate) fn step(&mut self, entry: &Entry) -> Result<Step, FlowError> {
        self.make(entry).map_err(|problem| FlowError::new(entry.line, problem))
    }

    fn make(&mut self, entry: &Entry) -> Made<Step> {
        if entry.options.is_stream && further(&entry.options).asks_again() {
            return Err("a step that is a stream is one request; leave location and retry out of it".to_owned());
        }
        let method: Method = entry.method.parse().map_err(|error| format!("{error}"))?;
        let (authority, rest) = self.split_url(&entry.url)?;
        let call = if GrpcUrl::is_meant(&authority) { Some(self.call(entry, &authority, &rest)?) } else { None };
        let origin = origin_of(call.as_ref().map_or(&authority, StepCall::http_origin))?;
        let host_field = origin.host_field().to_owned();
        let origin = self.origins.add(origin);
        let path = call.as_ref().map_or_else(|| written_path(rest), |call| Template::text(call.path()));
        let url = format!("{authority}{}", self.for_people(&path));
        let is_call = call.is_some();
        let request = self.request(entry, path, &method, (origin, &host_field), is_call)?;
        let needs_body = entry.response.as_ref().is_some_and(|expected| {
            let mut queries =
                expected.captures.iter().map(|capture| &capture.look).chain(expected.asserts.iter().map(|a| &a.look));
            expected.body.is_some() || queries.any(|look| look.query.needs_body())
        });
        let mut expected = entry.response.clone();
        if let Some(expected) = expected.as_mut().and_then(|expected| expected.body.as_mut())
            && let Body::File(path) = &expected.body
        {
            expected.body = Body::Bytes(self.file(path)?);
        }
        Ok(Step {
            name: String::new(),
            line: entry.line,
            method,
            url,
            request,
            coming: entry.options.coming,
            settings: entry.options.variables.clone(),
            max_time: entry.options.max_time,
            protocol: call.map_or(StepProtocol::Http(entry.options.version), |call| StepProtocol::Call(Box::new(call))),
            expected,
            reading: AnswerReading { is_stream: entry.options.is_stream, needs_body },
            further: further(&entry.options),
        })
    }

    /// Returns the call of an entry. Its method must be known before the run.
    fn call(&self, entry: &Entry, authority: &str, rest: &[Piece]) -> Made<StepCall> {
        let path: Option<String> = rest.iter().map(|piece| self.known(piece)).collect();
        let help = "write it out, or give it with --variable";
        let path = path.ok_or_else(|| format!("the method of this call is only known during the run; {help}"))?;
        StepCall::new(entry, &format!("{authority}{path}"))
    }

    /// Splits a URL into scheme and authority, which must be known before the run, and the rest. Variables in the rest
    /// are kept, so that users see their names: a value may be secret.
    fn split_url(&self, url: &Template) -> Made<(String, Vec<Piece>)> {
        let mut text = String::new();
        let mut pieces = url.0.iter();
        let mut rest = Vec::new();
        let mut is_base = false;
        for piece in pieces.by_ref() {
            match self.known(piece).filter(|_| authority_end(&text).is_none()) {
                Some(known) => {
                    if is_base && !may_follow_authority(&known) {
                        return Err(
                            "a variable of this URL holds its host already; a slash has to follow it".to_owned()
                        );
                    }
                    is_base = matches!(piece, Piece::Value(_)) && known.contains("://");
                    text.push_str(&known);
                }
                None => {
                    rest.push(piece.clone());
                    break;
                }
            }
        }
        rest.extend(pieces.cloned());
        if !text.contains("://") {
            let begins = text.chars().take(40).collect::<String>();
            return Err(format!(
                "the URL '{begins}' does not begin with http://, https:// or grpc:// as far as it is known before the run"
            ));
        }
        match authority_end(&text) {
            None if !rest.is_empty() => {
                Err("the host of this URL is only known during the run; write it out, or give it with --variable"
                    .to_owned())
            }
            None => Ok((text, rest)),
            Some(end) => {
                let behind = text.split_off(end);
                Ok((text, std::iter::once(Piece::Text(behind)).chain(rest).collect()))
            }
        }
    }

    /// Returns the text of a piece that is the same in all sessions.
    fn known(&self, piece: &Piece) -> Option<String> {
        match piece {
            Piece::Text(text) => Some(text.clone()),
            Piece::Value(expression) => match &expression.source {
                Source::Variable(id) if expression.filters.is_empty() && !self.changing.contains(id) => {
                    self.initial[*id].as_ref()?.rendered().map(|text| text.into_owned())
                }
                Source::Variable(_) | Source::BuiltIn(_) => None,
            },
        }
    }

    fn for_people(&self, template: &Template) -> String {
        let of = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Value(expression) => match &expression.source {
                Source::Variable(id) => format!("{{{{{}}}}}", self.names[*id]),
                Source::BuiltIn(value) => format!("{{{{{value}}}}}"),
            },
        };
        template.0.iter().map(of).collect()
    }

    fn request(
        &mut self,
        entry: &Entry,
        path: Template,
        method: &Method,
        (origin, host): (u32, &str),
        is_call: bool,
    ) -> Made<StepRequest> {
        let (body, content_type) = self.body(entry)?;
        let mut fixed = FixedFields::default();
        let mut put = |name: &str, value: &str| fixed.0.push(name.as_bytes(), value.as_bytes());
        let has = |name: &str| {
            entry.headers.iter().any(|(key, _)| key.constant().is_some_and(|key| key.eq_ignore_ascii_case(name)))
        };
        let known =
            |pair: &Pair| Some((pair.0.constant()?.to_owned(), pair.1.constant().unwrap_or_default().to_owned()));
        let mut names = entry.headers.iter().filter_map(known);
        if let Some(problem) = names.find_map(|(name, value)| contradicts_framing(&name, &value, None)) {
            return Err(problem);
        }
        let defaults =
            [("Host", host), ("User-Agent", concat!("truetail/", env!("CARGO_PKG_VERSION"))), ("Accept", "*/*")];
        // Calls have no Accept, no length, and the content type of gRPC.
        let is_left_out = |name: &str| has(name) || is_call && name == "Accept";
        defaults.into_iter().filter(|(name, _)| !is_left_out(name)).for_each(|(name, value)| put(name, value));
        if let Some(content_type) = content_type.filter(|_| !is_call && !has("content-type")) {
            put("Content-Type", &content_type);
        }
        let mut headers = Vec::new();
        for (name, value) in &entry.headers {
            match (name.constant(), value.constant()) {
                (Some(name), Some(value)) if is_header_value(value.as_bytes()) && is_name(name.as_bytes()) => {
                    // Headers of one name keep their order.
                    let is_it = |earlier: &str| earlier.eq_ignore_ascii_case(name);
                    match headers.iter().any(|(earlier, _): &Pair| earlier.constant().is_some_and(is_it)) {
                        true => headers.push((Template::text(name), Template::text(value))),
                        false => put(name, value),
                    }
                }
                (Some(_), Some(_)) => return Err("a header has a character that cannot be sent".to_owned()),
                _ => headers.push((name.clone(), value.clone())),
            }
        }
        Ok(StepRequest {
            method: method.as_str().to_owned(),
            origin,
            path,
            query: entry.parts.query.clone(),
            fixed,
            headers,
            cookies: entry.parts.cookies.clone(),
            basic_auth: entry.parts.basic_auth.clone(),
            body,
            says_length: !is_call && matches!(method.as_str(), "POST" | "PUT" | "PATCH"),
        })
    }

    /// Returns the body of a request and its content type.
    fn body(&mut self, entry: &Entry) -> Made<(StepBody, Option<String>)> {
        let parts = &entry.parts;
        let count = [parts.form.is_some(), parts.multipart.is_some(), entry.body.is_some()];
        if count.into_iter().filter(|given| *given).count() > 1 {
            return Err("a request has one body: a form, a multipart form or a text".to_owned());
        }
        if let Some(form) = &parts.form {
            return Ok((StepBody::Form(form.clone()), Some("application/x-www-form-urlencoded".to_owned())));
        }
        if let Some(fields) = &parts.multipart {
            return self.multipart(fields);
        }
        Ok(match &entry.body {
            None => (StepBody::Bytes(Vec::new()), None),
            Some(Body::Bytes(bytes)) => (StepBody::Bytes(bytes.clone()), None),
            Some(Body::File(path)) => (StepBody::Bytes(self.file(path)?), None),
            Some(Body::Text(template, content_type)) => {
                let body = match template.constant() {
                    Some(text) => StepBody::Bytes(text.as_bytes().to_vec()),
                    None => StepBody::Text(template.clone()),
                };
                (body, content_type.map(str::to_owned))
            }
        })
    }

    fn multipart(&mut self, fields: &[(Template, Field)]) -> Made<(StepBody, Option<String>)> {
        let seed = fields.iter().fold(fields.len() as u64, |hash, (name, _)| {
            name.constant().unwrap_or_default().bytes().fold(hash, |hash, byte| mix64(hash ^ u64::from(byte)))
        });
        let boundary = format!("------------------------{:016x}", mix64(seed));
        let mut parts = Vec::new();
        let mut before = Vec::new();
        for (name, field) in fields {
            before.extend_from_slice(format!("--{boundary}\r\nContent-Disposition: form-data; name=\"").as_bytes());
            parts.push((std::mem::take(&mut before), name.clone()));
            match field {
                Field::Text(text) => {
                    parts.push((b"\"\r\n\r\n".to_vec(), text.clone()));
                }
                Field::File { path, content_type } => {
                    let file_name = path.rsplit('/').next().unwrap_or(path).replace(['"', '\r', '\n'], "_");
                    let content_type = content_type.as_deref().unwrap_or_else(|| type_of(&file_name));
                    let head = format!("\"; filename=\"{file_name}\"\r\nContent-Type: {content_type}\r\n\r\n");
                    before.extend_from_slice(head.as_bytes());
                    before.extend_from_slice(&self.file(path)?);
                }
            }
            before.extend_from_slice(b"\r\n");
        }
        before.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        Ok((StepBody::Parts(parts, before), Some(format!("multipart/form-data; boundary={boundary}"))))
    }

    fn file(&mut self, path: &str) -> Made<Vec<u8>> {
        if let Some(bytes) = self.files.get(path) {
            return Ok(bytes.clone());
        }
        let bytes = (self.read_file)(path)?;
        let total = self.files.values().map(Vec::len).sum::<usize>() + bytes.len();
        if total > MAX_FILE_BYTES {
            return Err(format!("the files of the flow have more than {} MiB, the limit", MAX_FILE_BYTES >> 20));
        }
        self.files.insert(path.to_owned(), bytes.clone());
        Ok(bytes)
    }
}

/// Returns the content type for a file name, as in Hurl.
fn type_of(file_name: &str) -> &'static str {
    match file_name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "gif" => "image/gif",
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "txt" => "text/plain",
        "htm" | "html" => "text/html",
        "pdf" => "application/pdf",
        "xml" => "application/xml",
        _ => "application/octet-stream",
    }
}

fn further(options: &Options) -> FollowUps {
    FollowUps {
        most_redirects: options.location.then(|| options.max_redirects.unwrap_or(USUAL_REDIRECTS)),
        trusts_redirects: options.trusts_redirects,
        retries: options.retries,
        retry_interval: options.retry_interval.unwrap_or(USUAL_RETRY_INTERVAL),
    }
}

fn origin_of(url: &str) -> Result<FlowOrigin, String> {
    let request = Request::new(Method::Get, url, &[], Vec::new()).map_err(|error| error.to_string())?;
    Ok(FlowOrigin::new(request.origin(), request.url().clone()))
}

impl Entry {
    /// Returns the variables that its request needs.
    pub(crate) fn variables(&self) -> impl Iterator<Item = VariableId> {
        let pairs = |pairs: &[Pair]| -> Vec<VariableId> {
            pairs.iter().flat_map(|(name, value)| name.variables().chain(value.variables())).collect()
        };
        let mut needed: Vec<VariableId> = self.url.variables().collect();
        needed.extend(pairs(&self.headers));
        needed.extend(pairs(&self.parts.query));
        needed.extend(pairs(&self.parts.cookies));
        needed.extend(pairs(self.parts.form.as_deref().unwrap_or_default()));
        needed.extend(pairs(self.parts.basic_auth.as_slice()));
        for (name, field) in self.parts.multipart.iter().flatten() {
            needed.extend(name.variables());
            if let Field::Text(text) = field {
                needed.extend(text.variables());
            }
        }
        if let Some(Body::Text(template, _)) = &self.body {
            needed.extend(template.variables());
        }
        needed.into_iter()
    }
}
