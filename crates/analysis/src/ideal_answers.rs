//! The answers that an ideal open-loop client gets.

use truetail_model::scenario::Scenario;
use truetail_model::service::{Action, StreamOutline, StreamWrite, VirtualAnswer, VirtualService};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::LoadModel;

/// The answer to one request. All instants but the intended start are on the fault clock.
#[derive(Clone, Debug)]
pub(crate) struct IdealAnswer {
    pub(crate) intended_start: Timestamp,
    pub(crate) arrived: Timestamp,
    completed: Timestamp,
    action: Action,
    /// The connection was closed in the middle of the answer.
    is_cut: bool,
    /// The instants of the events of a stream, and the number of events at each.
    pub(crate) events: Vec<(Timestamp, u64)>,
}

impl IdealAnswer {
    fn new(intended_start: Timestamp, answer: &VirtualAnswer, outline: Option<&StreamOutline>) -> IdealAnswer {
        let events_of = |write: &StreamWrite| outline.map_or(0, |outline| outline.events_of(*write));
        IdealAnswer {
            intended_start,
            arrived: answer.plan.arrived,
            completed: answer.completed.unwrap_or(Timestamp::NEVER),
            action: answer.plan.action,
            is_cut: answer.is_stream && outline.is_some_and(|outline| outline.is_cut),
            events: answer.writes.iter().map(|write| (write.at, events_of(write))).collect(),
        }
    }

    /// Returns `None` if no whole answer ever comes.
    pub(crate) fn response_time(&self) -> Option<Nanos> {
        let is_whole = matches!(self.action, Action::Answer { .. } | Action::SlowBody { .. }) && !self.is_cut;
        (is_whole && self.completed != Timestamp::NEVER).then(|| self.completed.since(self.arrived))
    }

    fn add_step(&mut self, at: Timestamp, is_last: bool, outline: &StreamOutline) {
        let first = self.events.len() as u64;
        let ends = is_last && !outline.is_cut;
        self.events.push((at, outline.events_of(StreamWrite { at, first, content: 1, ends, is_stalled: false })));
        if is_last {
            self.completed = at;
        }
    }
}

/// Passes to `visit` the answers of `scenario` to a client that starts every request at its intended start, in this
/// order and without the warm-up. Returns false unless the load model is open.
///
/// # Panics
/// If the schedule has no end.
pub(crate) fn each_ideal_answer(scenario: &Scenario, mut visit: impl FnMut(IdealAnswer)) -> bool {
    let LoadModel::Open(schedule) = &scenario.workload.model else { return false };
    let horizon = schedule.horizon;
    assert!(horizon.duration.is_some() || horizon.requests.is_some(), "a schedule without an end has no truth");
    let mut service = VirtualService::new(&scenario.service, &scenario.path);
    let outline = service.outline();
    // In a batch an answer depends on later requests.
    let mut in_batch = Vec::new();
    let mut visit_measured = |answer: IdealAnswer| {
        if answer.intended_start.0 >= scenario.workload.warmup.0 {
            visit(answer);
        }
    };
    let mut clock_starts = None;
    for arrival in schedule.arrivals() {
        let started = *clock_starts.get_or_insert(arrival.intended_start);
        let answer = service.admit(Timestamp(arrival.intended_start.since(started).0), in_batch.len());
        let ideal = IdealAnswer::new(arrival.intended_start, &answer, outline.as_ref());
        if service.is_batched() { in_batch.push(ideal) } else { visit_measured(ideal) }
    }
    if let Some(outline) = &outline {
        service.advance(Timestamp::NEVER, &mut |event| in_batch[event.key].add_step(event.at, event.is_last, outline));
    }
    in_batch.into_iter().for_each(visit_measured);
    true
}
