//! A conversation whose transport and server are played by a test.

use std::sync::Arc;

use truetail_model::record::Outcome;

use super::super::{Http2, Http2Conversation, frame, kind};
use super::NOW;
use crate::protocol::http2::FieldBlocks;
use crate::protocol::http2::frame::{FrameHeader, flag, put, put_number};
use crate::protocol::tests::begins;
use crate::protocol::{Closed, Conversation, Ended, Event, Events, Flow, Tag};
use crate::target::method::Method;
use crate::target::request::Request;
use crate::target::request_set::RequestSet;

pub(super) struct Client {
    pub(super) protocol: Http2,
    pub(super) conversation: Http2Conversation,
}

impl Client {
    /// Creates a client that uses this request for all tags, with no request begun.
    pub(super) fn new(method: &str, headers: &[&str], body: &[u8]) -> Client {
        Client::with_max_streams(method, headers, body, None)
    }

    pub(super) fn with_max_streams(method: &str, headers: &[&str], body: &[u8], max_streams: Option<u32>) -> Client {
        let headers: Vec<String> = headers.iter().map(|header| header.to_string()).collect();
        let method: Method = method.parse().unwrap();
        let request = Request::new(method, "http://a.test/", &headers, body.to_vec()).unwrap();
        let blocks = FieldBlocks::new(&RequestSet::single(&request), "http");
        let protocol = Http2::new(Arc::new(blocks), max_streams, false);
        Client { conversation: Http2Conversation::new(protocol.max_streams, false), protocol }
    }

    /// Creates a client that has sent this number of GET requests, with tags from 0, and received nothing.
    pub(super) fn sent(requests: u32) -> Client {
        let mut client = Client::new("GET", &[], b"");
        for tag in 0..requests {
            client.begin(tag);
        }
        client.take();
        client
    }

    pub(super) fn begin(&mut self, tag: Tag) -> u32 {
        self.conversation.begin(&self.protocol, begins(tag), &mut Events::default())
    }

    /// Takes and returns the pending output.
    pub(super) fn take(&mut self) -> Vec<u8> {
        let out = self.conversation.output(&self.protocol).to_vec();
        self.conversation.sent(&self.protocol, out.len(), NOW, &mut Events::default());
        out
    }

    /// Returns the frames of everything that can be sent.
    pub(super) fn flush(&mut self) -> Vec<(FrameHeader, Vec<u8>)> {
        self.conversation.sent(&self.protocol, 0, NOW, &mut Events::default());
        let mut all = Vec::new();
        while !self.conversation.output(&self.protocol).is_empty() {
            all.extend(self.take());
        }
        frames(all.strip_prefix(frame::PREFACE).unwrap_or(&all))
    }

    pub(super) fn receive(&mut self, bytes: &[u8]) -> (Flow, Vec<Event>) {
        let mut events = Events::default();
        let flow = self.conversation.receive(&mut self.protocol, bytes, NOW, &mut events);
        (flow, events.take())
    }

    /// Receives a script that breaks no rules.
    pub(super) fn receive_script(&mut self, script: &Script) -> Vec<(Tag, Outcome)> {
        let (flow, events) = self.receive(&script.0);
        assert_eq!(flow, Flow::Continue);
        ended(&events).iter().map(|ended| (ended.tag, ended.outcome)).collect()
    }

    pub(super) fn close(&mut self, how: Closed) -> Vec<Ended> {
        let mut events = Events::default();
        self.conversation.closed(how, &mut events);
        let mut ended = ended(&events.take());
        ended.sort_by_key(|ended| ended.tag);
        ended
    }
}

/// Returns the requests that ended.
pub(super) fn ended(events: &[Event]) -> Vec<Ended> {
    let of = |event: &Event| if let Event::Ended(ended) = event { Some(*ended) } else { None };
    events.iter().filter_map(of).collect()
}

/// Frames as a server sends them.
#[derive(Clone, Default)]
pub(super) struct Script(pub(super) Vec<u8>);

impl Script {
    /// The settings that a server sends first.
    pub(super) fn settings(list: &[(u16, u32)]) -> Script {
        let payload: Vec<u8> =
            list.iter().flat_map(|(id, value)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat()).collect();
        Script::default().frame(kind::SETTINGS, 0, 0, &payload)
    }

    pub(super) fn frame(mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Script {
        put(&mut self.0, kind, flags, stream, payload);
        self
    }

    /// Adds a frame whose payload is one number.
    pub(super) fn number(mut self, kind: u8, stream: u32, number: u32) -> Script {
        put_number(&mut self.0, kind, stream, number);
        self
    }

    /// Adds a head with status 200.
    pub(super) fn head(self, stream: u32) -> Script {
        self.frame(kind::HEADERS, flag::END_HEADERS, stream, &[0x88])
    }

    pub(super) fn data(self, stream: u32, data: &[u8], ends: bool) -> Script {
        self.frame(kind::DATA, u8::from(ends), stream, data)
    }

    pub(super) fn goaway(self, last: u32, code: u32) -> Script {
        self.frame(kind::GOAWAY, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat())
    }
}

/// Returns the frames in `bytes`, with their payloads.
pub(super) fn frames(mut bytes: &[u8]) -> Vec<(FrameHeader, Vec<u8>)> {
    let mut frames = Vec::new();
    while let Some(head) = FrameHeader::read(bytes) {
        let (payload, rest) = bytes[frame::HEAD..].split_at(head.length);
        frames.push((head, payload.to_vec()));
        bytes = rest;
    }
    frames
}
