//! Everything that shows a run while it goes on, from before its start to after its end.

use std::sync::Arc;
use std::time::Duration;

use truetail_engine::host;
use truetail_page::web::Server;
use truetail_run::{Findings, Run};

use super::feed::Feed;
use super::listen::{LiveListener, url_of};
use super::otlp::{OtlpEndpoint, OtlpSender};
use super::site::Site;
use super::so_far::FeedSource;
use super::states::LiveStates;
use super::watch::check_terminal;
use crate::args::live::LiveArgs;
use crate::error::{Result, runtime_error};
use crate::output;

/// How long the process waits, at the end of the run, for clients that are still reading.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// What the user wants to see, checked before the load begins.
#[derive(Debug)]
pub struct LiveView {
    listener: Option<LiveListener>,
    otlp: Option<OtlpEndpoint>,
    watch: bool,
}

impl LiveView {
    /// Listens, so that a port in use ends the command before anything was sent.
    ///
    /// # Errors
    /// If it cannot listen, the URL of a receiver is none, or there is no terminal to draw on.
    pub fn prepare(args: &LiveArgs) -> Result<LiveView> {
        let watch = args.watch.watch;
        if watch {
            check_terminal()?;
        }
        let otlp = args.otlp.as_deref().map(OtlpEndpoint::parse).transpose()?;
        let listener = args.live.as_deref().map(LiveListener::bind).transpose()?;
        Ok(LiveView { listener, otlp, watch })
    }

    /// Open files that it needs during the run.
    pub fn files(&self) -> u64 {
        if self.listener.is_some() { Server::MAX_FILES } else { 0 }
    }

    /// Begins to show the run of `source`; costs nothing if nobody wants to see it.
    ///
    /// # Errors
    /// If the system gives no thread for the server.
    pub fn start(self, source: FeedSource) -> Result<RunningView> {
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

fn serve(LiveListener { listener, names }: LiveListener, site: &Site) -> Result<Server> {
    let server = Server::start_named(listener, names, host::lower_thread_priority, Arc::new(site.clone()))
        .map_err(|error| runtime_error(format!("cannot serve the live page: {error}")))?;
    output::note(&format!("live page on {}", url_of(server.address())));
    Ok(server)
}

/// What shows a run that goes on. Dropped before its end, it closes its connections.
#[derive(Default, Debug)]
pub struct RunningView {
    feed: Option<Feed>,
    server: Option<Server>,
    site: Option<Site>,
    otlp: Option<OtlpSender>,
    watched: Option<LiveStates>,
}

impl RunningView {
    /// The states of the run, if it is to fill the terminal.
    pub fn watched(&self) -> Option<LiveStates> {
        self.watched.clone()
    }

    /// The run has ended with this result.
    pub fn finish(&mut self, run: &Run, findings: &Findings) {
        let Some(feed) = self.feed.take() else { return };
        let is_visited = self.server.as_ref().is_some_and(Server::has_connections);
        let site = self.site.take().filter(|_| is_visited);
        feed.finish(run, findings, |last| site.iter().for_each(|site| site.draw_end(last)));
    }

    /// Waits until everyone who watches has the result, for at most 5 s each.
    pub fn end(self) {
        if let Some(server) = self.server {
            server.end(LAST_WORDS);
        }
        if let Some(otlp) = self.otlp {
            otlp.end(LAST_WORDS);
        }
    }
}
