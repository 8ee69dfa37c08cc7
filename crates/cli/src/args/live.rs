//! Options to watch a run in progress.

use clap::Args;

use super::watch::WatchArgs;

/// Observers of a run in progress.
#[derive(Args, Clone, Default, Debug)]
pub(crate) struct LiveArgs {
    /// Serve a page that shows the run in progress, and Prometheus metrics under /metrics. Port 0 picks a free one. An
    /// address other than 127.0.0.1 lets others on the network watch too
    #[arg(long, value_name = "ADDRESS:PORT", help_heading = "Result")]
    pub live: Option<String>,
    /// Send metrics to an OpenTelemetry receiver during the run and at its end, as OTLP over HTTP, such as
    /// http://127.0.0.1:4318. Needs a truetail that was built with --features otlp
    #[arg(long, value_name = "URL", help_heading = "Result")]
    pub otlp: Option<String>,
    #[command(flatten)]
    pub watch: WatchArgs,
}
