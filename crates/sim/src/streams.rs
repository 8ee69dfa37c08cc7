//! Open streams in virtual time.

use std::collections::VecDeque;

use truetail_model::service::{StreamOutline, StreamWrite, VirtualAnswer};
use truetail_model::time::Timestamp;

use crate::in_flight::InFlightRequest;
use crate::sink::SimulatedStream;
use crate::stream_ticket::StreamTicket;

/// Answers of a service that streams, each in a place that is used again.
#[derive(Clone, Debug)]
pub(crate) struct OpenStreams {
    outline: StreamOutline,
    places: Vec<StreamSlot>,
    free: Vec<u32>,
    /// Times when clients give up streams of the batch, ascending.
    deadlines: VecDeque<(Timestamp, StreamTicket)>,
    begun: u64,
}

#[derive(Clone, Debug)]
struct StreamSlot {
    seen: SimulatedStream,
    ticket: StreamTicket,
    /// Its request, while only the batch knows its end.
    in_batch: Option<InFlightRequest>,
}

impl OpenStreams {
    pub(crate) fn new(outline: StreamOutline) -> OpenStreams {
        OpenStreams { outline, places: Vec::new(), free: Vec::new(), deadlines: VecDeque::new(), begun: 0 }
    }

    pub(crate) fn next_ticket(&self) -> StreamTicket {
        let place = self.free.last().copied().unwrap_or(self.places.len() as u32);
        StreamTicket { place, number: self.begun }
    }

    /// Begins an answer. The fault clock started at `origin`.
    pub(crate) fn begin(&mut self, answer: &VirtualAnswer, origin: Timestamp) {
        let ticket = self.next_ticket();
        let real = |instant: Timestamp| origin + instant.since_origin();
        let events_of = |write: &StreamWrite| (real(write.at), self.outline.events_of(*write));
        let has_head = answer.plan.action.status().is_some();
        let seen = SimulatedStream {
            head: if has_head { real(answer.plan.due) } else { Timestamp::NEVER },
            is_stream: answer.is_stream,
            events: answer.writes.iter().map(events_of).filter(|(_, events)| *events > 0).collect(),
            end: self.outline.end,
        };
        self.begun += 1;
        let place = StreamSlot { seen, ticket, in_batch: None };
        match self.free.pop() {
            Some(free) => self.places[free as usize] = place,
            None => self.places.push(place),
        }
    }

    /// Lets the batch decide when a stream ends, unless its client gives up, at the current end of `request`.
    pub(crate) fn wait(&mut self, ticket: StreamTicket, request: InFlightRequest) {
        self.places[ticket.place as usize].in_batch = Some(request);
        if request.record.end != Timestamp::NEVER {
            self.deadlines.push_back((request.record.end, ticket));
        }
    }

    /// Adds an event of the batch. Returns the request if the event ends it.
    pub(crate) fn step(&mut self, ticket: StreamTicket, at: Timestamp, is_last: bool) -> Option<InFlightRequest> {
        let stream = &mut self.places[ticket.place as usize];
        if stream.ticket != ticket || stream.in_batch.is_none() {
            return None;
        }
        let first = stream.seen.events.len() as u64;
        let write = StreamWrite { at, first, content: 1, ends: is_last && !self.outline.is_cut, is_stalled: false };
        stream.seen.events.push((at, self.outline.events_of(write)));
        if is_last { stream.in_batch.take() } else { None }
    }

    /// Returns when the next client gives up a stream of the batch.
    pub(crate) fn next_deadline(&mut self) -> Timestamp {
        while let Some((at, ticket)) = self.deadlines.front() {
            let stream = &self.places[ticket.place as usize];
            if stream.ticket == *ticket && stream.in_batch.is_some() {
                return *at;
            }
            self.deadlines.pop_front();
        }
        Timestamp::NEVER
    }

    /// Returns a request that its client gives up at `now`.
    pub(crate) fn take_given_up(&mut self, now: Timestamp) -> Option<InFlightRequest> {
        if self.next_deadline() > now {
            return None;
        }
        let (_, ticket) = self.deadlines.pop_front()?;
        self.places[ticket.place as usize].in_batch.take()
    }

    /// Frees the place of an answer that has ended, and returns the answer as far as it came.
    pub(crate) fn take(&mut self, ticket: StreamTicket) -> &SimulatedStream {
        self.free.push(ticket.place);
        &self.places[ticket.place as usize].seen
    }

    /// Takes the requests whose end only the batch knows.
    pub(crate) fn take_waiting(&mut self) -> impl Iterator<Item = InFlightRequest> + '_ {
        self.places.iter_mut().filter_map(|place| place.in_batch.take())
    }
}
