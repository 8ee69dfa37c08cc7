//! An HTTP/1.1 answer, valid or not, in pieces that the input chooses. The result does not depend on where the bytes
//! are cut, every byte is counted, and memory stays bounded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use truetail_engine::http1::{AnswerEnd, HeadCache, Parsed, ResponseParser};
use truetail_fuzz::Cut;
use truetail_model::record::Cause;

/// A head is at most 64 KiB, and its memory grows by doubling.
const MAX_HELD: usize = 2 * (64 * 1024 + 1);

type Read = Result<AnswerEnd, Cause>;

fuzz_target!(|input: &[u8]| {
    let Cut { flag: to_head, pieces } = Cut::read(input);
    let whole = pieces.concat();
    let mut parser = ResponseParser::new();
    let mut cache = HeadCache::default();
    let in_pieces = read(&mut parser, &pieces, to_head, &mut HeadCache::default());
    assert_eq!(read(&mut ResponseParser::new(), &[&whole], to_head, &mut cache), in_pieces, "in one piece");
    // Once more, with a remembered head.
    assert_eq!(read(&mut parser, &pieces, to_head, &mut cache), in_pieces, "by a parser that was used before");
    assert_eq!(
        read(&mut parser, &[&whole], !to_head, &mut cache),
        read(&mut ResponseParser::new(), &[&whole], !to_head, &mut HeadCache::default())
    );
});

/// What a connection makes of these pieces followed by its end.
fn read(parser: &mut ResponseParser, pieces: &[&[u8]], to_head: bool, cache: &mut HeadCache) -> Read {
    parser.start(to_head);
    let mut fed = 0;
    let mut finished = None;
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        if finished.is_some() {
            return Err(Cause::LeftoverBytes);
        }
        fed += piece.len() as u64;
        let result = parser.feed(piece, cache, &mut |_| {});
        assert_eq!(parser.received(), fed);
        assert!(parser.held() <= MAX_HELD, "{} bytes are kept", parser.held());
        if let Parsed::Complete(end) = result? {
            assert!((200..=999).contains(&end.status), "{end:?}");
            finished = Some(end);
        }
    }
    finished.map_or_else(|| parser.end(), Ok)
}
