//! The requests that a closed loop never sent, and both loops on one time axis.
//!
//! Users who wait for their answers send nothing meanwhile, so arrivals that a schedule planned for that time have no
//! counterpart in the closed loop. [`never_sent`] finds them.

use std::collections::HashSet;

use serde::Serialize;
use truetail_model::record::{Outcome, RequestRecord, Snapshot};
use truetail_model::time::{Nanos, Timestamp};
use truetail_run::Run;

/// Columns of the picture. Of the marks of one kind in the same cell, only one is drawn.
const COLUMNS: f64 = 500.0;
/// Rows of the picture in each decade of time.
const ROWS_A_DECADE: f64 = 50.0;
const TABLE_ROWS: usize = 10;

/// Returns the indices of planned arrivals without a request of the closed loop. As many pairs as possible are made of
/// a planned and a sent request that are at most `within` apart. Both lists are ascending.
pub fn never_sent(planned: &[Timestamp], sent: &[Timestamp], within: Nanos) -> Vec<usize> {
    let mut left = sent.iter().peekable();
    let mut is_missing = |intended: &Timestamp| {
        while left.next_if(|sent| **sent + within < *intended).is_some() {}
        left.next_if(|sent| **sent <= *intended + within).is_none()
    };
    planned.iter().enumerate().filter_map(|(place, intended)| is_missing(intended).then_some(place)).collect()
}

/// A request in the picture: (intended start in seconds, response time in nanoseconds, answered). For a request without
/// an answer, the response time is the time waited for it.
pub type RequestMark = (f64, u64, bool);

/// A stretch of the time axis.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct TimelineRow {
    /// Start of the stretch, in seconds since the origin.
    pub from_s: f64,
    /// Arrivals that the schedule planned in it.
    pub planned: u64,
    /// Requests that the closed loop sent in it.
    pub sent: u64,
    /// Planned arrivals that the closed loop never sent.
    pub never_sent: u64,
}

/// A closed and an open loop on one time axis.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct RequestTimeline {
    /// Start of the picture, in seconds since the origin.
    pub from_s: f64,
    /// End of the picture, in seconds since the origin.
    pub to_s: f64,
    /// Requests of the closed loop. Only one of several at about the same place is kept.
    pub sent: Vec<RequestMark>,
    /// Planned arrivals that the closed loop never sent, with their time in the open loop. One of several is kept.
    pub never_sent: Vec<RequestMark>,
    /// Equal stretches of the time from `from_s` to `to_s`, with all requests.
    pub rows: Vec<TimelineRow>,
    /// Planned arrivals in the whole run, up to the end of the closed loop.
    pub planned_in_all: u64,
    /// Number of these arrivals that the closed loop never sent.
    pub never_sent_in_all: u64,
    /// End of the closed loop, in seconds since the origin. Later arrivals are not held against it.
    pub closed_ended_s: f64,
}

/// Compares the requests of both loops with an intended start in `window`. `within` is the expected time between two
/// requests of each closed-loop user. Returns `None` if a run did not keep every single request.
pub fn request_timeline(
    closed: &Run,
    open: &Run,
    within: Nanos,
    window: (Timestamp, Timestamp),
) -> Option<RequestTimeline> {
    let sent = request_times(&closed.snapshot)?;
    let mut planned = request_times(&open.snapshot)?;
    let ended = sent.iter().map(|request| request.end).max().unwrap_or(Timestamp::ZERO);
    planned.retain(|request| request.due < ended);
    let mut sent_at: Vec<Timestamp> = sent.iter().filter_map(|request| request.sent).collect();
    sent_at.sort_unstable();
    let planned_at: Vec<Timestamp> = planned.iter().map(|request| request.due).collect();
    let ghosts: Vec<RequestTimes> =
        never_sent(&planned_at, &sent_at, within).iter().map(|place| planned[*place]).collect();
    let ghosts_at: Vec<Timestamp> = ghosts.iter().map(|request| request.due).collect();
    let picture = Grid { from: window.0, to: window.1 };
    Some(RequestTimeline {
        from_s: window.0.as_secs_f64(),
        to_s: window.1.as_secs_f64(),
        sent: picture.marks(&sent),
        never_sent: picture.marks(&ghosts),
        rows: rows(window, [&planned_at, &sent_at, &ghosts_at]),
        planned_in_all: planned.len() as u64,
        never_sent_in_all: ghosts.len() as u64,
        closed_ended_s: ended.as_secs_f64(),
    })
}

#[derive(Clone, Copy)]
struct RequestTimes {
    due: Timestamp,
    /// `None` if it was never issued.
    sent: Option<Timestamp>,
    end: Timestamp,
    is_answered: bool,
}

/// Returns every request in the order of its intended start. Returns `None` unless every one was kept.
fn request_times(snapshot: &Snapshot) -> Option<Vec<RequestTimes>> {
    let samples = &snapshot.samples;
    let holds_all = samples.is_complete() && samples.even().len() as u64 == snapshot.tally.planned;
    let of = |record: &RequestRecord| RequestTimes {
        due: record.intended_start,
        sent: (record.outcome != Outcome::NeverIssued).then_some(record.actual_start),
        end: record.end,
        is_answered: record.outcome.is_response(),
    };
    holds_all.then(|| {
        let mut seen: Vec<RequestTimes> = samples.even().iter().map(of).collect();
        seen.sort_by_key(|request| request.due);
        seen
    })
}

struct Grid {
    from: Timestamp,
    to: Timestamp,
}

impl Grid {
    fn marks(&self, requests: &[RequestTimes]) -> Vec<RequestMark> {
        let mut taken = HashSet::new();
        let first = requests.partition_point(|request| request.due < self.from);
        let inside = requests[first..].iter().take_while(|request| request.due < self.to);
        let marks = inside.map(|request| (request, request.end.since(request.due).0));
        let new = marks.filter(|(request, took)| taken.insert(self.place(request, *took)));
        new.map(|(request, took)| (request.due.as_secs_f64(), took, request.is_answered)).collect()
    }

    fn place(&self, request: &RequestTimes, took: u64) -> (u32, i32, bool) {
        let share = request.due.since(self.from).0 as f64 / self.to.since(self.from).0.max(1) as f64;
        let row = libm::log10(took.max(1) as f64) * ROWS_A_DECADE;
        ((share * COLUMNS) as u32, row as i32, request.is_answered)
    }
}

fn rows((from, to): (Timestamp, Timestamp), [planned, sent, missing]: [&[Timestamp]; 3]) -> Vec<TimelineRow> {
    let length = to.since(from).0;
    let border = |row: usize| Timestamp(from.0 + (u128::from(length) * row as u128 / TABLE_ROWS as u128) as u64);
    let before = |instants: &[Timestamp], border| instants.partition_point(|instant| *instant < border);
    let between =
        |instants: &[Timestamp], row| (before(instants, border(row + 1)) - before(instants, border(row))) as u64;
    let row = |row| TimelineRow {
        from_s: border(row).as_secs_f64(),
        planned: between(planned, row),
        sent: between(sent, row),
        never_sent: between(missing, row),
    };
    (0..TABLE_ROWS).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(instants: &[u64]) -> Vec<Timestamp> {
        instants.iter().map(|instant| Timestamp(*instant)).collect()
    }

    #[test]
    fn a_user_who_waits_sends_nothing() {
        let planned = at(&[0, 10, 20, 30, 40, 50, 60, 70]);
        // The request at 20 takes until 62.
        let sent = at(&[0, 10, 20, 62, 72]);
        assert_eq!(never_sent(&planned, &sent, Nanos(5)), [3, 4, 5]);
        assert_eq!(never_sent(&planned, &planned, Nanos(0)), [0usize; 0]);
        assert_eq!(never_sent(&planned, &[], Nanos(5)).len(), 8);
        assert_eq!(never_sent(&[], &sent, Nanos(5)), [0usize; 0]);
    }

    #[test]
    fn a_fast_closed_loop_left_nothing_out() {
        let planned = at(&[0, 10, 20]);
        assert_eq!(never_sent(&planned, &at(&[0, 3, 6, 9, 12, 15, 18, 21]), Nanos(5)), [0usize; 0]);
    }

    /// The largest possible number of pairs, found by trying everything.
    fn most_pairs(planned: &[u64], sent: &[u64], within: u64) -> usize {
        let Some((first, rest)) = planned.split_first() else { return 0 };
        let without = most_pairs(rest, sent, within);
        let partners = (0..sent.len()).filter(|i| sent[*i].abs_diff(*first) <= within);
        let with = partners.map(|i| 1 + most_pairs(rest, &[&sent[..i], &sent[i + 1..]].concat(), within));
        with.max().unwrap_or(0).max(without)
    }

    proptest! {
        #[test]
        fn no_pairing_leaves_fewer_out(
            mut planned in proptest::collection::vec(0u64..60, 0..6),
            mut sent in proptest::collection::vec(0u64..60, 0..6),
            within in 0u64..12,
        ) {
            planned.sort_unstable();
            sent.sort_unstable();
            let missing = never_sent(&at(&planned), &at(&sent), Nanos(within));
            prop_assert_eq!(missing.len(), planned.len() - most_pairs(&planned, &sent, within));
        }

        #[test]
        fn rows_hold_every_instant_of_the_window(
            mut instants in proptest::collection::vec(0u64..1_000, 0..50),
            from in 0u64..500,
            length in 1u64..500,
        ) {
            instants.sort_unstable();
            let instants = at(&instants);
            let window = (Timestamp(from), Timestamp(from + length));
            let rows = rows(window, [&instants, &instants, &[]]);
            let inside = instants.iter().filter(|instant| (window.0..window.1).contains(instant)).count() as u64;
            prop_assert_eq!(rows.iter().map(|row| row.planned).sum::<u64>(), inside);
            prop_assert_eq!(rows.iter().map(|row| row.never_sent).sum::<u64>(), 0);
        }
    }
}
