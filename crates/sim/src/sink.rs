//! Receivers of simulated requests.

use truetail_model::record::{Recorder, RequestRecord};
use truetail_model::service::StreamEnd;
use truetail_model::time::Timestamp;

/// Answer of a service that streams, as it would have come if its client had waited.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SimulatedStream {
    /// Instant of the head; [`Timestamp::NEVER`] without a head.
    pub head: Timestamp,
    /// True if it is the head of a stream.
    pub is_stream: bool,
    /// Instants of events, ascending, each with the number of events.
    pub events: Vec<(Timestamp, u64)>,
    /// End of the stream, unless its connection is closed before.
    pub end: StreamEnd,
}

/// Receives the arrivals of a simulation.
pub trait Sink {
    /// Receives an arrival that was taken from the schedule. [`Sink::ended`] follows for each, at once or later.
    fn planned(&mut self, intended_start: Timestamp);

    /// Receives the record of an arrival.
    fn ended(&mut self, record: &RequestRecord);

    /// Receives the stream of an arrival just before [`Sink::ended`], if the service streams.
    fn streamed(&mut self, _record: &RequestRecord, _answer: &SimulatedStream) {}
}

impl Sink for Recorder {
    #[inline]
    fn planned(&mut self, intended_start: Timestamp) {
        self.plan(intended_start);
    }

    #[inline]
    fn ended(&mut self, record: &RequestRecord) {
        self.record(record);
    }
}

/// Hands everything to both sinks, in order.
impl<A: Sink, B: Sink> Sink for (A, B) {
    fn planned(&mut self, intended_start: Timestamp) {
        self.0.planned(intended_start);
        self.1.planned(intended_start);
    }

    fn ended(&mut self, record: &RequestRecord) {
        self.0.ended(record);
        self.1.ended(record);
    }

    fn streamed(&mut self, record: &RequestRecord, answer: &SimulatedStream) {
        self.0.streamed(record, answer);
        self.1.streamed(record, answer);
    }
}

/// Hands everything to the sink, if it exists.
impl<S: Sink> Sink for Option<S> {
    fn planned(&mut self, intended_start: Timestamp) {
        self.iter_mut().for_each(|sink| sink.planned(intended_start));
    }

    fn ended(&mut self, record: &RequestRecord) {
        self.iter_mut().for_each(|sink| sink.ended(record));
    }

    fn streamed(&mut self, record: &RequestRecord, answer: &SimulatedStream) {
        self.iter_mut().for_each(|sink| sink.streamed(record, answer));
    }
}

impl<S: Sink> Sink for &mut S {
    fn planned(&mut self, intended_start: Timestamp) {
        (**self).planned(intended_start);
    }

    fn ended(&mut self, record: &RequestRecord) {
        (**self).ended(record);
    }

    fn streamed(&mut self, record: &RequestRecord, answer: &SimulatedStream) {
        (**self).streamed(record, answer);
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct DiscardSink;

impl Sink for DiscardSink {
    fn planned(&mut self, _: Timestamp) {}

    fn ended(&mut self, _: &RequestRecord) {}
}
