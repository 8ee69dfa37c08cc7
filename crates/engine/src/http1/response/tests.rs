use proptest::prelude::*;

use super::*;

/// Feeds `text` in pieces of `size` bytes, then the end of the connection.
fn read_in_pieces(text: &[u8], size: usize, to_head: bool) -> Result<Finished, Cause> {
    read_knowing(text, size, to_head, &mut LastHead::default())
}

fn read_knowing(text: &[u8], size: usize, to_head: bool, last: &mut LastHead) -> Result<Finished, Cause> {
    let mut parser = ResponseParser::new();
    parser.start(to_head);
    let mut finished = None;
    for piece in text.chunks(size.max(1)) {
        if finished.is_some() {
            // What a connection does with bytes that come when the answer is whole.
            return Err(Cause::LeftoverBytes);
        }
        if let Fed::Finished(end) = parser.feed_knowing(piece, last)? {
            finished = Some(end);
        }
    }
    finished.map_or_else(|| parser.end(), Ok)
}

fn ok(status: u16, keep_alive: bool) -> Result<Finished, Cause> {
    Ok(Finished { status, keep_alive })
}

/// (what the server sent, then closed; what that is)
fn table() -> Vec<(String, Result<Finished, Cause>)> {
    let long = "x".repeat(HEAD_LIMIT);
    let fields = "A: b\r\n".repeat(FIELD_LIMIT + 1);
    let interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    let rows: Vec<(&str, Result<Finished, Cause>)> = vec![
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", ok(200, true)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ok(200, true)),
        ("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", ok(200, true)),
        ("HTTP/1.1 200 OK\nContent-Length: 1\n\nx", ok(200, true)),
        ("HTTP/1.1 503 No\r\ncontent-length: 1\r\nConnection: close\r\n\r\nx", ok(503, false)),
        ("HTTP/1.1 200 OK\r\nConnection: Foo, CLOSE\r\nContent-Length: 0\r\n\r\n", ok(200, false)),
        ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", ok(200, false)),
        ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", ok(200, true)),
        (
            "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
            ok(200, false),
        ),
        ("HTTP/1.1 200 OK\r\nA: b\r\n  c\r\nContent-Length:\r\n 2\r\n\r\nhi", ok(200, true)),
        ("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", ok(204, true)),
        ("HTTP/1.1 304 Not Modified\r\n\r\n", ok(304, true)),
        ("HTTP/1.1 200 OK\r\n\r\nuntil the end", ok(200, false)),
        ("HTTP/1.1 200 OK\r\n\r\n", ok(200, false)),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc", ok(200, false)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\nContent-Length: 1\r\n\r\nx", ok(200, true)),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ok(200, true)),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", ok(200, true)),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\nA;x=y\r\n0123456789\r\n00\r\nT: v\r\n\r\n",
            ok(200, true),
        ),
        ("", Err(Cause::ClosedBeforeAnswer)),
        ("HTTP/1.1 200 O", Err(Cause::Truncated)),
        ("HTTP/1.1 100 Continue\r\n\r\n", Err(Cause::Truncated)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", Err(Cause::Truncated)),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", Err(Cause::Truncated)),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", Err(Cause::Truncated)),
        ("SSH-2.0-OpenSSH_9.2\r\n", Err(Cause::BadHead)),
        ("\0\0\0\0", Err(Cause::BadHead)),
        ("HTTP/1.1 2000 OK\r\n\r\n", Err(Cause::BadHead)),
        ("HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n", Err(Cause::BadHead)),
        ("HTTP/2 200\r\n\r\n", Err(Cause::BadHead)),
        ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", Err(Cause::BadHead)),
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n", Err(Cause::UnexpectedUpgrade)),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", Err(Cause::BadLength)),
        ("HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx", Err(Cause::BadLength)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1 1\r\n\r\nx", Err(Cause::BadLength)),
        ("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", Err(Cause::BadLength)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n", Err(Cause::BadLength)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nx", Err(Cause::BadLength)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", Err(Cause::BadLength)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", Err(Cause::BadLength)),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", Err(Cause::BadChunk)),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", Err(Cause::BadChunk)),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n", Err(Cause::BadChunk)),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", Err(Cause::BadChunk)),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\nx\n", Err(Cause::BadChunk)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi!", Err(Cause::LeftoverBytes)),
        ("HTTP/1.1 204 No Content\r\n\r\nbody", Err(Cause::LeftoverBytes)),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nx", Err(Cause::LeftoverBytes)),
    ];
    let mut table: Vec<_> = rows.into_iter().map(|(text, is)| (text.to_owned(), is)).collect();
    table.push((format!("HTTP/1.1 200 OK\r\nA: {long}"), Err(Cause::HeadTooLarge)));
    table.push((format!("HTTP/1.1 200 OK\r\n{fields}\r\n"), Err(Cause::HeadTooLarge)));
    table.push((format!("{}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", interim.repeat(32)), ok(200, true)));
    table.push((interim.repeat(33), Err(Cause::TooManyInterim)));
    let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    table.push((format!("{chunks}1;{long}\r\n"), Err(Cause::BadChunk)));
    table.push((format!("{chunks}0\r\n{}\r\n", "T: v\r\n".repeat(10_000)), Err(Cause::BadChunk)));
    table
}

#[test]
fn every_answer_is_what_the_table_says_however_it_is_cut() {
    for (text, expected) in table() {
        let shown: String = text.chars().take(90).collect();
        for size in [usize::MAX, 1, 2, 3, 7, 64, 1000] {
            assert_eq!(read_in_pieces(text.as_bytes(), size, false), expected, "pieces of {size}: {shown:?}");
        }
    }
}

#[test]
fn an_answer_to_head_has_no_body() {
    let text = b"HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n";
    assert_eq!(read_in_pieces(text, usize::MAX, true), ok(200, true));
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(read_in_pieces(chunked, 5, true), ok(200, true));
}

#[test]
fn a_head_in_single_bytes_takes_linear_time() {
    // 60 000 segments: to parse the whole at each would be two thousand million bytes.
    let text = format!("HTTP/1.1 200 OK\r\nA: {}\r\nContent-Length: 0\r\n\r\n", "x".repeat(60_000));
    assert_eq!(read_in_pieces(text.as_bytes(), 1, false), ok(200, true));
}

#[test]
fn a_parser_is_as_new_after_start() {
    let mut parser = ResponseParser::new();
    assert_eq!(parser.feed(b"HTTP/1.1 200 OK\r\nContent-Le"), Ok(Fed::More));
    parser.start(false);
    assert_eq!(parser.received(), 0);
    let finished = Finished { status: 204, keep_alive: true };
    assert_eq!(parser.feed(b"HTTP/1.1 204 N\r\n\r\n"), Ok(Fed::Finished(finished)));
}

#[test]
fn a_body_of_any_size_is_only_counted() {
    let mut parser = ResponseParser::new();
    assert_eq!(parser.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 52428800\r\n\r\n"), Ok(Fed::More));
    let piece = vec![b'x'; 65_536];
    for _ in 0..799 {
        assert_eq!(parser.feed(&piece), Ok(Fed::More));
    }
    assert_eq!(parser.feed(&piece), Ok(Fed::Finished(Finished { status: 200, keep_alive: true })));
    assert_eq!(parser.partial.capacity(), 0, "nothing of a body is kept");
}

proptest! {
    #[test]
    fn to_remember_the_last_head_changes_nothing(order in proptest::collection::vec((0usize..100, any::<bool>(), 1usize..300), 1..40)) {
        let (table, mut last) = (table(), LastHead::remembering());
        for (row, to_head, size) in order {
            let text = table[row % table.len()].0.as_bytes();
            // Twice, so that it is known.
            for _ in 0..2 {
                let known = read_knowing(text, size, to_head, &mut last);
                prop_assert_eq!(known, read_in_pieces(text, size, to_head), "{}", text.escape_ascii());
            }
        }
    }
}

proptest! {
    /// Whatever a server sends, in whatever pieces: no panic, bounded memory, and the cut makes no difference to what a
    /// whole answer is.
    #[test]
    fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..600), size in 1usize..50) {
        let _ = read_in_pieces(&bytes, size, false);
    }

    #[test]
    fn mutated_answers_never_panic_and_cuts_do_not_matter(row in 0usize..40, at in any::<prop::sample::Index>(), byte in any::<u8>(), size in 1usize..50) {
        let table = table();
        let mut text = table[row].0.clone().into_bytes();
        if !text.is_empty() {
            let at = at.index(text.len());
            text[at] = byte;
        }
        prop_assert_eq!(read_in_pieces(&text, size, false), read_in_pieces(&text, usize::MAX, false));
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
        prop_assert_eq!(read_in_pieces(&text, size, false), ok(200, true));
    }
}
