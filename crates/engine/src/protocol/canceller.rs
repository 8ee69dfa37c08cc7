//! Cancels the requests of chosen arrivals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use truetail_model::arrival::Arrival;
use truetail_model::cancellation::Cancellation;
use truetail_model::time::Timestamp;

use super::observer::{AnswerHead, AnswerLimits, AnswerReader, EndedRequest, RequestMaker, SessionScript, Trailers};
use super::push_reader::PushReader;

/// Gives up the requests of the arrivals that a [`Cancellation`] chooses, and hides them from another reader, so that
/// no measurement includes them.
pub(crate) struct Canceller {
    cancel: Cancellation,
    reader: Option<Box<dyn AnswerReader>>,
    /// By request number.
    chosen: Vec<ChosenRequest>,
    due: BinaryHeap<Reverse<DueCancellation>>,
}

/// State of one request number.
#[derive(Clone, Copy, Default)]
struct ChosenRequest {
    is_chosen: bool,
    /// Distinguishes successive requests with the same number.
    generation: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DueCancellation {
    at: Timestamp,
    request: u32,
    generation: u32,
}

impl Canceller {
    pub(crate) fn new(cancel: Cancellation, reader: Option<Box<dyn AnswerReader>>) -> Canceller {
        Canceller { cancel, reader, chosen: Vec::new(), due: BinaryHeap::new() }
    }

    /// Returns the other reader, if it must hear of this request.
    #[inline]
    fn reader_of(&mut self, request: u32) -> Option<&mut Box<dyn AnswerReader>> {
        let is_chosen = self.chosen.get(request as usize).is_some_and(|state| state.is_chosen);
        self.reader.as_mut().filter(|_| !is_chosen)
    }
}

impl AnswerReader for Canceller {
    fn begin(&mut self, request: u32, target: u32, arrival: Arrival) {
        let place = request as usize;
        if self.chosen.len() <= place {
            self.chosen.resize(place + 1, ChosenRequest::default());
        }
        let is_chosen = self.cancel.chooses(arrival.index);
        let generation = self.chosen[place].generation.wrapping_add(1);
        self.chosen[place] = ChosenRequest { is_chosen, generation };
        if is_chosen {
            let at = arrival.intended_start + self.cancel.after();
            self.due.push(Reverse(DueCancellation { at, request, generation }));
        } else if let Some(reader) = &mut self.reader {
            reader.begin(request, target, arrival);
        }
    }

    fn wants_arrivals(&self) -> bool {
        self.reader.as_ref().is_some_and(|reader| reader.wants_arrivals())
    }

    fn arrive(&mut self, at: Timestamp) {
        if let Some(reader) = &mut self.reader {
            reader.arrive(at);
        }
    }

    fn head(&mut self, request: u32, head: AnswerHead<'_>) {
        if let Some(reader) = self.reader_of(request) {
            reader.head(request, head);
        }
    }

    fn body(&mut self, request: u32, part: &[u8]) {
        if let Some(reader) = self.reader_of(request) {
            reader.body(request, part);
        }
    }

    fn end_chunk(&mut self, request: u32) {
        if let Some(reader) = self.reader_of(request) {
            reader.end_chunk(request);
        }
    }

    fn end_message(&mut self, request: u32) {
        if let Some(reader) = self.reader_of(request) {
            reader.end_message(request);
        }
    }

    fn trailers(&mut self, request: u32, trailers: Trailers<'_>) {
        if let Some(reader) = self.reader_of(request) {
            reader.trailers(request, trailers);
        }
    }

    fn end(&mut self, request: u32, ended: EndedRequest) {
        if let Some(reader) = self.reader_of(request) {
            reader.end(request, ended);
        }
        // Its cancellation is over too.
        let state = &mut self.chosen[request as usize];
        *state = ChosenRequest { is_chosen: false, generation: state.generation.wrapping_add(1) };
    }

    fn never_issued(&mut self, target: u32, arrival: Arrival, now: Timestamp) {
        if let Some(reader) = self.reader.as_mut().filter(|_| !self.cancel.chooses(arrival.index)) {
            reader.never_issued(target, arrival, now);
        }
    }

    fn script(&mut self) -> Option<&mut dyn SessionScript> {
        self.reader.as_mut()?.script()
    }

    fn maker(&mut self) -> Option<&mut dyn RequestMaker> {
        self.reader.as_mut()?.maker()
    }

    fn limits(&mut self) -> Option<&mut dyn AnswerLimits> {
        Some(self)
    }

    fn pushes(&mut self) -> Option<&mut dyn PushReader> {
        self.reader.as_mut()?.pushes()
    }

    fn finish(&mut self, now: Timestamp) {
        if let Some(reader) = &mut self.reader {
            reader.finish(now);
        }
    }
}

impl AnswerLimits for Canceller {
    fn first_deadline(&mut self) -> Timestamp {
        let mine = self.due.peek().map_or(Timestamp::NEVER, |Reverse(due)| due.at);
        let limits = self.reader.as_mut().and_then(|reader| reader.limits());
        limits.map_or(mine, |limits| mine.min(limits.first_deadline()))
    }

    fn overdue(&mut self, now: Timestamp) -> Option<u32> {
        // A due request stays here until it ends: the engine asks once more after reading what came meanwhile.
        while let Some(Reverse(due)) = self.due.peek().filter(|Reverse(due)| due.at <= now) {
            if self.chosen[due.request as usize].generation == due.generation {
                return Some(due.request);
            }
            self.due.pop();
        }
        self.reader.as_mut()?.limits()?.overdue(now)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use truetail_model::record::Outcome;

    use super::*;
    use crate::target::request_set::RequestId;

    /// Notes the arrivals that it hears of.
    #[derive(Clone, Default)]
    struct Heard(Arc<Mutex<Vec<(&'static str, u64)>>>);

    impl AnswerReader for Heard {
        fn begin(&mut self, _: u32, _: u32, arrival: Arrival) {
            self.0.lock().unwrap().push(("begin", arrival.index));
        }
        fn head(&mut self, _: u32, _: AnswerHead<'_>) {}
        fn body(&mut self, request: u32, _: &[u8]) {
            self.0.lock().unwrap().push(("body", request.into()));
        }
        fn end(&mut self, _: u32, ended: EndedRequest) {
            self.0.lock().unwrap().push(("end", ended.arrival.index));
        }
        fn never_issued(&mut self, _: u32, arrival: Arrival, _: Timestamp) {
            self.0.lock().unwrap().push(("never", arrival.index));
        }
    }

    fn arrival(index: u64) -> Arrival {
        Arrival { index, intended_start: Timestamp(index * 10) }
    }

    fn ended(index: u64) -> EndedRequest {
        let arrival = arrival(index);
        let start = arrival.intended_start;
        let id = RequestId { target: 0, row: 0 };
        EndedRequest { arrival, id, outcome: Outcome::ANSWERED, start, end: Timestamp(start.0 + 1) }
    }

    #[test]
    fn chosen_requests_are_due_until_they_end_and_nobody_hears_of_them() {
        let cancel = Cancellation { share: 0.5, after_ns: 1_000, seed: 3 };
        let chosen = |is_chosen| (0..).filter(move |index| cancel.chooses(*index) == is_chosen);
        let [first, second, third] = std::array::from_fn(|nth| chosen(true).nth(nth).unwrap());
        let other = chosen(false).next().unwrap();
        let heard = Heard::default();
        let mut canceller = Canceller::new(cancel, Some(Box::new(heard.clone())));
        for (request, index) in [(0, first), (1, other), (2, second)] {
            canceller.begin(request, 0, arrival(index));
            canceller.body(request, b"part");
        }
        let due_at = |index: u64| Timestamp(index * 10 + 1_000);
        assert_eq!(canceller.first_deadline(), due_at(first));
        assert_eq!(canceller.overdue(Timestamp(due_at(first).0 - 1)), None);
        let late = Timestamp(1_000_000);
        assert_eq!([canceller.overdue(late), canceller.overdue(late)], [Some(0); 2], "until it has ended");
        canceller.end(0, ended(first));
        assert_eq!(canceller.overdue(late), Some(2));
        // Its answer comes before it is cancelled, and another request takes its number.
        canceller.end(2, ended(second));
        canceller.begin(2, 0, arrival(third));
        canceller.end(1, ended(other));
        assert_eq!((canceller.overdue(Timestamp(999)), canceller.overdue(late)), (None, Some(2)));
        canceller.end(2, ended(third));
        assert_eq!(canceller.overdue(late), None);
        canceller.never_issued(0, arrival(first), late);
        canceller.never_issued(0, arrival(other), late);
        let of_other = [("begin", other), ("body", 1), ("end", other), ("never", other)];
        assert_eq!(*heard.0.lock().unwrap(), of_other);
    }
}
