//! Check for HTTP/2 after a server gave no answer in HTTP/1.1.

use std::time::{Duration, Instant};

use truetail_model::time::Nanos;

use super::stream::{Received, Stream, TimedSocket, connect};
use crate::protocol::http2::frame::{FrameHeader, HEAD, PREFACE, flag, kind};
use crate::target::HttpVersion;
use crate::target::destination::Destination;
use crate::target::endpoint::Endpoint;

/// Longest wait for the server's first bytes.
const LONGEST_WAIT: Nanos = Nanos::from_secs(1);

/// Returns true if `endpoint` greets an HTTP/2 client with a SETTINGS frame, as RFC 9113, section 3.4, requires.
pub(super) fn speaks_http2(destination: &Destination, endpoint: &Endpoint, timeout: Nanos) -> bool {
    let wait = Duration::from(timeout.min(LONGEST_WAIT));
    let until = Instant::now() + wait;
    let Ok(tls) = destination.tls(Some(HttpVersion::Http2)) else { return false };
    let Ok(socket) = connect(endpoint, wait) else { return false };
    let Ok(mut stream) = Stream::open(TimedSocket::new(socket, until), tls.as_ref(), Some(HttpVersion::Http2)) else {
        return false;
    };
    let mut greeting = PREFACE.to_vec();
    FrameHeader { length: 0, kind: kind::SETTINGS, flags: 0, stream: 0 }.put(&mut greeting);
    stream.send(&greeting);
    let mut said = Vec::new();
    let mut buffer = [0; HEAD];
    while said.len() < HEAD {
        match stream.receive(&mut buffer) {
            Ok(Received::Bytes(count)) => said.extend_from_slice(&buffer[..count]),
            Ok(Received::End | Received::CutOff) | Err(_) => return false,
        }
    }
    let is_greeting = |head: FrameHeader| head.kind == kind::SETTINGS && head.stream == 0 && !head.has(flag::ACK);
    FrameHeader::read(&said).is_some_and(is_greeting)
}
