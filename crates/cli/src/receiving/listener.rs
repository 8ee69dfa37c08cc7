//! The receiver of spans, from before the run to after its end.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use truetail_engine::{Target, host};
use truetail_model::time::Nanos;
use truetail_model::trace::TraceIds;
use truetail_page::web::{Handler, Server};
use truetail_run::{Run, TraceFacts};
use truetail_spans::SpanStore;

use super::receiver::Receiver;
use crate::args::spans::SpanArgs;
use crate::error::{Result, runtime_error};
use crate::listen::{RunListener, url_of};
use crate::output;

/// Time to wait for spans after the run: SDKs of OpenTelemetry send theirs at least every 5 s by default
/// (`OTEL_BSP_SCHEDULE_DELAY`).
const GRACE: Nanos = Nanos::from_secs(6);
/// Time between two looks for a signal.
const LOOK: Duration = Duration::from_millis(20);
/// Time for the answers to the last messages.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Listener for spans, before the run.
#[derive(Debug)]
pub(crate) struct SpanListener {
    listener: RunListener,
    ids: TraceIds,
    grace: Nanos,
}

impl SpanListener {
    /// Starts to listen if the user wants spans, so that a port in use ends the command before anything is sent.
    ///
    /// # Errors
    /// If it cannot listen.
    pub(crate) fn prepare(args: &SpanArgs, target: &Target) -> Result<Option<SpanListener>> {
        let ids = target.trace_facts().and_then(TraceFacts::ids);
        let Some((given, ids)) = args.otlp_receive.as_deref().zip(ids) else { return Ok(None) };
        let listener = RunListener::bind("--otlp-receive", given, "send spans that count as the service's")?;
        Ok(Some(SpanListener { listener, ids, grace: args.otlp_grace.unwrap_or(GRACE) }))
    }

    /// Returns the number of open files that receiving needs during the run.
    pub(crate) fn files(&self) -> u64 {
        Server::MAX_FILES
    }

    /// Receives spans from now on, in threads behind the workers.
    ///
    /// # Errors
    /// If no thread can be started.
    pub(crate) fn start(self) -> Result<RunningReceiver> {
        let SpanListener { listener: RunListener { listener, names }, ids, grace } = self;
        let receiver = Arc::new(Receiver::new(SpanStore::new(ids)));
        let handler = Arc::clone(&receiver) as Arc<dyn Handler>;
        let server = Server::start_named(listener, names, host::lower_thread_priority, handler)
            .map_err(|error| runtime_error(format!("--otlp-receive: cannot receive spans: {error}")))?;
        output::note(&format!("receives spans on {}v1/traces", url_of(server.address())));
        Ok(RunningReceiver { server, receiver, grace })
    }
}

/// Receiver of the spans of a run.
#[derive(Debug)]
pub(crate) struct RunningReceiver {
    server: Server,
    receiver: Arc<Receiver>,
    grace: Nanos,
}

impl RunningReceiver {
    /// Waits for the last spans, unless `is_told` to end, and adds the times of the spans to the run.
    pub(crate) fn end(self, run: &mut Run, quiet: bool, is_told: &dyn Fn() -> bool) {
        self.receiver.hurry();
        if !quiet && !self.grace.is_zero() {
            output::note(&format!("waits {} for spans (--otlp-grace); Ctrl-C ends the wait", self.grace));
        }
        let until = Instant::now() + Duration::from(self.grace);
        while Instant::now() < until && !is_told() {
            thread::sleep(LOOK.min(until.saturating_duration_since(Instant::now())));
        }
        self.server.end(LAST_WORDS);
        run.facts.server_timing = self.receiver.take().map(|store| store.times(&run.snapshot.samples));
    }
}
