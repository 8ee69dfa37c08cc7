//! Streams whose events are pushes: what a peer sends on a subscribed channel without being asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use truetail_engine::{AnswerHead, AnswerReader, EndedRequest, PushReader};
use truetail_model::time::{NANOS_PER_SECOND, Nanos, Timestamp};
use truetail_run::{EventMarks, StreamTime};

use crate::all_found::CombinedResults;
use crate::found::StreamResults;
use crate::open_stream::{Clocks, MAX_MARKED, ReadInstant, mark};
use crate::options::StreamOptions;
use crate::stamp::{MAX_PUSH, stamp};

/// Limit on a delay: a day.
const LONGEST_DELAY_NS: u64 = 86_400 * NANOS_PER_SECOND;
/// Limit on the memory in bytes that a channel keeps between its pushes.
const KEPT_CAPACITY: usize = 4096;

/// Follows the subscribed channels of one worker.
#[derive(Debug)]
pub(crate) struct PushObserver {
    options: StreamOptions,
    /// Pushes before this are left out, and the gap that it cuts too.
    measure_from: Timestamp,
    all_found: Arc<Mutex<CombinedResults>>,
    found: StreamResults,
    channels: HashMap<u32, Listening>,
    now: ReadInstant,
    /// Wall time of the run's origin.
    origin_unix_ns: Option<u64>,
}

/// A subscribed channel. Its clocks begin with the measurement, or with its subscription if that is later.
#[derive(Debug)]
struct Listening {
    clocks: Clocks,
    /// Times of its pushes; `None` if [`MAX_MARKED`] channels were open when it began.
    marks: Option<EventMarks>,
    /// The push that is being received, if the sender's time is read.
    push: Vec<u8>,
}

impl Listening {
    /// Returns the instant of a read, no earlier than the last push. Only the times of one channel are in order: a late
    /// worker reads several channels with the kernel's stamps.
    fn read_at(&self, read: ReadInstant) -> ReadInstant {
        let last = self.clocks.last_event().unwrap_or_default();
        ReadInstant { at: read.at.max(last), ..read }
    }
}

impl PushObserver {
    /// Creates an observer that adds its results to `all_found` when it finishes.
    pub(crate) fn new(
        options: StreamOptions,
        measure_from: Timestamp,
        all_found: Arc<Mutex<CombinedResults>>,
    ) -> PushObserver {
        PushObserver {
            found: StreamResults::new(&options),
            options,
            measure_from,
            all_found,
            channels: HashMap::new(),
            now: ReadInstant { number: 0, at: Timestamp::ZERO },
            origin_unix_ns: None,
        }
    }

    fn end(&mut self, channel: u32, is_lost: bool) {
        let Some(listening) = self.channels.remove(&channel) else { return };
        let end = listening.read_at(self.now).at;
        let Listening { clocks, marks, .. } = listening;
        if end <= self.measure_from {
            return;
        }
        let ending = clocks.end_listening(is_lost, end, &self.options, &mut self.found);
        if let Some(marks) = marks {
            let span = (clocks.intended_start, end);
            clocks.sample(&marks, None, ending, span, &mut self.found);
        }
    }
}

impl PushReader for PushObserver {
    fn begin_channel(&mut self, channel: u32, at: Timestamp) {
        let marks = (self.channels.len() < MAX_MARKED).then(EventMarks::with_room);
        let clocks = Clocks::new(at.max(self.measure_from), true);
        self.channels.insert(channel, Listening { clocks, marks, push: Vec::new() });
    }

    fn push_part(&mut self, channel: u32, part: &[u8]) {
        if self.now.at >= self.measure_from
            && let Some(listening) = self.channels.get_mut(&channel)
        {
            let now = listening.read_at(self.now);
            listening.clocks.touch(part.len(), now, &mut self.found);
        }
        if self.options.stamps.is_some()
            && let Some(Listening { push, .. }) = self.channels.get_mut(&channel)
        {
            // One byte more than is read tells that the push is too large.
            push.extend_from_slice(&part[..part.len().min((MAX_PUSH + 1).saturating_sub(push.len()))]);
        }
    }

    fn end_push(&mut self, channel: u32) {
        if self.now.at >= self.measure_from
            && let Some(listening) = self.channels.get_mut(&channel)
        {
            let now = listening.read_at(self.now);
            let Listening { clocks, marks, push } = listening;
            mark(marks, clocks, now);
            clocks.event(now, &self.options, &mut self.found);
            let arrived = self.origin_unix_ns.map(|origin| origin.saturating_add(now.at.0));
            let is_read = self.options.stamps.is_some() && push.len() <= MAX_PUSH;
            let forms = self.options.forms.as_ref().filter(|_| is_read);
            let json = forms.map(|forms| forms.of_received(push).unwrap_or_default());
            record_delay(json.as_ref().map_or(push, |json| json.as_bytes()), arrived, &mut self.found);
        }
        if let Some(listening) = self.channels.get_mut(&channel) {
            listening.push.clear();
            // There may be thousands of channels, each with one large push.
            listening.push.shrink_to(KEPT_CAPACITY);
        }
    }

    fn set_origin(&mut self, unix_ns: Option<u64>) {
        self.origin_unix_ns = unix_ns;
    }

    /// Leaves out everything that came before. The stream of each channel that is open begins.
    fn begin_load(&mut self) {
        self.found = StreamResults::new(&self.options);
        self.now.at = Timestamp::ZERO;
        for listening in self.channels.values_mut() {
            listening.clocks = Clocks::new(self.measure_from, true);
            listening.marks = listening.marks.take().map(|_| EventMarks::with_room());
        }
    }

    fn end_channel(&mut self, channel: u32, is_lost: bool) {
        self.end(channel, is_lost);
    }
}

/// Records the delay of a push: from the sender's time in it to its arrival. A delay that is negative within the bound
/// of the clocks counts as zero. A delay of more than a day is not recorded, because the number is then no time, or has
/// another unit.
fn record_delay(push: &[u8], arrived_unix_ns: Option<u64>, found: &mut StreamResults) {
    let Some(books) = &mut found.stamps else { return };
    let read = (push.len() <= MAX_PUSH).then(|| stamp(push, &books.pointer, books.unit)).flatten();
    let known = read.zip(arrived_unix_ns);
    let Some((sent, arrived)) =
        known.filter(|(sent, arrived)| arrived.saturating_sub(sent.unix_ns) <= LONGEST_DELAY_NS)
    else {
        books.unread += 1;
        return;
    };
    books.step_ns = books.step_ns.min(sent.step_ns);
    if sent.unix_ns > arrived.saturating_add(books.clock_bound_ns).saturating_add(sent.step_ns) {
        books.contradictory += 1;
        return;
    }
    books.read += 1;
    found.record(StreamTime::PushDelay, Nanos(arrived.saturating_sub(sent.unix_ns)));
}

/// Answers to requests are no pushes, and are ignored.
impl AnswerReader for PushObserver {
    fn wants_arrivals(&self) -> bool {
        true
    }

    fn arrive(&mut self, at: Timestamp) {
        self.now = ReadInstant { number: self.now.number + 1, at };
    }

    fn head(&mut self, _: u32, _: AnswerHead<'_>) {}

    fn body(&mut self, _: u32, _: &[u8]) {}

    fn end(&mut self, _: u32, _: EndedRequest) {}

    fn pushes(&mut self) -> Option<&mut dyn PushReader> {
        Some(self)
    }

    fn finish(&mut self, now: Timestamp) {
        self.arrive(now);
        let open: Vec<u32> = self.channels.keys().copied().collect();
        open.into_iter().for_each(|channel| self.end(channel, false));
        let facts = self.found.facts(&self.options);
        self.all_found.lock().unwrap_or_else(PoisonError::into_inner).facts.merge(&facts);
    }
}

#[cfg(test)]
mod tests;
