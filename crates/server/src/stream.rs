//! Streams of server-sent events: what a request asks for, the answer as bytes with the instant of each write, and the truth
//! about it.

use truetail_model::random::Random;
use truetail_model::time::{Nanos, Timestamp};

/// Most events of a stream, and most bytes of one.
const MOST: u64 = 100_000;
/// Most bytes of data in all events of a stream: the whole answer is made before its first byte leaves.
const MOST_BYTES: u64 = 16 << 20;
/// What keeps the gaps of streams apart from other random numbers.
const PURPOSE: u64 = 0x0073_7472_6561_6d73;

/// How a stream ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum StreamEnd {
    /// After its last event.
    Whole,
    /// After one more event, with the data `[DONE]`.
    Done,
    /// Inside a further event.
    Unfinished,
}

/// The stream that a request asks for, in its query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StreamScript {
    events: u64,
    /// From the head to the first event.
    first: Nanos,
    /// Between two writes.
    gap: Nanos,
    /// Gaps are exponential, with this seed and the mean `gap`.
    seed: Option<u64>,
    /// Events in one write.
    burst: u64,
    /// Before this event (from 0) it stalls for so long, on top of the gap, counted from when the event before it had left.
    stall: Option<(u64, Nanos)>,
    /// The connection is closed before this event (from 0).
    cut: Option<u64>,
    end: StreamEnd,
    /// Bytes of data of each event, at least.
    bytes: u64,
}

impl StreamScript {
    /// Reads the query of a target such as `/stream?events=100&gap=10ms&stall=40:300ms`. `None` where it makes no sense.
    pub(crate) fn parse(query: &str) -> Option<StreamScript> {
        let mut script = StreamScript {
            events: 10,
            first: Nanos::ZERO,
            gap: Nanos::from_millis(10),
            seed: None,
            burst: 1,
            stall: None,
            cut: None,
            end: StreamEnd::Whole,
            bytes: 0,
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=')?;
            script.set(key, value)?;
        }
        (script.events.saturating_mul(script.bytes) <= MOST_BYTES).then_some(script)
    }

    fn set(&mut self, key: &str, value: &str) -> Option<()> {
        match key {
            "events" => self.events = number(value)?,
            "first" => self.first = value.parse().ok()?,
            "gap" => self.gap = value.parse().ok()?,
            "exponential" => self.seed = Some(value.parse().ok()?),
            "burst" => self.burst = number(value)?.max(1),
            "stall" => {
                let (event, length) = value.split_once(':')?;
                self.stall = Some((number(event)?, length.parse().ok()?));
            }
            "cut" => self.cut = Some(number(value)?),
            "bytes" => self.bytes = number(value)?,
            "end" => {
                self.end = match value {
                    "whole" => StreamEnd::Whole,
                    "done" => StreamEnd::Done,
                    "unfinished" => StreamEnd::Unfinished,
                    _ => return None,
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// The answer number `number` to such a request, of which the head leaves at `due`.
    pub(crate) fn answer(&self, number: u64, due: Timestamp, keep_alive: bool) -> StreamAnswer {
        let mut random = self.seed.map(|seed| Random::new(seed.wrapping_add(number), PURPOSE));
        let mut answer = StreamAnswer::new(due, keep_alive, self.cut.is_some_and(|cut| cut < self.events));
        let last = self.cut.unwrap_or(u64::MAX).min(self.events);
        let mut at = due + self.first;
        let mut event = 0;
        while event < last {
            let until = last.min(event + self.burst);
            if event > 0 {
                at = at
                    + random
                        .as_mut()
                        .map_or(self.gap, |random| Nanos((self.gap.0 as f64 * random.exponential()) as u64));
            }
            if let Some((_, length)) = self.stall.filter(|(stalled, _)| (event..until).contains(stalled)) {
                at = at + length;
                answer.stalled = Some(answer.writes.len());
            }
            let events: String = (event..until).map(|event| self.event(event)).collect();
            let ends = until == last && !answer.is_cut;
            answer.add_write(at, &self.with_end(events, ends), until - event, ends);
            event = until;
        }
        if last == 0 && !answer.is_cut {
            answer.add_write(at, &self.with_end(String::new(), true), 0, true);
        }
        answer
    }

    fn event(&self, event: u64) -> String {
        let number = event.to_string();
        let zeros = "0".repeat((self.bytes as usize).saturating_sub(number.len()));
        format!("data: {zeros}{number}\n\n")
    }

    fn with_end(&self, events: String, ends: bool) -> String {
        let end = match self.end {
            StreamEnd::Done if ends => "data: [DONE]\n\n",
            StreamEnd::Unfinished if ends => "data: never finis",
            StreamEnd::Whole | StreamEnd::Done | StreamEnd::Unfinished => "",
        };
        events + end
    }
}

/// A number of at most [`MOST`].
fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| *number <= MOST)
}

/// What leaves at once.
#[derive(Clone, Copy, Debug)]
struct Write {
    /// When, on the clock of the event loop.
    at: Timestamp,
    /// Up to this byte of the answer.
    end: u64,
    /// How many events are in it.
    events: u64,
}

/// A stream under way.
#[derive(Debug)]
pub(crate) struct StreamAnswer {
    bytes: Vec<u8>,
    writes: Vec<Write>,
    /// Writes that have left.
    left: usize,
    /// The write that a stall delays.
    stalled: Option<usize>,
    /// When each of them had left.
    left_at: Vec<Timestamp>,
    /// The connection is closed in the middle of it.
    pub(crate) is_cut: bool,
}

impl StreamAnswer {
    fn new(due: Timestamp, keep_alive: bool, is_cut: bool) -> StreamAnswer {
        let connection = if keep_alive { "keep-alive" } else { "close" };
        let head = format!(
            "HTTP/1.1 200 OK\r\nServer: truetail\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\
             Transfer-Encoding: chunked\r\nConnection: {connection}\r\n\r\n"
        );
        let writes = vec![Write { at: due, end: head.len() as u64, events: 0 }];
        StreamAnswer { bytes: head.into_bytes(), writes, left: 0, stalled: None, left_at: Vec::new(), is_cut }
    }

    /// Adds a write of one chunk, and with `ends` the end of the answer.
    fn add_write(&mut self, at: Timestamp, content: &str, events: u64, ends: bool) {
        if !content.is_empty() {
            self.bytes.extend_from_slice(format!("{:x}\r\n{content}\r\n", content.len()).as_bytes());
        }
        if ends {
            self.bytes.extend_from_slice(b"0\r\n\r\n");
        }
        self.writes.push(Write { at, end: self.bytes.len() as u64, events });
    }

    /// Only the head, as HEAD wants it.
    pub(crate) fn without_body(mut self) -> StreamAnswer {
        self.writes.truncate(1);
        self.is_cut = false;
        self
    }

    /// How many of its bytes may have left by `now`.
    pub(crate) fn due_by(&self, now: Timestamp) -> u64 {
        let due = self.writes.partition_point(|write| write.at <= now);
        due.checked_sub(1).map_or(0, |last| self.writes[last].end)
    }

    /// When the next write after `now` is due.
    pub(crate) fn next_after(&self, now: Timestamp) -> Option<Timestamp> {
        self.writes.get(self.writes.partition_point(|write| write.at <= now)).map(|write| write.at)
    }

    /// Bytes of the whole answer.
    pub(crate) fn length(&self) -> u64 {
        self.writes.last().map_or(0, |write| write.end)
    }

    /// Its bytes from one to another.
    pub(crate) fn piece(&self, from: u64, to: u64) -> &[u8] {
        &self.bytes[from as usize..to as usize]
    }

    /// The first `sent` bytes had left by `now`.
    pub(crate) fn sent(&mut self, sent: u64, now: Timestamp) {
        while self.writes.get(self.left).is_some_and(|write| write.end <= sent) {
            let late = now.since(self.writes[self.left].at);
            self.left += 1;
            self.left_at.push(now);
            // A stall is as long as it is said to be, however late what came before it was.
            if self.stalled == Some(self.left) {
                self.writes[self.left..].iter_mut().for_each(|write| write.at = write.at + late);
            }
        }
    }

    /// What is true of it, on a clock that began at `origin`.
    pub(crate) fn truth(&self, origin: Timestamp) -> StreamTruth {
        let each = self.writes.iter().zip(&self.left_at);
        let events = each.flat_map(|(write, at)| (0..write.events).map(|_| at.since(origin).0));
        StreamTruth { events_ns: events.collect() }
    }
}

/// What the server knows of a stream: instants in nanoseconds since the start of the fault clock of its epoch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamTruth {
    /// When each event had been handed to the system, in their order. Events of one write have the same instant.
    pub events_ns: Vec<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(query: &str) -> StreamAnswer {
        StreamScript::parse(query).expect("a script").answer(1, Timestamp(1_000), true)
    }

    fn at_ms(answer: &StreamAnswer) -> Vec<(u64, u64)> {
        answer.writes.iter().map(|write| ((write.at.0 - 1_000) / 1_000_000, write.events)).collect()
    }

    #[test]
    fn a_script_says_what_leaves_when() {
        assert_eq!(at_ms(&answer("events=3&gap=10ms&first=5ms")), [(0, 0), (5, 1), (15, 1), (25, 1)]);
        assert_eq!(at_ms(&answer("events=5&gap=10ms&burst=2")), [(0, 0), (0, 2), (10, 2), (20, 1)]);
        assert_eq!(at_ms(&answer("events=3&gap=10ms&stall=1:300ms")), [(0, 0), (0, 1), (310, 1), (320, 1)]);
        assert_eq!(at_ms(&answer("events=9&gap=1ms&cut=2")), [(0, 0), (0, 1), (1, 1)]);
        assert_eq!(at_ms(&answer("events=0")), [(0, 0), (0, 0)]);
    }

    #[test]
    fn it_ends_as_it_was_asked_to() {
        let body = |query: &str| {
            let answer = answer(query);
            let text = String::from_utf8(answer.bytes).unwrap();
            text.split_once("\r\n\r\n").unwrap().1.to_owned()
        };
        assert_eq!(body("events=1"), "9\r\ndata: 0\n\n\r\n0\r\n\r\n");
        assert_eq!(body("events=1&bytes=3"), "b\r\ndata: 000\n\n\r\n0\r\n\r\n");
        assert_eq!(body("events=0&end=done"), "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n");
        assert_eq!(body("events=0&end=unfinished"), "11\r\ndata: never finis\r\n0\r\n\r\n");
        assert_eq!(body("events=2&cut=1"), "9\r\ndata: 0\n\n\r\n");
        assert_eq!(body("events=2&cut=0"), "");
        assert_eq!(body("events=0"), "0\r\n\r\n");
    }

    #[test]
    fn what_makes_no_sense_is_no_script() {
        assert_eq!(answer("events=1&bytes=100000").bytes.len(), 100_000 + answer("events=1&bytes=0").bytes.len() + 3);
        for query in [
            "events=100000&bytes=100000",
            "events",
            "events=x",
            "events=100001",
            "gap=1",
            "stall=5",
            "end=never",
            "what=1",
            "bytes=100001",
        ] {
            assert_eq!(StreamScript::parse(query), None, "{query}");
        }
        assert!(StreamScript::parse("").is_some());
    }

    #[test]
    fn exponential_gaps_follow_the_seed() {
        let of = |query: &str| at_ms(&answer(query));
        assert_eq!(of("events=50&exponential=3"), of("events=50&exponential=3"));
        assert_ne!(of("events=50&exponential=3"), of("events=50&exponential=4"));
    }
}
