//! Subscribed channels: what their reader of pushes is told, with the bytes of the peer cut at every place.

use std::sync::{Arc, Mutex};

use truetail_model::arrival::Arrival;
use truetail_model::record::Outcome;
use truetail_model::time::{Nanos, Timestamp};

use super::conversation::Channel;
use super::*;
use crate::protocol::observer::{AnswerHead, AnswerReader, EndedRequest};
use crate::protocol::push_reader::PushReader;
use crate::protocol::{Beginning, Closed, Conversation, Event, Events, Flow, Protocol};
use crate::target::method::Method;
use crate::target::request_set::{FeedOrder, RequestId, RequestSet};
use crate::target::target_requests::TargetRequests;

const AT: Timestamp = Timestamp(40);

/// Writes down what it is told.
#[derive(Clone, Default)]
struct Told {
    lines: Arc<Mutex<Vec<String>>>,
    push: Vec<u8>,
}

impl Told {
    fn add(&self, line: String) {
        self.lines.lock().unwrap().push(line);
    }
}

impl PushReader for Told {
    fn begin_channel(&mut self, channel: u32, at: Timestamp) {
        self.add(format!("{channel} begins at {}", at.0));
    }

    fn push_part(&mut self, _: u32, part: &[u8]) {
        self.push.extend_from_slice(part);
    }

    fn end_push(&mut self, channel: u32) {
        let push = std::mem::take(&mut self.push);
        self.add(format!("{channel}: {}", String::from_utf8(push).unwrap()));
    }

    fn end_channel(&mut self, channel: u32, is_lost: bool) {
        self.add(format!("{channel} {}", if is_lost { "is lost" } else { "ends" }));
    }
}

impl AnswerReader for Told {
    fn head(&mut self, _: u32, _: AnswerHead<'_>) {}

    fn body(&mut self, _: u32, _: &[u8]) {}

    fn end(&mut self, _: u32, _: EndedRequest) {}

    fn pushes(&mut self) -> Option<&mut dyn PushReader> {
        Some(self)
    }
}

struct Client {
    protocol: Messages,
    channel: Channel,
    events: Events,
    told: Told,
}

impl Client {
    fn new(framing: &str, matching: &str, steps: Vec<ExchangeStep>) -> Client {
        let framing = if framing == "redis" { Framing::Redis } else { framing.parse().unwrap() };
        let subscription = Exchange::new(steps);
        let options = MessageOptions { subscription, ..MessageOptions::new(framing, matching.parse().unwrap()) };
        let mut target = TargetRequests::new(Method::Other("SEND".to_owned()), "tcp://a:1".to_owned(), 1);
        target.push_message(br#"{"id":1}"#);
        let requests = RequestSet::new(vec![target], 0, FeedOrder::InOrder, 1).unwrap();
        let protocol = Messages::new(&requests, options, Timestamp::ZERO);
        let told = Told::default();
        let events = Events::new(Some(Box::new(told.clone())));
        Client { channel: protocol.conversation(), protocol, events, told }
    }

    fn send(&mut self) -> Vec<u8> {
        let output = self.channel.output(&self.protocol).to_vec();
        self.channel.sent(&self.protocol, output.len(), AT, &mut self.events);
        output
    }

    fn begin(&mut self, tag: u32) {
        let arrival = Arrival { index: 0, intended_start: Timestamp(9) };
        let begins = Beginning { tag, request: RequestId { target: 0, row: 0 }, arrival, now: AT };
        self.channel.begin(&self.protocol, begins, &mut self.events);
    }

    /// Receives pieces. Returns the tags of the messages that were answered.
    fn receive(&mut self, bytes: &[u8], size: usize) -> Vec<u32> {
        for piece in bytes.chunks(size) {
            let flow = self.channel.receive(&mut self.protocol, piece, AT, &mut self.events);
            assert_eq!(flow, Flow::Continue);
        }
        let answered = |event| match event {
            Event::Ended(ended) => Some((ended.tag, assert_eq!(ended.outcome, Outcome::ANSWERED)).0),
            _ => None,
        };
        self.events.take().into_iter().filter_map(answered).collect()
    }

    fn lines(&self) -> Vec<String> {
        std::mem::take(&mut *self.told.lines.lock().unwrap())
    }
}

fn subscribes() -> Vec<ExchangeStep> {
    let expected = Expectation { content: b"subscribed".to_vec(), passes_over: true, within: Nanos::from_secs(1) };
    let send = ExchangeStep::Send { message: b"sub".to_vec(), is_binary: false };
    vec![send, ExchangeStep::Expect(expected)]
}

#[test]
fn what_has_no_match_is_a_push_however_it_is_cut() {
    let comes = b"snapshot\nsubscribed\n{\"price\":1}\n{\"id\":1}\n{\"id\":1}\n\n{\"id\":7}\nhal";
    for size in 1..=comes.len() {
        let mut client = Client::new("line", "json:/id", subscribes());
        assert_eq!(client.send(), b"sub\n");
        let (opening, rest) = comes.split_at(20);
        assert!(client.receive(opening, size).is_empty() && client.channel.is_open());
        client.begin(3);
        client.send();
        assert_eq!(client.receive(rest, size), [3], "by {size}");
        client.channel.close(Closed::Reset, &mut client.events);
        assert_eq!(client.lines(), ["0 begins at 40", "0: {\"price\":1}", "0: ", "0: {\"id\":7}", "0 is lost"]);
        let books = client.protocol.take_message_books().unwrap();
        assert_eq!((books.pushes, books.doubled, books.unmatched), (3, 1, 0));
    }
}

#[test]
fn without_replies_everything_is_a_push() {
    let comes = b"\x02ab\x00\x03cde";
    for size in 1..=comes.len() {
        let mut client = Client::new("length:1be", "none", vec![subscribes().remove(0)]);
        // Nothing is awaited, so the subscription goes out with the first message here, and at once from a worker.
        assert!(client.channel.is_open() && client.lines().is_empty());
        client.channel.opened(Timestamp(40), &mut client.events);
        client.begin(0);
        assert_eq!(client.send(), b"\x03sub\x08{\"id\":1}");
        client.receive(comes, size);
        client.channel.say_goodbye(&mut client.events);
        assert_eq!(client.lines(), ["0 begins at 40", "0: ab", "0: ", "0: cde", "0 ends"]);
        assert_eq!(client.protocol.take_message_books().unwrap().pushes, 3);
    }
}

#[test]
fn redis_marks_its_pushes() {
    let comes = b">2\r\n+news\r\n+a\r\n+PONG\r\n>1\r\n+b\r\n";
    for size in 1..=comes.len() {
        let mut client = Client::new("redis", "order", subscribes());
        client.send();
        client.receive(b"+subscribed\r\n", size);
        client.begin(0);
        client.send();
        assert_eq!(client.receive(comes, size), [0]);
        assert_eq!(client.lines(), ["0 begins at 40", "0: >2\r\n+news\r\n+a\r\n", "0: >1\r\n+b\r\n"]);
    }
}

#[test]
fn a_channel_that_never_opened_has_no_pushes() {
    let mut client = Client::new("line", "none", subscribes());
    client.send();
    client.receive(b"snapshot\n", 3);
    client.channel.close(Closed::Reset, &mut client.events);
    assert!(client.lines().is_empty());
}
