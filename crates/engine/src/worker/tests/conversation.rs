//! A worker with a protocol of messages. The worker knows only the interface of the protocol.

use super::*;
use crate::placement::SharedOut;
use crate::protocol::tests::numbered::{Numbered, SILENCE, frame};

const REQUEST_LENGTH: usize = 8;

/// Returns a worker whose `requests` go to one connection, and the server's end of it after reading them all.
fn stage(requests: u64) -> (Stage<Numbered, SharedOut>, TcpStream) {
    let workload = workload(requests, None);
    let mut stage = Stage::speaking(Numbered, &workload, 1, true, Timing::Balanced, None);
    while stage.worker.connections.pool.opened == 0 {
        stage.start_due();
    }
    let mut socket = stage.accept();
    socket.set_nonblocking(true).unwrap();
    let mut arrived = 0;
    stage.run_until(|_| {
        arrived += socket.read(&mut [0; 1024]).unwrap_or(0);
        arrived == requests as usize * REQUEST_LENGTH
    });
    socket.set_nonblocking(false).unwrap();
    (stage, socket)
}

#[test]
fn answers_in_any_order_end_their_own_requests() {
    let (mut stage, mut socket) = stage(100);
    let answers: Vec<u8> = (0..100).rev().flat_map(|number| frame(number, b'e', b"hello")).collect();
    socket.write_all(&answers).unwrap();
    stage.run_until(all_ended);
    assert_eq!((stage.tally().responses, stage.worker.connections.pool.opened), (100, 1));
}

/// The worker has nothing to do, so only the conversation's deadlines wake it.
#[test]
fn a_silent_peer_is_asked_for_a_sign_of_life_and_then_given_up() {
    let (mut stage, mut socket) = stage(3);
    let mut ping = [0; 3];
    socket.set_nonblocking(true).unwrap();
    stage.run_until(|_| matches!(socket.read(&mut ping), Ok(3)));
    assert_eq!(ping, *frame(0, b'?', &[]));
    socket.write_all(&frame(0, b'!', &[])).unwrap();
    stage.run_until(|_| matches!(socket.read(&mut ping), Ok(3)));
    assert_eq!(stage.tally().reset, 0, "a peer that replies is not given up");
    let asked = stage.worker.clock.now();
    stage.run_until(all_ended);
    assert!(stage.worker.clock.now().since(asked) < Nanos(1000 * SILENCE.0));
    assert_eq!(stage.tally().reset, 3);
}
