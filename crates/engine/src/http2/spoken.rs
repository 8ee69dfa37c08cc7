//! A conversation for whoever tests from outside, such as the fuzzer.

use truetail_model::record::{Cause, Outcome};

use super::frame::{self, Head, kind};
use super::{Blocks, Session};
use crate::target::request_set::{RequestId, RequestSet};
use crate::target::{method::Method, request::Request};

/// A connection with some requests on it, to which a server speaks.
#[derive(Debug)]
pub struct Spoken {
    session: Session,
    /// Of every request.
    body: Vec<u8>,
    /// Bytes of bodies that were sent.
    pub bodies_sent: i64,
    /// What ended: the request's number from 0 on, how it ended, and the bytes of the frames of its answer.
    pub ended: Vec<(u32, Outcome, u64)>,
}

impl Spoken {
    /// So many requests were sent, of GET or of HEAD.
    pub fn asked(requests: u32, is_head_request: bool) -> Spoken {
        let method = if is_head_request { Method::Head } else { Method::Get };
        Spoken::with_requests(method, Vec::new(), requests, 0)
    }

    /// So many requests were sent, and then so many others made that wait to be sent: each with this body, as far as windows
    /// let it.
    pub fn posted(sent: u32, unsent: u32, body: Vec<u8>) -> Spoken {
        Spoken::with_requests("POST".parse().expect("a method"), body, sent, unsent)
    }

    fn with_requests(method: Method, body: Vec<u8>, sent: u32, unsent: u32) -> Spoken {
        let request = Request::new(method, "http://a.test/", &[], body.clone()).expect("a request");
        let blocks = Blocks::new(&RequestSet::single(&request), "http").expect("a request of HTTP/2");
        let mut spoken = Spoken { session: Session::new(u32::MAX), body, bodies_sent: 0, ended: Vec::new() };
        let request = blocks.get(RequestId { target: 0, row: 0 });
        for tag in 0..sent + unsent {
            if tag == sent {
                spoken.send();
            }
            spoken.session.open(tag, request);
        }
        if unsent == 0 {
            spoken.send();
        }
        spoken
    }

    /// Sends what waits to be sent.
    fn send(&mut self) {
        let mut rest = self.session.to_send();
        let length = rest.len();
        rest = rest.strip_prefix(frame::PREFACE).unwrap_or(rest);
        while let Some(head) = Head::read(rest) {
            self.bodies_sent += if head.kind == kind::DATA { head.length as i64 } else { 0 };
            rest = &rest[frame::HEAD + head.length..];
        }
        self.session.sent(length);
    }

    /// Sends what waits to be sent, and of bodies what windows let pass.
    pub fn send_all(&mut self) {
        while !self.session.to_send().is_empty() {
            self.send();
            self.session.go_on_with_bodies(|_| &self.body[..]);
        }
    }

    /// How many bytes of bodies the server takes on the connection, beside those that wait to be sent.
    pub fn window(&self) -> i64 {
        self.session.send_window()
    }

    /// Hears bytes of the server; its replies wait.
    ///
    /// # Errors
    /// Why the connection is of no use any more; every request has ended then.
    pub fn hear(&mut self, bytes: &[u8]) -> Result<(), Cause> {
        let mut events = Vec::new();
        let fed = self.session.feed(bytes, &mut events);
        if let Err(broken) = fed {
            self.session.give_up(broken, &mut events);
        }
        self.ended.extend(events.iter().map(|ended| (ended.tag, ended.outcome, ended.received)));
        fed.map_err(|broken| broken.cause)
    }

    /// What waits to be sent.
    pub fn to_send(&self) -> &[u8] {
        self.session.to_send()
    }

    /// Bytes that are kept: what was begun and has not ended, and replies.
    pub fn held(&self) -> usize {
        self.session.held()
    }

    /// Requests that have not ended.
    pub fn in_flight(&self) -> usize {
        self.session.in_flight()
    }
}
