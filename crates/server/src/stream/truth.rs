//! The truth about a stream.

use std::io::{self, Write};

use crate::truth_log::LogRow;

/// Kind of an event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EventKind {
    /// Only the role of the speaker.
    Role,
    /// Content.
    Content,
    /// Reason of the end.
    Finish,
    /// Token usage.
    Usage,
    /// The end mark.
    Done,
}

impl EventKind {
    /// Returns the name in a log of events.
    pub const fn name(self) -> &'static str {
        match self {
            EventKind::Role => "role",
            EventKind::Content => "content",
            EventKind::Finish => "finish",
            EventKind::Usage => "usage",
            EventKind::Done => "done",
        }
    }
}

/// The truth about a stream. Times are in nanoseconds since the start of the fault clock of its epoch. The lists have
/// one entry for each event that left, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamTruth {
    /// Epoch of the request.
    pub epoch: u32,
    /// Number of the request in the epoch.
    pub number: u64,
    /// Kind of each event.
    pub kinds: Vec<EventKind>,
    /// Planned time of each event.
    pub due_ns: Vec<u64>,
    /// Time after which the system had taken each event. Events of one write have the same time.
    pub events_ns: Vec<u64>,
}

impl StreamTruth {
    /// Returns the times after which the system had taken each event with content.
    pub fn content_ns(&self) -> impl Iterator<Item = u64> {
        let with_content = self.kinds.iter().zip(&self.events_ns).filter(|(kind, _)| **kind == EventKind::Content);
        with_content.map(|(_, at)| *at)
    }
}

impl LogRow for StreamTruth {
    const HEADER: &'static str = "epoch,number,event,kind,due_ns,left_ns";

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let each = self.kinds.iter().zip(&self.due_ns).zip(&self.events_ns);
        for (event, ((kind, due), left)) in each.enumerate() {
            writeln!(out, "{},{},{event},{},{due},{left}", self.epoch, self.number, kind.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_an_event() {
        let stream = StreamTruth {
            epoch: 1,
            number: 7,
            kinds: vec![EventKind::Role, EventKind::Content, EventKind::Done],
            due_ns: vec![5, 5, 9],
            events_ns: vec![6, 6, 10],
        };
        let mut out = Vec::new();
        stream.write(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "1,7,0,role,5,6\n1,7,1,content,5,6\n1,7,2,done,9,10\n");
        assert_eq!(stream.content_ns().collect::<Vec<_>>(), [6]);
    }
}
