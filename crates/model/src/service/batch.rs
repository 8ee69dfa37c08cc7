//! Continuous batching in operation, for the server in real time and the simulator in virtual time.

use std::collections::VecDeque;

use super::effect::{Gate, StallSchedule, pass_gates};
use super::fault::{Fault, FaultKind, FaultSet};
use super::stream::Batch;
use crate::time::Timestamp;

/// Event with content of a stream in a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BatchEvent<K> {
    /// Key of the stream.
    pub key: K,
    /// Instant of the event.
    pub at: Timestamp,
    /// True if it is the last event: the stream leaves the batch.
    pub is_last: bool,
    /// Faults that the event met.
    pub faults: FaultSet,
}

/// Batch in operation. It works in steps. At the end of a step, every stream in it gets one event. The next step begins
/// at once, with the streams that are ready by then, up to the cap.
///
/// While a gate for arrivals is shut, no stream enters a new step. While a gate for events is shut, no step ends.
///
/// Events depend on the streams that are ready when each step begins, not on the calls of [`BatchState::advance`].
#[derive(Clone, Debug)]
pub struct BatchState<K> {
    batch: Batch,
    stalls: Vec<(StallSchedule, FaultKind)>,
    /// Waiting streams, in the order of their `ready`.
    queue: VecDeque<Waiting<K>>,
    /// Streams of the last step that did not end with it.
    active: Vec<Active<K>>,
    /// End of the last step.
    free_from: Timestamp,
    /// Step that ends next, as far as is known.
    step: Option<Step>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting<K> {
    key: K,
    ready: Timestamp,
    events: u64,
}

#[derive(Clone, Copy, Debug)]
struct Active<K> {
    key: K,
    left: u64,
    /// Faults that its next event has met already.
    faults: FaultSet,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    beginning: usize,
    ends: Timestamp,
    faults: FaultSet,
}

impl<K: Copy> BatchState<K> {
    /// Creates an empty batch at the start of the fault clock.
    pub fn new(batch: Batch, faults: &[Fault]) -> BatchState<K> {
        let stalls =
            faults.iter().filter_map(|fault| fault.stall_schedule().map(|stall| (stall, fault.kind()))).collect();
        BatchState { batch, stalls, queue: VecDeque::new(), active: Vec::new(), free_from: Timestamp::ZERO, step: None }
    }

    /// Returns true if no stream is in the batch or waits for it.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.active.is_empty()
    }

    /// Adds a stream of `events` events, at least one. `ready` must not be before the last [`BatchState::advance`].
    pub fn join(&mut self, key: K, ready: Timestamp, events: u64) {
        let place = self.queue.partition_point(|waiting| waiting.ready <= ready);
        self.queue.insert(place, Waiting { key, ready, events: events.max(1) });
        self.step = self.next_step();
    }

    /// Returns the time of the next event; [`Timestamp::NEVER`] if none comes.
    pub fn next(&self) -> Timestamp {
        self.step.map_or(Timestamp::NEVER, |step| step.ends)
    }

    /// Hands over all events up to `now`, in the order of time, and within one step in the order of the streams'
    /// starts.
    pub fn advance(&mut self, now: Timestamp, on_event: &mut impl FnMut(BatchEvent<K>)) {
        while let Some(step) = self.step.filter(|step| step.ends <= now && step.ends != Timestamp::NEVER) {
            self.end(step, on_event);
            self.free_from = step.ends;
            self.step = self.next_step();
        }
    }

    fn end(&mut self, step: Step, on_event: &mut impl FnMut(BatchEvent<K>)) {
        for waiting in self.queue.drain(..step.beginning) {
            let mut faults = FaultSet::NONE;
            if let Some((_, kind)) = shut(&self.stalls, Gate::Arrivals, waiting.ready) {
                faults.insert(kind);
            }
            self.active.push(Active { key: waiting.key, left: waiting.events, faults });
        }
        self.active.retain_mut(|stream| {
            stream.left -= 1;
            let faults = std::mem::take(&mut stream.faults).union(step.faults);
            on_event(BatchEvent { key: stream.key, at: step.ends, is_last: stream.left == 0, faults });
            stream.left > 0
        });
    }

    /// Returns the step after the last one, with the streams that are ready when it begins.
    fn next_step(&self) -> Option<Step> {
        let mut begins = self.free_from;
        if self.active.is_empty() {
            begins = self.pass_gate(Gate::Arrivals, begins.max(self.queue.front()?.ready)).0;
        }
        let is_shut = shut(&self.stalls, Gate::Arrivals, begins).is_some();
        let beginning = if is_shut { 0 } else { self.ready_at(begins).min(self.room()) };
        let streams = (self.active.len() + beginning) as u64;
        let (ends, faults) = self.pass_gate(Gate::Events, begins + self.batch.step_of(streams, beginning as u64));
        Some(Step { beginning, ends, faults })
    }

    fn ready_at(&self, instant: Timestamp) -> usize {
        self.queue.partition_point(|waiting| waiting.ready <= instant)
    }

    fn room(&self) -> usize {
        (self.batch.cap.max(1) as usize).saturating_sub(self.active.len())
    }

    /// Returns when something that reaches a gate at `instant` passes it, and the faults that held it.
    fn pass_gate(&self, gate: Gate, instant: Timestamp) -> (Timestamp, FaultSet) {
        let mut met = FaultSet::NONE;
        let passed = pass_gates(instant, |at| {
            let (opens, kind) = shut(&self.stalls, gate, at)?;
            met.insert(kind);
            Some(opens)
        });
        (passed, met)
    }
}

/// Returns the end of the first stall in the list that holds `gate` shut at `instant`.
fn shut(stalls: &[(StallSchedule, FaultKind)], gate: Gate, instant: Timestamp) -> Option<(Timestamp, FaultKind)> {
    stalls.iter().find_map(|(stall, kind)| stall.opens_at(gate, instant).map(|opens| (opens, *kind)))
}
