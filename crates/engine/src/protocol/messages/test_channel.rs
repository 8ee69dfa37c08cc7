//! A channel that tests outside this crate can drive, such as the fuzzer.

use truetail_model::arrival::Arrival;
use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Timestamp;
use truetail_run::MessageBooks;

use super::conversation::{Channel, Messages};
use super::options::MessageOptions;
use super::websocket::accept_for;
use crate::protocol::http2::frame;
use crate::protocol::{Beginning, Conversation, Event, Events, Flow, Protocol};
use crate::target::request_set::RequestSet;

/// Only an exchange has deadlines, and nothing here waits for them.
const NOW: Timestamp = Timestamp::ZERO;

/// A channel with some messages; the caller plays the peer.
#[derive(Debug)]
pub struct TestChannel {
    protocol: Messages,
    channel: Channel,
    messages: RequestSet,
    /// What the channel sent.
    pub sent: Vec<u8>,
    /// Messages that ended: the message's number from 0, and its outcome.
    pub ended: Vec<(u32, Outcome)>,
}

impl TestChannel {
    /// Creates a channel that has begun its opening.
    pub fn new(messages: &RequestSet, options: MessageOptions) -> TestChannel {
        let protocol = Messages::new(messages, options, NOW);
        let channel = protocol.conversation();
        let messages = messages.clone();
        let mut channel = TestChannel { protocol, channel, messages, sent: Vec::new(), ended: Vec::new() };
        channel.send();
        channel
    }

    /// Plays a server of WebSocket that accepts the channel, and compression if it is offered. Other channels have no
    /// handshake.
    pub fn greet(&mut self) {
        if self.sent.starts_with(frame::PREFACE) {
            self.greet_over_http2();
        } else if !self.channel.is_open() && self.sent.starts_with(b"GET ") {
            let sent = String::from_utf8_lossy(&self.sent);
            let value = |name| sent.lines().find_map(move |line| line.strip_prefix(name));
            let accept = accept_for(value("Sec-WebSocket-Key: ").unwrap_or_default());
            let extensions = "Sec-WebSocket-Extensions: ";
            let agreed = value(extensions).map_or(String::new(), |offer| format!("{extensions}{offer}\r\n"));
            let answer = format!(
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{agreed}\
                 Sec-WebSocket-Accept: {accept}\r\n\r\n"
            );
            let _ = self.receive(answer.as_bytes());
        }
    }

    fn greet_over_http2(&mut self) {
        /// `:status 200` in the static table of HPACK.
        const OK: u8 = 0x88;
        let mut settings = Vec::new();
        let offer = [&frame::setting::ENABLE_CONNECT_PROTOCOL.to_be_bytes()[..], &1u32.to_be_bytes()].concat();
        frame::put(&mut settings, frame::kind::SETTINGS, 0, 0, &offer);
        let mut head = Vec::new();
        frame::put(&mut head, frame::kind::HEADERS, frame::flag::END_HEADERS, 1, &[OK]);
        for part in [settings, head] {
            let _ = self.receive(&part);
            self.send();
        }
    }

    /// Begins and sends this number of messages.
    pub fn begin(&mut self, count: u32) {
        for tag in 0..count {
            let arrival = Arrival { index: tag.into(), intended_start: NOW };
            let begins = Beginning { tag, request: self.messages.choose(arrival.index), arrival, now: NOW };
            self.channel.begin(&self.protocol, begins, &mut Events::default());
        }
        self.send();
    }

    /// Sends pending output.
    pub fn send(&mut self) {
        let output = self.channel.output(&self.protocol);
        let length = output.len();
        self.sent.extend_from_slice(output);
        let mut events = Events::default();
        self.channel.sent(&self.protocol, length, NOW, &mut events);
        self.take(events);
    }

    /// Receives bytes of the peer. Replies of the channel, such as pongs, wait to be sent.
    ///
    /// # Errors
    /// The reason why the channel is unusable. Every message has ended then.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<(), Cause> {
        let mut events = Events::default();
        let flow = self.channel.receive(&mut self.protocol, bytes, NOW, &mut events);
        self.take(events);
        match flow {
            Flow::Continue => Ok(()),
            Flow::Close(cause) => Err(cause),
        }
    }

    fn take(&mut self, mut events: Events) {
        let ended = events.take().into_iter().filter_map(|event| match event {
            Event::Ended(ended) => Some((ended.tag, ended.outcome)),
            Event::Started(_) | Event::Sent(_) | Event::Late(..) | Event::FirstByte(_) => None,
            Event::Stray | Event::Unasked | Event::RoomChanged | Event::GoingAway => None,
        });
        self.ended.extend(ended);
    }

    /// Returns true once the opening is complete.
    pub fn is_open(&self) -> bool {
        self.channel.is_open()
    }

    /// Returns pending output.
    pub fn to_send(&self) -> &[u8] {
        self.channel.output(&self.protocol)
    }

    /// Returns the number of messages that have not ended.
    pub fn in_flight(&self) -> usize {
        self.channel.in_flight()
    }

    /// Returns the books besides the replies.
    pub fn books(&self) -> &MessageBooks {
        &self.protocol.books
    }
}
