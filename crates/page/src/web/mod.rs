//! A small HTTP/1.1 server for pages on this machine: the live page of a run and the page to play with.
//!
//! It trusts nobody. Requests and connections are bounded, every read and write has a time limit, and there is no CORS. A
//! request is refused if its `Host` is a name that this server was not given, because that is how DNS rebinding reaches a
//! local server from a foreign page. The same holds for an `Origin` that is not the server's own.
//!
//! | module | content |
//! |---|---|
//! | `request` | a request, and how it is read |
//! | `response` | a response: a text, bytes, or a stream of server-sent events |
//! | `hosts` | the names that requests may use |
//! | `connections` | the open connections, and how many there may be |
//! | `exchange` | one connection: requests in, responses out |
//! | `server` | listening, and ending |

mod connections;
mod exchange;
mod hosts;
mod request;
mod response;
mod server;
#[cfg(test)]
mod tests;

pub use request::Request;
pub use response::{Event, EventSource, NextEvent, Response};
pub use server::Server;

/// Answers requests. Called by many threads at once, for one request each.
pub trait Handler: Send + Sync + 'static {
    /// The response to `request`. It may take its time, but [`Server::end`] does not wait for it longer than it was told.
    fn handle(&self, request: &Request) -> Response;
}

impl<F: Fn(&Request) -> Response + Send + Sync + 'static> Handler for F {
    fn handle(&self, request: &Request) -> Response {
        self(request)
    }
}
