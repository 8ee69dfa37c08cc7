//! A script before it runs: its file, the values of `wrk`, and its sessions.

use std::net::SocketAddr;
use std::sync::Arc;

use mlua::Table;
use truetail_engine::{MessageOptions, RequestView};
use truetail_flow::SessionRows;
use truetail_grpc::Schema;

use crate::state::State;

/// A script, and its arguments.
#[derive(Clone, Debug)]
pub struct ScriptFile {
    /// Name of the file, for errors.
    pub name: String,
    /// Its text.
    pub code: Vec<u8>,
    /// Arguments for `init`.
    pub args: Vec<String>,
    /// It may use `io`, `os` and files.
    pub allows_io: bool,
    /// Seed of `math.random`. Each worker has a different sequence.
    pub seed: u64,
}

impl ScriptFile {
    /// Returns false if the script cannot define `session(s)`. Most scripts of wrk have no such word, and need not be
    /// run once more.
    pub fn may_lead_sessions(&self) -> bool {
        self.code.windows(7).any(|word| word == b"session")
    }
}

/// The values of `wrk` before the script runs.
#[derive(Clone, Default, Debug)]
pub struct ScriptTarget {
    /// The URL.
    pub url: String,
    /// `http` or `https`.
    pub scheme: String,
    /// Host name or address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The port is part of the URL: otherwise `wrk.port` is nil.
    pub names_port: bool,
    /// Method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Name and value of the header fields.
    pub headers: Vec<(String, String)>,
    /// Body; empty: none.
    pub body: Vec<u8>,
    /// Addresses that connections go to.
    pub addresses: Vec<SocketAddr>,
}

impl ScriptTarget {
    /// Returns method, path, header and body of a request. Leaves out its length and the header fields that `left_out`
    /// names in lower case.
    pub fn of_request(request: RequestView<'_>, left_out: &[&str]) -> ScriptTarget {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let is_kept = |name: &[u8]| {
            let mut others = left_out.iter().chain(&["content-length"]);
            !others.any(|other| name.eq_ignore_ascii_case(other.as_bytes()))
        };
        let kept = request.fields().filter(|(name, _)| is_kept(name));
        ScriptTarget {
            method: text(request.method()),
            path: text(request.path()),
            headers: kept.map(|(name, value)| (text(name), text(value))).collect(),
            body: request.body().to_vec(),
            ..ScriptTarget::default()
        }
    }

    /// Sets the values of `wrk`.
    pub(crate) fn describe_to(&self, state: &State) -> mlua::Result<()> {
        let wrk: Table = state.lua.globals().get("wrk")?;
        wrk.set("scheme", self.scheme.as_str())?;
        wrk.set("host", self.host.as_str())?;
        wrk.set("port", self.names_port.then(|| self.port.to_string()))?;
        wrk.set("method", self.method.as_str())?;
        wrk.set("path", self.path.as_str())?;
        let headers: Table = wrk.get("headers")?;
        for (name, value) in &self.headers {
            headers.set(name.as_str(), value.as_str())?;
        }
        let body = (!self.body.is_empty()).then(|| state.lua.create_string(&self.body)).transpose()?;
        wrk.set("body", body)
    }
}

/// Sessions that a script leads, as known before the run.
#[derive(Clone, Debug)]
pub struct SessionPlan {
    /// Names of the steps.
    pub steps: Vec<String>,
    /// Rows of data.
    pub rows: Option<Arc<SessionRows>>,
    /// What they ask with.
    pub asks: SessionAsks,
}

/// What sessions ask with.
#[derive(Clone, Debug)]
pub enum SessionAsks {
    /// Requests of HTTP.
    Requests,
    /// Calls of gRPC, with their schema.
    Calls(Schema),
    /// Messages on a channel.
    Messages(Box<MessageOptions>),
}
