//! Receivers of simulated requests.

use truetail_model::record::{Recorder, RequestRecord};
use truetail_model::time::Timestamp;

/// Receives the arrivals of a simulation.
pub trait Sink {
    /// An arrival was taken from the schedule. [`Sink::ended`] follows for each one, at once or later.
    fn planned(&mut self, intended_start: Timestamp);

    /// The outcome of an arrival.
    fn ended(&mut self, record: &RequestRecord);
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

/// Hands everything to both, in order.
impl<A: Sink, B: Sink> Sink for (A, B) {
    fn planned(&mut self, intended_start: Timestamp) {
        self.0.planned(intended_start);
        self.1.planned(intended_start);
    }

    fn ended(&mut self, record: &RequestRecord) {
        self.0.ended(record);
        self.1.ended(record);
    }
}

impl<S: Sink> Sink for &mut S {
    fn planned(&mut self, intended_start: Timestamp) {
        (**self).planned(intended_start);
    }

    fn ended(&mut self, record: &RequestRecord) {
        (**self).ended(record);
    }
}

/// `None` keeps nothing.
impl<S: Sink> Sink for Option<S> {
    fn planned(&mut self, intended_start: Timestamp) {
        if let Some(sink) = self {
            sink.planned(intended_start);
        }
    }

    fn ended(&mut self, record: &RequestRecord) {
        if let Some(sink) = self {
            sink.ended(record);
        }
    }
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiscardSink;

impl Sink for DiscardSink {
    fn planned(&mut self, _: Timestamp) {}

    fn ended(&mut self, _: &RequestRecord) {}
}
