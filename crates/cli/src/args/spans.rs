//! Options of spans that services report.

use clap::Args;
use truetail_model::time::Nanos;

/// Options of spans that services report.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct SpanArgs {
    /// Receive spans of the traces of this run here, as OTLP over HTTP, and say which part of the service explains how
    /// much of the response time. SDKs send to 127.0.0.1:4318 by default
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "server_timing")]
    #[arg(help_heading = "Traces")]
    pub otlp_receive: Option<String>,
    /// Time to wait for spans after the run. SDKs send every 5 s by default [default: 6s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    #[arg(help_heading = "Traces")]
    pub otlp_grace: Option<Nanos>,
}
