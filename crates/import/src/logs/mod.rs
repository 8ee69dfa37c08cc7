//! Access logs of servers and proxies, which say how long each request took *there*. They know nothing of requests that had not
//! reached the server. Workers of a server may write their lines in blocks, so the order of the lines says nothing.

mod json;
mod text;
mod words;

use truetail_run::{ForeignRequest, ForeignView};

use crate::rows::number::{Measured, Usual};
use crate::rows::{RunFacts, Taken};

pub(crate) use json::{AccessJson, ENDS};
pub(crate) use text::{ENVOY, NGINX, logged_request};
pub(crate) use words::Words;

/// What all of them have in common.
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

    /// A log is of no run, so it cannot say that it has all requests of one.
    fn close(self, facts: &mut RunFacts) {
        facts.view = ForeignView::Server;
        facts.has_all_requests = false;
        facts.start_resolution_ns = self.starts.ns();
        facts.duration_resolution_ns = self.durations.ns();
    }
}
