//! A minimal protocol with one line as a request and one as its answer. It shows what the interface asks of a protocol.

use truetail_model::record::{Cause, Outcome};
use truetail_model::time::Timestamp;

use crate::protocol::{Beginning, Closed, Conversation, Ended, Event, Events, Flow, Protocol, Retry, Tag};

/// Every request is this line.
const REQUEST: &[u8] = b"hello\n";

/// A protocol of one line out and one line in. An answer that begins with `+` is good.
#[derive(Clone, Default, Debug)]
pub(crate) struct Line;

#[derive(Default, Debug)]
pub(crate) struct LineConversation {
    current: Option<Tag>,
    sent: usize,
    received: u64,
    is_good: bool,
    is_closing: bool,
}

impl Protocol for Line {
    type Conversation = LineConversation;

    fn conversation(&self) -> LineConversation {
        LineConversation::default()
    }
}

impl LineConversation {
    fn end(&mut self, outcome: Outcome, retry: Retry, events: &mut Events) {
        if let Some(tag) = self.current.take() {
            events.end(Ended { retry, ..Ended::new(tag, outcome, self.received) });
        }
    }

    fn stop(&mut self, events: &mut Events) {
        self.is_closing = true;
        events.push(Event::GoingAway);
    }
}

impl Conversation<Line> for LineConversation {
    fn begin(&mut self, _: &Line, begins: Beginning, _: &mut Events) -> u32 {
        *self = LineConversation { current: Some(begins.tag), ..LineConversation::default() };
        0
    }

    fn output<'a>(&'a self, _: &'a Line) -> &'a [u8] {
        if self.current.is_some() { &REQUEST[self.sent..] } else { &[] }
    }

    fn sent(&mut self, _: &Line, count: usize, _: Timestamp, events: &mut Events) {
        let Some(tag) = self.current.filter(|_| count > 0) else { return };
        let had_started = self.sent > 0;
        self.sent += count;
        events.push(if had_started { Event::Sent(tag) } else { Event::Started(tag) });
    }

    fn receive(&mut self, _: &mut Line, bytes: &[u8], _: Timestamp, events: &mut Events) -> Flow {
        let Some(tag) = self.current else {
            events.push(Event::Stray);
            self.stop(events);
            return Flow::Close(Cause::LeftoverBytes);
        };
        if self.received == 0 {
            events.push(Event::FirstByte(tag));
            self.is_good = bytes[0] == b'+';
        }
        self.received += bytes.len() as u64;
        match bytes.iter().position(|byte| *byte == b'\n') {
            None => events.body(tag, bytes),
            Some(at) if at + 1 < bytes.len() => {
                self.end(Outcome::Malformed(Cause::LeftoverBytes), Retry::No, events);
                self.stop(events);
                return Flow::Close(Cause::LeftoverBytes);
            }
            Some(at) => {
                events.body(tag, &bytes[..at]);
                let status = if self.is_good { 200 } else { 500 };
                self.end(Outcome::response(status), Retry::No, events);
            }
        }
        Flow::Continue
    }

    fn close(&mut self, how: Closed, events: &mut Events) {
        let retry = if self.sent == 0 { Retry::Unsent } else { Retry::No };
        let outcome = match how {
            _ if self.received > 0 => Outcome::Malformed(Cause::Truncated),
            Closed::EndOfStream { .. } => Outcome::Reset(Cause::ClosedBeforeAnswer),
            Closed::Reset => Outcome::Reset(Cause::ResetByPeer),
            Closed::Tls { .. } => Outcome::Reset(Cause::TlsBroken),
        };
        self.end(outcome, retry, events);
        self.stop(events);
    }

    fn cancel(&mut self, _: u32, events: &mut Events) -> u64 {
        self.current = None;
        self.stop(events);
        self.received
    }

    fn in_flight(&self) -> usize {
        usize::from(self.current.is_some())
    }

    fn is_closing(&self) -> bool {
        self.is_closing
    }
}
