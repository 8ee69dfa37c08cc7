//! Comparison of the arrivals that the server saw with an even schedule.

use serde::Serialize;
use truetail_model::record::rank_of;
use truetail_model::time::Rate;

use super::ServerView;
use crate::fidelity;

/// A gap is as planned if it differs by no more than one part in this many of it.
const TOLERANCE_PART: u64 = 10;
/// Average number of arrivals in a window.
const WINDOW_ARRIVALS: f64 = 10.0;
const FEWEST_WINDOWS: usize = 20;

/// The arrivals compared with the even schedule that fits them best. On that schedule as many arrivals are late as
/// early, so a slow first request does not make the others look early.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ArrivalAccuracy {
    /// Number of arrivals.
    pub count: u64,
    /// Time from the start of that schedule to the first arrival. Negative if the first arrival came earlier.
    pub first_off_ns: i64,
    /// Median distance, early or late, of the n-th arrival from the n-th place on the schedule.
    pub lag_p50_ns: u64,
    /// The same distance at p99.
    pub lag_p99_ns: u64,
    /// The largest difference of the distribution functions of real and planned gaps, in [0, 1]. Gaps that differ by no
    /// more than a tenth count as equal. 0 for a metronome, near 1 for bursts.
    pub gap_distance: f64,
    /// Variance over mean of the counts in windows of ten mean gaps: 0 for a metronome, 1 for a Poisson process, more
    /// for bursts. `None` for a run of fewer than twenty windows.
    pub dispersion: Option<f64>,
}

impl ArrivalAccuracy {
    /// Compares the first `planned` arrivals with a schedule at `rate`. Returns `None` for fewer than two.
    pub fn measure(view: &ServerView, rate: Rate, planned: u64) -> Option<ArrivalAccuracy> {
        let gap_ns = 1e9 / rate.as_per_second();
        let count = view.count().min(planned);
        if count < 2 {
            return None;
        }
        let seen: Vec<u64> = view.arrivals_ns().take(count as usize).collect();
        let place = |n: usize| (n as f64 * gap_ns).round() as i64;
        let mut offs: Vec<i64> = seen.iter().enumerate().map(|(n, at)| (at - seen[0]) as i64 - place(n)).collect();
        offs.sort_unstable();
        let middle = offs[offs.len() / 2];
        let mut lags: Vec<u64> = offs.iter().map(|off| off.abs_diff(middle)).collect();
        lags.sort_unstable();
        let lag = |q| lags[rank_of(q, count) as usize - 1];
        let planned_gaps = vec![gap_ns.round() as u64; seen.len() - 1];
        let tolerance = (gap_ns as u64) / TOLERANCE_PART;
        Some(ArrivalAccuracy {
            count: view.count(),
            first_off_ns: -middle,
            lag_p50_ns: lag(0.5),
            lag_p99_ns: lag(0.99),
            dispersion: dispersion(&seen, gap_ns),
            gap_distance: fidelity::distance(&planned_gaps, &fidelity::sorted_gaps(&seen), tolerance),
        })
    }
}

fn dispersion(seen: &[u64], gap_ns: f64) -> Option<f64> {
    let window_ns = gap_ns * WINDOW_ARRIVALS;
    let windows = ((seen[seen.len() - 1] - seen[0]) as f64 / window_ns) as usize;
    let mut counts = vec![0; windows];
    for at in seen {
        if let Some(count) = counts.get_mut(((at - seen[0]) as f64 / window_ns) as usize) {
            *count += 1;
        }
    }
    (windows >= FEWEST_WINDOWS).then(|| fidelity::dispersion_index(&counts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arrivals: impl Iterator<Item = u64>) -> ArrivalAccuracy {
        let rate = Rate::per_second(1000.0).unwrap();
        ArrivalAccuracy::measure(&ServerView::new(arrivals.map(|at| (at, None)).collect()), rate, 1_000).unwrap()
    }

    #[test]
    fn a_metronome_is_on_its_schedule() {
        let metronome = of((0..1_000).map(|n| 7 + n * 1_000_000));
        assert_eq!((metronome.lag_p50_ns, metronome.lag_p99_ns, metronome.gap_distance), (0, 0, 0.0));
        assert_eq!(metronome.dispersion, Some(0.0));
        let a_second_at_once = of((0..1_000).map(|n| n / 500 * 500_000_000 + n % 500 * 1_000));
        assert!(a_second_at_once.dispersion.is_some_and(|index| index > 100.0), "{a_second_at_once:?}");
    }

    #[test]
    fn bursts_have_lags_and_other_gaps() {
        // Ten at once every 10 ms: up to 9 ms before their places, and 4 or 5 ms from the best-fitting schedule.
        let bursts = of((0..1_000).map(|n| n / 10 * 10_000_000));
        assert_eq!((bursts.lag_p50_ns, bursts.lag_p99_ns), (2_000_000, 5_000_000));
        assert!(bursts.gap_distance > 0.85, "{bursts:?}");
    }

    #[test]
    fn a_late_tenth_is_late() {
        let late = of((0..1_000).map(|n| n * 1_000_000 + if n < 900 { 0 } else { 300_000_000 }));
        assert_eq!((late.lag_p50_ns, late.lag_p99_ns, late.first_off_ns), (0, 300_000_000, 0));
    }

    #[test]
    fn a_slow_first_request_is_told_apart() {
        let slow = of((0..1_000).map(|n| if n == 0 { 0 } else { n * 1_000_000 - 500_000 }));
        assert_eq!((slow.lag_p50_ns, slow.lag_p99_ns, slow.first_off_ns), (0, 0, 500_000));
    }
}
