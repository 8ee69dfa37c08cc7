//! Access logs of servers and proxies, which state how long each request took *there*. Requests that did not reach the
//! server are missing. Workers of a server may write their lines in blocks, so the order of lines means nothing.

mod json;
mod text;
mod words;

use truetail_run::{ForeignRequest, ForeignView};

use crate::rows::number::{Measured, Usual};
use crate::rows::{RunFacts, Taken};

pub(crate) use json::{AccessJson, ENDS};
pub(crate) use text::{ENVOY, NGINX, logged_request};
pub(crate) use words::Words;

/// Resolutions of the times in a log.
#[derive(Default)]
struct ServerSeen {
    starts: Usual,
    durations: Usual,
}

impl ServerSeen {
    fn take(&mut self, request: ForeignRequest, time: Measured, duration: Measured) -> Taken {
        self.starts.see(time);
        self.durations.see(duration);
        Taken::Request(request)
    }

    /// A log is not limited to one run, so it cannot have exactly the run's requests.
    fn close(self, facts: &mut RunFacts) {
        facts.view = ForeignView::Server;
        facts.has_all_requests = false;
        facts.start_resolution_ns = self.starts.ns();
        facts.duration_resolution_ns = self.durations.ns();
    }
}
