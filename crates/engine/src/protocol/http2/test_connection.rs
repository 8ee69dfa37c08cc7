//! A conversation that tests outside this crate can drive, such as the fuzzer.

use std::sync::Arc;

use truetail_model::arrival::Arrival;
use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Timestamp;
use truetail_run::{GrpcConfig, GrpcKind};

use super::conversation::{Http2, Http2Conversation};
use super::field_blocks::FieldBlocks;
use super::frame::{self, FrameHeader, kind};
use crate::protocol::{Beginning, Conversation, Event, Events, Flow, Protocol};
use crate::target::method::Method;
use crate::target::request::Request;
use crate::target::request_set::{RequestId, RequestSet};

/// Nothing in HTTP/2 depends on the time.
const NOW: Timestamp = Timestamp::ZERO;

/// A connection with some requests; the caller plays the server.
#[derive(Debug)]
pub struct TestConnection {
    protocol: Http2,
    conversation: Http2Conversation,
    /// Bytes of bodies that were sent.
    pub bodies_sent: i64,
    /// Requests that ended: the request's number from 0, its outcome, and the bytes of the frames of its answer.
    pub ended: Vec<(u32, Outcome, u64)>,
}

impl TestConnection {
    /// Creates a connection that has sent this number of GET or HEAD requests.
    pub fn get(requests: u32, is_head_request: bool) -> TestConnection {
        let method = if is_head_request { Method::Head } else { Method::Get };
        TestConnection::new(method, Vec::new(), requests, 0)
    }

    /// Creates a connection that has sent `sent` requests and begun `unsent` more that wait to be sent. Each has this
    /// body, sent as far as windows allow.
    pub fn post(sent: u32, unsent: u32, body: Vec<u8>) -> TestConnection {
        TestConnection::new("POST".parse().expect("a method"), body, sent, unsent)
    }

    /// Creates a connection that has sent this number of unary gRPC calls.
    pub fn calls(requests: u32) -> TestConnection {
        let mut connection = TestConnection::post(requests, 0, vec![0; 5]);
        connection.conversation.expect_calls(GrpcConfig { kind: GrpcKind::Unary, message_gap_ns: None });
        connection
    }

    fn new(method: Method, body: Vec<u8>, sent: u32, unsent: u32) -> TestConnection {
        let request = Request::new(method, "http://a.test/", &[], body).expect("a request");
        let blocks = FieldBlocks::new(&RequestSet::single(&request), "http");
        let protocol = Http2::new(Arc::new(blocks), None, true);
        let conversation = protocol.conversation();
        let mut connection = TestConnection { protocol, conversation, bodies_sent: 0, ended: Vec::new() };
        for tag in 0..sent + unsent {
            if tag == sent {
                connection.send();
            }
            let request = RequestId { target: 0, row: 0 };
            let arrival = Arrival { index: tag.into(), intended_start: NOW };
            let begins = Beginning { tag, request, arrival, now: NOW };
            connection.conversation.begin(&connection.protocol, begins, &mut Events::default());
        }
        if unsent == 0 {
            connection.send();
        }
        connection
    }

    fn send(&mut self) {
        let output = self.conversation.output(&self.protocol);
        let length = output.len();
        let mut rest = output.strip_prefix(frame::PREFACE).unwrap_or(output);
        while let Some(head) = FrameHeader::read(rest) {
            self.bodies_sent += if head.kind == kind::DATA { head.length as i64 } else { 0 };
            rest = &rest[frame::HEAD + head.length..];
        }
        self.conversation.sent(&self.protocol, length, NOW, &mut Events::default());
    }

    /// Sends pending output, and bodies as far as windows allow.
    pub fn send_all(&mut self) {
        self.send();
        while !self.conversation.output(&self.protocol).is_empty() {
            self.send();
        }
    }

    /// Returns the number of body bytes that the connection's window still allows, after pending output.
    pub fn window(&self) -> i64 {
        self.conversation.send_window()
    }

    /// Receives bytes of the server. Replies wait to be sent.
    ///
    /// # Errors
    /// The reason why the connection is unusable. Every request has ended then.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<(), Cause> {
        let mut events = Events::default();
        let flow = self.conversation.receive(&mut self.protocol, bytes, NOW, &mut events);
        let ended = events.take().into_iter().filter_map(|event| match event {
            Event::Ended(ended) => Some((ended.tag, ended.outcome, ended.bytes_in)),
            Event::Started(_) | Event::Sent(_) | Event::Late(..) | Event::FirstByte(_) => None,
            Event::Stray | Event::Unasked | Event::RoomChanged | Event::GoingAway => None,
        });
        self.ended.extend(ended);
        match flow {
            Flow::Continue => Ok(()),
            Flow::Close(cause) => Err(cause),
        }
    }

    /// Returns pending output.
    pub fn to_send(&self) -> &[u8] {
        self.conversation.output(&self.protocol)
    }

    /// Returns the number of buffered bytes: unfinished frames and blocks, and output.
    pub fn held(&self) -> usize {
        self.conversation.held()
    }

    /// Returns the number of requests that have not ended.
    pub fn in_flight(&self) -> usize {
        self.conversation.in_flight()
    }
}
