//! The part of a scenario that distinguishes open from closed loops.

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
    /// Start of the stretch …
    pub from_ns: u64,
    /// … and its end, which does not belong to it.
    pub to_ns: u64,
}

/// The time that shows the model of a tool, and what ideal tools of either model do then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObservationWindow {
    /// Ascending, without overlaps: the stalls if there are any, else the whole run. Empty if nothing ever goes wrong.
    pub stretches: Vec<TimeRange>,
    /// Arrivals of an ideal open loop in the window.
    pub open: u64,
    /// Arrivals of an ideal closed loop in the window.
    pub closed: u64,
    /// Number of users of that closed loop.
    pub users: u32,
    /// The window consists of stalls. Otherwise it is the whole run of a slow service without stalls.
    pub stalls: bool,
}

/// Minimum share of an open loop's arrivals that an ideal closed loop must lack. Smaller differences show nothing.
const TELLING_SHARE: f64 = 0.2;
/// Minimum number of arrivals that it must lack. Fewer can be an accident of timing.
const TELLING_ARRIVALS: u64 = 20;

/// Returns the window of a scenario with a rate and a duration, for closed loops of `users`.
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
    /// Returns the number of requests that the server saw in the window.
    pub fn seen(&self, view: &ServerView) -> u64 {
        seen_in(view, &self.stretches)
    }

    /// Returns true if open and closed loops differ enough to be distinguished.
    pub fn is_conclusive(&self) -> bool {
        let lacking = self.open.saturating_sub(self.closed);
        lacking >= TELLING_ARRIVALS && lacking as f64 >= self.open as f64 * TELLING_SHARE
    }
}

fn seen_in(view: &ServerView, stretches: &[TimeRange]) -> u64 {
    stretches.iter().map(|stretch| view.between(Timestamp(stretch.from_ns), Timestamp(stretch.to_ns))).sum()
}

fn faults(scenario: &Scenario) -> impl Iterator<Item = &Fault> {
    scenario.service.faults_at(scenario.service.route_of(&scenario.path))
}

fn is_healthy(scenario: &Scenario) -> bool {
    faults(scenario).next().is_none() && scenario.service.concurrency.is_none() && !scenario.service.is_batched()
}

/// Returns every stall that begins before `end`, cut off at `end`. Stalls that overlap become one.
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

/// Simulates users who each wait for their answer and send the next request at once, without a network.
fn closed_arrivals(scenario: &Scenario, users: u32, end: Nanos) -> Vec<(u64, Option<u64>)> {
    let mut service = VirtualService::new(&scenario.service, &scenario.path);
    let mut asks: BinaryHeap<Reverse<Timestamp>> = (0..users).map(|_| Reverse(Timestamp::ZERO)).collect();
    let mut arrivals = Vec::new();
    // Instants of the requests to a batch.
    let mut asked = Vec::new();
    // An answer that takes no time would keep a user sending at the same instant for ever.
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

    fn builtin_window(name: &str) -> ObservationWindow {
        window(&builtin::find(name).unwrap(), 10)
    }

    #[test]
    fn a_stall_tells_open_from_closed() {
        let window = builtin_window("02");
        assert_eq!(window.stretches, [TimeRange { from_ns: 30_000_000_000, to_ns: 31_000_000_000 }]);
        assert_eq!(window.open, 1000);
        assert!(window.closed <= 10 && window.is_conclusive(), "{window:?}");
        let pauses = builtin_window("04");
        assert_eq!((pauses.stretches.len(), pauses.open), (6, 1200));
        assert!(pauses.closed <= 60 && pauses.is_conclusive(), "{pauses:?}");
    }

    #[test]
    fn a_service_that_slows_down_tells_them_over_the_whole_run() {
        for name in ["03", "05"] {
            let window = builtin_window(name);
            assert_eq!((window.stretches.len(), window.open), (1, 60_000), "{name}");
            assert!(window.closed < 31_000 && window.is_conclusive(), "{name}: {window:?}");
        }
    }

    #[test]
    fn nothing_tells_them_where_ten_users_keep_up() {
        assert_eq!(
            builtin_window("01"),
            ObservationWindow { stretches: Vec::new(), open: 0, closed: 0, users: 10, stalls: false }
        );
        assert!(!builtin_window("01").is_conclusive() && !builtin_window("05-saturation-not-binding").is_conclusive());
    }
}
