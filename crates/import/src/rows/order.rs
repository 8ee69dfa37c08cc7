//! Watches the order of rows for clocks that step back, and for pauses as between two runs.

use truetail_run::{FilePlace, ForeignRequest};

/// Rows of concurrent writers are out of order by less than this, even with times in whole seconds.
const STEP_BACK_NS: u64 = 2_000_000_000;
/// A pause of this length with no open request may separate two runs.
const PAUSE_NS: u64 = 60_000_000_000;

/// End times of requests in row order, for files that are sorted by them.
#[derive(Default, Debug)]
pub(crate) struct OrderWatch {
    latest_end_ns: Option<u64>,
    steps_back: Seen,
    pauses: Seen,
}

#[derive(Default, Debug)]
struct Seen {
    count: u64,
    first: Option<(FilePlace, u64)>,
}

impl Seen {
    fn add(&mut self, place: FilePlace, by_ns: u64) {
        self.count += 1;
        self.first.get_or_insert((place, by_ns));
    }
}

impl OrderWatch {
    pub(crate) fn see(&mut self, request: &ForeignRequest, place: FilePlace) {
        let Some(start_ns) = request.start_ns else { return };
        let end_ns = start_ns.saturating_add(request.duration.0);
        let latest_ns = self.latest_end_ns.unwrap_or(end_ns);
        if end_ns.saturating_add(STEP_BACK_NS) < latest_ns {
            self.steps_back.add(place, latest_ns - end_ns);
            // The clock continues from the earlier time.
            self.latest_end_ns = Some(end_ns);
            return;
        }
        if start_ns > latest_ns.saturating_add(PAUSE_NS) {
            self.pauses.add(place, start_ns - latest_ns);
        }
        self.latest_end_ns = Some(latest_ns.max(end_ns));
    }

    /// Returns notes about steps back and pauses.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> + use<> {
        let back = self.steps_back.first.map(|(place, by_ns)| {
            let times = counted(self.steps_back.count);
            format!(
                "the clock steps back {times}, first by {} at line {}: the clock was set, or the file holds two runs",
                seconds(by_ns),
                place.line
            )
        });
        let pause = self.pauses.first.map(|(place, by_ns)| {
            let times = counted(self.pauses.count);
            format!(
                "no request was outstanding or sent for more than 60 s {times}, first for {} before line {}: the file may hold \
                 two runs",
                seconds(by_ns),
                place.line
            )
        });
        back.into_iter().chain(pause)
    }
}

fn seconds(ns: u64) -> String {
    format!("{:.3} s", ns as f64 / 1e9)
}

fn counted(times: u64) -> String {
    if times == 1 { "once".to_owned() } else { format!("{times} times") }
}
