use proptest::prelude::*;

use super::*;

/// Returns the data of each event according to the standard. It reads a whole stream at once, line by line.
fn by_the_standard(stream: &[u8]) -> Vec<Vec<u8>> {
    let stream = stream.strip_prefix(&BYTE_ORDER_MARK).unwrap_or(stream);
    let mut events = Vec::new();
    let mut data = Vec::new();
    let mut line = Vec::new();
    let mut bytes = stream.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\r' && byte != b'\n' {
            line.push(byte);
            continue;
        }
        if byte == b'\r' {
            bytes.next_if_eq(&b'\n');
        }
        let line = std::mem::take(&mut line);
        if line.is_empty() {
            if data.pop().is_some() {
                events.push(std::mem::take(&mut data));
            }
            continue;
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&line[..], &[][..]),
        };
        if name == b"data" {
            data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
            data.push(b'\n');
        }
    }
    events
}

fn parsed<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Vec<u8>> {
    let mut parser = EventParser::new();
    let mut events = Vec::new();
    for piece in pieces {
        parser.feed(piece, &mut |event| {
            assert!(event.is_whole());
            events.push(event.data.to_vec());
        });
    }
    events
}

#[test]
fn the_examples_of_the_standard() {
    for (stream, expected) in [
        ("data: YHOO\ndata: +2\ndata: 10\n\n", &["YHOO\n+2\n10"][..]),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            &["first event", "second event", " third event"],
        ),
        ("data\n\ndata\ndata\n\ndata:", &["", "\n"]),
        ("data:test\n\ndata: test\n\n", &["test", "test"]),
        ("event: add\ndata: 73857293\r\rdata: 2\r\n\r\n", &["73857293", "2"]),
        ("\u{feff}data: a\n\n\u{feff}data: b\n\n", &["a"]),
        ("\u{feff}", &[]),
        ("Data: a\n\ndat: a\n\ndataa: a\n\nmydata: a\n\n data: a\n\n", &[]),
        ("retry: 10\n\nevent: ping\n\n:\n\n\n\n\n", &[]),
    ] {
        let events = parsed([stream.as_bytes()]);
        assert_eq!(events, expected.iter().map(|data| data.as_bytes().to_vec()).collect::<Vec<_>>(), "{stream:?}");
    }
}

#[test]
fn an_event_of_the_type_error_says_so() {
    for (stream, expected) in [
        ("event: error\ndata: a\n\ndata: b\n\n", &[true, false][..]),
        ("data: a\r\nevent:error\r\n\r\n", &[true]),
        ("event: error\nevent: x\ndata: a\n\n", &[false]),
        ("event: x\nevent: error\ndata: a\n\n", &[true]),
        ("event: error\nevent\ndata: a\n\n", &[false]),
        // The standard knows no such field, but servers write it.
        ("error: a\n\ndata: b\n\n", &[true, false]),
        ("data: a\nerror: b\n\n", &[true]),
        ("errors: a\ndata: b\n\nerr: a\ndata: b\n\n", &[false, false]),
        // An event without data is dropped, together with its type.
        ("event: error\n\ndata: a\n\n", &[false]),
        ("event: errors\ndata: a\n\n", &[false]),
        ("event: erro\ndata: a\n\n", &[false]),
        ("event:  error\ndata: a\n\n", &[false]),
        ("event: errerror\ndata: a\n\n", &[false]),
        ("Event: error\ndata: a\n\n", &[false]),
    ] {
        for length in 1..=stream.len() {
            let mut parser = EventParser::new();
            let mut found = Vec::new();
            let pieces = stream.as_bytes().chunks(length);
            pieces.for_each(|piece| parser.feed(piece, &mut |event| found.push(event.is_error)));
            assert_eq!(found, expected, "{stream:?} in pieces of {length}");
        }
    }
}

#[test]
fn what_ends_inside_an_event_says_so() {
    for (stream, inside) in [
        ("", false),
        ("data: a\n\n", false),
        ("data: a\n\n: waiting", false),
        ("data: a\n\nevent: x\n", false),
        ("data: a\n", true),
        ("data: a\n: waiting\n", true),
        ("data: a\n\nda", true),
        ("data: a\n\ndata:", true),
    ] {
        let mut parser = EventParser::new();
        parser.feed(stream.as_bytes(), &mut |_| {});
        assert_eq!(parser.is_inside_event(), inside, "{stream:?}");
    }
}

#[test]
fn an_endless_event_takes_bounded_memory_and_is_counted_to_its_end() {
    let mut parser = EventParser::new();
    let mut seen = None;
    let block = vec![b'x'; 1 << 16];
    parser.feed(b"data: ", &mut |_| panic!("no event yet"));
    for _ in 0..1 << 10 {
        parser.feed(&block, &mut |_| panic!("no event yet"));
    }
    parser.feed(b"\n\n", &mut |event| seen = Some((event.data.len(), event.data_bytes, event.is_whole())));
    assert_eq!(seen, Some((MAX_DATA_BYTES, 1 << 26, false)));
    assert!(parser.held() <= 4 * MAX_DATA_BYTES, "{}", parser.held());
}

#[test]
fn a_name_without_end_and_lines_without_end_take_no_memory() {
    for beginning in [&b"name"[..], b":", b"id: ", &[0xEF, 0xBB], &[0xFF, 0xFE]] {
        let mut parser = EventParser::new();
        parser.feed(beginning, &mut |_| panic!("no event"));
        for _ in 0..64 {
            parser.feed(&[b'a'; 1 << 14], &mut |_| panic!("no event"));
        }
        assert_eq!(parser.held(), 0);
    }
}

#[test]
fn data_of_exactly_the_limit_is_whole() {
    for (length, whole) in [(MAX_DATA_BYTES, true), (MAX_DATA_BYTES + 1, false)] {
        let stream = [b"data:", vec![b'x'; length].as_slice(), b"\n\n"].concat();
        let mut parser = EventParser::new();
        parser.feed(&stream, &mut |event| assert_eq!((event.is_whole(), event.data_bytes), (whole, length as u64)));
    }
}

/// Streams that often contain the bytes that matter.
fn streams() -> impl Strategy<Value = Vec<u8>> {
    let words: [&[u8]; 16] = [
        b"data",
        b"data:",
        b"data: ",
        b":",
        b" ",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"event: x\n",
        b"id",
        b"x",
        b"datadata",
        &BYTE_ORDER_MARK,
        &[0xEF],
        &[0xFF, 0xC3],
    ];
    proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..60).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn any_cut_gives_the_events_of_the_standard(stream in streams(), cuts in proptest::collection::vec(1usize..9, 1..40)) {
        let mut pieces = Vec::new();
        let mut rest = &stream[..];
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at((*cut).min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        let expected = by_the_standard(&stream);
        prop_assert_eq!(parsed(pieces), expected.clone());
        prop_assert_eq!(parsed([&stream[..]]), expected);
    }

    #[test]
    fn a_parser_that_is_used_again_is_as_new(first in streams(), second in streams()) {
        let mut parser = EventParser::new();
        let mut events = Vec::new();
        parser.feed(&first, &mut |_| {});
        parser.restart();
        parser.feed(&second, &mut |event| events.push(event.data.to_vec()));
        prop_assert_eq!(events, by_the_standard(&second));
    }
}
