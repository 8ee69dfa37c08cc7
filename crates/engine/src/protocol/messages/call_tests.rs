//! Channels that are calls of gRPC, whose server is played by the test.

use truetail_model::arrival::Arrival;
use truetail_model::record::{Cause, Outcome};
use truetail_model::time::{Nanos, Timestamp};

use super::conversation::Channel;
use super::tests::Numbered;
use super::*;
use crate::protocol::http2::frame::{FrameHeader, HEAD, PREFACE, code, flag, kind, put, setting};
use crate::protocol::{Beginning, Closed, Conversation, Event, Events, Flow, Protocol, Retry, Tag};
use crate::target::method::Method;
use crate::target::request::Request;
use crate::target::request_set::{FeedOrder, RequestId, RequestSet};
use crate::target::target_requests::TargetRequests;

const GOOD: Outcome = Outcome::ANSWERED;

/// Messages whose bytes are a letter and then JSON.
struct AfterLetter;

impl JsonForms for AfterLetter {
    fn of_message(&self, message: &[u8]) -> Option<String> {
        String::from_utf8(message.strip_prefix(b"q")?.to_vec()).ok()
    }

    fn of_reply(&self, reply: &[u8]) -> Option<String> {
        String::from_utf8(reply.strip_prefix(b"a")?.to_vec()).ok()
    }
}

struct Client {
    protocol: Messages,
    channel: Channel,
    /// Frames after the preface.
    sent: Vec<u8>,
}

fn options(matching: &str) -> MessageOptions {
    let headers = ["content-type: application/grpc".to_owned(), "te: trailers".to_owned()];
    let request = Request::new(Method::Other("POST".to_owned()), "http://a:1/p.S/M", &headers, Vec::new()).unwrap();
    let mut options = MessageOptions::new(Framing::Grpc, matching.parse().unwrap());
    options.opening = Opening::Call(CallRequest::new(&request).unwrap());
    options.forms = Some(Forms::new(AfterLetter));
    options
}

impl Client {
    /// Creates a client with messages `q{"id":N}` of arrival N, whose call is not open yet.
    fn new(options: MessageOptions) -> Client {
        let mut only = TargetRequests::new(Method::Other("SEND".to_owned()), "grpc://a:1/p.S/M".to_owned(), 1);
        only.push_message(b"q{\"id\":0}");
        let sample = RequestSet::new(vec![only], 0, FeedOrder::InOrder, 1).unwrap();
        let requests = sample.clone().made_in_run(std::sync::Arc::new(Numbered("q{\"id\":", "}")), &sample);
        let protocol = Messages::new(&requests, options, Timestamp::ZERO);
        Client { channel: protocol.conversation(), protocol, sent: Vec::new() }
    }

    /// Creates a client that has sent this number of messages on an open call.
    fn sent(matching: &str, messages: u32) -> Client {
        let mut client = Client::new(options(matching));
        client.send();
        client.go_on(&settings(&[]));
        (0..messages).for_each(|tag| client.begin(tag));
        client.send();
        client
    }

    fn begin(&mut self, tag: Tag) {
        let arrival = Arrival { index: tag.into(), intended_start: Timestamp(20) };
        let request = RequestId { target: 0, row: 0 };
        self.channel.begin(
            &self.protocol,
            Beginning { tag, request, arrival, now: Timestamp(20) },
            &mut Events::default(),
        );
    }

    /// Lets the transport take everything, and returns the events.
    fn send(&mut self) -> Vec<Event> {
        let mut events = Events::default();
        while !self.channel.output(&self.protocol).is_empty() {
            let output = self.channel.output(&self.protocol);
            let count = output.len();
            self.sent.extend_from_slice(output.strip_prefix(PREFACE).unwrap_or(output));
            self.channel.sent(&self.protocol, count, Timestamp(30), &mut events);
        }
        events.take()
    }

    /// Takes the frames that were sent since the last time.
    fn frames(&mut self) -> Vec<(FrameHeader, Vec<u8>)> {
        let all = std::mem::take(&mut self.sent);
        let mut rest = &all[..];
        let mut frames = Vec::new();
        while let Some(head) = FrameHeader::read(rest) {
            frames.push((head, rest[HEAD..HEAD + head.length].to_vec()));
            rest = &rest[HEAD + head.length..];
        }
        frames
    }

    /// Takes the content of the DATA frames that were sent since the last time.
    fn content(&mut self) -> Vec<u8> {
        self.frames().into_iter().filter(|(head, _)| head.kind == kind::DATA).flat_map(|(_, payload)| payload).collect()
    }

    fn receive(&mut self, bytes: &[u8]) -> (Vec<Event>, Flow) {
        let mut events = Events::default();
        let flow = self.channel.receive(&mut self.protocol, bytes, Timestamp(40), &mut events);
        (events.take(), flow)
    }

    /// Receives what neither ends a message nor the call.
    fn go_on(&mut self, bytes: &[u8]) {
        let (events, flow) = self.receive(bytes);
        assert_eq!((ended(&events), flow), (vec![], Flow::Continue));
    }

    fn close(&mut self) -> Vec<Event> {
        let mut events = Events::default();
        self.channel.close(Closed::EndOfStream { authentic: true }, &mut events);
        events.take()
    }
}

/// Returns the messages that ended.
fn ended(events: &[Event]) -> Vec<(Tag, Outcome, Retry)> {
    let ended = |event: &Event| match event {
        Event::Ended(ended) => Some((ended.tag, ended.outcome, ended.retry)),
        _ => None,
    };
    events.iter().filter_map(ended).collect()
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, kind, flags, stream, payload);
    out
}

fn settings(list: &[(u16, u32)]) -> Vec<u8> {
    let one = |(id, value): &(u16, u32)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat();
    frame(kind::SETTINGS, 0, 0, &list.iter().flat_map(one).collect::<Vec<_>>())
}

fn literal(name: &str, value: &str) -> Vec<u8> {
    [&[0, name.len() as u8], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat()
}

fn head() -> Vec<u8> {
    let block = [vec![0x88], literal("content-type", "application/grpc")].concat();
    frame(kind::HEADERS, flag::END_HEADERS, 1, &block)
}

fn trailers(status: &str) -> Vec<u8> {
    frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, 1, &literal("grpc-status", status))
}

fn data(bytes: &[u8]) -> Vec<u8> {
    frame(kind::DATA, 0, 1, bytes)
}

fn message(content: &str) -> Vec<u8> {
    [&[0][..], &(content.len() as u32).to_be_bytes(), content.as_bytes()].concat()
}

fn goaway(last: u32) -> Vec<u8> {
    frame(kind::GOAWAY, 0, 0, &[last.to_be_bytes(), [0; 4]].concat())
}

#[test]
fn a_call_is_open_once_the_server_speaks_http2() {
    let mut client = Client::new(options("order"));
    assert!(client.channel.output(&client.protocol).starts_with(PREFACE) && !client.channel.is_open());
    client.send();
    let frames = client.frames();
    let kinds: Vec<_> = frames.iter().map(|(head, _)| (head.kind, head.flags)).collect();
    let expected = [(kind::SETTINGS, 0), (kind::WINDOW_UPDATE, 0), (kind::HEADERS, flag::END_HEADERS)];
    assert_eq!(kinds, expected, "the request has no end");
    for byte in settings(&[]) {
        assert!(!client.channel.is_open());
        assert_eq!(client.receive(&[byte]), (vec![], Flow::Continue));
    }
    assert!(client.channel.is_open() && client.channel.has_room());
    assert_eq!(client.protocol.required_alpn(), Some((&b"h2"[..], Cause::NoHttp2)));
    let mut other = Client::new(options("order"));
    assert_eq!(other.receive(b"HTTP/1.1 400 Bad Request\r\n\r\n").1, Flow::Close(Cause::NoHttp2));
    assert_eq!(other.protocol.books, Default::default(), "it never was open");
}

#[test]
fn replies_in_order_end_their_messages_over_every_cut() {
    let replies = [message("x"), message(""), message("yz")].concat();
    for at in 0..=replies.len() {
        // A message is not a DATA frame.
        let script = [head(), data(&replies[..at]), data(&replies[at..])].concat();
        for size in [1, 2, 3, 5, 7, 11, 19, script.len()] {
            let mut client = Client::sent("order", 3);
            assert_eq!(client.content(), [0, 1, 2].map(|id| message(&format!("q{{\"id\":{id}}}"))).concat());
            let mut all = Vec::new();
            for piece in script.chunks(size) {
                let (events, flow) = client.receive(piece);
                assert_eq!(flow, Flow::Continue);
                all.extend(events);
            }
            assert_eq!(ended(&all), [0, 1, 2].map(|tag| (tag, GOOD, Retry::No)), "cut at {at}, in pieces of {size}");
            let firsts = all.iter().filter(|event| matches!(event, Event::FirstByte(_))).count();
            assert_eq!((firsts, client.channel.in_flight()), (3, 0));
        }
    }
}

#[test]
fn an_id_finds_its_message_in_the_json_of_both() {
    let mut client = Client::sent("json:/id", 3);
    let replies =
        ["a{\"id\":2}", "a{\"id\":7}", "a{\"id\":0,\"x\":1}", "q{\"id\":1}", "a{\"id\":2}"].map(message).concat();
    let (events, flow) = client.receive(&[head(), data(&replies)].concat());
    assert_eq!((ended(&events), flow), (vec![(2, GOOD, Retry::No), (0, GOOD, Retry::No)], Flow::Continue));
    let books = &client.protocol.books;
    assert_eq!((books.unmatched, books.doubled, client.channel.in_flight()), (2, 1, 1));
    let mut client = Client::sent("bytes:7:1", 2);
    let (events, _) = client.receive(&[head(), data(&message("aaaaaaa1")), data(&message("aaaaaaa0"))].concat());
    assert_eq!(ended(&events), [(1, GOOD, Retry::No), (0, GOOD, Retry::No)]);
}

#[test]
fn messages_without_replies_end_when_they_are_sent() {
    let mut client = Client::sent("none", 0);
    (0..2).for_each(|tag| client.begin(tag));
    let events = client.send();
    assert_eq!(ended(&events), [(0, GOOD, Retry::No), (1, GOOD, Retry::No)]);
    client.go_on(&[head(), data(&message("push"))].concat());
    assert_eq!(client.protocol.books.pushes, 1);
}

#[test]
fn a_message_waits_for_the_window_of_the_call() {
    let mut client = Client::new(options("order"));
    client.send();
    client.go_on(&settings(&[(setting::INITIAL_WINDOW_SIZE, 20)]));
    // 14 bytes each.
    (0..3).for_each(|tag| client.begin(tag));
    let events = client.send();
    assert_eq!(events, [Event::Started(0), Event::Started(1)]);
    assert_eq!(client.content().len(), 20);
    assert!(client.channel.waits_for_window() && client.channel.may_send() && client.channel.has_room());
    let more = |bytes: u32| frame(kind::WINDOW_UPDATE, 0, 1, &bytes.to_be_bytes());
    assert_eq!(client.receive(&more(7)), (vec![], Flow::Continue));
    assert_eq!((client.send(), client.content().len()), (vec![], 7));
    client.go_on(&more(2));
    assert_eq!((client.send(), client.content().len()), (vec![Event::Sent(1), Event::Started(2)], 2));
    // The server cannot have answered what it has only a part of, and may answer it all the same.
    client.go_on(&more(100));
    assert_eq!((client.send(), client.content().len()), (vec![Event::Sent(2)], 13));
    assert!(!client.channel.waits_for_window() && !client.channel.may_send());
    let (events, _) = client.receive(&[head(), data(&message("a").repeat(3))].concat());
    assert_eq!(ended(&events).len(), 3);
}

#[test]
fn every_end_of_a_call_is_in_the_books() {
    let reset = |code: u32| frame(kind::RST_STREAM, 0, 1, &code.to_be_bytes());
    let only = |fields: &[Vec<u8>]| frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, 1, &fields.concat());
    let proxy = [literal(":status", "503"), literal("content-type", "text/html")];
    let call_ended = Some(Outcome::Reset(Cause::CallEnded));
    for (name, script, status, of_sent, is_in_order) in [
        ("OK", [head(), trailers("0")].concat(), Some("OK"), call_ended, true),
        ("failed", [head(), trailers("14")].concat(), Some("UNAVAILABLE"), call_ended, true),
        (
            "trailers only",
            only(&[vec![0x88], literal("content-type", "application/grpc"), literal("grpc-status", "16")]),
            Some("UNAUTHENTICATED"),
            call_ended,
            true,
        ),
        ("a proxy", only(&proxy), Some("UNAVAILABLE"), call_ended, true),
        ("cancelled", reset(code::CANCEL), Some("CANCELLED"), call_ended, true),
        ("refused", reset(code::REFUSED_STREAM), Some("UNAVAILABLE"), call_ended, true),
        ("no status", only(&[vec![0x88]]), None, Some(Outcome::Reset(Cause::NoGrpcStatus)), false),
        ("gone away", goaway(0), None, Some(Outcome::Reset(Cause::GoneAway)), true),
        ("compressed", [head(), data(&[1, 0, 0, 0, 0])].concat(), None, None, false),
        ("another call", frame(kind::DATA, 0, 3, b"x"), None, Some(Outcome::Reset(Cause::Http2Protocol)), false),
    ] {
        for size in 1..=script.len() {
            let mut client = Client::sent("order", 1);
            client.begin(1);
            let mut all = Vec::new();
            let mut last = Flow::Continue;
            for piece in script.chunks(size) {
                assert_eq!(last, Flow::Continue, "{name}");
                let (events, flow) = client.receive(piece);
                all.extend(events);
                last = flow;
            }
            assert!(matches!(last, Flow::Close(_)) && client.channel.is_closing(), "{name}");
            let of_sent = of_sent.unwrap_or(Outcome::Malformed(Cause::BadGrpcMessage));
            let ended = ended(&all);
            assert_eq!((ended[0].0, ended[0].1), (0, of_sent), "{name} in pieces of {size}");
            let retry = if is_in_order { Retry::Unsent } else { Retry::No };
            assert_eq!((ended[1].0, ended[1].2, ended.len()), (1, retry, 2), "{name}");
            let books = &client.protocol.books;
            let statuses: Vec<_> = books.call_statuses.iter().map(|(name, n)| (name.as_str(), *n)).collect();
            assert_eq!(statuses, Vec::from_iter(status.map(|status| (status, 1))), "{name}");
            assert_eq!(books.channels_lost, 1);
        }
    }
}

#[test]
fn a_reply_that_was_cut_off_is_malformed() {
    for script in [[head(), data(&message("abc")[..6]), trailers("0")].concat(), [head(), data(&[0])].concat()] {
        let mut client = Client::sent("order", 2);
        let (mut events, _) = client.receive(&script);
        events.extend(client.close());
        let cut = (0, Outcome::Malformed(Cause::Truncated), Retry::No);
        assert_eq!(ended(&events)[0], cut);
        assert_eq!(ended(&events).len(), 2);
    }
}

/// A call that was taken up goes on until its server ends it, though no other call may begin.
#[test]
fn a_server_that_goes_away_answers_the_messages_of_its_calls() {
    let mut client = Client::sent("order", 1);
    assert_eq!(client.receive(&[goaway(u32::MAX >> 1), goaway(1)].concat()), (vec![], Flow::Continue));
    client.begin(1);
    client.send();
    let (events, flow) = client.receive(&[head(), data(&message("a").repeat(2))].concat());
    assert_eq!((ended(&events).len(), flow), (2, Flow::Continue));
    assert_eq!(client.receive(&trailers("0")).1, Flow::Close(Cause::CallEnded));
    assert_eq!(client.protocol.books.channels_lost, 1);
}

#[test]
fn a_lost_connection_lets_unsent_messages_go_elsewhere() {
    let mut client = Client::sent("order", 1);
    client.begin(1);
    let lost = Outcome::Reset(Cause::ClosedBeforeAnswer);
    assert_eq!(ended(&client.close()), [(0, lost, Retry::No), (1, lost, Retry::Unsent)]);
}

#[test]
fn a_channel_that_is_given_up_ends_its_call() {
    for messages in [0, 2] {
        let mut client = Client::sent("order", messages);
        client.frames();
        client.channel.say_goodbye(&mut Events::default());
        client.send();
        let frames: Vec<_> = client.frames().iter().map(|(head, _)| (head.kind, head.flags, head.length)).collect();
        assert_eq!(frames, [(kind::DATA, flag::END_STREAM, 0), (kind::GOAWAY, 0, 8)]);
    }
    let mut client = Client::new(options("order"));
    client.send();
    client.go_on(&settings(&[(setting::INITIAL_WINDOW_SIZE, 3)]));
    client.begin(0);
    client.send();
    client.frames();
    client.channel.say_goodbye(&mut Events::default());
    client.send();
    let kinds: Vec<_> = client.frames().iter().map(|(head, _)| head.kind).collect();
    assert_eq!(kinds, [kind::RST_STREAM, kind::GOAWAY], "half a message has no end");
}

#[test]
fn a_hello_sends_messages_and_reads_the_json_of_others() {
    let mut options = options("json:/id");
    let expected = Expectation { content: b"\"id\":5".to_vec(), passes_over: true, within: Nanos::from_secs(5) };
    options.hello = Exchange::new(vec![
        ExchangeStep::Send { message: b"hi".to_vec(), is_binary: false },
        ExchangeStep::Expect(expected),
    ]);
    let mut client = Client::new(options);
    client.send();
    assert_eq!(client.content(), message("hi"));
    assert_eq!(client.channel.next_deadline(), Timestamp(30) + Nanos::from_secs(5));
    client.go_on(&settings(&[]));
    client.go_on(&[head(), data(&message("a{\"id\":4}"))].concat());
    assert!(!client.channel.is_open());
    assert_eq!(client.channel.complaint().as_deref(), Some("'{\"id\":4}' came, and '\"id\":5' was expected"));
    client.go_on(&data(&message("a{\"id\":5}")));
    assert!(client.channel.is_open());
    client.begin(0);
    assert_eq!(client.send(), [Event::Started(0)]);
    assert_eq!(client.content(), message("q{\"id\":0}"));
}
