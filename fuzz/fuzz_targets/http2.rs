//! What a server of HTTP/2 says, or something in place of it, in pieces that the input cuts: what ends, and how, does not
//! depend on the cuts, every request ends at most once, and no more is kept than may be.
#![no_main]

use libfuzzer_sys::fuzz_target;
use truetail_engine::http2::Spoken;
use truetail_fuzz::Cut;
use truetail_model::record::{Cause, Outcome};

const REQUESTS: u32 = 5;
/// A frame of 16 KiB, a block of 64 KiB and replies of 256 KiB, whose memory grows by doubling.
const MOST_HELD: usize = 2 * (16 + 64 + 256 + 16) * 1024;
/// An empty frame of settings: without it nothing else is listened to.
const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

/// What ended, and what the connection came to, and what is replied.
type Heard = (Vec<(u32, Outcome, u64)>, Result<(), Cause>, Vec<u8>);

fuzz_target!(|input: &[u8]| {
    let Cut { flag, pieces } = Cut::read(input);
    let whole = pieces.concat();
    assert_eq!(heard(&[&whole], flag), heard(&pieces, flag));
    let greeted = [SETTINGS, &whole].concat();
    assert_eq!(heard(&[&greeted], flag), heard(&[&[SETTINGS], &pieces[..]].concat(), flag));
});

fn heard(pieces: &[&[u8]], to_head: bool) -> Heard {
    let mut spoken = Spoken::asked(REQUESTS, to_head);
    let mut came_to = Ok(());
    for piece in pieces {
        came_to = spoken.hear(piece);
        assert!(spoken.held() <= MOST_HELD, "{} bytes are kept", spoken.held());
        if came_to.is_err() {
            assert_eq!(spoken.in_flight(), 0, "what is given up has ended");
            break;
        }
    }
    let mut ended = spoken.ended.clone();
    ended.sort_by_key(|(request, ..)| *request);
    assert_eq!(ended.len() + spoken.in_flight(), REQUESTS as usize);
    assert!(ended.windows(2).all(|two| two[0].0 < two[1].0), "one end for a request: {ended:?}");
    (ended, came_to, spoken.to_send().to_vec())
}
