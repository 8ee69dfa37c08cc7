//! A run in progress, as if it had been stopped now.

use truetail_model::record::{ByInterval, Distributions, IntervalBooks, Metric, SecondCounts, Tally};
use truetail_model::time::{NANOS_PER_SECOND, Nanos, Timestamp};
use truetail_run::Run;

/// Arrivals of this last time that have not ended are not counted yet, because most of them will be answered in a
/// moment. Counted as unanswered, they would be above every answer, and a healthy run would have no p99.9.
const TOO_YOUNG: Nanos = Nanos(NANOS_PER_SECOND);
/// In intervals longer than this, in seconds, all arrivals count: in such a long run, a few of them change nothing.
const LONGEST_YOUNG_INTERVAL_S: u64 = 4;

/// Closes the books of `run`, whose elapsed time is the age of what was recorded. The records of a run in progress say
/// that an arrival was begun, but nothing else about it before it has ended.
///
/// An arrival that has not ended is in flight at the end if it was begun. It is never issued if it was due by
/// `due_by_second` and not begun. It waited at least since the end of its interval (a second, in short runs), which is
/// its censored response time. Arrivals of the last second that have not ended are left out of everything.
///
/// `due_by_second` counts the measured arrivals that the schedule holds up to now, by second from the origin. It may be
/// shorter than the run, or empty if the schedule is not known in advance: then only begun arrivals count.
///
/// The rows of the timeline count an arrival in flight as sent when due, because its actual start is only known later.
pub fn stopped_now(mut run: Run, due_by_second: &[u64]) -> Run {
    let now = Timestamp(run.facts.elapsed_ns);
    let width_s = run.snapshot.books.width_s();
    let mut rows = run.snapshot.books.rows().to_vec();
    let due = due_by_row(&run.snapshot.books, due_by_second);
    rows.resize_with(rows.len().max(due.len()), IntervalBooks::default);
    let mut outstanding = Vec::new();
    for (i, row) in rows.iter_mut().enumerate() {
        let end = Timestamp((i as u64 + 1) * width_s * NANOS_PER_SECOND);
        let begun = row.tally.planned;
        let in_flight = begun.saturating_sub(row.tally.issued + row.tally.never_issued);
        let waiting = due.get(i).map_or(0, |due| due.saturating_sub(begun));
        if width_s <= LONGEST_YOUNG_INTERVAL_S && end + TOO_YOUNG > now {
            row.tally.planned -= in_flight;
            run.snapshot.tally.planned -= in_flight;
        } else if in_flight + waiting > 0 {
            let last_second = run.snapshot.books.seconds_of(i).end - 1;
            outstanding.push(Outstanding { in_flight, waiting, last_second, waited: now.since(end) });
            outstanding.last().expect("just pushed").count_in(&mut row.tally);
        }
    }
    let is_any = !outstanding.is_empty();
    outstanding.iter().for_each(|outstanding| outstanding.count_in(&mut run.snapshot.tally));
    record(&mut run, &outstanding);
    run.snapshot.books = ByInterval::from_rows(width_s, rows).expect("the width is that of other rows");
    close(&mut run.snapshot.warmup);
    close(&mut run.snapshot.cancelled);
    if is_any {
        run.snapshot.last_end = run.snapshot.last_end.max(now);
    }
    run
}

/// Arrivals of one interval that have not ended.
struct Outstanding {
    in_flight: u64,
    waiting: u64,
    last_second: usize,
    waited: Nanos,
}

impl Outstanding {
    fn count_in(&self, tally: &mut Tally) {
        tally.planned += self.waiting;
        tally.never_issued += self.waiting;
        tally.issued += self.in_flight;
        tally.in_flight_at_end += self.in_flight;
    }
}

fn due_by_row(books: &ByInterval<IntervalBooks>, due_by_second: &[u64]) -> Vec<u64> {
    let mut rows = Vec::new();
    for (second, due) in due_by_second.iter().enumerate() {
        let row = books.interval_of(second);
        rows.resize(rows.len().max(row + 1), 0);
        rows[row] += due;
    }
    rows
}

fn record(run: &mut Run, outstanding: &[Outstanding]) {
    let snapshot = &mut run.snapshot;
    let mut intervals = snapshot.intervals.rows().to_vec();
    for Outstanding { in_flight, waiting, last_second, waited } in outstanding {
        let n = in_flight + waiting;
        snapshot.metrics[Metric::Censored as usize].record_n(*waited, n);
        let interval = snapshot.intervals.interval_of(*last_second);
        intervals.resize_with(intervals.len().max(interval + 1), Distributions::default);
        intervals[interval].metrics[Metric::Censored as usize].record_n(*waited, n);
        let seconds = snapshot.seconds.len().max(last_second + 1);
        snapshot.seconds.resize(seconds, SecondCounts::default());
        snapshot.seconds[*last_second].planned += n;
        snapshot.seconds[*last_second].sent += in_flight;
    }
    let width_s = snapshot.intervals.width_s();
    snapshot.intervals = ByInterval::from_rows(width_s, intervals).expect("the width is that of other rows");
}

/// Counts the arrivals that have not ended, of which there are only books.
fn close(books: &mut Tally) {
    let in_flight = books.planned.saturating_sub(books.issued + books.never_issued);
    books.issued += in_flight;
    books.in_flight_at_end += in_flight;
}
