//! A table of hostile servers, and the outcomes of the requests.

use truetail_model::record::{Cause, Outcome};

use super::super::{kind, setting};
use super::OK;
use super::client::{Client, Script, ended};
use crate::protocol::http2::frame::{LONGEST, code, flag};
use crate::protocol::{Events, Flow};

/// Returns the outcomes of requests with tags 0, 1 and 2 on streams 1, 3 and 5, after this script about stream 3.
fn outcomes(script: &Script) -> [Option<Outcome>; 3] {
    let mut client = Client::sent(3);
    let (_, events) = client.receive(&[&Script::settings(&[]).0[..], &script.0].concat());
    let ended = ended(&events);
    is_bounded(&client);
    assert!(ended.len() <= 3);
    [0, 1, 2].map(|tag| ended.iter().find(|ended| ended.tag == tag).map(|ended| ended.outcome))
}

fn is_bounded(client: &Client) {
    assert!(client.conversation.held() <= 2 * (9 + LONGEST) + (1 << 17) + (1 << 20), "{}", client.conversation.held());
}

fn script() -> Script {
    Script::default()
}

fn literal(name: &str, value: &str) -> Vec<u8> {
    [&[0, name.len() as u8], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat()
}

fn head(fields: &[&[u8]], flags: u8) -> Script {
    script().frame(kind::HEADERS, flags | flag::END_HEADERS, 3, &fields.concat())
}

/// Only this request ends; the connection continues for the others.
#[test]
fn what_ends_one_request() {
    let malformed = |cause| Outcome::Malformed(cause);
    let length = |length: &str| literal("content-length", length);
    let table: Vec<(&str, Script, Outcome)> = vec![
        ("an answer without a body", head(&[&[0x89]], flag::END_STREAM), Outcome::response(204)),
        ("an answer with padding", script().head(3).frame(kind::DATA, 9, 3, b"\x03ok\0\0\0"), OK),
        (
            "an answer with trailers",
            script().head(3).data(3, b"x", false).frame(kind::HEADERS, 5, 3, &literal("a", "b")),
            OK,
        ),
        ("interim answers", head(&[&literal(":status", "103")], 0).head(3).data(3, b"", true), OK),
        ("a length that is right", head(&[&[0x88], &length("2")], 0).data(3, b"ok", true), OK),
        ("unknown frames", script().frame(0x20, 0xff, 3, b"?").frame(0x21, 0, 0, b"").head(3).data(3, b"", true), OK),
        ("no status", head(&[&literal("a", "b")], 0), malformed(Cause::BadHead)),
        ("a status that is none", head(&[&literal(":status", "999x")], 0), malformed(Cause::BadHead)),
        ("a status below 100", head(&[&literal(":status", "099")], 0), malformed(Cause::BadHead)),
        ("upper case", head(&[&[0x88], &literal("A", "b")], 0), malformed(Cause::BadHead)),
        ("a switch of protocols", head(&[&literal(":status", "101")], 0), malformed(Cause::UnexpectedUpgrade)),
        (
            "endless interim answers",
            (0..40).fold(script(), |all, _| Script([all.0, head(&[&literal(":status", "100")], 0).0].concat())),
            malformed(Cause::TooManyInterim),
        ),
        (
            "an interim answer that ends",
            head(&[&literal(":status", "100")], flag::END_STREAM),
            malformed(Cause::Http2Protocol),
        ),
        ("data before a head", script().data(3, b"x", true), malformed(Cause::Http2Protocol)),
        ("a second head", script().head(3).head(3), malformed(Cause::Http2Protocol)),
        (
            "a body that is too short",
            head(&[&[0x88], &length("3")], 0).data(3, b"ok", true),
            malformed(Cause::BadLength),
        ),
        (
            "a body that is too long",
            head(&[&[0x88], &length("1")], 0).data(3, b"ok", false),
            malformed(Cause::BadLength),
        ),
        ("a negative length", head(&[&[0x88], &length("-1")], 0), malformed(Cause::BadLength)),
        ("two lengths", head(&[&[0x88], &length("1"), &length("2")], 0), malformed(Cause::BadLength)),
        ("too many fields", head(&[&[0x88], &literal("a", "").repeat(1024)], 0), malformed(Cause::HeadTooLarge)),
        ("a bomb: an entry of the table again and again", bomb(), malformed(Cause::HeadTooLarge)),
        (
            "a reset before the answer",
            script().number(kind::RST_STREAM, 3, code::CANCEL),
            Outcome::Reset(Cause::StreamReset),
        ),
        ("a refusal", script().number(kind::RST_STREAM, 3, code::REFUSED_STREAM), Outcome::Reset(Cause::StreamRefused)),
        ("a reset within the answer", script().head(3).number(kind::RST_STREAM, 3, 2), malformed(Cause::StreamReset)),
        ("a window that grows by nothing", script().number(kind::WINDOW_UPDATE, 3, 0), malformed(Cause::Http2Protocol)),
        (
            "a window that is too large",
            script().number(kind::WINDOW_UPDATE, 3, 0x7fff_ffff),
            malformed(Cause::Http2Window),
        ),
    ];
    for (name, script, wanted) in table {
        let rest = Script::default().head(1).data(1, b"ok", true).head(5).data(5, b"ok", true);
        let all = Script([script.0, rest.0].concat());
        assert_eq!(outcomes(&all), [Some(OK), Some(wanted), Some(OK)], "{name}");
    }
}

/// A field of 4,000 bytes, referred to by index 10,000 times.
fn bomb() -> Script {
    let mut block = vec![0x88, 0x40, 1, b'a', 0x7f, 0x81, 0x1e];
    block.extend(vec![b'x'; 4000]);
    block.extend(vec![0xbe; 10_000]);
    script().frame(kind::HEADERS, flag::END_HEADERS, 3, &block)
}

/// The connection ends with all its requests. Requests without an answer yet are reset.
#[test]
fn what_ends_the_connection() {
    let protocol = Cause::Http2Protocol;
    let window = Cause::Http2Window;
    let open = |script: Script| script.frame(kind::HEADERS, 0, 3, &[0x88]);
    let table: Vec<(&str, Script, Cause)> = vec![
        ("data on a stream that never was", script().data(7, b"x", false), protocol),
        ("a head on a stream of the server's own", script().head(2), protocol),
        ("a reset of a stream that never was", script().number(kind::RST_STREAM, 7, 0), protocol),
        ("a window for a stream that never was", script().number(kind::WINDOW_UPDATE, 9, 1), protocol),
        ("a push", script().frame(kind::PUSH_PROMISE, 4, 1, &[0, 0, 0, 2, 0x88]), protocol),
        ("data for nobody", script().data(0, b"x", false), protocol),
        ("padding that is longer than its frame", script().frame(kind::DATA, 8, 1, b"\x09ok"), protocol),
        ("a ping that is too short", script().frame(kind::PING, 0, 0, b"1234"), protocol),
        ("settings that are cut off", script().frame(kind::SETTINGS, 0, 0, b"12345"), protocol),
        ("settings on a stream", script().frame(kind::SETTINGS, 0, 1, b""), protocol),
        ("frames of no allowed size", script().frame(kind::SETTINGS, 0, 0, &[0, 5, 0, 0, 0, 1]), protocol),
        ("pushes that are allowed by the server", script().frame(kind::SETTINGS, 0, 0, &[0, 2, 0, 0, 0, 1]), protocol),
        ("a window larger than any", script().frame(kind::SETTINGS, 0, 0, &[0, 4, 0x80, 0, 0, 0]), window),
        ("a window of the connection that grows by nothing", script().number(kind::WINDOW_UPDATE, 0, 0), protocol),
        ("a window of the connection that is too large", script().number(kind::WINDOW_UPDATE, 0, 0x7fff_ffff), window),
        ("a frame that is too long", Script(vec![0, 0x40, 1, 0, 0, 0, 0, 0, 1]), protocol),
        ("a head that is interrupted", open(script()).data(1, b"x", false), protocol),
        ("a head that is continued by another", open(script()).frame(kind::CONTINUATION, 4, 1, b""), protocol),
        ("a continuation of nothing", script().frame(kind::CONTINUATION, 4, 3, b""), protocol),
        (
            "a flood of continuations",
            (0..70).fold(open(script()), |all, _| all.frame(kind::CONTINUATION, 0, 3, b"")),
            Cause::HeadTooLarge,
        ),
        (
            "a head without end",
            (0..5).fold(open(script()), |all, _| all.frame(kind::CONTINUATION, 0, 3, &[0; LONGEST])),
            Cause::HeadTooLarge,
        ),
        (
            "fields that cannot be read",
            script().frame(kind::HEADERS, 4, 3, &[0xff, 0xff, 0xff, 0xff, 0xff]),
            Cause::BadHead,
        ),
        ("a flood of pings", (0..20_000).fold(script(), |all, _| all.frame(kind::PING, 0, 0, b"12345678")), protocol),
        ("a flood of settings", (0..40_000).fold(script(), |all, _| all.frame(kind::SETTINGS, 0, 0, b"")), protocol),
    ];
    for (name, script, cause) in table {
        let [first, middle, last] = outcomes(&script);
        assert_eq!(last, Some(Outcome::Reset(cause)), "{name}");
        for one in [first, middle] {
            assert!(one == Some(Outcome::Reset(cause)) || one == Some(Outcome::Malformed(cause)), "{name}: {one:?}");
        }
    }
}

#[test]
fn frames_after_the_end_of_an_answer_end_the_connection() {
    for late in [script().data(3, b"x", false), script().head(3)] {
        let all = Script([script().head(3).data(3, b"ok", true).0, late.0].concat());
        let broken = Some(Outcome::Reset(Cause::Http2Protocol));
        assert_eq!(outcomes(&all), [broken, Some(OK), broken], "the answer stays what it was");
    }
    let allowed =
        script().head(3).data(3, b"ok", true).number(kind::RST_STREAM, 3, 0).number(kind::WINDOW_UPDATE, 3, 1);
    assert_eq!(outcomes(&allowed), [None, Some(OK), None]);
}

#[test]
fn what_is_not_http2_is_told_as_that() {
    for said in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], &Script::default().head(1).0, &script().data(1, b"", true).0]
    {
        assert_eq!(Client::sent(1).receive(said).0, Flow::Close(Cause::NoHttp2));
    }
}

#[test]
fn rapid_resets_are_an_outcome_each_and_leave_nothing_behind() {
    let mut client = Client::sent(0);
    client.receive_script(&Script::settings(&[(setting::MAX_CONCURRENT_STREAMS, 10)]));
    for nth in 0..100_000 {
        let id = client.begin(nth);
        client.take();
        let reset = script().number(kind::RST_STREAM, id, code::REFUSED_STREAM);
        assert_eq!(client.receive_script(&reset), [(nth, Outcome::Reset(Cause::StreamRefused))]);
    }
    assert_eq!((client.conversation.in_flight(), client.conversation.streams.remembered()), (0, 0));
    is_bounded(&client);
}

#[test]
fn a_server_that_answers_cancelled_requests_costs_bounded_memory() {
    let mut client = Client::sent(0);
    client.receive_script(&Script::settings(&[]));
    for nth in 0..50_000 {
        let id = client.begin(nth);
        client.conversation.cancel(id, &mut Events::default());
        client.take();
    }
    assert!(client.conversation.streams.remembered() <= 16 * 1024);
    let late = script().head(99_999).data(99_999, b"late", true).head(1);
    assert_eq!(client.receive_script(&late), [], "a cancelled request may be answered late");
}
