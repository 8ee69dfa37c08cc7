//! What only the parser itself shows. What answers are is in `tests/hostile/table.rs`.

use super::*;

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
fn nothing_of_a_body_is_kept_and_nothing_of_a_head_that_is_whole() {
    let mut parser = ResponseParser::new();
    assert_eq!(parser.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 52428800\r\n\r\n"), Ok(Fed::More));
    let piece = vec![b'x'; 65_536];
    for _ in 0..799 {
        assert_eq!(parser.feed(&piece), Ok(Fed::More));
    }
    assert_eq!(parser.feed(&piece), Ok(Fed::Finished(Finished { status: 200, keep_alive: true })));
    assert_eq!(parser.held(), 0);
}
