//! Ways in which a server ends a gRPC call, over cuts of every size.

use truetail_model::record::GrpcStatus;
use truetail_model::time::Nanos;
use truetail_run::{GrpcConfig, GrpcKind};

use super::*;
use crate::protocol::http2::field_blocks::put_plain;

/// Kinds of calls that one message answers, and then those that a stream answers.
const ALL: [GrpcKind; 4] =
    [GrpcKind::Unary, GrpcKind::ClientStreaming, GrpcKind::ServerStreaming, GrpcKind::Bidirectional];
const GRPC: (&str, &str) = ("content-type", "application/grpc");

fn fields(all: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    all.iter().for_each(|(name, value)| put_plain(&mut block, &(name, value.as_bytes())));
    block
}

fn settings() -> Script {
    Script::settings(&[])
}

fn head(script: Script, all: &[(&str, &str)]) -> Script {
    script.frame(kind::HEADERS, flag::END_HEADERS, 1, &fields(all))
}

fn last(script: Script, all: &[(&str, &str)]) -> Script {
    script.frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, 1, &fields(all))
}

fn message(flag: u8, content: &[u8]) -> Vec<u8> {
    [&[flag], &(content.len() as u32).to_be_bytes()[..], content].concat()
}

/// The beginning of an answer: its head, and this body.
fn answering(body: &[u8]) -> Script {
    head(settings(), &[(":status", "200"), GRPC]).data(1, body, false)
}

fn reset(code: u32) -> Script {
    settings().number(kind::RST_STREAM, 1, code)
}

const fn at_once(kind: GrpcKind) -> GrpcConfig {
    GrpcConfig { kind, message_gap_ns: None }
}

/// Returns the outcomes of one call over this script, cut into pieces of this size.
fn outcomes(calls: Option<GrpcKind>, script: &Script, size: usize, closes: bool) -> Vec<Outcome> {
    let mut client = Client::new("POST", &["content-type: application/grpc"], &message(0, b"question"));
    client.conversation.calls = calls.map(at_once);
    client.begin(0);
    client.take();
    let mut all = Vec::new();
    for piece in script.0.chunks(size) {
        let (_, events) = client.receive(piece);
        all.extend(ended(&events));
    }
    if closes {
        all.extend(client.close(Closed::EndOfStream { authentic: true }));
    }
    all.iter().map(|ended| ended.outcome).collect()
}

fn assert_ends(name: &str, kinds: &[GrpcKind], script: &Script, wanted: Outcome) {
    for kind in kinds {
        for size in 1..=script.0.len() {
            let found = outcomes(Some(*kind), script, size, true);
            assert_eq!(found, [wanted], "{name}, {kind:?}, in pieces of {size}");
        }
    }
}

const fn answered(status: GrpcStatus) -> Outcome {
    Outcome::response(status.recorded())
}

fn named(name: &str) -> Outcome {
    answered(GrpcStatus::from_name(name).expect("a status"))
}

#[test]
fn each_status_is_recorded_with_trailers_and_in_trailers_only() {
    for (code, status) in GrpcStatus::all().enumerate() {
        let code = code.to_string();
        let trailers = [("grpc-status", &code[..]), ("grpc-message", "no%20room")];
        let whole = last(answering(&message(0, b"answer")), &trailers);
        assert_ends(status.name(), &ALL, &whole, answered(status));
        let only = last(settings(), &[&[(":status", "200"), GRPC], &trailers[..]].concat());
        let kinds = if status == GrpcStatus::OK { &ALL[2..] } else { &ALL[..] };
        assert_ends(status.name(), kinds, &only, answered(status));
    }
}

#[test]
fn every_other_end_is_in_the_books() {
    let ok = [("grpc-status", "0")];
    let malformed = Outcome::Malformed;
    let half = &message(0, b"answer")[..7];
    let too_large = [&[0][..], &u32::MAX.to_be_bytes()].concat();
    let gzip = head(settings(), &[(":status", "200"), GRPC, ("grpc-encoding", "gzip")]);
    let identity = head(settings(), &[(":status", "200"), GRPC, ("grpc-encoding", "identity")]);
    let proxy =
        |status| head(settings(), &[(":status", status), ("content-type", "text/html")]).data(1, b"<html>", true);
    for (name, kinds, script, wanted) in [
        ("no answer and the end of the connection", &ALL[..], settings(), Outcome::Reset(Cause::ClosedBeforeAnswer)),
        ("half an answer", &ALL, answering(half), malformed(Cause::Truncated)),
        ("no trailers", &ALL, answering(&message(0, b"answer")).data(1, b"", true), malformed(Cause::NoGrpcStatus)),
        (
            "trailers without a status",
            &ALL,
            last(answering(&message(0, b"a")), &[("x", "y")]),
            malformed(Cause::NoGrpcStatus),
        ),
        ("half a message", &ALL, last(answering(half), &ok), malformed(Cause::BadGrpcMessage)),
        (
            "half a message of a call that failed",
            &ALL,
            last(answering(half), &[("grpc-status", "8")]),
            named("RESOURCE_EXHAUSTED"),
        ),
        ("too large", &ALL, answering(&too_large), malformed(Cause::MessageTooLarge)),
        ("wrong flag", &ALL, answering(&message(7, b"a")), malformed(Cause::BadGrpcMessage)),
        (
            "compressed, but not said so",
            &ALL,
            last(answering(&message(1, b"a")), &ok),
            malformed(Cause::BadGrpcMessage),
        ),
        (
            "compressed with identity",
            &ALL,
            last(identity.data(1, &message(1, b"a"), false), &ok),
            malformed(Cause::BadGrpcMessage),
        ),
        ("compressed", &ALL, last(gzip.data(1, &message(1, b"a"), false), &ok), answered(GrpcStatus::OK)),
        (
            "no message",
            &ALL[..2],
            last(head(settings(), &[(":status", "200"), GRPC]), &ok),
            malformed(Cause::BadGrpcMessage),
        ),
        (
            "two messages",
            &ALL[..2],
            last(answering(&message(0, b"a").repeat(2)), &ok),
            malformed(Cause::BadGrpcMessage),
        ),
        (
            "two messages of a stream",
            &ALL[2..],
            last(answering(&message(0, b"a").repeat(2)), &ok),
            answered(GrpcStatus::OK),
        ),
        ("an unknown code", &ALL, last(answering(&message(0, b"a")), &[("grpc-status", "77")]), named("UNKNOWN")),
        ("no code", &ALL, last(answering(&message(0, b"a")), &[("grpc-status", "fine")]), named("UNKNOWN")),
        ("a proxy's 503", &ALL, proxy("503"), named("UNAVAILABLE")),
        ("a proxy's 404", &ALL, proxy("404"), named("UNIMPLEMENTED")),
        ("a proxy's page", &ALL, proxy("200"), malformed(Cause::NoGrpcStatus)),
        ("a reset", &ALL, reset(code::CANCEL), named("CANCELLED")),
        ("a refusal", &ALL, reset(code::REFUSED_STREAM), named("UNAVAILABLE")),
        ("a reset within the answer", &ALL, answering(half).number(kind::RST_STREAM, 1, 2), named("INTERNAL")),
        ("GOAWAY", &ALL, settings().goaway(0, 0), Outcome::Reset(Cause::GoneAway)),
    ] {
        assert_ends(name, kinds, &script, wanted);
    }
}

#[test]
fn an_answer_to_a_plain_request_that_says_grpc_is_a_call() {
    let ends = |script: &Script| outcomes(None, script, script.0.len(), true);
    let whole = |code| last(answering(&message(0, b"answer")), &[("grpc-status", code)]);
    assert_eq!(ends(&whole("0")), [OK]);
    assert_eq!(ends(&whole("14")), [named("UNAVAILABLE")]);
    // An answer with another content type than gRPC's has its HTTP status, even with a `grpc-status` field.
    let plain = head(settings(), &[(":status", "200"), ("content-type", "text/plain")]);
    assert_eq!(ends(&last(plain.data(1, b"x", false), &[("grpc-status", "14")])), [OK]);
    assert_eq!(ends(&reset(code::CANCEL)), [Outcome::Reset(Cause::StreamReset)]);
}

#[test]
fn values_that_the_table_of_the_connection_repeats_keep_their_meaning() {
    // A literal that is added to the table, and later its index.
    let mut block = fields(&[(":status", "200"), GRPC]);
    block.extend(b"\x40\x0bgrpc-status\x0214");
    let mut client = Client::new("POST", &[], &message(0, b"question"));
    client.conversation.calls = Some(at_once(GrpcKind::Unary));
    client.begin(0);
    client.begin(1);
    client.take();
    let both = flag::END_HEADERS | flag::END_STREAM;
    let again = [fields(&[(":status", "200"), GRPC]), vec![0xbe]].concat();
    let script = settings().frame(kind::HEADERS, both, 1, &block).frame(kind::HEADERS, both, 3, &again);
    assert_eq!(client.receive_script(&script), [(0, named("UNAVAILABLE")), (1, named("UNAVAILABLE"))]);
}

const GAP: Nanos = Nanos::from_millis(10);

/// Returns a client that has begun one call with these messages, the first at once and the others at gaps of 10 ms.
fn paced(messages: &[&[u8]]) -> Client {
    let body = messages.iter().map(|content| message(0, content)).collect::<Vec<_>>().concat();
    let mut client = Client::new("POST", &["content-type: application/grpc"], &body);
    client.conversation.calls = Some(GrpcConfig { kind: GrpcKind::Bidirectional, message_gap_ns: Some(GAP.0) });
    client.begin(0);
    client
}

fn next_due(client: &Client) -> Timestamp {
    Conversation::<Http2>::next_deadline(&client.conversation)
}

/// Sends what is due after this time. Returns the DATA frames (content, and whether it was the last), and how late each
/// message was.
fn sent_at(client: &mut Client, at: Nanos) -> (Vec<(Vec<u8>, bool)>, Vec<Nanos>) {
    let now = NOW + at;
    let Client { protocol, conversation } = client;
    let mut events = Events::default();
    assert_eq!(conversation.on_deadline(protocol, now, &mut events), Flow::Continue);
    let lates = events.take().into_iter().map(|event| match event {
        Event::Late(0, late) => late,
        other => panic!("{other:?}"),
    });
    let lates = lates.collect();
    assert!(next_due(client) > now);
    let frames = client.flush().into_iter().filter(|(head, _)| head.kind == kind::DATA);
    (frames.map(|(head, content)| (content, head.has(flag::END_STREAM))).collect(), lates)
}

#[test]
fn messages_of_a_call_are_due_one_gap_after_another() {
    let mut client = paced(&[b"a", b"", b"ccc", b"d"]);
    assert_eq!(next_due(&client), NOW + GAP);
    assert_eq!(sent_at(&mut client, Nanos::ZERO), (vec![(message(0, b"a"), false)], vec![]));
    assert!(client.conversation.streams.waiting.is_empty(), "a message that is not due keeps no worker busy");
    assert_eq!(sent_at(&mut client, Nanos::from_millis(9)), (vec![], vec![]));
    assert_eq!(sent_at(&mut client, GAP), (vec![(message(0, b""), false)], vec![Nanos::ZERO]));
    // A late worker sends all that is due, and the gaps still count from the start of the call.
    let both = vec![(message(0, b"ccc"), false), (message(0, b"d"), true)];
    let lates = [15, 5].map(Nanos::from_millis).to_vec();
    assert_eq!(sent_at(&mut client, Nanos::from_millis(35)), (both, lates));
    assert_eq!(next_due(&client), Timestamp::NEVER);
    let answer = last(answering(&message(0, b"x").repeat(3)), &[("grpc-status", "0")]);
    assert_eq!(client.receive_script(&answer), [(0, answered(GrpcStatus::OK))]);
}

#[test]
fn messages_that_are_due_wait_for_their_windows() {
    let large = [b'x'; 40_000];
    let mut client = paced(&[&large, &large, b"last"]);
    let sent = |client: &mut Client, ms| {
        let (frames, _) = sent_at(client, Nanos::from_millis(ms));
        (frames.iter().map(|(content, _)| content.len()).sum::<usize>(), frames.iter().any(|(_, is_last)| *is_last))
    };
    assert_eq!(sent(&mut client, 0), (40_005, false));
    assert_eq!(sent(&mut client, 10), (65_535 - 40_005, false));
    assert_eq!(sent(&mut client, 20), (0, false));
    client.receive_script(&settings().number(kind::WINDOW_UPDATE, 0, 1 << 20).number(kind::WINDOW_UPDATE, 1, 1 << 20));
    assert_eq!(sent(&mut client, 21), (2 * 40_005 + 9 - 65_535, true));
}

#[test]
fn a_call_that_ended_sends_no_more_messages() {
    let mut client = paced(&[b"a", b"b", b"c"]);
    sent_at(&mut client, GAP);
    let refused = last(settings(), &[(":status", "200"), GRPC, ("grpc-status", "8")]);
    assert_eq!(client.receive_script(&refused), [(0, named("RESOURCE_EXHAUSTED"))]);
    let frames = client.flush();
    assert!(frames.iter().any(|(head, _)| head.kind == kind::RST_STREAM && head.stream == 1), "{frames:?}");
    assert_eq!(sent_at(&mut client, Nanos::from_millis(50)), (vec![], vec![]));
    assert_eq!(next_due(&client), Timestamp::NEVER);
}

/// A server may end every call before its messages were sent, with a status or with an answer that is malformed.
#[test]
fn calls_that_end_early_leave_nothing_behind() {
    let mut client = paced(&[b"a", b"b"]);
    client.receive_script(&settings());
    let ends = [fields(&[(":status", "200"), GRPC, ("grpc-status", "8")]), fields(&[(":status", "200"), GRPC])];
    let wanted = [named("RESOURCE_EXHAUSTED"), Outcome::Malformed(Cause::NoGrpcStatus)];
    for nth in 0..50 {
        let id = nth * 2 + 1;
        let end = flag::END_HEADERS | flag::END_STREAM;
        client.flush();
        let script = Script::default().frame(kind::HEADERS, end, id, &ends[nth as usize % 2]);
        assert_eq!(client.receive_script(&script), [(nth, wanted[nth as usize % 2])]);
        let resets = client.flush().into_iter().filter(|(head, _)| head.kind == kind::RST_STREAM && head.stream == id);
        assert_eq!(resets.count(), 1, "the server must not wait for the rest of call {nth}");
        client.begin(nth + 1);
    }
    assert_eq!((client.conversation.in_flight(), client.conversation.streams.remembered()), (1, 0));
}

#[test]
fn gaps_of_a_call_are_no_wait_of_the_connection() {
    let mut client = paced(&[b"a", b"b"]);
    let mut events = Events::default();
    for at in [Nanos::ZERO, GAP] {
        let Client { protocol, conversation } = &mut client;
        let _ = conversation.on_deadline(protocol, NOW + at, &mut events);
        let count = conversation.output(protocol).len();
        conversation.sent(protocol, count, NOW + at, &mut events);
    }
    assert_eq!(events.take(), [Event::Started(0), Event::Late(0, Nanos::ZERO)]);
}
