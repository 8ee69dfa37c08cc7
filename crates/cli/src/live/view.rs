//! All live views of a run, from before its start to after its end.

use std::sync::Arc;
use std::time::Duration;

use truetail_engine::host;
use truetail_page::web::Server;
use truetail_run::{Findings, Run};

use super::feed::Feed;
use super::otlp::{OtlpEndpoint, OtlpSender};
use super::site::Site;
use super::so_far::FeedSource;
use super::states::LiveStates;
use super::watch::check_terminal;
use crate::args::live::LiveArgs;
use crate::error::{Result, runtime_error};
use crate::listen::{RunListener, url_of};
use crate::output;

/// Time that the process waits, at the end of the run, for clients that are still reading.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Views that the user asked for, checked before the load begins.
#[derive(Debug)]
pub(crate) struct LiveView {
    listener: Option<RunListener>,
    otlp: Option<OtlpEndpoint>,
    watch: bool,
}

impl LiveView {
    /// Starts to listen, so that a port in use ends the command before anything is sent.
    ///
    /// # Errors
    /// If it cannot listen, the URL of the receiver is not valid, or the terminal cannot be drawn on.
    pub(crate) fn prepare(args: &LiveArgs) -> Result<LiveView> {
        let watch = args.watch.watch;
        if watch {
            check_terminal()?;
        }
        let otlp = args.otlp.as_deref().map(OtlpEndpoint::parse).transpose()?;
        let listener = args.live.as_deref().map(listen).transpose()?;
        Ok(LiveView { listener, otlp, watch })
    }

    /// Returns the number of open files that the views need during the run.
    pub(crate) fn files(&self) -> u64 {
        if self.listener.is_some() { Server::MAX_FILES } else { 0 }
    }

    /// Starts the views of the run of `source`. Without views it does nothing.
    pub(crate) fn start(self, source: FeedSource) -> Result<RunningView> {
        if self.listener.is_none() && self.otlp.is_none() && !self.watch {
            return Ok(RunningView::default());
        }
        let feed = Feed::start(source);
        let site = Site::new(feed.states());
        let server = self.listener.map(|listener| serve(listener, &site)).transpose()?;
        let otlp = self.otlp.map(|endpoint| OtlpSender::start(endpoint, feed.states()));
        Ok(RunningView { watched: self.watch.then(|| feed.states()), feed: Some(feed), server, site: Some(site), otlp })
    }
}

fn listen(given: &str) -> Result<RunListener> {
    RunListener::bind("--live", given, "see this run, with its URLs and failing answers")
}

fn serve(RunListener { listener, names }: RunListener, site: &Site) -> Result<Server> {
    let server = Server::start_named(listener, names, host::lower_thread_priority, Arc::new(site.clone()))
        .map_err(|error| runtime_error(format!("cannot serve the live page: {error}")))?;
    output::note(&format!("live page on {}", url_of(server.address())));
    Ok(server)
}

/// Running views of a run. Dropped before [`RunningView::end`], they close their connections.
#[derive(Default, Debug)]
pub(crate) struct RunningView {
    feed: Option<Feed>,
    server: Option<Server>,
    site: Option<Site>,
    otlp: Option<OtlpSender>,
    watched: Option<LiveStates>,
}

impl RunningView {
    /// Returns the states of the run if `--watch` shows them.
    pub(crate) fn watched(&self) -> Option<LiveStates> {
        self.watched.clone()
    }

    /// Publishes the result of the ended run.
    pub(crate) fn finish(&mut self, run: &Run, findings: &Findings) {
        let Some(feed) = self.feed.take() else { return };
        let is_visited = self.server.as_ref().is_some_and(Server::has_connections);
        let site = self.site.take().filter(|_| is_visited);
        feed.finish(run, findings, |last| site.iter().for_each(|site| site.draw_end(last)));
    }

    /// Waits until all clients have the result, for at most 5 s each for the page and the receiver.
    pub(crate) fn end(self) {
        if let Some(server) = self.server {
            server.end(LAST_WORDS);
        }
        if let Some(otlp) = self.otlp {
            otlp.end(LAST_WORDS);
        }
    }
}
