//! WebSockets over HTTP/2 (RFC 8441), with a server played by the test.

use truetail_model::record::{Cause, Outcome};
use truetail_model::time::{Nanos, Timestamp};

use super::super::{Exchange, ExchangeStep, Expectation};
use super::WebSocketRequest;
use super::tests::{Client, frame, unmasked};
use crate::protocol::http2::frame::{FrameHeader, HEAD, PREFACE, code, flag, kind, put, setting};
use crate::protocol::{Closed, Conversation, Event, Events, Flow, Protocol, Retry};

const GOOD: Outcome = Outcome::ANSWERED;
const STREAM: u32 = 1;

fn settings(all: &[(u16, u32)]) -> Vec<u8> {
    let payload: Vec<u8> =
        all.iter().flat_map(|(id, value)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat()).collect();
    let mut out = Vec::new();
    put(&mut out, kind::SETTINGS, 0, 0, &payload);
    out
}

fn offering() -> Vec<u8> {
    settings(&[(setting::ENABLE_CONNECT_PROTOCOL, 1)])
}

/// Returns a head with this status, which ends the stream if `ends` is true.
fn head(status: &str, fields: &[(&str, &str)], ends: bool) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in [(":status", status)].iter().chain(fields) {
        block.extend_from_slice(&[0, name.len() as u8]);
        block.extend_from_slice(name.as_bytes());
        block.push(value.len() as u8);
        block.extend_from_slice(value.as_bytes());
    }
    let mut out = Vec::new();
    put(&mut out, kind::HEADERS, flag::END_HEADERS | if ends { flag::END_STREAM } else { 0 }, STREAM, &block);
    out
}

fn goaway() -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, kind::GOAWAY, 0, 0, &[0; 8]);
    out
}

fn data(bytes: &[u8], ends: bool) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, kind::DATA, if ends { flag::END_STREAM } else { 0 }, STREAM, bytes);
    out
}

fn asking(headers: &[&str]) -> Client {
    let headers: Vec<String> = headers.iter().map(|header| header.to_string()).collect();
    let request = WebSocketRequest::new("/chat?x=1", "a.test:8", &headers).unwrap();
    Client::asking(request.over_http2(true).unwrap().offering_deflate(), Exchange::default())
}

/// Takes the frames that were sent since the last time.
fn frames(client: &mut Client) -> Vec<(FrameHeader, Vec<u8>)> {
    let all = client.take_output();
    let mut rest = all.strip_prefix(PREFACE).unwrap_or(&all);
    let mut frames = Vec::new();
    while let Some(head) = FrameHeader::read(rest) {
        frames.push((head, rest[HEAD..HEAD + head.length].to_vec()));
        rest = &rest[HEAD + head.length..];
    }
    frames
}

fn content(client: &mut Client) -> Vec<u8> {
    let frames = frames(client).into_iter().filter(|(head, _)| head.kind == kind::DATA);
    frames.flat_map(|(_, payload)| payload).collect()
}

/// Creates an open channel with this number of messages that were sent.
fn open(messages: u32) -> Client {
    let mut client = asking(&[]);
    assert_eq!(client.receive(&offering()), Flow::Continue);
    assert_eq!(client.receive(&head("200", &[], false)), Flow::Continue);
    assert!(client.channel.is_open());
    (0..messages).for_each(|tag| client.begin(tag));
    frames(&mut client);
    client
}

#[test]
fn the_request_waits_for_the_servers_offer() {
    let mut client = asking(&["X-One: 1", "Sec-WebSocket-Protocol: a, b", "Connection: keep-alive"][..2]);
    assert_eq!(client.protocol.required_alpn(), Some((&b"h2"[..], Cause::NoHttp2)));
    assert!(frames(&mut client).iter().all(|(head, _)| head.kind != kind::HEADERS), "nothing was offered yet");
    assert_eq!(client.receive(&offering()), Flow::Continue);
    let sent = frames(&mut client);
    let [(head_frame, block)] = &sent.iter().filter(|(head, _)| head.kind == kind::HEADERS).collect::<Vec<_>>()[..]
    else {
        panic!("{sent:?}")
    };
    assert_eq!((head_frame.stream, head_frame.flags), (STREAM, flag::END_HEADERS), "the stream stays open");
    let text = String::from_utf8_lossy(block);
    for part in
        ["CONNECT", "websocket", "/chat?x=1", "a.test:8", "sec-websocket-version", "permessage-deflate", "x-one"]
    {
        assert!(text.contains(part), "no {part} in {text}");
    }
    assert!(!text.contains("sec-websocket-key"), "{text}");
    assert!(!client.channel.is_open());
    let answer = head("200", &[("sec-websocket-protocol", "b")], false);
    for byte in answer.chunks(1) {
        assert!(!client.channel.is_open());
        assert_eq!(client.receive(byte), Flow::Continue);
    }
    assert!(client.channel.is_open());
}

/// The last words of a channel, too, do not depend on how the frames are cut.
#[test]
fn nothing_is_read_after_what_ends_a_channel() {
    let bytes = |kind, stream, payload: &[u8]| {
        let mut out = Vec::new();
        put(&mut out, kind, 0, stream, payload);
        out
    };
    let reset = bytes(kind::RST_STREAM, STREAM, &[0; 4]);
    let bad_message = data(&[0xf2, 0], false);
    for end in [reset, data(&[], true), bad_message] {
        for after in [bytes(kind::PING, 0, &[7; 8]), bytes(kind::PING, 0, &[7; 4]), settings(&[]), vec![0xff; 64]] {
            let whole = [&end[..], &after].concat();
            let said = |size: usize| {
                let mut client = open(1);
                let closed = whole.chunks(size).map(|piece| client.receive(piece)).find(|flow| *flow != Flow::Continue);
                (closed, frames(&mut client))
            };
            let by_byte = said(1);
            let goodbyes: Vec<_> = by_byte.1.iter().filter(|(head, _)| head.kind == kind::GOAWAY).collect();
            assert!(by_byte.0.is_some() && goodbyes.len() == 1 && goodbyes[0].1 == [0; 8], "{by_byte:?}");
            (2..=whole.len()).for_each(|size| assert_eq!(said(size), by_byte, "by {size}"));
        }
    }
}

#[test]
fn only_an_answer_as_asked_for_opens_a_channel() {
    let plain = settings(&[]);
    let no_http2 = b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec();
    let mut early = offering();
    early.extend_from_slice(&head("200", &[], false));
    let mut reset = Vec::new();
    put(&mut reset, kind::RST_STREAM, 0, STREAM, &code::REFUSED_STREAM.to_be_bytes());
    let after_offer = |answer| (true, answer);
    let at_once = |answer| (false, answer);
    for (name, (is_offered, bytes), cause) in [
        ("no offer", at_once(plain), Cause::NoExtendedConnect),
        ("another version of HTTP", at_once(no_http2), Cause::NoHttp2),
        ("an answer before the request", at_once(early), Cause::Http2Protocol),
        ("an error", after_offer(head("404", &[], true)), Cause::NoWebSocket),
        ("an error without an end", after_offer(head("503", &[], false)), Cause::NoWebSocket),
        ("an error page", after_offer([head("404", &[], false), data(b"<html>", true)].concat()), Cause::NoWebSocket),
        ("a page begun", after_offer([head("404", &[], false), data(b"<html>", false)].concat()), Cause::NoWebSocket),
        ("another protocol", after_offer(head("200", &[("sec-websocket-protocol", "z")], false)), Cause::NoWebSocket),
        ("an extension", after_offer(head("200", &[("sec-websocket-extensions", "x")], false)), Cause::NoWebSocket),
        ("a reset", after_offer(reset), Cause::StreamRefused),
        ("a server that goes away", at_once([offering(), goaway()].concat()), Cause::GoneAway),
        ("an offer of another kind", at_once(settings(&[(setting::ENABLE_CONNECT_PROTOCOL, 2)])), Cause::NoHttp2),
    ] {
        let mut client = asking(&[]);
        if is_offered {
            assert_eq!(client.receive(&offering()), Flow::Continue);
        }
        assert_eq!(client.receive(&bytes), Flow::Close(cause), "{name}");
        assert!(!client.channel.is_open() && client.channel.is_closing(), "{name}");
        assert_eq!(client.protocol.books.channels_lost, 0, "{name}: it was never open");
    }
    let mut client = asking(&[]);
    assert_eq!(client.receive(&offering()), Flow::Continue);
    let closed = [head("200", &[], false), data(&frame(0x88, &1013u16.to_be_bytes()), true)].concat();
    assert_eq!(client.receive(&closed), Flow::Close(Cause::ClosedBeforeAnswer), "it was accepted, and then closed");
    assert_eq!(client.protocol.books.close_codes, [(1013, 1)].into_iter().collect());
    let mut client = open(0);
    let taken_back = settings(&[(setting::ENABLE_CONNECT_PROTOCOL, 0)]);
    assert_eq!(client.receive(&taken_back), Flow::Close(Cause::Http2Protocol));
}

#[test]
fn headers_that_http2_has_no_place_for_are_refused() {
    let over_http2 = |header: &str| WebSocketRequest::new("/", "a", &[header.to_owned()]).unwrap().over_http2(false);
    assert_eq!(over_http2("Transfer-Encoding: chunked"), Err("Transfer-Encoding: chunked".to_owned()));
    assert!(over_http2("Keep-Alive: 5").is_ok() && over_http2("X-One: 1").is_ok());
}

#[test]
fn messages_and_replies_are_frames_of_websocket_in_data() {
    let mut client = open(0);
    client.begin(7);
    let sent = content(&mut client);
    assert_eq!(unmasked(&sent), (0x81, "é7".as_bytes().to_vec()));
    client.begin(8);
    frames(&mut client);
    let replies = [frame(0x81, b"one"), frame(0x01, b"t"), frame(0x89, b"hi"), frame(0x80, b"wo")].concat();
    for size in [1, 2, 5, replies.len()] {
        let mut client = open(2);
        for piece in replies.chunks(size) {
            assert_eq!(client.receive(&data(piece, false)), Flow::Continue);
        }
        assert_eq!(client.ended, [(0, GOOD, Retry::No), (1, GOOD, Retry::No)], "by {size}");
        assert_eq!(unmasked(&content(&mut client)), (0x8a, b"hi".to_vec()));
    }
}

#[test]
fn a_close_is_answered_before_the_stream_ends() {
    let mut client = open(1);
    let bytes = data(&frame(0x88, &1001u16.to_be_bytes()), false);
    assert_eq!(client.receive(&bytes), Flow::Close(Cause::ClosedBeforeAnswer));
    assert_eq!(client.ended, [(0, Outcome::Reset(Cause::ClosedBeforeAnswer), Retry::No)]);
    assert_eq!(client.protocol.books.close_codes, [(1001, 1)].into_iter().collect());
    let sent = frames(&mut client);
    let kinds: Vec<_> = sent.iter().map(|(head, _)| (head.kind, head.flags)).collect();
    assert_eq!(kinds, [(kind::DATA, 0), (kind::DATA, flag::END_STREAM), (kind::GOAWAY, 0)], "{sent:?}");
    assert_eq!(unmasked(&sent[0].1), (0x88, 1001u16.to_be_bytes().to_vec()));
}

#[test]
fn the_end_of_a_stream_is_that_of_a_connection() {
    let mut reset = Vec::new();
    put(&mut reset, kind::RST_STREAM, 0, STREAM, &code::CANCEL.to_be_bytes());
    for (name, bytes, cause) in [
        ("an end", data(b"", true), Cause::ClosedBeforeAnswer),
        ("a reset", reset, Cause::StreamReset),
        ("trailers", head("200", &[], true), Cause::Http2Protocol),
    ] {
        let mut client = open(1);
        assert_eq!(client.receive(&bytes), Flow::Close(cause), "{name}");
        assert_eq!(client.protocol.books.channels_lost, 1, "{name}");
        assert_eq!(client.ended.len(), 1, "{name}");
    }
    let mut client = open(1);
    let mut events = Events::default();
    client.channel.close(Closed::EndOfStream { authentic: true }, &mut events);
    assert!(events.take().iter().any(|event| matches!(event, Event::Ended(_))));
}

/// An answer to the hello is awaited from when the hello was sent, and not while the channel is opened.
#[test]
fn a_hello_begins_when_the_channel_is_accepted() {
    let steps = [
        ExchangeStep::Send { message: b"hi".to_vec(), is_binary: false },
        ExchangeStep::Expect(Expectation { content: b"ok".to_vec(), within: Nanos(10), passes_over: false }),
    ];
    let request = WebSocketRequest::new("/", "a.test", &[]).unwrap().over_http2(false).unwrap();
    let mut client = Client::asking(request, Exchange::new(steps.into()));
    frames(&mut client);
    assert_eq!(client.channel.next_deadline(), Timestamp::NEVER);
    assert_eq!(client.receive(&offering()), Flow::Continue);
    frames(&mut client);
    assert_eq!(client.channel.next_deadline(), Timestamp::NEVER);
    assert_eq!(client.receive(&head("200", &[], false)), Flow::Continue);
    assert_eq!(unmasked(&content(&mut client)), (0x81, b"hi".to_vec()));
    assert_eq!(client.channel.next_deadline(), Timestamp(10));
    assert!(!client.channel.is_open());
    assert_eq!(client.receive(&data(&frame(0x81, b"ok"), false)), Flow::Continue);
    assert!(client.channel.is_open());
}

#[test]
fn our_own_end_says_goodbye_in_both_protocols() {
    let mut client = open(0);
    client.channel.say_goodbye(&mut Events::default());
    let sent = frames(&mut client);
    let kinds: Vec<_> = sent.iter().map(|(head, _)| (head.kind, head.flags)).collect();
    assert_eq!(kinds, [(kind::DATA, 0), (kind::DATA, flag::END_STREAM), (kind::GOAWAY, 0)], "{sent:?}");
    assert_eq!(unmasked(&sent[0].1), (0x88, 1000u16.to_be_bytes().to_vec()));
}

#[test]
fn a_message_waits_for_the_window_of_its_stream() {
    let mut client = asking(&[]);
    let small = settings(&[(setting::ENABLE_CONNECT_PROTOCOL, 1), (setting::INITIAL_WINDOW_SIZE, 5)]);
    assert_eq!(client.receive(&small), Flow::Continue);
    assert_eq!(client.receive(&head("200", &[], false)), Flow::Continue);
    frames(&mut client);
    client.begin(0);
    let first = content(&mut client);
    assert_eq!(first.len(), 5);
    assert!(client.channel.waits_for_window());
    let mut more = Vec::new();
    put(&mut more, kind::WINDOW_UPDATE, 0, STREAM, &100u32.to_be_bytes());
    assert_eq!(client.receive(&more), Flow::Continue);
    let whole = [first, content(&mut client)].concat();
    assert_eq!(unmasked(&whole), (0x81, "é0".as_bytes().to_vec()));
    client.channel.sent(&client.protocol, 0, Timestamp::ZERO, &mut Events::default());
}
