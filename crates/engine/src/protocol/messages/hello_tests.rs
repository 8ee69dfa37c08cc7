//! Exchanges that open a channel, with the bytes of the peer cut at every place.

use truetail_model::arrival::Arrival;
use truetail_model::record::Cause;
use truetail_model::time::{Nanos, Timestamp};

use super::conversation::Channel;
use super::*;
use crate::protocol::{Beginning, Conversation, Event, Events, Flow, Protocol};
use crate::target::method::Method;
use crate::target::request_set::{FeedOrder, RequestId, RequestSet};
use crate::target::target_requests::TargetRequests;

const WITHIN: Nanos = Nanos(100);

fn send(message: &[u8]) -> ExchangeStep {
    ExchangeStep::Send { message: message.to_vec(), is_binary: false }
}

fn expect(content: &[u8], passes_over: bool) -> ExchangeStep {
    ExchangeStep::Expect(Expectation { content: content.to_vec(), passes_over, within: WITHIN })
}

/// A channel whose opening has not begun to be sent.
struct Client {
    protocol: Messages,
    channel: Channel,
    sent: Vec<u8>,
    now: Timestamp,
}

impl Client {
    fn new(framing: &str, steps: Vec<ExchangeStep>) -> Client {
        let framing = if framing == "redis" { Framing::Redis } else { framing.parse().unwrap() };
        let hello = Exchange::new(steps);
        let options = MessageOptions { hello, ..MessageOptions::new(framing, Matching::Order) };
        let mut target = TargetRequests::new(Method::Other("SEND".to_owned()), "tcp://a:1".to_owned(), 1);
        target.push_message(b"message");
        let requests = RequestSet::new(vec![target], 0, FeedOrder::InOrder, 1).unwrap();
        let protocol = Messages::new(&requests, options, Timestamp::ZERO);
        Client { channel: protocol.conversation(), protocol, sent: Vec::new(), now: Timestamp(5) }
    }

    fn send(&mut self) {
        let output = self.channel.output(&self.protocol).to_vec();
        self.channel.sent(&self.protocol, output.len(), self.now, &mut Events::default());
        self.sent.extend_from_slice(&output);
    }

    fn receive(&mut self, bytes: &[u8]) -> (Flow, Vec<Event>) {
        let mut events = Events::default();
        let flow = self.channel.receive(&mut self.protocol, bytes, self.now, &mut events);
        self.send();
        (flow, events.take())
    }

    /// Receives pieces until the channel is closed.
    fn receive_pieces(&mut self, bytes: &[u8], size: usize) -> Flow {
        let mut flows = bytes.chunks(size).map(|piece| self.receive(piece).0);
        flows.find(|flow| *flow != Flow::Continue).unwrap_or(Flow::Continue)
    }
}

#[test]
fn a_login_is_sent_and_awaited_in_its_order_however_it_is_cut() {
    let steps = || vec![expect(b"", false), send(b"user me"), send(b"pass x"), expect(b"OK", false), send(b"go")];
    for (framing, comes, goes) in [
        ("line", &b"welcome\nall OK\n"[..], &b"user me\npass x\ngo\n"[..]),
        ("length:1be", b"\x07welcome\x02OK", b"\x07user me\x06pass x\x02go"),
        ("delimiter:0d0a", b"wel\rcome\r\nOK\r\n", b"user me\r\npass x\r\ngo\r\n"),
        ("redis", b"+hi\r\n$2\r\nOK\r\n", b"user mepass xgo"),
    ] {
        for size in 1..=comes.len() {
            let mut client = Client::new(framing, steps());
            client.send();
            for piece in comes.chunks(size) {
                assert!(!client.channel.is_open(), "{framing} by {size}");
                assert_eq!(client.receive(piece).0, Flow::Continue);
            }
            assert!(client.channel.is_open(), "{framing} by {size}");
            assert_eq!(client.sent, goes, "{framing} by {size}");
            assert_eq!(client.protocol.take_message_books(), Some(truetail_run::MessageBooks::default()));
        }
    }
}

#[test]
fn what_follows_the_exchange_belongs_to_the_channel() {
    for size in [1, 4, 100] {
        let mut client = Client::new("line", vec![send(b"hello"), expect(b"ready", true)]);
        client.send();
        assert_eq!(client.receive_pieces(b"news\nmore\nready\npush\nhalf", size), Flow::Continue);
        assert!(client.channel.is_open());
        let arrival = Arrival { index: 0, intended_start: Timestamp(9) };
        let begins = Beginning { tag: 3, request: RequestId { target: 0, row: 0 }, arrival, now: Timestamp(9) };
        client.channel.begin(&client.protocol, begins, &mut Events::default());
        client.send();
        assert_eq!(client.sent, b"hello\nmessage\n");
        // The message that had begun before is a push too, as it cannot be a reply.
        let (_, events) = client.receive(b"done\nreply\n");
        assert!(
            matches!(events[..], [Event::Unasked, Event::FirstByte(3), Event::Ended(ended)] if ended.tag == 3),
            "{events:?}"
        );
        assert_eq!(client.protocol.take_message_books().unwrap().pushes, 2);
    }
}

#[test]
fn a_hello_that_only_sends_goes_before_the_first_message() {
    let mut client = Client::new("nul", vec![send(b"hi")]);
    assert!(client.channel.is_open());
    let arrival = Arrival { index: 0, intended_start: Timestamp(9) };
    let begins = Beginning { tag: 0, request: RequestId { target: 0, row: 0 }, arrival, now: Timestamp(9) };
    client.channel.begin(&client.protocol, begins, &mut Events::default());
    client.send();
    assert_eq!(client.sent, b"hi\0message\0");
}

#[test]
fn another_answer_ends_the_opening_and_says_so() {
    for (framing, comes, cause, said) in [
        ("line", &b"no\x07\nOK\n"[..], Cause::HelloRefused, "'no\\u{7}' came, and 'OK' was expected"),
        ("redis", b"-OK, but no\r\n", Cause::HelloRefused, "'-OK, but no\\r\\n' came, and 'OK' was expected"),
        (
            "length:8be",
            b"\xff\xff\xff\xff\xff\xff\xff\xff",
            Cause::MessageTooLarge,
            "nothing came, and 'OK' was expected",
        ),
    ] {
        for size in 1..=comes.len() {
            let mut client = Client::new(framing, vec![expect(b"OK", false)]);
            client.send();
            assert_eq!(client.receive_pieces(comes, size), Flow::Close(cause), "{framing} by {size}");
            assert!(!client.channel.is_open());
            assert_eq!(client.channel.complaint().as_deref(), Some(said));
            let books = client.protocol.take_message_books().unwrap();
            assert_eq!(books.channels_lost, 0, "it was never open");
        }
    }
}

#[test]
fn a_peer_that_never_says_the_word_is_bounded_in_bytes() {
    for flood in [b"news\n".repeat(1_000), b"n".repeat(5_000)] {
        let mut client = Client::new("line", vec![expect(b"OK", true)]);
        client.send();
        let flow = (0..1_000).map(|_| client.receive(&flood).0).find(|flow| *flow != Flow::Continue);
        assert_eq!(flow, Some(Flow::Close(Cause::MessageTooLarge)));
    }
}

#[test]
fn each_wait_has_its_own_end() {
    let mut client = Client::new("line", vec![send(b"a"), expect(b"A", true), send(b"b"), expect(b"B", false)]);
    assert_eq!(client.channel.next_deadline(), Timestamp::NEVER, "nothing was sent yet");
    client.send();
    assert_eq!(client.channel.next_deadline(), Timestamp(5) + WITHIN);
    client.now = Timestamp(50);
    assert_eq!(client.receive(b"not yet\n").0, Flow::Continue);
    assert_eq!(client.channel.next_deadline(), Timestamp(5) + WITHIN, "another message is no progress");
    assert_eq!(client.receive(b"A\n").0, Flow::Continue);
    assert_eq!(client.channel.next_deadline(), Timestamp(50) + WITHIN);
    let flow = client.channel.on_deadline(&mut client.protocol, Timestamp(150), &mut Events::default());
    assert_eq!(flow, Flow::Close(Cause::HelloTimedOut));
    assert_eq!(client.channel.next_deadline(), Timestamp::NEVER);
    assert_eq!(client.channel.complaint().as_deref(), Some("nothing came, and 'B' was expected"));
}
