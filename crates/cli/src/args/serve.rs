//! `truetail serve`.

use std::path::PathBuf;

use clap::Args;
use truetail_server::MessageFraming;

const EXAMPLE: &str = "\
Example:
  truetail serve --scenario 02-single-hiccup --listen 127.0.0.1:8080 --truth truth.csv";

/// Run a test server that misbehaves as a scenario says
///
/// Prints 'listening on http://ADDRESS' when it is ready (or https://, tcp:// or tls://, by its options). The clock of
/// the faults starts at the first request that is not a health check (GET /healthy; with streamed answers also /health,
/// /metrics, /v1/models and /get_server_info), or at POST /clock. Ctrl-C, SIGTERM or SIGHUP stops the server and
/// completes the logs.
#[derive(Args, Debug)]
#[command(before_help = EXAMPLE)]
pub(crate) struct ServeArgs {
    /// Built-in scenario, by name or by the start of its name (02), or a TOML file
    #[arg(long, value_name = "NAME|FILE", default_value = "01-healthy")]
    pub scenario: String,
    /// Address and port to listen on; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    pub listen: String,
    /// Serve over TLS with the certificate in this PEM file, the chain to its authority behind it
    #[arg(long, value_name = "FILE", requires = "key")]
    pub cert: Option<PathBuf>,
    /// The private key of --cert, a PEM file
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// Answer messages on TCP instead of HTTP, each with the same message: line, crlf, nul, length:4be, length:2le,
    /// fixed:64 and so on. Without this, WebSocket is answered on every path
    #[arg(long, value_name = "FRAMING")]
    pub framing: Option<MessageFraming>,
    /// Log what happened to each request to this CSV file
    #[arg(long, value_name = "FILE")]
    pub truth: Option<PathBuf>,
    /// Log when each event of each stream left to this CSV file
    #[arg(long, value_name = "FILE")]
    pub truth_events: Option<PathBuf>,
}
