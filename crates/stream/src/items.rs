//! Streams whose events are items of an asynchronous generator. They have no bytes and no heads.

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use truetail_engine::callable::CallEnd;
use truetail_model::arrival::Arrival;
use truetail_model::record::{Outcome, Samples};
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::{EventMarks, KeptStreams, RequestStream, StreamFacts, StreamKind};

use crate::found::StreamResults;
use crate::open_gaps::OpenGaps;
use crate::open_stream::{Clocks, Head, MAX_MARKED, ReadInstant, mark};
use crate::options::StreamOptions;

/// Time that separates two items although the second was ready when it was asked for: the generator then worked on it
/// without yielding to the event loop. Reading the next of several ready items takes only microseconds.
const APART: Nanos = Nanos::from_millis(1);

/// The streams of a run. Clones refer to the same run, and different threads may use them.
#[derive(Clone, Debug)]
pub struct ItemStreams(Arc<Mutex<Books>>);

#[derive(Debug)]
struct Books {
    options: StreamOptions,
    measure_from: Timestamp,
    found: StreamResults,
    kept: KeptStreams,
    /// By the index of the arrival.
    open: HashMap<u64, ItemStream>,
    /// Number of items that the caller had to wait for.
    waited: u64,
}

#[derive(Debug)]
struct ItemStream {
    clocks: Clocks,
    /// Time of its last item.
    yielded: Timestamp,
    /// Its gaps. They are only counted if [`MAX_MARKED`] streams were open when it began.
    gaps: OpenGaps,
    /// Times of its items, or `None` if [`MAX_MARKED`] streams were open when it began.
    marks: Option<EventMarks>,
}

impl ItemStreams {
    /// Creates an empty record. Arrivals before `measure_from` are left out. Gaps of at least `stall` are stalls.
    pub fn new(stall: Option<Nanos>, measure_from: Timestamp) -> ItemStreams {
        let options = StreamOptions { stall, ..StreamOptions::new(StreamKind::Items) };
        let found = StreamResults::new(&options);
        let kept = KeptStreams::with_room();
        ItemStreams(Arc::new(Mutex::new(Books { options, measure_from, found, kept, open: HashMap::new(), waited: 0 })))
    }

    /// Records that a generator is about to start for this arrival.
    pub fn begin(&self, arrival: Arrival) {
        let mut books = self.lock();
        let is_one_of_few = books.open.len() < MAX_MARKED;
        let marks = is_one_of_few.then(EventMarks::with_room);
        let gaps = if is_one_of_few { OpenGaps::with_room() } else { OpenGaps::default() };
        let clocks = books.clocks(arrival);
        books.open.insert(arrival.index, ItemStream { clocks, yielded: arrival.intended_start, gaps, marks });
    }

    /// Records that the generator yielded an item at `at`. `had_to_wait` means that the caller had to wait for it. A
    /// ready item counts as coming together with the one before, unless it took [`APART`] to yield.
    pub fn record_item(&self, arrival: Arrival, at: Timestamp, had_to_wait: bool) {
        let Books { options, found, open, waited, .. } = &mut *self.lock();
        let Some(ItemStream { clocks, yielded, gaps, marks }) = open.get_mut(&arrival.index) else { return };
        let is_together = !had_to_wait && at.since(*yielded) < APART;
        *yielded = at;
        let now = match clocks.last().filter(|_| is_together) {
            Some(together) => together,
            None => {
                *waited += 1;
                ReadInstant { number: *waited, at }
            }
        };
        clocks.head = Head::OfStream;
        mark(marks, clocks, now);
        mem::swap(gaps, &mut found.gaps.open);
        clocks.event(now, options, found);
        mem::swap(gaps, &mut found.gaps.open);
    }

    /// Records that the generator of an arrival has ended, or that the run has.
    pub fn end(&self, call: &CallEnd) {
        let Books { options, found, kept, open, .. } = &mut *self.lock();
        let Some(ItemStream { mut clocks, gaps, marks, .. }) = open.remove(&call.arrival.index) else { return };
        if !clocks.is_measured {
            return;
        }
        if matches!(call.outcome, Outcome::Response { .. }) {
            clocks.head = Head::OfStream;
        }
        // An item may come between the end of the run and this call.
        let end = clocks.last_event().map_or(call.end, |last| last.max(call.end));
        let is_complete = clocks.is_complete(call.outcome, true, options);
        let ending = clocks.end(call.outcome, end, is_complete, options, found);
        let row = RequestStream { gaps: gaps.count, ..clocks.row(call.arrival.index, ending) };
        kept.keep(&row, &gaps.first, (call.arrival.intended_start, end));
        if let Some(marks) = marks {
            clocks.sample(&marks, None, ending, (call.actual_start, end), found);
        }
    }

    /// Records that the run ended at `end`, before a generator started for this arrival.
    pub fn never_started(&self, arrival: Arrival, end: Timestamp) {
        let books = &mut *self.lock();
        let clocks = books.clocks(arrival);
        if clocks.is_measured {
            let end = end.max(arrival.intended_start);
            clocks.end(Outcome::NeverIssued, end, false, &books.options, &mut books.found);
        }
    }

    /// Returns the results, with the streams of the calls in `samples`. Call it after the run.
    pub fn facts(&self, samples: &Samples) -> StreamFacts {
        let books = self.lock();
        StreamFacts { requests: books.kept.of_samples(samples), ..books.found.facts(&books.options) }
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Books {
    fn clocks(&self, arrival: Arrival) -> Clocks {
        Clocks::new(arrival.intended_start, arrival.intended_start >= self.measure_from)
    }
}

#[cfg(test)]
mod tests;
