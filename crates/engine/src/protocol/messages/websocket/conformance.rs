//! What a server may and may not send to a client, as RFC 6455 says: a table, with its bytes cut at every place.

use truetail_model::record::{Cause, Outcome};

use super::tests::{Client, frame};
use crate::protocol::{Conversation, Flow, Retry};

const GOOD: Outcome = Outcome::ANSWERED;
/// Largest piece of the cuts of a row, besides the whole.
const MAX_PIECE: usize = 24;

/// A row: a name, the bytes of the server, and what comes of three messages.
struct Row {
    name: String,
    bytes: Vec<u8>,
    /// Number of messages that have their reply.
    replies: usize,
    flow: Flow,
    /// Code of the channel's close, if it was closed in order.
    code: Option<u16>,
}

fn good(name: impl Into<String>, frames: &[Vec<u8>], replies: usize) -> Row {
    Row { name: name.into(), bytes: frames.concat(), replies, flow: Flow::Continue, code: None }
}

fn bad(name: impl Into<String>, frames: &[Vec<u8>], replies: usize) -> Row {
    Row { flow: Flow::Close(Cause::BadMessage), ..good(name, frames, replies) }
}

fn closed(name: impl Into<String>, frames: &[Vec<u8>], replies: usize, code: u16) -> Row {
    Row { flow: Flow::Close(Cause::ClosedBeforeAnswer), code: Some(code), ..good(name, frames, replies) }
}

fn text(payload: &[u8]) -> Vec<u8> {
    frame(0x81, payload)
}

fn close(code: u16, reason: &[u8]) -> Vec<u8> {
    frame(0x88, &[&code.to_be_bytes(), reason].concat())
}

/// Section 5.2: lengths of all forms, kinds of frames, reserved bits, masks.
fn framing() -> Vec<Row> {
    let sizes = [0, 1, 124, 125, 126, 127, 128, 65_535, 65_536, 65_537];
    let fits = sizes.map(|size| good(format!("{size} bytes"), &[frame(0x82, &vec![0xfe; size]), text(b"b")], 2));
    let bits = (1..8).flat_map(|bits: u8| {
        [0x81, 0x82, 0x88, 0x89, 0x8a, 0x01].map(|first| {
            let first = first | (bits << 4);
            bad(format!("reserved bits {first:02x}"), &[text(b"a"), frame(first, b""), text(b"b")], 1)
        })
    });
    let kinds = [3, 4, 5, 6, 7, 11, 12, 13, 14, 15].into_iter().flat_map(|kind| {
        [0x80 | kind, kind].map(|first| bad(format!("kind {first:02x}"), &[text(b"a"), frame(first, b"x")], 1))
    });
    let masked = [vec![0x81, 0x80, 1, 2, 3, 4], vec![0x89, 0x80, 1, 2, 3, 4], vec![0x81, 0xfe, 0, 126]];
    let masked = masked.map(|bytes| bad(format!("masked {bytes:02x?}"), &[text(b"a"), bytes], 1));
    let lengths: [&[u8]; 5] = [
        &[126, 0, 0],
        &[126, 0, 125],
        &[127, 0, 0, 0, 0, 0, 0, 0, 5],
        &[127, 0, 0, 0, 0, 0, 0, 0xff, 0xff],
        &[127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    ];
    let lengths = lengths.map(|length| bad(format!("length {length:02x?}"), &[[&[0x82], length].concat()], 0));
    fits.into_iter().chain(bits).chain(kinds).chain(masked).chain(lengths).collect()
}

/// Sections 5.4 and 5.5: fragments, and control frames within and around them.
fn fragments() -> Vec<Row> {
    let first = frame(0x01, b"a");
    let middle = frame(0x00, b"b");
    let last = frame(0x80, b"c");
    let [ping, pong] = [0x89, 0x8a].map(|first| frame(first, b"p"));
    let in_between =
        |control: &Vec<u8>| [&first, control, &middle, control, control, &last, control, &text(b"d")].map(Clone::clone);
    let mut rows = vec![
        good("three fragments", &[first.clone(), middle.clone(), last.clone(), text(b"d")], 2),
        good("empty fragments", &[frame(0x02, b""), frame(0x00, b""), frame(0x80, b""), text(b"d")], 2),
        good("pings within fragments", &in_between(&ping), 2),
        good("pongs within fragments", &in_between(&pong), 2),
        good("a ping of 125 bytes", &[frame(0x89, &[0xff; 125]), text(b"a")], 1),
        bad("a continuation of nothing", &[text(b"a"), middle.clone()], 1),
        bad("a last continuation of nothing", &[text(b"a"), last.clone()], 1),
        bad("a continuation after the last", &[first.clone(), last, middle], 1),
        bad("a text within a message", &[first.clone(), text(b"b")], 0),
        bad("a binary message within a text", &[first.clone(), frame(0x82, b"b")], 0),
        closed("a close within fragments", &[first.clone(), close(1000, b"")], 0, 1000),
        closed("a ping and a close within fragments", &[text(b"a"), first, ping, close(1001, b"")], 1, 1001),
    ];
    for (name, kind) in [("close", 8), ("ping", 9), ("pong", 10)] {
        rows.push(bad(format!("a {name} of 126 bytes"), &[text(b"a"), frame(0x80 | kind, &[0; 126])], 1));
        rows.push(bad(format!("a {name} of 65,536 bytes"), &[frame(0x80 | kind, &vec![0; 65_536])], 0));
        rows.push(bad(format!("a {name} in fragments"), &[text(b"a"), frame(kind, b"x"), frame(0x80, b"y")], 1));
        rows.push(bad(format!("an empty {name} in fragments"), &[frame(kind, b"")], 0));
    }
    rows
}

/// Section 7: what closes a channel.
fn closes() -> Vec<Row> {
    let allowed = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999];
    let forbidden = [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535];
    let allowed =
        allowed.map(|code| closed(format!("code {code}"), &[text(b"a"), close(code, "dé".as_bytes())], 1, code));
    let forbidden = forbidden.map(|code| bad(format!("code {code}"), &[text(b"a"), close(code, b"")], 1));
    let rows = [
        closed("no code", &[frame(0x88, b""), text(b"a")], 0, 1005),
        closed("the longest reason", &[close(1000, &[b'x'; 123])], 0, 1000),
        closed("a text after it", &[close(1000, b""), text(b"a")], 0, 1000),
        closed("a second one", &[close(1000, b""), close(1001, b"")], 0, 1000),
        closed("something forbidden after it", &[close(1000, b""), frame(0xff, b"")], 0, 1000),
        bad("a code of one byte", &[text(b"a"), frame(0x88, b"\x03")], 1),
        bad("a reason that is too long", &[close(1000, &[b'x'; 124])], 0),
        bad("a reason that is no UTF-8", &[close(1000, b"\xc3")], 0),
        bad("a reason with a surrogate", &[close(1000, b"\xed\xa0\x80")], 0),
    ];
    allowed.into_iter().chain(forbidden).chain(rows).collect()
}

/// Section 8.1: texts are UTF-8, whose characters may be cut by fragments.
fn texts() -> Vec<Row> {
    let whole = "κόσμε \u{10ffff}\u{fffe}\u{feff}\u{0}".as_bytes();
    let cut = (0..=whole.len()).map(|place| {
        let (one, two) = whole.split_at(place);
        good(format!("a text cut at {place}"), &[frame(0x01, one), frame(0x80, two), text(b"b")], 2)
    });
    let invalid: [&[u8]; 15] = [
        b"\x80",
        b"\xbf",
        b"a\xc0\xaf",
        b"\xe0\x80\xaf",
        b"\xf0\x80\x80\xaf",
        b"\xf8\x88\x80\x80\x80",
        b"\xfc\x84\x80\x80\x80\x80",
        b"\xed\xa0\x80",
        b"\xed\xbf\xbf",
        b"\xf4\x90\x80\x80",
        b"\xc3",
        b"\xe2\x82",
        b"\xf0\x9d\x84",
        b"\xc3a",
        b"\xfe",
    ];
    let refused = invalid.iter().flat_map(|bytes| {
        let (one, two) = bytes.split_at(1);
        [
            bad(format!("text {bytes:02x?}"), &[text(b"a"), text(bytes)], 1),
            bad(format!("text {bytes:02x?} in fragments"), &[text(b"a"), frame(0x01, one), frame(0x80, two)], 1),
            good(format!("binary {bytes:02x?}"), &[frame(0x82, bytes), frame(0x02, one), frame(0x80, two)], 2),
        ]
    });
    // It is refused before its message ends, as soon as no byte that follows could make it a text.
    let early = bad("a text that can become none", &[frame(0x01, b"\xf4"), frame(0x00, b"\x90")], 0);
    cut.chain(refused).chain([early]).collect()
}

#[test]
fn a_server_is_heard_as_the_standard_says_however_its_bytes_are_cut() {
    let rows: Vec<Row> = [framing(), fragments(), closes(), texts()].into_iter().flatten().collect();
    assert!(rows.len() > 200, "{}", rows.len());
    for Row { name, bytes, replies, flow, code } in &rows {
        let length = bytes.len().max(1);
        let largest = if length > 1_000 { 4 } else { MAX_PIECE };
        for size in (1..=largest.min(length)).chain([length]) {
            let mut client = Client::open(3);
            assert_eq!(client.receive_pieces(bytes, size), *flow, "{name} by {size}");
            let good: Vec<u32> =
                client.ended.iter().filter(|(_, outcome, _)| *outcome == GOOD).map(|(tag, ..)| *tag).collect();
            assert_eq!(good, (0..*replies as u32).collect::<Vec<_>>(), "{name} by {size}");
            let is_over = *flow != Flow::Continue;
            assert_eq!(client.ended.len(), if is_over { 3 } else { *replies }, "{name} by {size}");
            assert_eq!(client.channel.is_closing(), is_over, "{name} by {size}");
            let counted: Vec<u16> = client.protocol.books.close_codes.keys().copied().collect();
            assert_eq!(counted, code.iter().copied().collect::<Vec<_>>(), "{name} by {size}");
            assert!(client.ended.iter().all(|(.., retry)| *retry == Retry::No), "all were sent: {name} by {size}");
        }
    }
}
