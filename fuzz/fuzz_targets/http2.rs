//! The bytes of an HTTP/2 server, valid or not, in pieces that the input chooses. The outcomes do not depend on where
//! the bytes are cut, every request ends at most once, and memory stays bounded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use truetail_engine::http2::TestConnection;
use truetail_fuzz::Cut;
use truetail_model::record::{Cause, Outcome};

const REQUESTS: u32 = 5;
/// Of the fourth a part fits into the connection's window, and of the fifth nothing.
const BODY: usize = 20_000;
/// A frame of 16 KiB, a block of 64 KiB, replies of 256 KiB and bodies of 128 KiB, whose memory grows by doubling.
const MAX_HELD: usize = 2 * (16 + 64 + 256 + 128 + 16) * 1024;
/// The initial window of a connection.
const WINDOW: i64 = 65_535;
/// An empty SETTINGS frame, which has to come first.
const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

/// The requests that ended, the outcome of the connection, the replies, and the bytes of bodies sent.
type Heard = (Vec<(u32, Outcome, u64)>, Result<(), Cause>, Vec<u8>, i64);

fuzz_target!(|input: &[u8]| {
    let Cut { flag, pieces } = Cut::read(input);
    let whole = pieces.concat();
    let greeted = [SETTINGS, &whole].concat();
    let sent = if flag { 2 } else { 4 };
    let posted = || TestConnection::post(sent, REQUESTS - sent, vec![b'x'; BODY]);
    let called = || TestConnection::calls(REQUESTS);
    for begin in [&(|| TestConnection::get(REQUESTS, flag)) as &dyn Fn() -> TestConnection, &posted, &called] {
        assert_eq!(heard(&[&whole], begin()), heard(&pieces, begin()));
        assert_eq!(heard(&[&greeted], begin()), heard(&[&[SETTINGS], &pieces[..]].concat(), begin()));
    }
});

fn heard(pieces: &[&[u8]], mut connection: TestConnection) -> Heard {
    let mut came_to = Ok(());
    for piece in pieces {
        came_to = connection.receive(piece);
        assert!(connection.held() <= MAX_HELD, "{} bytes are kept", connection.held());
        if came_to.is_err() {
            assert_eq!(connection.in_flight(), 0, "what is given up has ended");
            break;
        }
    }
    let mut ended = connection.ended.clone();
    ended.sort_by_key(|(request, ..)| *request);
    assert_eq!(ended.len() + connection.in_flight(), REQUESTS as usize);
    assert!(ended.windows(2).all(|two| two[0].0 < two[1].0), "one end for a request: {ended:?}");
    let replies = connection.to_send().to_vec();
    if came_to.is_ok() {
        connection.send_all();
        assert_eq!(
            connection.window() + connection.bodies_sent,
            WINDOW + opened(&pieces.concat()),
            "no window is lost"
        );
    }
    (ended, came_to, replies, connection.bodies_sent)
}

/// By how much complete WINDOW_UPDATE frames enlarge the connection's window.
fn opened(mut bytes: &[u8]) -> i64 {
    let mut opened = 0;
    while let Some((head, rest)) = bytes.split_first_chunk::<9>() {
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let Some((payload, after)) = rest.split_at_checked(length) else { break };
        let of_connection = u32::from_be_bytes([head[5] & 0x7f, head[6], head[7], head[8]]) == 0;
        if let (8, true, Some(more)) = (head[3], of_connection, payload.first_chunk()) {
            opened += i64::from(u32::from_be_bytes(*more) & 0x7fff_ffff);
        }
        bytes = after;
    }
    opened
}
