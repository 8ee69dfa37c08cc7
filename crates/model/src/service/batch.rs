//! Continuous batching in operation. It is the same for the server in real time and the simulator in virtual time.

use std::collections::VecDeque;

use super::effect::{Gate, StallSchedule, pass_gates};
use super::fault::{Fault, FaultKind, FaultSet};
use super::stream::Batch;
use crate::time::Timestamp;

/// What happens to a stream in a batch: an event with content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BatchEvent<K> {
    /// Whose it is.
    pub key: K,
    /// When.
    pub at: Timestamp,
    /// It is the last one, and the stream leaves the batch.
    pub is_last: bool,
    /// The faults that it met.
    pub faults: FaultSet,
}

/// A batch in operation. It works in steps, each of which gives every stream in it one event when it ends. The next step
/// begins at once, with the streams that are ready by then, as far as the cap has room.
///
/// A gate for arrivals that is shut lets no stream into the steps that begin meanwhile. One for events ends no step: a step
/// that would end meanwhile ends when the gate opens.
///
/// What happens depends on who is ready at the beginning of each step, and not on how often [`BatchState::advance`] is called.
#[derive(Clone, Debug)]
pub struct BatchState<K> {
    batch: Batch,
    stalls: Vec<(StallSchedule, FaultKind)>,
    /// Streams that wait, in the order in which they are ready.
    queue: VecDeque<Waiting<K>>,
    /// Streams in the step that ended last, and not with it.
    active: Vec<Active<K>>,
    /// When that was.
    free_from: Timestamp,
    /// The step that ends next, as far as is known.
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
    /// What its next event met on the way.
    faults: FaultSet,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    beginning: usize,
    ends: Timestamp,
    faults: FaultSet,
}

impl<K: Copy> BatchState<K> {
    /// An empty batch, at the start of the fault clock.
    pub fn new(batch: Batch, faults: &[Fault]) -> BatchState<K> {
        let stalls =
            faults.iter().filter_map(|fault| fault.stall_schedule().map(|stall| (stall, fault.kind()))).collect();
        BatchState { batch, stalls, queue: VecDeque::new(), active: Vec::new(), free_from: Timestamp::ZERO, step: None }
    }

    /// Nobody is in it, and nobody waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.active.is_empty()
    }

    /// A stream of `events` events, at least one, is ready at `ready`, which is not earlier than what
    /// [`BatchState::advance`] was called with.
    pub fn join(&mut self, key: K, ready: Timestamp, events: u64) {
        let place = self.queue.partition_point(|waiting| waiting.ready <= ready);
        self.queue.insert(place, Waiting { key, ready, events: events.max(1) });
        self.step = self.next_step();
    }

    /// When the next event comes; [`Timestamp::NEVER`] if none does.
    pub fn next(&self) -> Timestamp {
        self.step.map_or(Timestamp::NEVER, |step| step.ends)
    }

    /// Hands over all events up to `now`, in the order of their instants; those of one step in the order in which their
    /// streams began.
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
            let faults = std::mem::take(&mut stream.faults).and(step.faults);
            on_event(BatchEvent { key: stream.key, at: step.ends, is_last: stream.left == 0, faults });
            stream.left > 0
        });
    }

    /// The step that follows the last one, with those who are ready when it begins.
    fn next_step(&self) -> Option<Step> {
        let mut begins = self.free_from;
        if self.active.is_empty() {
            begins = self.through(Gate::Arrivals, begins.max(self.queue.front()?.ready)).0;
        }
        let is_shut = shut(&self.stalls, Gate::Arrivals, begins).is_some();
        let beginning = if is_shut { 0 } else { self.ready_at(begins).min(self.room()) };
        let streams = (self.active.len() + beginning) as u64;
        let (ends, faults) = self.through(Gate::Events, begins + self.batch.step_of(streams, beginning as u64));
        Some(Step { beginning, ends, faults })
    }

    fn ready_at(&self, instant: Timestamp) -> usize {
        self.queue.partition_point(|waiting| waiting.ready <= instant)
    }

    fn room(&self) -> usize {
        (self.batch.cap.max(1) as usize).saturating_sub(self.active.len())
    }

    /// When something that is at a gate at `instant` is through, and what held it.
    fn through(&self, gate: Gate, instant: Timestamp) -> (Timestamp, FaultSet) {
        let mut met = FaultSet::NONE;
        let passed = pass_gates(instant, |at| {
            let (opens, kind) = shut(&self.stalls, gate, at)?;
            met.insert(kind);
            Some(opens)
        });
        (passed, met)
    }
}

/// When the first of the stalls that hold `gate` shut at `instant` ends.
fn shut(stalls: &[(StallSchedule, FaultKind)], gate: Gate, instant: Timestamp) -> Option<(Timestamp, FaultKind)> {
    stalls.iter().find_map(|(stall, kind)| stall.opens_at(gate, instant).map(|opens| (opens, *kind)))
}
