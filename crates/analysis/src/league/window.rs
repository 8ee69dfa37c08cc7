//! Where in a scenario open and closed loops differ, and by how much.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use truetail_model::scenario::Scenario;
use truetail_model::service::{Fault, StallSchedule, VirtualService};
use truetail_model::time::{Nanos, Timestamp};
use truetail_model::workload::LoadModel;

use super::ServerView;

/// A stretch of the fault clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
pub struct TimeRange {
    /// From here on …
    pub from_ns: u64,
    /// … and before here.
    pub to_ns: u64,
}

/// The time in which the model of a tool shows, and what ideal tools of either model do in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObservationWindow {
    /// Ascending, apart from each other: the stalls, where there are any, else the whole run. Empty where nothing ever
    /// goes wrong.
    pub stretches: Vec<TimeRange>,
    /// Arrivals of an ideal open loop in it.
    pub open: u64,
    /// Arrivals of an ideal closed loop in it.
    pub closed: u64,
    /// The users of that closed loop.
    pub users: u32,
    /// It is made of stalls; otherwise it is the whole run, in which the service is slow and goes on.
    pub stalls: bool,
}

/// An ideal closed loop must lack at least this share of the arrivals of an open one, or nothing can be told from them.
const TELLING_SHARE: f64 = 0.2;
/// And at least so many: fewer can be an accident of timing.
const TELLING_ARRIVALS: u64 = 20;

/// The window of a scenario with a rate and a duration, for closed loops of `users`.
pub fn window(scenario: &Scenario, users: u32) -> ObservationWindow {
    let end = scenario.workload.model.horizon().duration.unwrap_or_default();
    let mut stretches = stalls(scenario, end);
    let stalls = !stretches.is_empty();
    if stretches.is_empty() && !is_healthy(scenario) {
        stretches.push(TimeRange { from_ns: 0, to_ns: end.0 });
    }
    let open = ServerView::new(open_arrivals(scenario));
    let closed = ServerView::new(closed_arrivals(scenario, users, end));
    ObservationWindow {
        open: seen_in(&open, &stretches),
        closed: seen_in(&closed, &stretches),
        users,
        stalls,
        stretches,
    }
}

impl ObservationWindow {
    /// How many requests the server saw in it.
    pub fn seen(&self, view: &ServerView) -> u64 {
        seen_in(view, &self.stretches)
    }

    /// Is the difference of open and closed large enough to be told?
    pub fn tells(&self) -> bool {
        let lacking = self.open.saturating_sub(self.closed);
        lacking >= TELLING_ARRIVALS && lacking as f64 >= self.open as f64 * TELLING_SHARE
    }
}

fn seen_in(view: &ServerView, stretches: &[TimeRange]) -> u64 {
    stretches.iter().map(|stretch| view.between(Timestamp(stretch.from_ns), Timestamp(stretch.to_ns))).sum()
}

/// What may go wrong with the requests of a scenario.
fn faults(scenario: &Scenario) -> impl Iterator<Item = &Fault> {
    scenario.service.faults_at(scenario.service.route_of(&scenario.path))
}

fn is_healthy(scenario: &Scenario) -> bool {
    faults(scenario).next().is_none() && scenario.service.concurrency.is_none() && !scenario.service.is_batched()
}

/// Every stall that begins before the end, cut off there; those that overlap are one.
fn stalls(scenario: &Scenario, end: Nanos) -> Vec<TimeRange> {
    let mut all: Vec<TimeRange> = faults(scenario).flat_map(|fault| stalls_of(fault, end)).collect();
    all.sort_unstable_by_key(|stretch| stretch.from_ns);
    let mut apart: Vec<TimeRange> = Vec::new();
    for stretch in all {
        match apart.last_mut() {
            Some(last) if stretch.from_ns <= last.to_ns => last.to_ns = last.to_ns.max(stretch.to_ns),
            _ => apart.push(stretch),
        }
    }
    apart
}

fn stalls_of(fault: &Fault, end: Nanos) -> Vec<TimeRange> {
    let Some(StallSchedule { first, every, length, times, .. }) = fault.stall_schedule() else { return Vec::new() };
    (0..times.unwrap_or(u64::MAX))
        .map(|n| Timestamp(first.0.saturating_add(every.0.saturating_mul(n))))
        .take_while(|at| at.0 < end.0)
        .map(|at| TimeRange { from_ns: at.0, to_ns: (at + length).0.min(end.0) })
        .collect()
}

fn open_arrivals(scenario: &Scenario) -> Vec<(u64, Option<u64>)> {
    let LoadModel::Open(schedule) = &scenario.workload.model else { return Vec::new() };
    let mut first = None;
    let mut since_first = |at: Timestamp| at.since(*first.get_or_insert(at)).0;
    schedule.arrivals().map(|arrival| (since_first(arrival.intended_start), None)).collect()
}

/// What users see who each wait for their answer and ask again at once, without a network.
fn closed_arrivals(scenario: &Scenario, users: u32, end: Nanos) -> Vec<(u64, Option<u64>)> {
    let mut service = VirtualService::new(&scenario.service, &scenario.path);
    let mut asks: BinaryHeap<Reverse<Timestamp>> = (0..users).map(|_| Reverse(Timestamp::ZERO)).collect();
    let mut arrivals = Vec::new();
    // When each answer of a batch was asked for.
    let mut asked = Vec::new();
    // An answer that takes no time at all would keep a user asking at one instant for ever.
    let asks_again = |at: Timestamp, completed: Timestamp| Reverse(completed.max(at + Nanos(1)));
    loop {
        let next_ask = asks.peek().map_or(Timestamp::NEVER, |Reverse(at)| *at);
        let next = next_ask.min(service.next_event());
        if next.0 >= end.0 {
            return arrivals;
        }
        service.advance(next, &mut |event| {
            if event.is_last {
                asks.push(asks_again(asked[event.key], event.at));
            }
        });
        if next == next_ask {
            asks.pop();
            arrivals.push((next.0, None));
            match service.admit(next, asked.len()).completed {
                Some(completed) => asks.push(asks_again(next, completed)),
                None => asked.push(next),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use truetail_model::scenario::builtin;

    use super::*;

    fn of(name: &str) -> ObservationWindow {
        window(&builtin::find(name).unwrap(), 10)
    }

    #[test]
    fn a_stall_tells_open_from_closed() {
        let window = of("02");
        assert_eq!(window.stretches, [TimeRange { from_ns: 30_000_000_000, to_ns: 31_000_000_000 }]);
        assert_eq!(window.open, 1000);
        assert!(window.closed <= 10 && window.tells(), "{window:?}");
        let pauses = of("04");
        assert_eq!((pauses.stretches.len(), pauses.open), (6, 1200));
        assert!(pauses.closed <= 60 && pauses.tells(), "{pauses:?}");
    }

    #[test]
    fn a_service_that_slows_down_tells_them_over_the_whole_run() {
        for name in ["03", "05"] {
            let window = of(name);
            assert_eq!((window.stretches.len(), window.open), (1, 60_000), "{name}");
            assert!(window.closed < 31_000 && window.tells(), "{name}: {window:?}");
        }
    }

    #[test]
    fn nothing_tells_them_where_ten_users_keep_up() {
        assert_eq!(of("01"), ObservationWindow { stretches: Vec::new(), open: 0, closed: 0, users: 10, stalls: false });
        assert!(!of("01").tells() && !of("05-saturation-not-binding").tells());
    }
}
