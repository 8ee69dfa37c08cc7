//! An HTTP/1.1 answer, or what is sent in place of one, in pieces that the input cuts: what it is does not depend on the
//! cuts, every byte is counted, and no more is kept than may be.
#![no_main]

use libfuzzer_sys::fuzz_target;
use truetail_engine::http1::{AnswerEnd, HeadCache, Parsed, ResponseParser};
use truetail_fuzz::Cut;
use truetail_model::record::Cause;

/// A head is at most 64 KiB, and its memory grows by doubling.
const MOST_HELD: usize = 2 * (64 * 1024 + 1);

type Read = Result<AnswerEnd, Cause>;

fuzz_target!(|input: &[u8]| {
    let Cut { flag: is_head_request, pieces } = Cut::read(input);
    let whole = pieces.concat();
    let (mut parser, mut last) = (ResponseParser::new(), HeadCache::new());
    let in_pieces = read(&mut parser, &pieces, is_head_request, &mut HeadCache::default());
    assert_eq!(read(&mut ResponseParser::new(), &[&whole], is_head_request, &mut last), in_pieces, "in one piece");
    // Another time what came before is known.
    assert_eq!(read(&mut parser, &pieces, is_head_request, &mut last), in_pieces, "by a parser that was used before");
    assert_eq!(
        read(&mut parser, &[&whole], !is_head_request, &mut last),
        read(&mut ResponseParser::new(), &[&whole], !is_head_request, &mut HeadCache::default())
    );
});

/// What a connection makes of these pieces and its end behind them.
fn read(parser: &mut ResponseParser, pieces: &[&[u8]], is_head_request: bool, last: &mut HeadCache) -> Read {
    parser.start(is_head_request);
    let (mut fed, mut finished) = (0, None);
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        if finished.is_some() {
            return Err(Cause::LeftoverBytes);
        }
        fed += piece.len() as u64;
        let result = parser.feed(piece, last, &mut |_| {});
        assert_eq!(parser.received(), fed);
        assert!(parser.held() <= MOST_HELD, "{} bytes are kept", parser.held());
        if let Parsed::Complete(end) = result? {
            assert!((200..=999).contains(&end.status), "{end:?}");
            finished = Some(end);
        }
    }
    finished.map_or_else(|| parser.end(), Ok)
}
