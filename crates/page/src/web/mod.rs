//! A small HTTP/1.1 server for local pages: the live page of a run and the interactive page.
//!
//! It trusts no client. Requests and connections are bounded, every read and write has a time limit, and there is no
//! CORS. A request is refused if its `Host` is a name that this server was not given, because DNS rebinding lets a
//! foreign page reach a local server by its own name. It is also refused if its `Origin` is not the server's own.
//!
//! | module | content |
//! |---|---|
//! | `no_request` | reasons why a connection has no request |
//! | `request` | a request, and its parser |
//! | `chunked` | a body in chunks |
//! | `response` | a response: a text, bytes, or a stream of server-sent events |
//! | `hosts` | the names that requests may use |
//! | `connections` | the open connections, and their limit |
//! | `exchange` | one connection: requests in, responses out |
//! | `server` | listening, and ending |

mod chunked;
mod connections;
mod exchange;
mod hosts;
mod no_request;
mod request;
mod response;
mod server;
#[cfg(test)]
mod tests;

pub use request::Request;
pub use response::{Event, EventSource, NextEvent, Response};
pub use server::Server;

/// Handler of requests. Many threads call it at once, each for one request.
pub trait Handler: Send + Sync + 'static {
    /// Returns the response to `request`. It may be slow, but [`Server::end`] waits for it only for the given time.
    fn handle(&self, request: &Request) -> Response;

    /// Takes notice of a request that the server refuses itself, with this status and sentence. `None` if it was not
    /// read to its end.
    fn refused(&self, _request: Option<&Request>, _status: u16, _why: &str) {}

    /// Returns the length limit of a body in bytes: 1 MiB.
    fn longest_body(&self) -> usize {
        1 << 20
    }
}

impl<F: Fn(&Request) -> Response + Send + Sync + 'static> Handler for F {
    fn handle(&self, request: &Request) -> Response {
        self(request)
    }
}
