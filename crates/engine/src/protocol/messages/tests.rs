//! Channels whose peer is played by the test.

use std::sync::Arc;

use proptest::prelude::*;
use truetail_model::arrival::Arrival;
use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Timestamp;

use super::conversation::Channel;
use super::*;
use crate::protocol::{Beginning, Closed, Conversation, Event, Events, Flow, Protocol, Retry, Tag};
use crate::target::method::Method;
use crate::target::request_parts::RequestParts;
use crate::target::request_set::{FeedOrder, MakeRequest, RequestId, RequestSet};
use crate::target::target_requests::TargetRequests;

const GOOD: Outcome = Outcome::ANSWERED;

/// Makes a text with the index of the arrival between these two.
pub(super) struct Numbered(pub(super) &'static str, pub(super) &'static str);

impl MakeRequest for Numbered {
    fn make(&self, _: RequestId, index: u64, request: &mut RequestParts) -> bool {
        request.message_buffer().extend_from_slice(format!("{}{index}{}", self.0, self.1).as_bytes());
        true
    }
}

/// A channel and its messages: one for each row.
struct Client {
    protocol: Messages,
    channel: Channel,
    sent: Vec<u8>,
}

impl Client {
    fn new(framing: &str, matching: &str, messages: &[&[u8]]) -> Client {
        let framing = if framing == "redis" { Framing::Redis } else { framing.parse().unwrap() };
        let mut target = TargetRequests::new(Method::Other("SEND".to_owned()), "tcp://a:1".to_owned(), 1);
        messages.iter().for_each(|message| target.push_message(message));
        let requests = RequestSet::new(vec![target], messages.len() as u32, FeedOrder::InOrder, 1).unwrap();
        Client::with(&requests, framing, matching)
    }

    fn with(requests: &RequestSet, framing: Framing, matching: &str) -> Client {
        let options = MessageOptions::new(framing, matching.parse().unwrap());
        let protocol = Messages::new(requests, options, Timestamp(10));
        Client { channel: protocol.conversation(), protocol, sent: Vec::new() }
    }

    /// Begins the message of a row, due at `at`.
    fn begin_at(&mut self, row: u32, at: u64) -> u32 {
        let arrival = Arrival { index: row.into(), intended_start: Timestamp(at) };
        let request = RequestId { target: 0, row };
        let begins = Beginning { tag: row, request, arrival, now: Timestamp(at) };
        self.channel.begin(&self.protocol, begins, &mut Events::default())
    }

    fn begin(&mut self, rows: std::ops::Range<u32>) {
        rows.for_each(|row| drop(self.begin_at(row, 20).to_string()));
    }

    /// Lets the transport take at most `most` bytes, and returns the events.
    fn send(&mut self, most: usize) -> Vec<Event> {
        let count = self.channel.output(&self.protocol).len().min(most);
        self.sent.extend_from_slice(&self.channel.output(&self.protocol)[..count]);
        let mut events = Events::default();
        self.channel.sent(&self.protocol, count, Timestamp::ZERO, &mut events);
        events.take()
    }

    fn receive(&mut self, bytes: &[u8]) -> (Vec<Event>, Flow) {
        let mut events = Events::default();
        let flow = self.channel.receive(&mut self.protocol, bytes, Timestamp::ZERO, &mut events);
        (events.take(), flow)
    }

    /// Returns the tags of the messages that `bytes` answer.
    fn answered(&mut self, bytes: &[u8]) -> Vec<Tag> {
        let (events, flow) = self.receive(bytes);
        assert_eq!(flow, Flow::Continue);
        events.iter().filter_map(ended).map(|(tag, outcome)| (assert_eq!(outcome, GOOD), tag).1).collect()
    }

    fn close(&mut self) -> Vec<(Tag, Outcome, Retry)> {
        let mut events = Events::default();
        self.channel.close(Closed::Reset, &mut events);
        let ended = |event| match event {
            Event::Ended(ended) => Some((ended.tag, ended.outcome, ended.retry)),
            _ => None,
        };
        events.take().into_iter().filter_map(ended).collect()
    }
}

fn ended(event: &Event) -> Option<(Tag, Outcome)> {
    if let Event::Ended(ended) = event { Some((ended.tag, ended.outcome)) } else { None }
}

#[test]
fn replies_in_order_end_their_messages_in_every_framing() {
    for (framing, wire, replies) in [
        ("line", &b"a\nbb\n"[..], &b"A\n\n"[..]),
        ("crlf", b"a\r\nbb\r\n", b"A\rB\n\r\r\n\r\n"),
        ("nul", b"a\0bb\0", b"A\0B\0"),
        ("delimiter:616162", b"aaabbbaab", b"xaaabaab"),
        ("length:1be", b"\x01a\x02bb", b"\x00\x03ABC"),
        ("length:4le", b"\x01\0\0\0a\x02\0\0\0bb", b"\x02\0\0\0AB\0\0\0\0"),
        ("redis", b"abb", b"$3\r\na\r\n\r\n-ERR no\r\n"),
    ] {
        for size in 1..=replies.len() {
            let mut client = Client::new(framing, "order", &[b"a", b"bb"]);
            client.begin(0..2);
            let started: Vec<_> = client.send(usize::MAX);
            assert_eq!(started, [Event::Started(0), Event::Started(1)], "{framing}");
            assert_eq!(client.sent, wire, "{framing}");
            let tags: Vec<_> = replies.chunks(size).flat_map(|piece| client.answered(piece)).collect();
            assert_eq!((tags, client.channel.in_flight()), (vec![0, 1], 0), "{framing} by {size}");
        }
    }
}

#[test]
fn messages_of_one_size_need_no_frame() {
    let mut client = Client::new("fixed:2", "order", &[b"ab", b"cd"]);
    client.begin(0..2);
    client.send(usize::MAX);
    assert_eq!(client.sent, b"abcd");
    assert_eq!(client.answered(b"xyz"), [0]);
    assert_eq!(client.answered(b"w"), [1]);
}

#[test]
fn an_id_finds_its_message_in_any_order() {
    let messages = [&br#"{"id":1}"#[..], br#"{"id":2}"#, br#"{"id":3}"#];
    let mut client = Client::new("line", "json:/id", &messages);
    client.begin(0..3);
    client.send(usize::MAX);
    let answered = client.answered(b"{\"id\": 3, \"ok\": true}\n{\"id\":9}\n{\"id\":1}\nno json\n");
    assert_eq!(answered, [2, 0]);
    assert!(client.answered(b"{\"id\":3}\n").is_empty());
    assert_eq!(client.answered(b"{\"id\":2}\n"), [1]);
    let books = client.protocol.take_message_books().unwrap();
    assert_eq!((books.unmatched, books.doubled, books.pushes), (2, 1, 0));
}

#[test]
fn equal_ids_are_answered_in_their_order() {
    let mut client = Client::new("fixed:4", "bytes:1:2", &[b"aXXa", b"bXXb", b"cYYc"]);
    client.begin(0..3);
    client.send(usize::MAX);
    assert_eq!(client.answered(b".YY..XX..XX."), [2, 0, 1]);
}

#[test]
fn what_comes_without_a_match_is_a_push() {
    let mut client = Client::new("line", "order", &[b"a", b"b"]);
    assert!(client.answered(b"news\n").is_empty());
    client.begin(0..2);
    // No byte of the message was sent, so this cannot be its reply.
    assert!(client.answered(b"more\n").is_empty());
    client.send(usize::MAX);
    assert_eq!(client.answered(b"A\nB\nnews\n"), [0, 1]);
    assert_eq!(client.protocol.take_message_books().unwrap().pushes, 3);
}

/// The worker must know of everything whose stamp a read may have instead of that of an answer.
#[test]
fn whatever_ends_no_message_is_told() {
    let unasked = |client: &mut Client, bytes: &[u8]| {
        client.receive(bytes).0.into_iter().filter(|event| matches!(event, Event::Unasked)).count()
    };
    let mut client = Client::new("line", "bytes:0:1", &[b"a", b"b"]);
    let key = client.begin_at(0, 20);
    client.begin_at(1, 20);
    client.send(usize::MAX);
    client.channel.cancel(key, &mut Events::default());
    assert_eq!(unasked(&mut client, b"a\nb\nb\nz\n"), 3, "a late reply, a doubled one, and one that is unknown");
    let mut client = Client::new("line", "order", &[b"a"]);
    assert_eq!(unasked(&mut client, b"news\n"), 1);
    client.begin(0..1);
    client.send(usize::MAX);
    assert_eq!(unasked(&mut client, b"A\n"), 0);
}

#[test]
fn a_late_reply_ends_nothing_else() {
    for matching in ["order", "bytes:0:1"] {
        let mut client = Client::new("line", matching, &[b"a", b"b"]);
        let key = client.begin_at(0, 20);
        client.begin_at(1, 20);
        client.send(usize::MAX);
        assert_eq!(client.channel.cancel(key, &mut Events::default()), 0);
        assert_eq!(client.channel.in_flight(), 1);
        assert_eq!(client.answered(b"a\nb\n"), [1], "{matching}");
        let books = client.protocol.take_message_books().unwrap();
        assert_eq!((books.late, books.unmatched), (1, 0), "{matching}");
    }
}

#[test]
fn error_replies_of_measured_messages_are_counted() {
    let mut client = Client::new("redis", "order", &[b"a", b"b", b"c"]);
    client.begin_at(0, 9);
    client.begin_at(1, 10);
    client.begin_at(2, 11);
    client.send(usize::MAX);
    assert_eq!(client.answered(b"-ERR\r\n-ERR\r\n+OK\r\n>1\r\n+news\r\n"), [0, 1, 2]);
    let books = client.protocol.take_message_books().unwrap();
    assert_eq!((books.error_replies, books.pushes), (1, 1));
}

#[test]
fn a_lost_channel_tells_what_was_sent_from_what_was_not() {
    let mut client = Client::new("line", "order", &[b"aaa", b"bbb", b"ccc"]);
    client.begin(0..3);
    assert_eq!(client.send(2), [Event::Started(0)]);
    assert_eq!(client.send(3), [Event::Sent(0), Event::Started(1)]);
    assert!(client.answered(b"half a reply").is_empty());
    let ended = client.close();
    let reset = Outcome::Reset(Cause::ResetByPeer);
    assert_eq!(
        ended,
        [(0, Outcome::Malformed(Cause::Truncated), Retry::No), (1, reset, Retry::No), (2, reset, Retry::Unsent)]
    );
    assert!(client.channel.is_closing() && !client.channel.has_room());
}

#[test]
fn broken_framing_closes_the_channel() {
    let mut client = Client::new("length:8be", "order", &[b"a"]);
    client.begin(0..1);
    client.send(usize::MAX);
    let (events, flow) = client.receive(&[0xff; 8]);
    assert_eq!(flow, Flow::Close(Cause::MessageTooLarge));
    assert_eq!(events.iter().find_map(ended), Some((0, Outcome::Malformed(Cause::MessageTooLarge))));
}

#[test]
fn without_replies_a_message_ends_when_it_is_sent() {
    let mut client = Client::new("line", "none", &[b"one", b"two", b"three"]);
    client.begin(0..3);
    // All of the first message, and a part of the second.
    let ended_now = |events: &[Event]| events.iter().filter_map(ended).collect::<Vec<_>>();
    assert_eq!(ended_now(&client.send(6)), [(0, GOOD)]);
    let (events, flow) = client.receive(b"hello\n");
    assert_eq!((ended_now(&events), flow), (Vec::new(), Flow::Continue));
    assert_eq!(ended_now(&client.send(usize::MAX)), [(1, GOOD), (2, GOOD)]);
    assert_eq!(client.protocol.books.pushes, 1, "what comes is a push");
    client.begin(0..1);
    assert_eq!(client.close(), [(0, Outcome::Reset(Cause::ResetByPeer), Retry::Unsent)]);
}

#[test]
fn messages_are_made_when_they_begin() {
    let mut target = TargetRequests::new(Method::Other("SEND".to_owned()), "tcp://a:1".to_owned(), 1);
    target.push_message(b"a sample");
    let sample = RequestSet::new(vec![target], 0, FeedOrder::InOrder, 1).unwrap();
    let requests = sample.clone().made_in_run(Arc::new(Numbered(r#"{"id":"#, "}")), &sample);
    let mut client = Client::with(&requests, "length:1be".parse().unwrap(), "json:/id");
    client.begin(9..12);
    client.send(usize::MAX);
    assert_eq!(client.sent, b"\x08{\"id\":9}\x09{\"id\":10}\x09{\"id\":11}");
    assert_eq!(client.answered(b"\x09{\"id\":11}\x08{\"id\":9}"), [11, 9]);
}

/// Returns a message of FIX.
fn fix(fields: &str) -> Vec<u8> {
    let body = fields.replace('|', "\x01");
    let framed = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
    let sum = framed.bytes().fold(0_u8, u8::wrapping_add);
    format!("{framed}10={sum:03}\x01").into_bytes()
}

#[test]
fn test_requests_of_fix_find_their_heartbeats_in_any_order() {
    let replies =
        [fix("35=0|34=1|112=3|"), fix("35=0|34=2|"), fix("35=0|34=3|112=1|"), fix("35=0|34=4|112=2|")].concat();
    for size in (1..40).chain([replies.len()]) {
        let mut client = Client::new("fix", "fix:112", &[b"35=1|112=|49=A", b"35=1|49=B|112=x"]);
        client.begin(0..2);
        client.begin_at(0, 20);
        client.send(usize::MAX);
        let sent = String::from_utf8(client.sent.clone()).unwrap().replace('\x01', "|");
        for (number, part) in ["|112=1|49=A|10=", "|49=B|112=2|10=", "|112=3|49=A|10="].iter().enumerate() {
            assert!(sent.contains(part) && sent.contains(&format!("|35=1|34={}|52=", number + 1)), "{sent}");
        }
        let tags: Vec<_> = replies.chunks(size).flat_map(|piece| client.answered(piece)).collect();
        assert_eq!((tags, client.channel.in_flight()), (vec![0, 0, 1], 0), "by {size}");
        assert_eq!(client.protocol.take_message_books().unwrap().unmatched, 1, "the heartbeat without a test");
    }
    let mut client = Client::new("fix", "order", &[b"35=1|112="]);
    client.begin(0..1);
    client.send(usize::MAX);
    let mut broken = fix("35=0|112=1|");
    broken[20] ^= 1;
    assert_eq!(client.receive(&broken).1, Flow::Close(Cause::BadMessage));
}

proptest! {
    /// Whatever a peer sends and however it is cut: no panic, each message ends once, and the same replies are found.
    #[test]
    fn any_bytes_are_read_the_same_however_they_are_cut(
        framing in prop::sample::select(&["line", "crlf", "delimiter:0d0a0d", "length:1be", "length:2le", "fixed:3", "redis", "fix"][..]),
        matching in prop::sample::select(&["order", "bytes:0:1", "json:"][..]),
        bytes in prop::collection::vec(prop::sample::select(&b"\r\n\0\x01\x02+-:$*19a"[..]), 0..80),
        size in 1usize..20,
    ) {
        let run = |size: usize| {
            let mut client = Client::new(framing, matching, &[b"1aa", b"9aa", b"9aa"]);
            client.begin(0..3);
            client.send(usize::MAX);
            let mut tags = Vec::new();
            let mut came_to = Flow::Continue;
            for piece in bytes.chunks(size) {
                let (events, flow) = client.receive(piece);
                tags.extend(events.iter().filter_map(ended));
                came_to = flow;
                if flow != Flow::Continue {
                    break;
                }
            }
            let books = client.protocol.take_message_books().unwrap();
            let left = client.close();
            assert_eq!(tags.len() + left.len(), 3, "each message ends once");
            (tags, came_to, books)
        };
        prop_assert_eq!(run(size), run(usize::MAX));
    }
}
