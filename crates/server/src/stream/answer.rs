//! The answer of a stream as bytes, with the time of each write.

use truetail_model::service::{FaultSet, StreamOutline, StreamWrite};
use truetail_model::time::{Nanos, Timestamp};

use super::text::StreamText;
use super::truth::{EventKind, StreamTruth};
use crate::response_form::{Framing, ResponseForm};

/// Number of parts that a trickling write is divided into.
const PARTS: u64 = 8;

/// Bytes that leave at once.
#[derive(Clone, Copy, Debug)]
struct Write {
    /// Time of the write, on the clock of the event loop.
    at: Timestamp,
    /// End of the bytes in the answer.
    end: u64,
}

/// A stream in progress.
#[derive(Debug)]
pub(crate) struct StreamAnswer {
    /// Number of the stream among all streams of the server.
    pub(crate) number: u64,
    text: StreamText,
    form: ResponseForm,
    /// False if the answer is sent as one piece of JSON, once it is complete.
    in_pieces: bool,
    bytes: Vec<u8>,
    writes: Vec<Write>,
    /// Each event, with the index of the write that completes it.
    events: Vec<(EventKind, usize)>,
    /// The write that the stream's own stall delays.
    stalled: Option<usize>,
    /// Actual time of each write that has left.
    left_at: Vec<Timestamp>,
    /// Number of events that came from a batch.
    steps: u64,
    /// True if no further write follows.
    is_over: bool,
    /// Faults that affected the stream's events.
    pub(crate) faults: FaultSet,
}

impl StreamAnswer {
    /// Creates a stream whose head leaves at `due`.
    pub(crate) fn new(
        number: u64,
        text: StreamText,
        form: ResponseForm,
        in_pieces: bool,
        due: Timestamp,
    ) -> StreamAnswer {
        let in_pieces = in_pieces || form.is_head;
        let mut answer = StreamAnswer {
            number,
            text,
            form,
            in_pieces,
            bytes: Vec::new(),
            writes: Vec::new(),
            events: Vec::new(),
            stalled: None,
            left_at: Vec::new(),
            steps: 0,
            is_over: form.is_head,
            faults: FaultSet::NONE,
        };
        if in_pieces {
            let coding = if form.framing == Framing::Chunks { "Transfer-Encoding: chunked\r\n" } else { "" };
            answer.bytes =
                head("text/event-stream", coding, form.keep_alive && form.framing != Framing::Connection).into_bytes();
            answer.push(due);
        }
        answer
    }

    fn push(&mut self, at: Timestamp) {
        self.writes.push(Write { at, end: self.bytes.len() as u64 });
    }

    /// Adds a write, with its time on the clock of the event loop. Its first bytes leave up to `trickle` earlier.
    pub(crate) fn add(&mut self, write: &StreamWrite, trickle: Nanos) {
        if !self.in_pieces {
            return;
        }
        let (text, kinds) = self.text.write(write);
        let before = self.bytes.len() as u64;
        self.add_chunk(&text, write.ends);
        if write.is_stalled {
            self.stalled = Some(self.writes.len());
        }
        if !trickle.is_zero() {
            self.trickle(before, write.at, trickle);
        }
        let index = self.writes.len();
        self.events.extend(kinds.into_iter().map(|kind| (kind, index)));
        self.push(write.at);
    }

    fn add_chunk(&mut self, text: &str, ends: bool) {
        if self.form.framing != Framing::Chunks {
            self.bytes.extend_from_slice(text.as_bytes());
            return;
        }
        if !text.is_empty() {
            self.bytes.extend_from_slice(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes());
        }
        if ends {
            self.bytes.extend_from_slice(b"0\r\n\r\n");
        }
    }

    /// Lets bytes from `before` on leave in parts before `at`, but only bytes of the first event: no event is complete
    /// early.
    fn trickle(&mut self, before: u64, at: Timestamp, trickle: Nanos) {
        let write = &self.bytes[before as usize..];
        let length = write.windows(2).position(|pair| pair == b"\n\n").unwrap_or(write.len()) as u64;
        let earliest = Timestamp(at.0.saturating_sub(trickle.0));
        let begins = self.writes.last().map_or(earliest, |last| last.at.max(earliest));
        let time = at.since(begins).0;
        let part = |part: u64| Write {
            at: begins + Nanos((u128::from(time) * u128::from(part) / u128::from(PARTS)) as u64),
            end: before + length * part / PARTS,
        };
        self.writes.extend((1..PARTS).map(part));
    }

    /// Ends the stream at `at`. An answer in one piece leaves at that time.
    pub(crate) fn finish(&mut self, at: Timestamp) {
        if !self.in_pieces {
            let body = self.text.in_one_piece();
            let length = format!("Content-Length: {}\r\n", body.len());
            let sent = if self.is_cut() { body.len() / 2 } else { body.len() };
            self.bytes = head("application/json", &length, self.form.keep_alive).into_bytes();
            self.bytes.extend_from_slice(&body.as_bytes()[..sent]);
            self.push(at);
        }
        self.is_over = true;
    }

    pub(crate) fn outline(&self) -> StreamOutline {
        self.text.outline
    }

    /// Returns true if the connection is closed in the middle of the stream.
    pub(crate) fn is_cut(&self) -> bool {
        self.text.outline.is_cut && !self.form.is_head
    }

    /// Returns true if the connection is closed at the end of the stream.
    pub(crate) fn closes(&self) -> bool {
        self.is_cut() || !self.form.keep_alive || (self.in_pieces && self.form.framing == Framing::Connection)
    }

    /// Adds the next event of a batch. It leaves at `at`, and was affected by `faults`.
    pub(crate) fn add_step(&mut self, at: Timestamp, is_last: bool, faults: FaultSet) {
        let ends = is_last && !self.text.outline.is_cut;
        self.add(&StreamWrite { at, first: self.steps, content: 1, ends, is_stalled: false }, Nanos::ZERO);
        self.steps += 1;
        self.faults = self.faults.union(faults);
        if is_last {
            self.finish(at);
        }
    }

    /// Returns the number of bytes that may have left by `now`.
    pub(crate) fn due_by(&self, now: Timestamp) -> u64 {
        let due = self.writes.partition_point(|write| write.at <= now);
        due.checked_sub(1).map_or(0, |last| self.writes[last].end)
    }

    /// Returns the time of the next known write after `now`.
    pub(crate) fn next_after(&self, now: Timestamp) -> Option<Timestamp> {
        self.writes.get(self.writes.partition_point(|write| write.at <= now)).map(|write| write.at)
    }

    /// Returns the length of the head in bytes. The head exists as soon as any byte may leave.
    #[cfg(feature = "http2")]
    pub(crate) fn head_length(&self) -> u64 {
        let end = self.bytes.windows(4).position(|four| four == b"\r\n\r\n");
        end.map_or(0, |end| end as u64 + 4)
    }

    /// Returns true if the stream is complete after `sent` bytes.
    pub(crate) fn is_complete(&self, sent: u64) -> bool {
        self.is_over && sent == self.bytes.len() as u64
    }

    pub(crate) fn piece(&self, from: u64, to: u64) -> &[u8] {
        &self.bytes[from as usize..to as usize]
    }

    /// Notes that the first `sent` bytes had left by `now`.
    pub(crate) fn note_sent(&mut self, sent: u64, now: Timestamp) {
        while self.writes.get(self.left_at.len()).is_some_and(|write| write.end <= sent) {
            let late = now.since(self.writes[self.left_at.len()].at);
            self.left_at.push(now);
            let left = self.left_at.len();
            // A stall keeps its length even if earlier writes were late.
            if self.stalled == Some(left) {
                self.writes[left..].iter_mut().for_each(|write| write.at = write.at + late);
            }
        }
    }

    /// Returns the planned time of the last byte; `None` if it is unknown.
    pub(crate) fn last_due(&self) -> Option<Timestamp> {
        self.writes.last().filter(|_| self.is_over).map(|write| write.at)
    }

    /// Returns the truth about the stream as request `number` of `epoch`, on a clock that began at `origin`.
    pub(crate) fn truth(&self, epoch: u32, number: u64, origin: Timestamp) -> StreamTruth {
        let left: Vec<_> = self.events.iter().filter(|(_, write)| *write < self.left_at.len()).collect();
        let since = |at: Timestamp| at.since(origin).0;
        StreamTruth {
            epoch,
            number,
            kinds: left.iter().map(|(kind, _)| *kind).collect(),
            due_ns: left.iter().map(|(_, write)| since(self.writes[*write].at)).collect(),
            events_ns: left.iter().map(|(_, write)| since(self.left_at[*write])).collect(),
        }
    }
}

fn head(content_type: &str, length: &str, keep_alive: bool) -> String {
    let connection = if keep_alive { "keep-alive" } else { "close" };
    format!(
        "HTTP/1.1 200 OK\r\nServer: truetail\r\nContent-Type: {content_type}\r\nCache-Control: no-store\r\n{length}\
         Connection: {connection}\r\n\r\n"
    )
}

#[cfg(test)]
mod tests;
