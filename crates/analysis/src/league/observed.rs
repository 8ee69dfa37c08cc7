//! The load model of a tool, judged by what the server saw.

use serde::Serialize;

use super::{ObservationWindow, ServerView};

/// Load model that the server saw, independent of the tool's claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum ObservedModel {
    /// The server saw nearly all arrivals that were planned while it could not answer.
    #[serde(rename = "open")]
    Open,
    /// The server saw hardly more arrivals than users make who wait for their answers.
    #[serde(rename = "closed")]
    Closed,
    /// Between the two: a tool that gives up its schedule when its connections or workers are used up.
    #[serde(rename = "partly")]
    Partly,
    /// The scenario cannot show the model, or the server saw nothing.
    #[serde(rename = "not shown")]
    NotShown,
}

impl ObservedModel {
    /// Returns `open`, `closed`, `partly` or `not shown`.
    pub const fn name(self) -> &'static str {
        match self {
            ObservedModel::Open => "open",
            ObservedModel::Closed => "closed",
            ObservedModel::Partly => "partly",
            ObservedModel::NotShown => "not shown",
        }
    }
}

/// Some arrivals come from an ideal open loop but not from a closed one. A tool is open if it makes at least this share
/// of them. The missing tenth allows for a late start and a rounded rate.
pub const OPEN_FROM: f64 = 0.90;
/// A tool is closed if it makes at most this share of them. This allows for a few more users, and for answers at the
/// edge of a stall.
pub const CLOSED_UP_TO: f64 = 0.05;

/// Maximum number of requests that a closed loop has in flight per user: one, and one more that was given up.
pub(super) const AT_ONCE_PER_USER: u64 = 2;

/// An observed load model, with the counts that it follows from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Observation {
    /// The model.
    pub model: ObservedModel,
    /// Requests that the server saw in the window.
    pub seen: u64,
    /// Requests that an ideal open loop sends in the window.
    pub planned: u64,
}

impl Observation {
    /// Returns what `view` shows in `window`.
    pub fn new(window: &ObservationWindow, view: &ServerView) -> Observation {
        let seen = window.seen(view);
        Observation { model: model(window, view, seen), seen, planned: window.open }
    }
}

fn model(window: &ObservationWindow, view: &ServerView, seen: u64) -> ObservedModel {
    if view.count() == 0 || !window.is_conclusive() {
        return ObservedModel::NotShown;
    }
    let beyond_closed = seen.saturating_sub(window.closed) as f64 / (window.open - window.closed) as f64;
    match beyond_closed {
        share if share >= OPEN_FROM => ObservedModel::Open,
        share if share <= CLOSED_UP_TO && is_closed(window, view) => ObservedModel::Closed,
        _ => ObservedModel::Partly,
    }
}

/// Returns false if too many requests were in flight at once for a closed loop. A stall needs no such test: few
/// arrivals in it are evidence enough. In front of a slow service, a tool on a schedule may fill all its connections
/// and then sends as slowly as users who wait. But users never have more requests in flight than there are users.
fn is_closed(window: &ObservationWindow, view: &ServerView) -> bool {
    window.stalls || view.max_in_flight() <= u64::from(window.users) * AT_ONCE_PER_USER
}

#[cfg(test)]
mod tests {
    use super::super::TimeRange;
    use super::*;

    /// A stall: a schedule sends 1 000 requests, and ten users send ten.
    fn stalled(from_ns: u64, to_ns: u64) -> ObservationWindow {
        ObservationWindow {
            stretches: vec![TimeRange { from_ns, to_ns }],
            open: 1_000,
            closed: 10,
            users: 10,
            stalls: true,
        }
    }

    /// A schedule that is as slow as the service, because it has filled all its connections.
    #[test]
    fn a_schedule_that_is_used_up_is_no_closed_loop() {
        let window = ObservationWindow { closed: 500, stalls: false, ..stalled(0, 10_000) };
        let with = |at_once: u64| ServerView::new((0..500).map(|n| (n * 20, Some((n + at_once) * 20))).collect());
        let model = |at_once| Observation::new(&window, &with(at_once)).model;
        assert_eq!([1, 10, 20, 21, 100].map(|n| with(n).max_in_flight()), [1, 10, 20, 21, 100]);
        assert_eq!(
            [10, 20, 21, 100].map(model),
            [ObservedModel::Closed, ObservedModel::Closed, ObservedModel::Partly, ObservedModel::Partly]
        );
    }

    fn observed(seen: u64) -> ObservedModel {
        let in_it = (0..seen).map(|n| (1_000 + n, Some(1_001 + n)));
        Observation::new(
            &stalled(1_000, 3_000),
            &ServerView::new(in_it.chain([(0, Some(1)), (3_000, Some(3_001))]).collect()),
        )
        .model
    }

    #[test]
    fn thresholds() {
        assert_eq!([0, 10, 59].map(observed), [ObservedModel::Closed; 3]);
        assert_eq!([60, 500, 900].map(observed), [ObservedModel::Partly; 3]);
        assert_eq!([901, 1_000, 1_100].map(observed), [ObservedModel::Open; 3]);
    }

    #[test]
    fn who_sent_nothing_shows_nothing() {
        assert_eq!(Observation::new(&stalled(0, 9), &ServerView::default()).model, ObservedModel::NotShown);
    }
}
