//! Tests of the parser's own state. `tests/hostile/table.rs` tests which bytes are answers.

use super::*;

fn feed(parser: &mut ResponseParser, bytes: &[u8]) -> Result<Parsed, Cause> {
    parser.feed(bytes, &mut HeadCache::new(), &mut |_| {})
}

#[test]
fn a_parser_is_as_new_after_start() {
    let mut parser = ResponseParser::new();
    assert_eq!(feed(&mut parser, b"HTTP/1.1 200 OK\r\nContent-Le"), Ok(Parsed::Incomplete));
    parser.start(false);
    assert_eq!(parser.received(), 0);
    let end = AnswerEnd { status: 204, keep_alive: true };
    assert_eq!(feed(&mut parser, b"HTTP/1.1 204 N\r\n\r\n"), Ok(Parsed::Complete(end)));
}

#[test]
fn bodies_and_whole_heads_are_not_kept() {
    let mut parser = ResponseParser::new();
    assert_eq!(feed(&mut parser, b"HTTP/1.1 200 OK\r\nContent-Length: 52428800\r\n\r\n"), Ok(Parsed::Incomplete));
    let piece = vec![b'x'; 65_536];
    for _ in 0..799 {
        assert_eq!(feed(&mut parser, &piece), Ok(Parsed::Incomplete));
    }
    assert_eq!(feed(&mut parser, &piece), Ok(Parsed::Complete(AnswerEnd { status: 200, keep_alive: true })));
    assert_eq!(parser.held(), 0);
}
