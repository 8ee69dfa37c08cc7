//! The requests of `truetail.run`, and their server.

use std::fs;
use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyConnectionError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use truetail_engine::{
    AddressOverrides, FeedOrder, Identity, MAX_REQUEST_SET_BYTES, Method, Request, Target, TargetError, TlsError,
    TlsOptions,
};
use truetail_requests::{
    Feed, InputError, Location, RowFormat, Rows, TargetSpec, asking_for_stream, basic_authorization, parse_targets,
    prepare,
};
use truetail_run::{LlmApi, input};

use crate::arguments::{choice, type_error, value_error};

/// The requests; not yet converted. Passed as a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RequestArguments<'py> {
    url: Option<String>,
    method: Option<String>,
    headers: Vec<(String, String)>,
    data: Option<Bound<'py, PyAny>>,
    user: Option<(String, String)>,
    targets: Option<PathBuf>,
    data_from: Option<PathBuf>,
    feed: String,
    resolve: Vec<String>,
    unix_socket: Option<PathBuf>,
    http2: bool,
    keepalive: bool,
}

/// Trusted certificates and the identity of the client; not yet converted. Passed as a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct TlsArguments {
    insecure: bool,
    ca: Option<PathBuf>,
    cert: Option<PathBuf>,
    key: Option<PathBuf>,
}

impl RequestArguments<'_> {
    /// Returns true if every request opens a new connection.
    pub(crate) fn closes_connections(&self) -> bool {
        !self.keepalive
    }

    /// Returns the target, with prepared requests and a resolved host. With `llm`, they ask a language model for
    /// streams.
    pub(crate) fn target(
        &self,
        py: Python<'_>,
        seed: u64,
        tls: &TlsArguments,
        llm: Option<LlmApi>,
    ) -> PyResult<Target> {
        self.refuse_contradictions()?;
        let closing = if self.keepalive { None } else { Some("Connection: close".to_owned()) };
        let defaults: Vec<String> = closing.into_iter().collect();
        let specs: Vec<_> = self.specs()?.into_iter().map(|spec| spec.with_defaults(&defaults)).collect();
        let asking = |spec, api: LlmApi| {
            asking_for_stream(spec, api.request_members()).map_err(|problem| value_error("llm", problem))
        };
        let specs = match llm {
            Some(api) => specs.into_iter().map(|spec| asking(spec, api)).collect::<PyResult<Vec<_>>>()?,
            None => specs,
        };
        let rows = self.rows()?;
        let rows = rows.as_ref().map(|(format, file, bytes)| Rows { format: *format, file, bytes });
        let order =
            choice("feed", &self.feed, &[FeedOrder::InOrder, FeedOrder::Random].map(|feed| (feed.name(), feed)))?;
        let prepared = prepare(&specs, rows.map(|rows| Feed { rows, order }), seed).map_err(input_error)?;
        let overrides = self.overrides()?;
        let target = py.detach(|| Target::for_origins(prepared.requests, prepared.origins, &overrides));
        let mut target = target.map_err(target_error)?;
        if self.http2 {
            target.use_http2().map_err(target_error)?;
        }
        tls.secure(&mut target)?;
        Ok(target)
    }

    fn refuse_contradictions(&self) -> PyResult<()> {
        match (&self.url, &self.targets) {
            (None, None) => {
                return Err(value_error("url", "none given; write url='http://HOST[:PORT]/PATH', or targets='FILE'"));
            }
            (Some(_), Some(_)) => return Err(value_error("targets", "it contradicts url; give one of them")),
            (Some(_), None) | (None, Some(_)) => {}
        }
        if self.url.is_none() && (self.method.is_some() || self.data.is_some()) {
            let name = if self.method.is_some() { "method" } else { "data" };
            return Err(value_error(name, "it needs url; a file of targets has methods and bodies of its own"));
        }
        if self.http2 && !self.keepalive {
            return Err(value_error(
                "http2",
                "it contradicts keepalive=False: an HTTP/2 connection carries many requests",
            ));
        }
        Ok(())
    }

    fn specs(&self) -> PyResult<Vec<TargetSpec>> {
        let headers: Vec<_> = self.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let user: Vec<_> =
            self.user.iter().map(|(name, password)| basic_authorization(format!("{name}:{password}"))).collect();
        let specs = match (&self.url, &self.targets) {
            (Some(url), _) => vec![self.only_spec(url, headers.clone())?],
            (None, Some(file)) => {
                let text =
                    String::from_utf8(read(file)?).map_err(|_| value_error("targets", "the file is not UTF-8 text"))?;
                let read = |name: &str| {
                    input::bytes(std::path::Path::new(name)).map_err(|error| format!("cannot read {name}: {error}"))
                };
                parse_targets(&text, &file.display().to_string(), &read).map_err(input_error)?
            }
            (None, None) => Vec::new(),
        };
        Ok(specs.into_iter().map(|spec| spec.with_defaults(&headers).with_defaults(&user)).collect())
    }

    /// Returns the request to `url`. Its method is as given, or else POST with a body and GET without.
    fn only_spec(&self, url: &str, headers: Vec<String>) -> PyResult<TargetSpec> {
        let body = body(self.data.as_ref())?;
        let usual = if self.data.is_some() { "POST" } else { "GET" };
        let method: Method = self.method.as_deref().unwrap_or(usual).parse().map_err(target_error)?;
        let spec = TargetSpec { method, headers, ..TargetSpec::new(Location::named("url"), url) };
        let spec = TargetSpec { body, ..spec }.with_url_credentials().map_err(input_error)?;
        // Checked here, because only here the wrong argument is known.
        Request::new(spec.method.clone(), &spec.url, &spec.headers, Vec::new()).map_err(target_error)?;
        Ok(spec)
    }

    /// Returns format, name and content of the file of rows.
    fn rows(&self) -> PyResult<Option<(RowFormat, String, Vec<u8>)>> {
        let Some(file) = &self.data_from else { return Ok(None) };
        let name = file.display().to_string();
        let help = "the name of the file must end in .csv, or in .jsonl or .ndjson (one JSON object per line)";
        let format =
            RowFormat::from_file_name(&name).ok_or_else(|| value_error("data_from", format!("{name}: {help}")))?;
        if fs::metadata(file).is_ok_and(|there| there.len() > MAX_REQUEST_SET_BYTES) {
            let limit = MAX_REQUEST_SET_BYTES >> 20;
            return Err(value_error(
                "data_from",
                format!("{name} is larger than {limit} MiB, the limit; use fewer rows"),
            ));
        }
        Ok(Some((format, name, read(file)?)))
    }

    fn overrides(&self) -> PyResult<AddressOverrides> {
        let resolve = self.resolve.iter().map(|entry| entry.parse().map_err(|error| value_error("resolve", error)));
        Ok(AddressOverrides { resolve: resolve.collect::<PyResult<_>>()?, unix_socket: self.unix_socket.clone() })
    }
}

impl TlsArguments {
    /// Applies these options to a target with TLS.
    pub(crate) fn secure(&self, target: &mut Target) -> PyResult<()> {
        let given = [
            ("insecure", self.insecure),
            ("ca", self.ca.is_some()),
            ("cert", self.cert.is_some()),
            ("key", self.key.is_some()),
        ];
        if let Some((name, _)) = given.iter().find(|(_, given)| *given && !target.uses_tls()) {
            let names = target.origin_names();
            return Err(value_error(name, format!("it is for TLS, and {names} has none; write https://")));
        }
        if self.insecure && self.ca.is_some() {
            return Err(value_error("insecure", "it contradicts ca: it accepts any certificate; give one of them"));
        }
        let identity = match (&self.cert, &self.key) {
            (None, None) => None,
            (Some(cert), Some(key)) => Some(Identity { certificates: read(cert)?, key: read(key)? }),
            (Some(_), None) => return Err(value_error("cert", "it needs its private key; add key='FILE'")),
            (None, Some(_)) => return Err(value_error("key", "it needs its certificate; add cert='FILE'")),
        };
        let authorities = self.ca.as_deref().map(read).transpose()?;
        let options = TlsOptions { insecure: self.insecure, authorities, identity };
        target.secure(&options).map_err(|error| tls_error(&error))
    }

    pub(crate) fn notes(&self) -> Option<String> {
        let note = "insecure=True: certificates were not verified, so the answers could come from anyone";
        self.insecure.then(|| note.to_owned())
    }
}

fn read(file: impl AsRef<Path>) -> PyResult<Vec<u8>> {
    let file = file.as_ref();
    input::bytes(file).map_err(|error| {
        let message = format!("cannot read {}: {error}", file.display());
        std::io::Error::new(error.kind(), message).into()
    })
}

fn body(data: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<u8>> {
    let Some(data) = data else { return Ok(Vec::new()) };
    if let Ok(text) = data.cast::<PyString>() {
        return Ok(text.to_string().into_bytes());
    }
    let bytes = data.cast::<PyBytes>().map_err(|_| type_error("data", "str or bytes", data))?;
    Ok(bytes.as_bytes().to_vec())
}

fn input_error(error: InputError) -> PyErr {
    match error {
        InputError::Invalid { .. } => pyo3::exceptions::PyValueError::new_err(error.to_string()),
        InputError::Unreadable { .. } => PyOSError::new_err(error.to_string()),
    }
}

/// Converts the error of a target whose URL is the argument `url`.
fn target_error(error: TargetError) -> PyErr {
    target_error_of("url", error)
}

/// Converts the error of a target whose URL is the argument named `url`.
pub(crate) fn target_error_of(url: &str, error: TargetError) -> PyErr {
    match error {
        TargetError::Resolve { .. } => {
            PyConnectionError::new_err(format!("{url}: {error}; check the name, or write an address"))
        }
        TargetError::UnixSocket { .. } => PyConnectionError::new_err(format!("unix_socket: {error}")),
        TargetError::Url { .. } | TargetError::Scheme { .. } => value_error(url, error),
        TargetError::Header(_) | TargetError::Framing(_) | TargetError::HasTraceHeader { .. } => {
            value_error("headers", error)
        }
        TargetError::Method(_) => value_error("method", error),
        TargetError::UnusedResolve { .. } => value_error("resolve", error),
        TargetError::NotInHttp2 { .. } | TargetError::SchemesInHttp2 { .. } => value_error("http2", error),
    }
}

fn tls_error(error: &TlsError) -> PyErr {
    match error {
        TlsError::Name(_) => value_error("url", error),
        TlsError::NoAuthorities(_) => value_error("ca", format!("{error}; name a file, such as ca='ca.pem'")),
        TlsError::Authorities(why) => value_error("ca", why),
        TlsError::Certificate(why) => value_error("cert", why),
        TlsError::Key(why) => value_error("key", why),
        TlsError::Identity(why) => value_error("cert", format!("it does not belong to the key: {why}")),
    }
}
