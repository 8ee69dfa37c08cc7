//! A stream of server-sent events, in pieces that the input chooses. The events do not depend on where the bytes are
//! cut, nor on what the parser read before, and memory stays bounded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use truetail_fuzz::Cut;
use truetail_run::LlmApi;
use truetail_stream::{EventParser, MAX_DATA_BYTES, read_chunk};

/// Memory grows by doubling.
const MAX_HELD: usize = 4 * MAX_DATA_BYTES;

fuzz_target!(|input: &[u8]| {
    let Cut { flag: again, pieces } = Cut::read(input);
    let whole = pieces.concat();
    let mut parser = EventParser::new();
    let expected = read(&mut parser, &[&whole]);
    if again {
        parser.restart();
    } else {
        parser = EventParser::new();
    }
    assert_eq!(read(&mut parser, &pieces), expected);
});

/// The data of each event with its length, and whether the stream ended inside an event.
fn read(parser: &mut EventParser, pieces: &[&[u8]]) -> (Vec<(Vec<u8>, u64)>, bool) {
    let mut events = Vec::new();
    let mut bytes = 0;
    for piece in pieces {
        parser.feed(piece, &mut |event| {
            // What a language model would mean by it: nothing, or what a JSON object says.
            let chunk = read_chunk(LlmApi::OpenaiChat, event.data);
            assert!(chunk.is_none() || event.data.trim_ascii().first() == Some(&b'{'));
            bytes += event.data_bytes;
            events.push((event.data.to_vec(), event.data_bytes));
        });
        assert!(parser.held() <= MAX_HELD, "{} bytes are kept", parser.held());
    }
    let sent: u64 = pieces.iter().map(|piece| piece.len() as u64).sum();
    assert!(bytes <= sent, "{bytes} bytes of data in {sent}");
    (events, parser.is_inside_event())
}
