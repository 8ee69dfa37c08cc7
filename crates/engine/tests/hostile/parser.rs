//! Tests that the parser reads the table correctly.

use proptest::prelude::*;
use rustix::time::{ClockId, clock_gettime};
use truetail_engine::http1::{AnswerEnd, HeadCache, Parsed, ResponseParser};
use truetail_model::record::{Cause, Outcome};

use crate::HEAD_LIMIT;
use crate::table::{Sent, table};

/// Number of bytes that are fed of endless answers.
const ENOUGH: usize = 1 << 20;
/// Memory of one connection for a head without an end: the head, and as much again for growth.
const MAX_HELD: usize = 2 * (HEAD_LIMIT + 1);

/// Result of feeding bytes to a parser.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Read {
    /// The parser's decision; `None`: it waits for more.
    is: Option<Result<AnswerEnd, Cause>>,
    /// Number of bytes that were fed until then.
    fed: u64,
}

/// Feeds `pieces` until the parser has decided. Checks its counts and its memory after each piece.
fn feed<'a>(parser: &mut ResponseParser, pieces: impl Iterator<Item = &'a [u8]>) -> Read {
    feed_with(parser, pieces, &mut HeadCache::default())
}

/// Feeds `pieces` with a cache that knows an earlier head.
fn feed_with<'a>(parser: &mut ResponseParser, pieces: impl Iterator<Item = &'a [u8]>, last: &mut HeadCache) -> Read {
    let mut fed = 0;
    let mut finished = None;
    for piece in pieces {
        if finished.is_some() {
            // A connection also treats bytes after a complete answer as left over.
            return Read { is: Some(Err(Cause::LeftoverBytes)), fed };
        }
        fed += piece.len() as u64;
        let result = parser.feed(piece, last, &mut |_| {});
        assert_eq!(parser.received(), fed);
        assert!(parser.held() <= MAX_HELD, "{} bytes after {fed}", parser.held());
        match result {
            Ok(Parsed::Incomplete) => {}
            Ok(Parsed::Complete(end)) => finished = Some(end),
            Err(cause) => return Read { is: Some(Err(cause)), fed },
        }
    }
    Read { is: finished.map(Ok), fed }
}

/// Reads `bytes` in pieces of `size`, and if `closed` the end of the connection.
fn read(bytes: &[u8], size: usize, is_head_request: bool, closed: bool) -> Read {
    let mut parser = ResponseParser::new();
    parser.start(is_head_request);
    let mut read = feed(&mut parser, bytes.chunks(size.max(1)));
    if read.is.is_none() && closed {
        read.is = Some(parser.end());
    }
    read
}

/// Returns the parser's outcome for a row without the end of the connection; `None`: it waits for more.
pub fn without_an_end(sent: &Sent, is_head_request: bool) -> Option<Outcome> {
    let read = read(&enough_of(sent), usize::MAX, is_head_request, false);
    read.is.map(|is| outcome(Some(is)))
}

fn enough_of(sent: &Sent) -> Vec<u8> {
    match sent {
        Sent::Bytes(bytes) => bytes.clone(),
        Sent::Endless(first, again) => first.iter().chain(again.iter().cycle()).copied().take(ENOUGH).collect(),
    }
}

fn outcome(is: Option<Result<AnswerEnd, Cause>>) -> Outcome {
    match is {
        None => Outcome::TimedOut,
        Some(Ok(finished)) => Outcome::response(finished.status),
        Some(Err(cause @ Cause::ClosedBeforeAnswer)) => Outcome::Reset(cause),
        Some(Err(cause)) => Outcome::Malformed(cause),
    }
}

#[test]
fn every_row_is_what_the_table_says_however_it_is_cut() {
    for row in table() {
        let is_endless = matches!(row.sent, Sent::Endless(..));
        let bytes = enough_of(&row.sent);
        for size in [usize::MAX, 1, 2, 3, 7, 64, 1000, 65_536] {
            let read = read(&bytes, size, row.is_head_request, !is_endless);
            let shown = format!("pieces of {size}: {}", row.shown());
            assert_eq!(outcome(read.is), row.outcome, "{shown}");
            assert_eq!(matches!(read.is, Some(Ok(AnswerEnd { keep_alive: true, .. }))), row.kept, "{shown}");
            if is_endless && row.outcome != Outcome::TimedOut && size <= HEAD_LIMIT {
                assert!(read.fed <= (HEAD_LIMIT + size) as u64, "{} bytes before it was refused: {shown}", read.fed);
            }
        }
    }
}

#[test]
fn nothing_of_a_body_is_held() {
    for row in table().iter().filter(|row| row.outcome == Outcome::TimedOut) {
        let mut parser = ResponseParser::new();
        feed(&mut parser, enough_of(&row.sent).chunks(1000));
        assert_eq!(parser.held(), 0, "{}", row.shown());
    }
}

/// Measures this thread's processor time for reading, byte by byte, a head with a field of `length` bytes. Other work
/// of the machine is not included.
fn cpu_ns_in_single_bytes(length: usize) -> i64 {
    let text = format!("HTTP/1.1 200 OK\r\nA: {}\r\nContent-Length: 0\r\n\r\n", "x".repeat(length));
    let now = || {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        now.tv_sec * 1_000_000_000 + now.tv_nsec
    };
    let before = now();
    let is = read(text.as_bytes(), 1, false, true).is;
    let took = now() - before;
    assert_eq!(is, Some(Ok(AnswerEnd { status: 200, keep_alive: true })));
    took
}

#[test]
fn a_head_in_single_bytes_takes_linear_time() {
    let least = |length| (0..5).map(|_| cpu_ns_in_single_bytes(length)).min().unwrap();
    let short = least(6_000);
    let long = least(60_000);
    // A head that is ten times as long takes ten times as long. Parsing everything at each byte would take a hundred
    // times.
    assert!(long < 30 * short, "{short} ns for 6 000 bytes, {long} ns for 60 000");
}

/// Returns the rows that are short enough for a test of many cases.
fn short_rows() -> Vec<(Vec<u8>, bool)> {
    let rows = table().into_iter().filter_map(|row| match row.sent {
        Sent::Bytes(bytes) if bytes.len() < 1000 => Some((bytes, row.is_head_request)),
        _ => None,
    });
    rows.collect()
}

/// Cuts `bytes` after each of these positions.
fn cut(bytes: &[u8], mut cuts: Vec<usize>) -> Vec<&[u8]> {
    cuts.push(bytes.len());
    cuts.sort_unstable();
    let mut start = 0;
    let pieces = cuts.into_iter().map(|end| {
        let piece = &bytes[start..end];
        start = end;
        piece
    });
    pieces.filter(|piece| !piece.is_empty()).collect()
}

proptest! {
    /// Any bytes in any pieces: no panic, and bounded memory.
    #[test]
    fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..600), size in 1usize..50) {
        read(&bytes, size, false, true);
    }

    /// Reads rows one after the other, each twice so that its head is cached.
    #[test]
    fn to_remember_the_last_head_changes_nothing(
        order in proptest::collection::vec((any::<prop::sample::Index>(), 1usize..300), 1..40),
    ) {
        let rows = short_rows();
        let mut last = HeadCache::new();
        let mut parser = ResponseParser::new();
        for (row, size) in order {
            let (bytes, is_head_request) = &rows[row.index(rows.len())];
            for _ in 0..2 {
                parser.start(*is_head_request);
                let known = feed_with(&mut parser, bytes.chunks(size), &mut last);
                let is = known.is.unwrap_or_else(|| parser.end());
                prop_assert_eq!(Some(is), read(bytes, size, *is_head_request, true).is, "{}", bytes.escape_ascii());
            }
        }
    }

    /// Damaged answers have the same result for all cuts.
    #[test]
    fn damaged_answers_are_the_same_in_all_pieces(
        row in any::<prop::sample::Index>(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let rows = short_rows();
        let (mut bytes, is_head_request) = rows[row.index(rows.len())].clone();
        if !bytes.is_empty() {
            damage.iter().for_each(|(at, byte)| {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            });
        }
        let cuts = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        let mut parser = ResponseParser::new();
        parser.start(is_head_request);
        let in_pieces = feed(&mut parser, cut(&bytes, cuts).into_iter()).is.unwrap_or_else(|| parser.end());
        prop_assert_eq!(Some(in_pieces), read(&bytes, usize::MAX, is_head_request, true).is);
    }

    #[test]
    fn chunked_bodies_of_any_cut_are_whole(chunks in proptest::collection::vec(1usize..200, 0..20), size in 1usize..50) {
        let mut text = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        for length in chunks {
            text.extend(format!("{length:x}\r\n").bytes());
            text.extend(std::iter::repeat_n(b'y', length));
            text.extend(b"\r\n");
        }
        text.extend(b"0\r\n\r\n");
        prop_assert_eq!(read(&text, size, false, true).is, Some(Ok(AnswerEnd { status: 200, keep_alive: true })));
    }
}
