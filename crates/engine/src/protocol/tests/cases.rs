//! The tested protocols, each with a server.

use std::sync::Arc;

use super::numbered::{Numbered, frame};
use super::{ANY, Line};
use crate::protocol::Protocol;
use crate::protocol::http1::Http1;
use crate::protocol::http2::{FieldBlocks, FieldsMadeInRun, Http2};
use crate::protocol::made_in_run::MadeInRun;
use crate::target::method::Method;
use crate::target::request::Request;
use crate::target::request_set::RequestSet;

/// The body of every answer.
pub(super) const BODY: &[u8] = b"hello";

/// A protocol and its server.
pub(super) trait Case {
    type Protocol: Protocol;

    fn protocol() -> Self::Protocol;

    /// Returns bytes that a server sends before any request.
    fn greeting() -> Vec<u8> {
        Vec::new()
    }

    /// Returns an answer with [`BODY`] to request `nth` of a connection, counted from 0.
    fn answer(nth: usize) -> Vec<u8>;

    /// Returns bytes that a server must not send in place of an answer.
    fn violation() -> Vec<u8>;
}

pub(super) struct OfHttp1;

pub(super) struct OfHttp2;

/// HTTP/1.1 with requests that are made during the run.
pub(super) struct OfHttp1InRun;

/// HTTP/2 with requests that are made during the run.
pub(super) struct OfHttp2InRun;

pub(super) struct OfLine;

pub(super) struct OfNumbered;

fn requests() -> RequestSet {
    RequestSet::single(&Request::new(Method::Get, "http://a.test/", &[], Vec::new()).unwrap())
}

impl Case for OfHttp1 {
    type Protocol = Http1;

    fn protocol() -> Http1 {
        Http1::new(requests(), true)
    }

    fn answer(_: usize) -> Vec<u8> {
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".to_vec()
    }

    fn violation() -> Vec<u8> {
        b"HTTP/9\r\n\r\n".to_vec()
    }
}

impl Case for OfHttp2 {
    type Protocol = Http2;

    fn protocol() -> Http2 {
        Http2::new(Arc::new(FieldBlocks::new(&requests(), "http")), None, true)
    }

    fn greeting() -> Vec<u8> {
        vec![0, 0, 0, 4, 0, 0, 0, 0, 0]
    }

    fn answer(nth: usize) -> Vec<u8> {
        let stream = (2 * nth + 1) as u8;
        let head = [0, 0, 1, 1, 4, 0, 0, 0, stream, 0x88];
        let data = [0, 0, 5, 0, 1, 0, 0, 0, stream];
        [&head[..], &data, BODY].concat()
    }

    fn violation() -> Vec<u8> {
        vec![0, 0, 0, 9, 0, 0, 0, 0, 1]
    }
}

/// Returns the protocol with the request of user 0.
fn with_a_user<P: Protocol>(mut protocol: P) -> P {
    let request = requests().view(ANY).to_parts();
    *protocol.request_of(ANY.row) = request;
    protocol
}

impl Case for OfHttp1InRun {
    type Protocol = Http1<MadeInRun>;

    fn protocol() -> Http1<MadeInRun> {
        with_a_user(Http1::new(MadeInRun::default(), true))
    }

    fn answer(nth: usize) -> Vec<u8> {
        OfHttp1::answer(nth)
    }

    fn violation() -> Vec<u8> {
        OfHttp1::violation()
    }
}

impl Case for OfHttp2InRun {
    type Protocol = Http2<FieldsMadeInRun>;

    fn protocol() -> Http2<FieldsMadeInRun> {
        with_a_user(Http2::new(FieldsMadeInRun::new(&requests(), "http"), None, true))
    }

    fn greeting() -> Vec<u8> {
        OfHttp2::greeting()
    }

    fn answer(nth: usize) -> Vec<u8> {
        OfHttp2::answer(nth)
    }

    fn violation() -> Vec<u8> {
        OfHttp2::violation()
    }
}

impl Case for OfLine {
    type Protocol = Line;

    fn protocol() -> Line {
        Line
    }

    fn answer(_: usize) -> Vec<u8> {
        b"+hello\n".to_vec()
    }

    fn violation() -> Vec<u8> {
        b"+hello\nmore".to_vec()
    }
}

impl Case for OfNumbered {
    type Protocol = Numbered;

    fn protocol() -> Numbered {
        Numbered
    }

    fn answer(nth: usize) -> Vec<u8> {
        [frame(nth as u8, b'p', &BODY[..2]), frame(nth as u8, b'e', &BODY[2..])].concat()
    }

    fn violation() -> Vec<u8> {
        frame(0, b'x', BODY)
    }
}
