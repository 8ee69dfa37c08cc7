mod hostile;

use proptest::prelude::*;
use truetail_model::record::{Cause, Outcome};

use super::super::Spoken;
use super::super::blocks::Blocks;
use super::super::frame::{Head, LONGEST, code, put, put_number};
use super::*;
use crate::target::request_set::{RequestId, RequestSet};
use crate::target::{method::Method, request::Request};

const ANY: RequestId = RequestId { target: 0, row: 0 };
const OK: Outcome = Outcome::Response { status: 200 };

pub(super) fn blocks(method: &str, headers: &[&str], body: &[u8]) -> Blocks {
    let headers: Vec<String> = headers.iter().map(|header| header.to_string()).collect();
    let method: Method = method.parse().unwrap();
    let request = Request::new(method, "http://a.test/", &headers, body.to_vec()).unwrap();
    Blocks::new(&RequestSet::single(&request), "http").unwrap()
}

/// Frames as a server sends them.
#[derive(Clone, Default)]
pub(super) struct Script(pub(super) Vec<u8>);

impl Script {
    /// What a server begins with.
    pub(super) fn settings(list: &[(u16, u32)]) -> Script {
        let payload: Vec<u8> =
            list.iter().flat_map(|(id, value)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat()).collect();
        Script::default().frame(kind::SETTINGS, 0, 0, &payload)
    }

    pub(super) fn frame(mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Script {
        put(&mut self.0, kind, flags, stream, payload);
        self
    }

    /// A frame whose payload is one number.
    pub(super) fn number(mut self, kind: u8, stream: u32, number: u32) -> Script {
        put_number(&mut self.0, kind, stream, number);
        self
    }

    /// A head with status 200.
    pub(super) fn head(self, stream: u32) -> Script {
        self.frame(kind::HEADERS, frame::flag::END_HEADERS, stream, &[0x88])
    }

    pub(super) fn data(self, stream: u32, data: &[u8], ends: bool) -> Script {
        self.frame(kind::DATA, u8::from(ends), stream, data)
    }

    pub(super) fn goaway(self, last: u32, code: u32) -> Script {
        self.frame(kind::GOAWAY, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat())
    }
}

/// A session with so many requests on it, with tags from 0 on; nothing was heard yet.
pub(super) fn asked(requests: u32, blocks: &Blocks) -> Session {
    let mut session = Session::new(u32::MAX);
    (0..requests).for_each(|tag| {
        session.open(tag, blocks.get(ANY));
    });
    take(&mut session);
    session
}

/// What waits to be sent, which is taken.
pub(super) fn take(session: &mut Session) -> Vec<u8> {
    let out = session.to_send().to_vec();
    session.sent(out.len());
    out
}

/// The frames in `bytes`, with their payloads.
pub(super) fn frames(mut bytes: &[u8]) -> Vec<(Head, Vec<u8>)> {
    let mut frames = Vec::new();
    while let Some(head) = Head::read(bytes) {
        let (payload, rest) = bytes[frame::HEAD..].split_at(head.length);
        frames.push((head, payload.to_vec()));
        bytes = rest;
    }
    frames
}

fn fed(session: &mut Session, script: &Script) -> Vec<(u32, Outcome)> {
    let mut events = Vec::new();
    session.feed(&script.0, &mut events).unwrap();
    events.iter().map(|ended| (ended.tag, ended.outcome)).collect()
}

#[test]
fn answers_end_in_any_order_and_their_bytes_are_counted() {
    let blocks = blocks("GET", &[], b"");
    let mut session = asked(3, &blocks);
    let mut events = Vec::new();
    let script = Script::settings(&[]).head(5).head(1).data(1, b"hello", false).data(5, b"ok", true).data(1, b"", true);
    session.feed(&script.0, &mut events).unwrap();
    assert_eq!(
        events,
        [Ended { tag: 2, outcome: OK, received: 10 + 11 }, Ended { tag: 0, outcome: OK, received: 10 + 14 + 9 },]
    );
    assert_eq!(session.in_flight(), 1);
}

#[test]
fn a_request_says_the_preface_first_and_later_ones_are_short() {
    let blocks = blocks("GET", &["X-One: 1"], b"");
    let mut session = Session::new(10);
    let (id, at) = session.open(7, blocks.get(ANY));
    let first = take(&mut session);
    let rest = first.strip_prefix(frame::PREFACE).unwrap();
    assert_eq!((id, &first[at as usize + 3..at as usize + 5]), (1, &[kind::HEADERS, 5][..]));
    assert_eq!(frames(rest).iter().map(|(head, _)| head.kind).collect::<Vec<_>>(), [4, 8, 1]);
    let (id, at) = session.open(8, blocks.get(ANY));
    assert_eq!((id, at as usize, take(&mut session).len()), (3, first.len(), 9 + 7));
}

#[test]
fn a_server_without_room_for_a_table_gets_plain_fields() {
    let blocks = blocks("GET", &["X-One: 1"], b"");
    let mut session = asked(1, &blocks);
    fed(&mut session, &Script::settings(&[(setting::HEADER_TABLE_SIZE, 0)]));
    take(&mut session);
    session.open(1, blocks.get(ANY));
    let (first, then) = (frames(&take(&mut session)), {
        session.open(2, blocks.get(ANY));
        frames(&take(&mut session))
    });
    assert_eq!((first[0].1[0], first[0].1.len()), (0x20, then[0].1.len() + 1));
}

#[test]
fn a_block_that_is_too_long_for_a_frame_is_continued() {
    let blocks = blocks("GET", &[&format!("X: {}", "x".repeat(40_000))], b"");
    let mut session = asked(0, &blocks);
    session.open(0, blocks.get(ANY));
    let frames = frames(&take(&mut session));
    let seen: Vec<_> = frames.iter().map(|(head, _)| (head.kind, head.flags, head.length)).collect();
    assert_eq!(seen[..2], [(kind::HEADERS, 1, LONGEST), (kind::CONTINUATION, 0, LONGEST)]);
    assert_eq!((seen.len(), seen[2].1), (3, frame::flag::END_HEADERS));
}

#[test]
fn capacity_is_what_both_sides_allow() {
    let blocks = blocks("GET", &[], b"");
    let mut session = Session::new(100);
    assert_eq!((session.capacity(), session.has_room()), (1, true));
    session.open(0, blocks.get(ANY));
    assert!(!session.has_room(), "one until the server has said how many");
    fed(&mut session, &Script::settings(&[(setting::MAX_CONCURRENT_STREAMS, 250)]));
    assert_eq!((session.take_changed(), session.take_changed(), session.capacity()), (true, false, 100));
    fed(&mut session, &Script::settings(&[(setting::MAX_CONCURRENT_STREAMS, 0)]));
    assert_eq!((session.capacity(), session.has_room()), (0, false));
    fed(&mut session, &Script::settings(&[(setting::MAX_CONCURRENT_STREAMS, 2)]));
    assert!(session.has_room());
    session.next = LAST_STREAM;
    session.open(1, blocks.get(ANY));
    assert_eq!((session.is_closing(), session.capacity()), (true, 2), "the numbers are used up");
}

#[test]
fn going_away_ends_what_was_not_taken_up_and_nothing_else() {
    let blocks = blocks("GET", &[], b"");
    let mut session = asked(3, &blocks);
    let events = fed(&mut session, &Script::settings(&[]).goaway(LAST_STREAM, code::NO_ERROR));
    assert!(events.is_empty() && session.is_closing());
    let mut events = fed(&mut session, &Script::default().goaway(1, code::NO_ERROR));
    events.sort_by_key(|(tag, _)| *tag);
    assert_eq!(events, [(1, Outcome::Reset(Cause::GoneAway)), (2, Outcome::Reset(Cause::GoneAway))]);
    assert_eq!(fed(&mut session, &Script::default().head(1).data(1, b"ok", true)), [(0, OK)]);
    assert_eq!(session.capacity(), 0);
}

#[test]
fn a_body_waits_for_its_windows() {
    let body = vec![b'x'; 200_000];
    let blocks = blocks("POST", &[], &body);
    let mut session = asked(0, &blocks);
    session.open(0, blocks.get(ANY));
    let go_on = |session: &mut Session| {
        session.go_on_with_bodies(|_| &body[..]);
        let sent = frames(&take(session));
        let data: Vec<_> = sent.iter().filter(|(head, _)| head.kind == kind::DATA).collect();
        (data.iter().map(|(head, _)| head.length).sum::<usize>(), data.iter().any(|(head, _)| head.flags == 1))
    };
    assert_eq!(go_on(&mut session), (65_535, false));
    assert_eq!(go_on(&mut session), (0, false));
    fed(
        &mut session,
        &Script::settings(&[(setting::INITIAL_WINDOW_SIZE, 60_000)]).number(kind::WINDOW_UPDATE, 0, 1 << 20),
    );
    fed(&mut session, &Script::default().number(kind::WINDOW_UPDATE, 1, 5_535));
    assert_eq!(go_on(&mut session), (0, false), "the window was less than nothing");
    fed(&mut session, &Script::default().number(kind::WINDOW_UPDATE, 1, 100_000));
    assert_eq!(go_on(&mut session), (100_000, false));
    fed(&mut session, &Script::default().number(kind::WINDOW_UPDATE, 1, 100_000));
    assert_eq!(go_on(&mut session), (34_465, true));
    assert!(session.streams.waiting.is_empty());
}

#[test]
fn a_body_does_not_pile_up_before_the_transport() {
    let body = vec![b'x'; 10_000_000];
    let blocks = blocks("POST", &[], &body);
    let mut session = asked(0, &blocks);
    let wide = Script::settings(&[(setting::INITIAL_WINDOW_SIZE, 1 << 30)]).number(kind::WINDOW_UPDATE, 0, 1 << 30);
    fed(&mut session, &wide);
    session.open(0, blocks.get(ANY));
    let mut sent = 0;
    while sent < body.len() {
        assert!(session.out.len() < 200_000, "{}", session.out.len());
        sent += frames(&take(&mut session))
            .iter()
            .filter(|(head, _)| head.kind == kind::DATA)
            .map(|(head, _)| head.length)
            .sum::<usize>();
        session.go_on_with_bodies(|_| &body[..]);
    }
    assert_eq!(sent, body.len());
}

#[test]
fn whoever_answers_early_gets_no_more_of_the_body() {
    let body = vec![b'x'; 100_000];
    let blocks = blocks("POST", &[], &body);
    let mut session = asked(0, &blocks);
    session.open(0, blocks.get(ANY));
    take(&mut session);
    let script = Script::settings(&[]).frame(kind::HEADERS, 5, 1, &[0x8d]).number(kind::RST_STREAM, 1, code::NO_ERROR);
    assert_eq!(fed(&mut session, &script), [(0, Outcome::Response { status: 404 })]);
    session.go_on_with_bodies(|_| &body[..]);
    let kinds: Vec<u8> = frames(&take(&mut session)).iter().map(|(head, _)| head.kind).collect();
    assert_eq!(kinds, [kind::SETTINGS, kind::RST_STREAM]);
}

#[test]
fn settings_and_pings_are_answered() {
    let mut session = asked(1, &blocks("GET", &[], b""));
    fed(&mut session, &Script::settings(&[]).frame(kind::PING, 0, 0, b"12345678").frame(kind::PING, 1, 0, b"12345678"));
    let replies = frames(&take(&mut session));
    assert_eq!(replies[0].0, Head { length: 0, kind: kind::SETTINGS, flags: 1, stream: 0 });
    assert_eq!((replies[1].0.flags, &replies[1].1[..], replies.len()), (1, &b"12345678"[..], 2));
}

#[test]
fn windows_are_opened_again_when_half_of_them_is_gone() {
    let mut session = asked(1, &blocks("GET", &[], b""));
    fed(&mut session, &Script::settings(&[]).head(1));
    take(&mut session);
    let piece = Script::default().data(1, &[0; LONGEST], false);
    let mut opened = [0u64; 2];
    for _ in 0..100_000 {
        fed(&mut session, &piece);
        for (head, payload) in frames(&take(&mut session)) {
            assert_eq!(head.kind, kind::WINDOW_UPDATE);
            opened[head.stream as usize] += u64::from(frame::number(&payload).unwrap());
        }
    }
    // More than the first window of a gibibyte came, and there is always half of one left.
    let came = 100_000 * LONGEST as u64;
    assert!(opened.iter().all(|opened| *opened <= came && came - opened <= OUR_WINDOW as u64 / 2), "{opened:?}");
}

#[test]
fn what_was_given_up_may_still_be_answered() {
    let mut session = asked(3, &blocks("GET", &[], b""));
    fed(&mut session, &Script::settings(&[]).head(1));
    assert_eq!(session.cancel(1), 10);
    assert_eq!(session.cancel(3), 0);
    let late =
        Script::default().data(1, b"late", false).data(1, b"", true).head(3).number(kind::RST_STREAM, 3, code::CANCEL);
    assert_eq!(fed(&mut session, &late), []);
    assert_eq!(fed(&mut session, &Script::default().head(5).data(5, b"ok", true)), [(2, OK)]);
    assert_eq!(session.streams.remembered(), 0, "nobody is remembered who has ended");
}

#[test]
fn the_end_of_a_connection_is_told_apart_by_where() {
    let mut session = asked(2, &blocks("GET", &[], b""));
    fed(&mut session, &Script::settings(&[]).head(3));
    let mut events = Vec::new();
    session.give_up(Broken::by_the_end(Cause::ResetByPeer), &mut events);
    events.sort_by_key(|ended| ended.tag);
    assert_eq!(events[0].outcome, Outcome::Reset(Cause::ResetByPeer));
    assert_eq!(events[1].outcome, Outcome::Malformed(Cause::Truncated));
}

proptest! {
    /// However the bytes are cut into reads, the same ends with the same count of bytes.
    #[test]
    fn the_cut_makes_no_difference(order in Just((0u32..6).collect::<Vec<_>>()).prop_shuffle(), pieces in prop::collection::vec(1usize..40, 1..60)) {
        let blocks = blocks("GET", &[], b"");
        let script = order.iter().fold(Script::settings(&[(3, 100)]), |script, nth| {
            let id = nth * 2 + 1;
            let script = if nth % 2 == 0 { script.frame(kind::HEADERS, 4, id, b"\x88\x40\x01x\x03abc") } else { script.head(id) };
            script.data(id, &vec![0; *nth as usize * 9], true)
        });
        let mut whole = Vec::new();
        let _ = asked(6, &blocks).feed(&script.0, &mut whole);
        let (mut session, mut parts, mut rest) = (asked(6, &blocks), Vec::new(), &script.0[..]);
        for size in pieces.iter().cycle() {
            let (piece, after) = rest.split_at((*size).min(rest.len()));
            if session.feed(piece, &mut parts).is_err() || after.is_empty() {
                break;
            }
            rest = after;
        }
        prop_assert_eq!(parts, whole);
    }

    /// The window of a connection is what the other side has opened, less the bodies that were sent, whatever else it does.
    #[test]
    fn no_window_is_lost(sent in 1u32..5, list in prop::collection::vec((0u32..6, 0u32..6, 1u32..50_000), 0..20)) {
        let mut spoken = Spoken::posted(sent, 5 - sent, vec![b'x'; 20_000]);
        let (mut script, mut opened) = (Script::settings(&[]), 0);
        for (what, nth, number) in list {
            let stream = nth * 2 + 1;
            script = match what {
                0 => script.number(kind::WINDOW_UPDATE, stream.min(9), number),
                1 => script.number(kind::RST_STREAM, stream.min(9), code::CANCEL),
                2 => script.goaway(stream, code::NO_ERROR),
                3 => script.head(stream.min(9)),
                _ => script.number(kind::WINDOW_UPDATE, 0, number),
            };
            opened += if what > 3 { i64::from(number) } else { 0 };
        }
        if spoken.hear(&script.0).is_ok() {
            spoken.send_all();
            prop_assert_eq!(spoken.window() + spoken.bodies_sent, USUAL_WINDOW + opened);
        }
    }

    /// Whatever a server says: no panic, no memory without bound, and never more than one end for a request.
    #[test]
    fn any_frames_leave_memory_bounded(list in prop::collection::vec((0u8..11, any::<u8>(), 0u32..12, prop::collection::vec(any::<u8>(), 0..64)), 0..200)) {
        let blocks = blocks("GET", &[], b"");
        let mut session = asked(5, &blocks);
        let script = list.iter().fold(Script::settings(&[]), |script, (kind, flags, stream, payload)| script.frame(*kind, *flags, *stream, payload));
        let mut events = Vec::new();
        if let Err(broken) = session.feed(&script.0, &mut events) {
            session.give_up(broken, &mut events);
        }
        let mut tags: Vec<u32> = events.iter().map(|ended| ended.tag).collect();
        tags.sort_unstable();
        tags.dedup();
        prop_assert_eq!(tags.len(), events.len());
        prop_assert!(session.partial.capacity() <= 2 * (frame::HEAD + LONGEST));
        prop_assert!(session.out.len() <= script.0.len() * 2 + 4096);
    }
}

#[test]
fn who_does_not_read_gets_nothing_new_until_it_does() {
    let blocks = blocks("GET", &[&format!("A: {}", "x".repeat(4000))], b"");
    let mut session = Session::new(u32::MAX);
    session.feed(&Script::settings(&[]).0, &mut Vec::new()).unwrap();
    assert!(session.take_changed());
    let mut opened = 0;
    while session.has_room() {
        session.open(opened, blocks.get(ANY));
        opened += 1;
        // Whoever is given up leaves no room for another.
        session.cancel(2 * opened - 1);
        assert!(session.to_send().len() < MOST_UNSENT + 8192);
    }
    assert!(session.take_changed(), "the driver is to be told");
    assert_eq!(session.capacity(), 0);
    let mut sent = Vec::new();
    while !session.to_send().is_empty() {
        let some = session.to_send().len().min(1000);
        sent.extend_from_slice(&session.to_send()[..some]);
        assert_eq!(session.sent(some), sent.len() as u64);
    }
    assert!(session.take_changed() && session.has_room());
    let resets = frames(&sent[frame::PREFACE.len()..]).iter().filter(|(head, _)| head.kind == kind::RST_STREAM).count();
    assert_eq!(resets as u32, opened, "in pieces it is what it was");
}

#[test]
fn what_a_server_goes_away_from_before_it_was_sent_is_not_sent() {
    let blocks = blocks("PUT", &[], b"body");
    let mut session = asked(2, &blocks);
    session.feed(&Script::settings(&[]).0, &mut Vec::new()).unwrap();
    (2..5).for_each(|tag| {
        session.open(tag, blocks.get(ANY));
    });
    let mut events = Vec::new();
    session.feed(&Script::default().goaway(5, 0).0, &mut events).unwrap();
    let mut gone: Vec<u32> = events.iter().map(|ended| ended.tag).collect();
    gone.sort();
    assert_eq!(gone, [3, 4]);
    let said: Vec<(u8, u32)> = frames(&take(&mut session)).iter().map(|(head, _)| (head.kind, head.stream)).collect();
    assert_eq!(said, [(kind::SETTINGS, 0), (kind::HEADERS, 5), (kind::DATA, 5)]);
}

#[test]
fn a_body_that_is_not_sent_leaves_its_window_to_those_that_go_on() {
    let body = vec![b'x'; 60_000];
    let blocks = blocks("PUT", &[], &body);
    let mut session = asked(0, &blocks);
    fed(&mut session, &Script::settings(&[(setting::INITIAL_WINDOW_SIZE, 40_000)]));
    session.open(0, blocks.get(ANY));
    take(&mut session);
    session.open(1, blocks.get(ANY));
    assert_eq!(session.send_window, 0, "40 000 bytes of the first were sent, and the second has taken the rest");
    fed(&mut session, &Script::default().goaway(1, 0).number(kind::WINDOW_UPDATE, 1, 20_000));
    session.go_on_with_bodies(|_| &body[..]);
    let said = frames(&take(&mut session));
    let said: Vec<_> = said.iter().map(|(head, _)| (head.kind, head.flags, head.stream, head.length)).collect();
    assert_eq!(said, [(kind::DATA, 0, 1, LONGEST), (kind::DATA, frame::flag::END_STREAM, 1, 20_000 - LONGEST)]);
    assert_eq!(session.send_window, 65_535 - 60_000);
}
