mod calls;
mod client;
mod hostile;

use proptest::prelude::*;
use truetail_model::record::{Cause, Outcome};

use super::*;
use crate::protocol::http2::TestConnection;
use crate::protocol::http2::frame::{FrameHeader, LONGEST, flag};
use client::{Client, Script, ended, frames};

const NOW: Timestamp = Timestamp::ZERO;
const OK: Outcome = Outcome::response(200);

#[test]
fn answers_end_in_any_order_and_their_bytes_are_counted() {
    let mut client = Client::sent(3);
    let script = Script::settings(&[]).head(5).head(1).data(1, b"hello", false).data(5, b"ok", true).data(1, b"", true);
    let (flow, events) = client.receive(&script.0);
    assert_eq!(flow, Flow::Continue);
    assert_eq!(ended(&events), [Ended::new(2, OK, 10 + 11), Ended::new(0, OK, 10 + 14 + 9)]);
    let first_bytes: Vec<_> = events.iter().filter(|event| matches!(event, Event::FirstByte(_))).collect();
    assert_eq!(first_bytes, [&Event::FirstByte(2), &Event::FirstByte(0)]);
    assert_eq!(client.conversation.in_flight(), 1);
}

#[test]
fn a_request_says_the_preface_first_and_later_ones_are_short() {
    let mut client = Client::new("GET", &["X-One: 1"], b"");
    assert_eq!(client.begin(7), 1);
    let first = client.take();
    let kinds = |bytes: &[u8]| frames(bytes).iter().map(|(head, _)| head.kind).collect::<Vec<_>>();
    assert_eq!(kinds(first.strip_prefix(frame::PREFACE).unwrap()), [4, 8, 1]);
    assert_eq!((client.begin(8), client.take().len()), (3, 9 + 7));
}

#[test]
fn a_request_starts_with_its_first_byte_and_is_sent_with_its_last() {
    let mut client = Client::new("PUT", &[], b"0123456789");
    client.begin(0);
    client.take();
    client.begin(1);
    client.begin(2);
    let length = client.conversation.output(&client.protocol).len();
    let mut events = Events::default();
    let mut sent = |client: &mut Client, count: usize| {
        client.conversation.sent(&client.protocol, count, NOW, &mut events);
        events.take()
    };
    assert_eq!(sent(&mut client, 0), []);
    assert_eq!(sent(&mut client, 1), [Event::Started(1)]);
    // All but the last byte: the end of the second request, and most of the third.
    assert_eq!(sent(&mut client, length - 2), [Event::Started(2), Event::Sent(1)]);
    assert_eq!(sent(&mut client, 1), [Event::Sent(2)]);
}

#[test]
fn a_server_without_room_for_a_table_gets_plain_fields() {
    let mut client = Client::new("GET", &["X-One: 1"], b"");
    client.begin(0);
    client.take();
    client.receive_script(&Script::settings(&[(setting::HEADER_TABLE_SIZE, 0)]));
    client.take();
    client.begin(1);
    let first = client.flush();
    client.begin(2);
    let then = client.flush();
    assert_eq!((first[0].1[0], first[0].1.len()), (0x20, then[0].1.len() + 1));
}

#[test]
fn a_block_that_is_too_long_for_a_frame_is_continued() {
    let mut client = Client::new("GET", &[&format!("X: {}", "x".repeat(40_000))], b"");
    client.take();
    client.begin(0);
    let seen: Vec<_> = client.flush().iter().map(|(head, _)| (head.kind, head.flags, head.length)).collect();
    assert_eq!(seen[..2], [(kind::HEADERS, 1, LONGEST), (kind::CONTINUATION, 0, LONGEST)]);
    assert_eq!((seen.len(), seen[2].1), (3, flag::END_HEADERS));
}

#[test]
fn capacity_is_what_both_sides_allow() {
    let mut client = Client::with_max_streams("GET", &[], b"", Some(100));
    assert_eq!((client.conversation.capacity(), client.conversation.has_room()), (1, true));
    client.begin(0);
    assert!(!client.conversation.has_room(), "one until the server has said how many");
    let (_, events) = client.receive(&Script::settings(&[(setting::MAX_CONCURRENT_STREAMS, 250)]).0);
    assert_eq!((events, client.conversation.capacity()), (vec![Event::RoomChanged], 100));
    client.receive_script(&Script::settings(&[(setting::MAX_CONCURRENT_STREAMS, 0)]));
    assert_eq!((client.conversation.capacity(), client.conversation.has_room()), (0, false));
    client.receive_script(&Script::settings(&[(setting::MAX_CONCURRENT_STREAMS, 2)]));
    assert!(client.conversation.has_room());
    client.conversation.next = LAST_STREAM;
    client.begin(1);
    assert_eq!(
        (client.conversation.is_closing(), client.conversation.capacity()),
        (true, 2),
        "the numbers are used up"
    );
}

#[test]
fn going_away_ends_what_was_not_processed_and_nothing_else() {
    let mut client = Client::sent(3);
    let events = client.receive_script(&Script::settings(&[]).goaway(LAST_STREAM, code::NO_ERROR));
    assert!(events.is_empty() && client.conversation.is_closing());
    let (_, events) = client.receive(&Script::default().goaway(1, code::NO_ERROR).0);
    let mut gone = ended(&events);
    gone.sort_by_key(|ended| ended.tag);
    let of = |tag| Ended { retry: Retry::Unprocessed, ..Ended::new(tag, Outcome::Reset(Cause::GoneAway), 0) };
    assert_eq!(gone, [of(1), of(2)]);
    assert_eq!(client.receive_script(&Script::default().head(1).data(1, b"ok", true)), [(0, OK)]);
    assert_eq!(client.conversation.capacity(), 0);
}

#[test]
fn a_body_waits_for_its_windows() {
    let mut client = Client::new("POST", &[], &vec![b'x'; 200_000]);
    client.begin(0);
    let sent = |client: &mut Client| {
        let sent = client.flush();
        let data: Vec<_> = sent.iter().filter(|(head, _)| head.kind == kind::DATA).collect();
        (data.iter().map(|(head, _)| head.length).sum::<usize>(), data.iter().any(|(head, _)| head.flags == 1))
    };
    assert_eq!(sent(&mut client), (65_535, false));
    assert_eq!(sent(&mut client), (0, false));
    let narrower = Script::settings(&[(setting::INITIAL_WINDOW_SIZE, 60_000)]);
    client.receive_script(&narrower.number(kind::WINDOW_UPDATE, 0, 1 << 20));
    client.receive_script(&Script::default().number(kind::WINDOW_UPDATE, 1, 5_535));
    assert_eq!(sent(&mut client), (0, false), "the window was less than nothing");
    client.receive_script(&Script::default().number(kind::WINDOW_UPDATE, 1, 100_000));
    assert_eq!(sent(&mut client), (100_000, false));
    client.receive_script(&Script::default().number(kind::WINDOW_UPDATE, 1, 100_000));
    assert_eq!(sent(&mut client), (34_465, true));
    assert!(client.conversation.streams.waiting.is_empty());
}

#[test]
fn a_body_does_not_pile_up_before_the_transport() {
    let mut client = Client::new("POST", &[], &vec![b'x'; 10_000_000]);
    client.take();
    let wide = Script::settings(&[(setting::INITIAL_WINDOW_SIZE, 1 << 30)]).number(kind::WINDOW_UPDATE, 0, 1 << 30);
    client.receive_script(&wide);
    client.begin(0);
    let mut sent = 0;
    while sent < 10_000_000 {
        assert!(client.conversation.out.bytes.len() < 200_000, "{}", client.conversation.out.bytes.len());
        let frames = frames(&client.take());
        sent += frames.iter().filter(|(head, _)| head.kind == kind::DATA).map(|(head, _)| head.length).sum::<usize>();
    }
    assert_eq!(sent, 10_000_000);
}

#[test]
fn a_server_that_answers_early_gets_no_more_of_the_body() {
    let mut client = Client::new("POST", &[], &vec![b'x'; 100_000]);
    client.begin(0);
    client.take();
    let script = Script::settings(&[]).frame(kind::HEADERS, 5, 1, &[0x8d]).number(kind::RST_STREAM, 1, code::NO_ERROR);
    assert_eq!(client.receive_script(&script), [(0, Outcome::response(404))]);
    let kinds: Vec<u8> = client.flush().iter().map(|(head, _)| head.kind).collect();
    assert_eq!(kinds, [kind::SETTINGS, kind::RST_STREAM]);
}

#[test]
fn settings_and_pings_are_answered() {
    let mut client = Client::sent(1);
    let pings = Script::settings(&[]).frame(kind::PING, 0, 0, b"12345678").frame(kind::PING, 1, 0, b"12345678");
    client.receive_script(&pings);
    let replies = frames(&client.take());
    assert_eq!(replies[0].0, FrameHeader { length: 0, kind: kind::SETTINGS, flags: 1, stream: 0 });
    assert_eq!((replies[1].0.flags, &replies[1].1[..], replies.len()), (1, &b"12345678"[..], 2));
}

#[test]
fn windows_are_opened_again_when_half_of_them_is_gone() {
    let mut client = Client::sent(1);
    client.receive_script(&Script::settings(&[]).head(1));
    client.take();
    let piece = Script::default().data(1, &[0; LONGEST], false);
    let mut opened = [0u64; 2];
    for _ in 0..100_000 {
        client.receive_script(&piece);
        for (head, payload) in frames(&client.take()) {
            assert_eq!(head.kind, kind::WINDOW_UPDATE);
            opened[head.stream as usize] += u64::from(frame::number(&payload).unwrap());
        }
    }
    // More arrives than the first window of 1 GiB, and at least half a window always remains.
    let came = 100_000 * LONGEST as u64;
    assert!(opened.iter().all(|opened| *opened <= came && came - opened <= OUR_WINDOW as u64 / 2), "{opened:?}");
}

#[test]
fn a_cancelled_request_may_still_be_answered() {
    let mut client = Client::sent(3);
    client.receive_script(&Script::settings(&[]).head(1));
    assert_eq!(client.conversation.cancel(1, &mut Events::default()), 10);
    assert_eq!(client.conversation.cancel(3, &mut Events::default()), 0);
    let late =
        Script::default().data(1, b"late", false).data(1, b"", true).head(3).number(kind::RST_STREAM, 3, code::CANCEL);
    assert_eq!(client.receive_script(&late), []);
    assert_eq!(client.receive_script(&Script::default().head(5).data(5, b"ok", true)), [(2, OK)]);
    assert_eq!(client.conversation.streams.remembered(), 0, "none is remembered that has ended");
}

#[test]
fn the_end_of_a_connection_is_told_apart_by_where() {
    let mut client = Client::sent(2);
    client.receive_script(&Script::settings(&[]).head(3));
    client.begin(2);
    let ended = client.close(Closed::Reset);
    assert_eq!((ended[0].outcome, ended[0].retry), (Outcome::Reset(Cause::ResetByPeer), Retry::No));
    assert_eq!((ended[1].outcome, ended[1].retry), (Outcome::Malformed(Cause::Truncated), Retry::No));
    assert_eq!(ended[2].retry, Retry::Unsent);
}

proptest! {
    /// However the bytes are cut into reads, the same requests end with the same byte counts.
    #[test]
    fn the_cut_makes_no_difference(order in Just((0u32..6).collect::<Vec<_>>()).prop_shuffle(), pieces in prop::collection::vec(1usize..40, 1..60)) {
        let script = order.iter().fold(Script::settings(&[(3, 100)]), |script, nth| {
            let id = nth * 2 + 1;
            let script = if nth % 2 == 0 { script.frame(kind::HEADERS, 4, id, b"\x88\x40\x01x\x03abc") } else { script.head(id) };
            script.data(id, &vec![0; *nth as usize * 9], true)
        });
        let whole = ended(&Client::sent(6).receive(&script.0).1);
        let mut client = Client::sent(6);
        let mut parts = Vec::new();
        let mut rest = &script.0[..];
        for size in pieces.iter().cycle() {
            let (piece, after) = rest.split_at((*size).min(rest.len()));
            let (flow, events) = client.receive(piece);
            parts.extend(ended(&events));
            if flow != Flow::Continue || after.is_empty() {
                break;
            }
            rest = after;
        }
        prop_assert_eq!(parts, whole);
    }

    /// A connection's window is what the peer has opened minus the bodies that were sent, for any frames.
    #[test]
    fn no_window_is_lost(sent in 1u32..5, list in prop::collection::vec((0u32..6, 0u32..6, 1u32..50_000), 0..20)) {
        let mut conversation = TestConnection::post(sent, 5 - sent, vec![b'x'; 20_000]);
        let mut script = Script::settings(&[]);
        let mut opened = 0;
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
        if conversation.receive(&script.0).is_ok() {
            conversation.send_all();
            prop_assert_eq!(conversation.window() + conversation.bodies_sent, DEFAULT_WINDOW + opened);
        }
    }

    /// Any frames: no panic, bounded memory, and at most one end for each request.
    #[test]
    fn any_frames_leave_memory_bounded(list in prop::collection::vec((0u8..11, any::<u8>(), 0u32..12, prop::collection::vec(any::<u8>(), 0..64)), 0..200)) {
        let mut client = Client::sent(5);
        let script = list.iter().fold(Script::settings(&[]), |script, (kind, flags, stream, payload)| script.frame(*kind, *flags, *stream, payload));
        let (_, events) = client.receive(&script.0);
        let mut tags: Vec<u32> = ended(&events).iter().map(|ended| ended.tag).collect();
        let count = tags.len();
        tags.sort_unstable();
        tags.dedup();
        prop_assert_eq!(tags.len(), count);
        prop_assert!(client.conversation.held() <= 2 * (frame::HEAD + LONGEST) + 2 * (script.0.len() * 2 + 4096));
    }
}

#[test]
fn a_peer_that_does_not_read_gets_nothing_new_until_it_does() {
    let mut client = Client::new("GET", &[&format!("A: {}", "x".repeat(4000))], b"");
    assert!(client.receive(&Script::settings(&[]).0).1.contains(&Event::RoomChanged));
    let mut begun = 0;
    let mut events = Events::default();
    while client.conversation.has_room() {
        client.conversation.begin(&client.protocol, crate::protocol::tests::begins(begun), &mut events);
        begun += 1;
        // A cancelled request leaves no room for another.
        client.conversation.cancel(2 * begun - 1, &mut events);
        assert!(client.conversation.output(&client.protocol).len() < MAX_UNSENT + 8192);
    }
    assert!(events.take().contains(&Event::RoomChanged), "the driver is to be told");
    assert_eq!(client.conversation.capacity(), 0);
    let mut sent = Vec::new();
    while !client.conversation.output(&client.protocol).is_empty() {
        let output = client.conversation.output(&client.protocol);
        let some = output.len().min(1000);
        sent.extend_from_slice(&output[..some]);
        client.conversation.sent(&client.protocol, some, NOW, &mut events);
    }
    assert!(events.take().contains(&Event::RoomChanged) && client.conversation.has_room());
    let resets = frames(&sent[frame::PREFACE.len()..]).iter().filter(|(head, _)| head.kind == kind::RST_STREAM).count();
    assert_eq!(resets as u32, begun, "in pieces it is what it was");
}

#[test]
fn an_unsent_request_is_not_sent_after_a_goaway() {
    let mut client = Client::new("PUT", &[], b"body");
    for tag in 0..2 {
        client.begin(tag);
    }
    client.take();
    client.receive_script(&Script::settings(&[]));
    for tag in 2..5 {
        client.begin(tag);
    }
    let (_, events) = client.receive(&Script::default().goaway(5, 0).0);
    let mut gone: Vec<_> = ended(&events).iter().map(|ended| (ended.tag, ended.retry)).collect();
    gone.sort_by_key(|(tag, _)| *tag);
    assert_eq!(gone, [(3, Retry::Unsent), (4, Retry::Unsent)]);
    let said: Vec<(u8, u32)> = frames(&client.take()).iter().map(|(head, _)| (head.kind, head.stream)).collect();
    assert_eq!(said, [(kind::SETTINGS, 0), (kind::HEADERS, 5), (kind::DATA, 5)]);
}

#[test]
fn an_unsent_body_leaves_its_window_to_other_bodies() {
    let mut client = Client::new("PUT", &[], &vec![b'x'; 60_000]);
    client.take();
    client.receive_script(&Script::settings(&[(setting::INITIAL_WINDOW_SIZE, 40_000)]));
    client.begin(0);
    client.take();
    client.begin(1);
    assert_eq!(
        client.conversation.send_window, 0,
        "40 000 bytes of the first were sent, and the second has taken the rest"
    );
    client.receive_script(&Script::default().goaway(1, 0).number(kind::WINDOW_UPDATE, 1, 20_000));
    let said = client.flush();
    let said: Vec<_> = said.iter().map(|(head, _)| (head.kind, head.flags, head.stream, head.length)).collect();
    assert_eq!(said, [(kind::DATA, 0, 1, LONGEST), (kind::DATA, flag::END_STREAM, 1, 20_000 - LONGEST)]);
    assert_eq!(client.conversation.send_window, 65_535 - 60_000);
}

/// The end of a waiting body is reported, even if a later request was taken back before it.
#[test]
fn what_is_taken_back_does_not_hide_when_another_request_was_sent() {
    let mut client = Client::new("PUT", &[], &vec![b'x'; 60_000]);
    client.take();
    client.receive_script(&Script::settings(&[(setting::INITIAL_WINDOW_SIZE, 50_000)]));
    client.begin(0);
    client.flush();
    client.begin(1);
    client.receive_script(&Script::default().goaway(1, 0).number(kind::WINDOW_UPDATE, 1, 10_000));
    let mut events = Events::default();
    client.conversation.sent(&client.protocol, 0, NOW, &mut events);
    while !client.conversation.output(&client.protocol).is_empty() {
        let all = client.conversation.output(&client.protocol).len();
        client.conversation.sent(&client.protocol, all, NOW, &mut events);
    }
    assert_eq!(events.take(), [Event::Sent(0)]);
}
