//! WebSocket channels whose server is played by the test, with its bytes cut at every place.

use std::sync::Arc;

use truetail_model::arrival::Arrival;
use truetail_model::record::{Cause, Outcome};
use truetail_model::time::{Nanos, Timestamp};

use super::super::conversation::Channel;
use super::super::tests::Numbered;
use super::super::*;
use super::{Masks, Opcode, WebSocketRequest, accept_for, put_frame};
use crate::protocol::{Beginning, Conversation, Event, Events, Flow, Protocol, Retry};
use crate::target::method::Method;
use crate::target::request_set::{FeedOrder, RequestId, RequestSet};
use crate::target::target_requests::TargetRequests;

const GOOD: Outcome = Outcome::ANSWERED;

pub(super) struct Client {
    pub(super) protocol: Messages,
    pub(super) channel: Channel,
    pub(super) ended: Vec<(u32, Outcome, Retry)>,
}

impl Client {
    /// Creates a channel whose handshake waits for its answer.
    fn new(headers: &[&str]) -> Client {
        Client::with_hello(headers, Exchange::default())
    }

    fn with_hello(headers: &[&str], hello: Exchange) -> Client {
        let headers: Vec<String> = headers.iter().map(|header| header.to_string()).collect();
        Client::asking(WebSocketRequest::new("/chat?x=1", "a.test:8", &headers).unwrap(), hello)
    }

    pub(super) fn asking(request: WebSocketRequest, hello: Exchange) -> Client {
        let mut target = TargetRequests::new(Method::Other("SEND".to_owned()), "ws://a.test:8".to_owned(), 1);
        target.push_message(b"a sample");
        let sample = RequestSet::new(vec![target], 0, FeedOrder::InOrder, 1).unwrap();
        let requests = sample.clone().made_in_run(Arc::new(Numbered("é", "")), &sample);
        let framing = Framing::WebSocket { is_text: true };
        let opening = Opening::WebSocket(request);
        let options = MessageOptions { opening, hello, ..MessageOptions::new(framing, Matching::Order) };
        let protocol = Messages::new(&requests, options, Timestamp::ZERO);
        Client { channel: protocol.conversation(), protocol, ended: Vec::new() }
    }

    /// Creates an open channel with `count` messages that were sent.
    pub(super) fn open(count: u32) -> Client {
        let mut client = Client::new(&[]);
        let answer = client.good_answer("");
        assert_eq!(client.receive(answer.as_bytes()), Flow::Continue);
        (0..count).for_each(|tag| client.begin(tag));
        client.take_output();
        client
    }

    /// Begins the message `éN` of arrival N.
    pub(super) fn begin(&mut self, tag: u32) {
        let arrival = Arrival { index: tag.into(), intended_start: Timestamp(1) };
        let begins = Beginning { tag, request: RequestId { target: 0, row: 0 }, arrival, now: Timestamp(1) };
        self.channel.begin(&self.protocol, begins, &mut Events::default());
    }

    pub(super) fn take_output(&mut self) -> Vec<u8> {
        let output = self.channel.output(&self.protocol).to_vec();
        self.channel.sent(&self.protocol, output.len(), Timestamp::ZERO, &mut Events::default());
        output
    }

    /// Returns the answer that accepts the handshake, with further header lines.
    pub(super) fn good_answer(&mut self, more: &str) -> String {
        let asked = String::from_utf8(self.take_output()).unwrap();
        let key = asked.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).unwrap();
        let accept = accept_for(key);
        format!(
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n\
             Sec-WebSocket-Accept: {accept}\r\n{more}\r\n"
        )
    }

    pub(super) fn receive(&mut self, bytes: &[u8]) -> Flow {
        let mut events = Events::default();
        let flow = self.channel.receive(&mut self.protocol, bytes, Timestamp::ZERO, &mut events);
        let ended = |event| match event {
            Event::Ended(ended) => Some((ended.tag, ended.outcome, ended.retry)),
            _ => None,
        };
        self.ended.extend(events.take().into_iter().filter_map(ended));
        flow
    }

    /// Receives pieces until the channel is closed.
    pub(super) fn receive_pieces(&mut self, bytes: &[u8], size: usize) -> Flow {
        bytes
            .chunks(size)
            .map(|piece| self.receive(piece))
            .find(|flow| *flow != Flow::Continue)
            .unwrap_or(Flow::Continue)
    }
}

/// Returns a frame of a server.
pub(super) fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        length @ 0..=125 => frame.push(length as u8),
        length @ 126..=0xffff => {
            frame.push(126);
            frame.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            frame.push(127);
            frame.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    frame.extend_from_slice(payload);
    frame
}

/// Returns first byte and payload of the only frame of a client.
pub(super) fn unmasked(sent: &[u8]) -> (u8, Vec<u8>) {
    assert_eq!(sent[1] & 0x80, 0x80, "a client masks");
    let (from, length) = match sent[1] & 0x7f {
        126 => (4, usize::from(u16::from_be_bytes([sent[2], sent[3]]))),
        127 => (10, u64::from_be_bytes(sent[2..10].try_into().unwrap()) as usize),
        length => (2, usize::from(length)),
    };
    let (key, payload) = sent[from..].split_at(4);
    assert_eq!(payload.len(), length);
    (sent[0], payload.iter().zip(key.iter().cycle()).map(|(byte, key)| byte ^ key).collect())
}

/// The example of RFC 6455, section 1.3.
#[test]
fn a_key_is_accepted_as_the_standard_says() {
    assert_eq!(accept_for("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

#[test]
fn the_handshake_asks_for_what_was_wanted() {
    let mut client = Client::new(&["X-One: 1", "Sec-WebSocket-Protocol: a, b"]);
    assert!(!client.channel.is_open());
    let asked = String::from_utf8(client.take_output()).unwrap();
    assert!(
        asked.starts_with("GET /chat?x=1 HTTP/1.1\r\nHost: a.test:8\r\n") && asked.ends_with("==\r\n\r\n"),
        "{asked}"
    );
    for line in ["X-One: 1", "Sec-WebSocket-Protocol: a, b", "Upgrade: websocket", "Sec-WebSocket-Version: 13"] {
        assert!(asked.contains(&format!("\r\n{line}\r\n")), "no {line} in {asked}");
    }
    for line in ["Host: b", "sec-websocket-key: x", "no header", "A: \x01"] {
        assert_eq!(WebSocketRequest::new("/", "a", &[line.to_owned()]), Err(line.to_owned()));
    }
    let [one, two] = [0, 1].map(|_| {
        let channel = client.protocol.conversation();
        channel.output(&client.protocol).to_vec()
    });
    assert_ne!(one, two, "each channel has a key of its own");
}

#[test]
fn only_the_switch_that_was_asked_for_opens_a_channel() {
    let accept = "Sec-WebSocket-Accept: ";
    for (name, change, opens) in [
        ("as it is", &(|answer: String| answer) as &dyn Fn(String) -> String, true),
        (
            "the protocol that was offered",
            &|answer| answer.replace("upgrade:", "Sec-WebSocket-Protocol: b\r\nupgrade:"),
            true,
        ),
        ("another protocol", &|answer| answer.replace("upgrade:", "Sec-WebSocket-Protocol: c\r\nupgrade:"), false),
        ("an extension", &|answer| answer.replace("upgrade:", "Sec-WebSocket-Extensions: x\r\nupgrade:"), false),
        ("another key", &move |answer| answer.replace(accept, "Sec-WebSocket-Accept: x"), false),
        ("no key", &move |answer| answer.replace(accept, "X-Accept: "), false),
        ("no upgrade", &|answer| answer.replace("WebSocket\r\n", "h2c\r\n"), false),
        ("no connection", &|answer| answer.replace("keep-alive, Upgrade", "keep-alive"), false),
        ("an error", &|answer| answer.replace("101 Switching", "401 No"), false),
        ("a page", &|_| "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_owned(), false),
        ("no HTTP", &|_| "SSH-2.0-OpenSSH\r\n\r\n".to_owned(), false),
        ("no end", &|_| format!("HTTP/1.1 101 x\r\n{}", "A: b\r\n".repeat(4_000)), false),
    ] {
        for size in [1, 2, 7, 50, usize::MAX] {
            let mut client = Client::new(&["Sec-WebSocket-Protocol: a, b"]);
            let answer = change(client.good_answer(""));
            let flow = client.receive_pieces(answer.as_bytes(), size.min(answer.len()));
            let expected = if opens { Flow::Continue } else { Flow::Close(Cause::NoWebSocket) };
            assert_eq!((flow, client.channel.is_open()), (expected, opens), "{name} by {size}");
        }
    }
}

#[test]
fn messages_are_masked_frames() {
    for (text, first) in [("a".repeat(3), 0x81), ("b".repeat(126), 0x81), ("c".repeat(70_000), 0x81)] {
        let mut out = Vec::new();
        put_frame(Opcode::Text, text.as_bytes(), &mut Masks::new(3), &mut out);
        assert_eq!(unmasked(&out), (first, text.into_bytes()));
    }
    let mut client = Client::open(0);
    client.begin(12);
    assert_eq!(unmasked(&client.take_output()), (0x81, "é12".as_bytes().to_vec()));
}

/// Replies of a server, whole and in fragments, with frames about the channel between them.
#[test]
fn replies_end_their_messages_however_they_are_cut() {
    let long = vec![b'x'; 300];
    let longest = vec![b'y'; 66_000];
    let cases: [(&str, Vec<u8>, usize); 9] = [
        ("texts", [frame(0x81, b"one"), frame(0x81, "dé".as_bytes())].concat(), 2),
        ("binary", [frame(0x82, b"\xff\0"), frame(0x82, b"")].concat(), 2),
        ("longer lengths", [frame(0x82, &long), frame(0x82, &longest)].concat(), 2),
        ("fragments", [frame(0x01, b"o"), frame(0x00, b""), frame(0x80, b"ne"), frame(0x81, b"two")].concat(), 2),
        ("a character in two fragments", [frame(0x01, b"\xc3"), frame(0x80, b"\xa9")].concat(), 1),
        ("a ping within a message", [frame(0x01, b"o"), frame(0x89, b"hi"), frame(0x80, b"ne")].concat(), 1),
        ("pongs nobody asked for", [frame(0x8a, b""), frame(0x81, b"one"), frame(0x8a, b"x")].concat(), 1),
        ("an empty text", frame(0x81, b""), 1),
        ("half a message", [frame(0x81, b"one"), frame(0x01, b"tw")].concat(), 1),
    ];
    for (name, bytes, count) in cases {
        for size in (1..=bytes.len().min(40)).chain([bytes.len()]) {
            let mut client = Client::open(2);
            assert_eq!(client.receive_pieces(&bytes, size), Flow::Continue, "{name} by {size}");
            let expected: Vec<_> = (0..count as u32).map(|tag| (tag, GOOD, Retry::No)).collect();
            assert_eq!(client.ended, expected, "{name} by {size}");
        }
    }
}

#[test]
fn a_ping_is_answered_with_its_bytes() {
    let payload = [7; 125];
    for size in [1, 3, 200] {
        let mut client = Client::open(1);
        assert_eq!(client.receive_pieces(&frame(0x89, &payload), size), Flow::Continue);
        assert!(client.channel.may_send());
        assert_eq!(unmasked(&client.take_output()), (0x8a, payload.to_vec()));
        assert!(client.ended.is_empty());
    }
}

#[test]
fn what_the_standard_forbids_closes_the_channel() {
    let length = |first: u8, bytes: &[u8]| [&[0x82, first], bytes].concat();
    for (name, bytes) in [
        ("a reserved bit", frame(0xc1, b"x")),
        ("an unknown kind", frame(0x83, b"x")),
        ("an unknown control frame", frame(0x8b, b"")),
        ("a masked frame", vec![0x81, 0x81, 1, 2, 3, 4, 5]),
        ("a continuation of nothing", frame(0x80, b"x")),
        ("a message within a message", [frame(0x01, b"a"), frame(0x81, b"b")].concat()),
        ("a ping in fragments", frame(0x09, b"x")),
        ("a long ping", frame(0x89, &[0; 126])),
        ("a length in too long a form", length(126, &[0, 125])),
        ("a length in far too long a form", length(127, &[0, 0, 0, 0, 0, 0, 255, 255])),
        ("a length with the highest bit", length(127, &[0x80, 0, 0, 0, 0, 0, 0, 0])),
        ("no UTF-8", frame(0x81, b"a\xff")),
        ("UTF-8 that ends within a character", frame(0x81, b"a\xc3")),
        ("a surrogate", frame(0x81, b"\xed\xa0\x80")),
        ("a close of one byte", frame(0x88, b"x")),
        ("a close with a code that is not sent", frame(0x88, &1005_u16.to_be_bytes())),
        ("a close with a reason that is no UTF-8", frame(0x88, &[3, 232, 0xff])),
    ] {
        for size in [1, 2, 3, 1_000] {
            let mut client = Client::open(2);
            assert_eq!(client.receive_pieces(&bytes, size), Flow::Close(Cause::BadMessage), "{name} by {size}");
            assert_eq!(client.ended.len(), 2, "{name} by {size}");
        }
    }
    let mut client = Client::open(1);
    let too_large = length(127, &[0, 0, 0, 1, 0, 0, 0, 0]);
    assert_eq!(client.receive(&too_large), Flow::Close(Cause::MessageTooLarge));
}

#[test]
fn a_close_is_answered_and_counted() {
    for (payload, code) in [(&b""[..], 1005), (&[3, 233, b'b', b'y', b'e'], 1001), (&[15, 160], 4000)] {
        let mut client = Client::open(3);
        assert_eq!(client.receive(&frame(0x81, b"one")), Flow::Continue);
        assert_eq!(client.receive(&frame(0x01, b"tw")), Flow::Continue);
        assert_eq!(client.receive(&frame(0x88, payload)), Flow::Close(Cause::ClosedBeforeAnswer));
        let reset = Outcome::Reset(Cause::ClosedBeforeAnswer);
        let cut = Outcome::Malformed(Cause::Truncated);
        assert_eq!(client.ended, [(0, GOOD, Retry::No), (1, cut, Retry::No), (2, reset, Retry::No)]);
        assert_eq!(unmasked(&client.take_output()), (0x88, payload[..payload.len().min(2)].to_vec()));
        let books = client.protocol.take_message_books().unwrap();
        assert_eq!((books.channels_lost, books.close_codes), (1, [(code, 1)].into_iter().collect()));
    }
}

#[test]
fn a_client_says_goodbye() {
    let mut client = Client::open(0);
    client.channel.say_goodbye(&mut Events::default());
    assert_eq!(unmasked(&client.take_output()), (0x88, vec![3, 232]));
}

#[test]
fn pings_of_a_peer_that_does_not_read_fill_no_memory() {
    let mut client = Client::open(1);
    let pings = frame(0x89, &[1; 125]).repeat(1_000);
    let flow = (0..1_000).map(|_| client.receive(&pings)).find(|flow| *flow != Flow::Continue);
    assert_eq!(flow, Some(Flow::Close(Cause::BadMessage)));
    assert!(client.channel.output(&client.protocol).len() < 2 << 20);
}

/// A login after the handshake, with a ping before its answer.
#[test]
fn a_hello_follows_the_handshake() {
    let hello = || {
        let send = |message: &[u8], is_binary| ExchangeStep::Send { message: message.to_vec(), is_binary };
        let expected = Expectation { content: b"OK".to_vec(), passes_over: false, within: Nanos::from_secs(1) };
        Exchange::new(vec![send(b"login", false), send(b"\xff", true), ExchangeStep::Expect(expected)])
    };
    for (answer, flow) in [
        (frame(0x81, b"it is OK"), Flow::Continue),
        ([frame(0x01, b"O"), frame(0x80, b"K")].concat(), Flow::Continue),
        (frame(0x81, b"no"), Flow::Close(Cause::HelloRefused)),
        (frame(0x88, &[3, 240]), Flow::Close(Cause::HelloRefused)),
        (frame(0xc1, b"OK"), Flow::Close(Cause::BadMessage)),
    ] {
        for size in [1, 2, 5, 100] {
            let mut client = Client::with_hello(&[], hello());
            let head = client.good_answer("");
            assert_eq!(client.receive_pieces(head.as_bytes(), size), Flow::Continue);
            let sent = client.take_output();
            assert_eq!(unmasked(&sent[..11]), (0x81, b"login".to_vec()));
            assert_eq!(unmasked(&sent[11..]), (0x82, b"\xff".to_vec()));
            assert_eq!(client.receive_pieces(&frame(0x89, b"hi"), size), Flow::Continue);
            assert_eq!(unmasked(&client.take_output()), (0x8a, b"hi".to_vec()));
            assert!(!client.channel.is_open());
            assert_eq!(client.receive_pieces(&answer, size), flow, "by {size}");
            assert_eq!(client.channel.is_open(), flow == Flow::Continue);
        }
    }
}
