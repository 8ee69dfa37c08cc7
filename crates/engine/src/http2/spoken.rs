//! A conversation for whoever tests from outside, such as the fuzzer.

use truetail_model::record::{Cause, Outcome};

use super::{Blocks, Session};
use crate::request::{Method, Request};
use crate::requests::{Requests, Which};

/// A connection with some requests on it, to which a server speaks.
#[derive(Debug)]
pub struct Spoken {
    session: Session,
    /// What ended: the request's number from 0 on, how it ended, and the bytes of the frames of its answer.
    pub ended: Vec<(u32, Outcome, u64)>,
}

impl Spoken {
    /// So many requests were sent, of GET or of HEAD.
    pub fn asked(requests: u32, to_head: bool) -> Spoken {
        let method = if to_head { Method::Head } else { Method::Get };
        let request = Request::new(method, "http://a.test/", &[], Vec::new()).expect("a request");
        let blocks = Blocks::new(&Requests::single(&request), "http").expect("a request of HTTP/2");
        let mut session = Session::new(u32::MAX);
        for tag in 0..requests {
            session.open(tag, blocks.get(Which { target: 0, row: 0 }));
        }
        session.sent(session.to_send().len());
        Spoken { session, ended: Vec::new() }
    }

    /// Hears bytes of the server; its replies wait.
    ///
    /// # Errors
    /// Why the connection is of no use any more; every request has ended then.
    pub fn hear(&mut self, bytes: &[u8]) -> Result<(), Cause> {
        let mut events = Vec::new();
        let fed = self.session.feed(bytes, &mut events);
        if let Err(broken) = fed {
            self.session.give_up(broken, &mut events);
        }
        self.ended.extend(events.iter().map(|ended| (ended.tag, ended.outcome, ended.received)));
        fed.map_err(|broken| broken.cause)
    }

    /// What waits to be sent.
    pub fn to_send(&self) -> &[u8] {
        self.session.to_send()
    }

    /// Bytes that are kept: what was begun and has not ended, and replies.
    pub fn held(&self) -> usize {
        self.session.held()
    }

    /// Requests that have not ended.
    pub fn in_flight(&self) -> usize {
        self.session.in_flight()
    }
}
