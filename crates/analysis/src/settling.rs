//! The settling of the response time: what to cut from the beginning of a run, and what changed in the middle.
//!
//! [`crate::levels`] finds the levels of the response time, which settles at the last one. The time before that level
//! is a warm-up if enough of the run remains. Otherwise the response time did not settle. See `docs/steady-state.md`.

use truetail_model::record::RequestRecord;
use truetail_model::time::{NANOS_PER_SECOND, Rate, Timestamp};
use truetail_model::workload::LoadModelKind;
use truetail_run::{Run, Settling, SettlingState, Shift};

use crate::levels::{self, Level, MedianSeries};
use crate::metric_distributions;
use crate::verdict::messages;

/// Minimum number of stretches. Fewer cannot distinguish a level from chance.
const FEWEST_STRETCHES: usize = 20;
/// Minimum length of a run. A shorter one is over before a machine is warm.
const SHORTEST_NS: u64 = 5 * NANOS_PER_SECOND;
/// Minimum share of the run that must remain after a warm-up. MSER keeps half (White 1997), and warns when the cut
/// comes near that. Here the cut is already known not to be chance, so it may come a little later.
const REST_SHARE: f64 = 0.40;
/// A service gets faster as it warms up. A service that gets slower counts as warming up (its queue fills) only in this
/// first share of the run. Later it is getting slower, which is a finding.
const FILLING_SHARE: f64 = 0.25;

/// Finds the time when the response time of a run settles. The same run gives the same result.
pub fn settling(run: &Run) -> Settling {
    settling_of(run, metric_distributions::every_arrival(&run.snapshot).as_deref())
}

/// Works as [`settling`]. `every` holds all arrivals in order, if each was kept.
pub(crate) fn settling_of(run: &Run, every: Option<&[RequestRecord]>) -> Settling {
    if let Some(why) = moving_load_reason(run) {
        return not_judged(why);
    }
    let Some(series) = MedianSeries::new(&run.snapshot, every) else {
        return not_judged("nothing is known of single requests, nor of single seconds");
    };
    if series.values.len() < FEWEST_STRETCHES || series.end_ns() - series.from_ns < SHORTEST_NS {
        return not_judged("the run is too short to tell, or has too few arrivals");
    }
    let found = levels::levels(&series);
    let mut settling = judged(&series, &found);
    settling.cut_arrivals = settling.cut_ns.and_then(|cut_ns| arrivals_before(run, every, cut_ns));
    settling
}

fn not_judged(why: &str) -> Settling {
    Settling { state: SettlingState::NotJudged, why: why.to_owned(), cut_ns: None, cut_arrivals: None, shift: None }
}

/// Returns the reason if the load itself makes the response time change.
fn moving_load_reason(run: &Run) -> Option<&'static str> {
    let offered = &run.facts.offered;
    let constant = offered.profile.as_ref().is_none_or(|profile| profile.parse::<Rate>().is_ok());
    let moves = if offered.model == LoadModelKind::Closed { offered.users_over_time.is_some() } else { !constant };
    moves.then_some("the load moves by itself, and the response time may move with it")
}

fn judged(series: &MedianSeries, found: &[Level]) -> Settling {
    let [.., before, last] = found else { return one_level(series, &found[0]) };
    let shift = shift(series, found);
    let cut_ns = shift.until_ns.div_ceil(NANOS_PER_SECOND) * NANOS_PER_SECOND;
    let length = (series.end_ns() - series.from_ns) as f64;
    let remains = series.end_ns().saturating_sub(cut_ns) as f64 / length;
    let slower = last.ln > before.ln;
    let settles = remains >= REST_SHARE && (!slower || 1.0 - remains <= FILLING_SHARE);
    let (state, ends) = if settles {
        (SettlingState::Settles, String::new())
    } else {
        (SettlingState::Unsettled, format!(", {} before the end", seconds(series.end_ns() - shift.until_ns)))
    };
    let why = format!("the response time went {}{ends}", messages::moved(&shift));
    Settling { state, why, cut_ns: settles.then_some(cut_ns), cut_arrivals: None, shift: Some(shift) }
}

/// Judges a run with a single level, perhaps after a cold start that is too short to be a level.
fn one_level(series: &MedianSeries, level: &Level) -> Settling {
    let at = messages::level(series.level_ns(level.ln));
    let cold = levels::cold_start(&series.values, level);
    if cold == 0 {
        let why = format!("nothing to cut: the response time is at one level, {at}, from the beginning");
        return Settling { state: SettlingState::Steady, why, cut_ns: None, cut_arrivals: None, shift: None };
    }
    let cut_ns = series.begin_ns(cold).div_ceil(NANOS_PER_SECOND) * NANOS_PER_SECOND;
    let first = messages::level(series.level_ns(series.values[0]));
    let why = format!("a cold start: {first} at first, and {at} from {} on", seconds(series.begin_ns(cold)));
    Settling { state: SettlingState::Settles, why, cut_ns: Some(cut_ns), cut_arrivals: None, shift: None }
}

fn shift(series: &MedianSeries, found: &[Level]) -> Shift {
    let first = found[0];
    let last = found[found.len() - 1];
    let by_height = |a: &&Level, b: &&Level| a.ln.total_cmp(&b.ln);
    let of = |level: Option<&Level>| level.and_then(|level| series.level_ns(level.ln));
    Shift {
        at_ns: series.begin_ns(first.to),
        until_ns: series.begin_ns(last.from),
        from_ns: series.level_ns(first.ln),
        to_ns: series.level_ns(last.ln),
        lowest_ns: of(found.iter().min_by(by_height)),
        highest_ns: of(found.iter().max_by(by_height)),
    }
}

fn seconds(ns: u64) -> String {
    messages::seconds(ns)
}

/// Counts the measured arrivals intended before a whole second, if requests or seconds are known.
fn arrivals_before(run: &Run, every: Option<&[RequestRecord]>, cut_ns: u64) -> Option<u64> {
    let rows = &run.snapshot.seconds;
    match every {
        Some(records) => Some(records.partition_point(|record| record.intended_start < Timestamp(cut_ns)) as u64),
        None => rows.get(..(cut_ns / NANOS_PER_SECOND) as usize).map(|rows| rows.iter().map(|row| row.planned).sum()),
    }
}
