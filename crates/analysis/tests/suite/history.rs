//! Changes in series whose shift is known: the goals of `docs/history.md`, with the study's seeds.

#[allow(dead_code, reason = "shared with the study")]
#[path = "../../examples/change_study/series.rs"]
mod series;

use series::Series;
use truetail_analysis::history::levels;

/// Standard deviation between runs as measured, and the standard error within a run.
const NOISE: (f64, f64) = (0.025, 0.015);

fn share(shift: f64, is: impl Fn(&Series) -> bool) -> f64 {
    (0..200).filter(|seed| is(&Series::new(*seed, NOISE, shift))).count() as f64 / 200.0
}

#[test]
fn few_series_without_a_shift_have_a_change() {
    let called = share(0.0, |series| levels(&series.points).len() > 1);
    assert!(called <= 0.05, "{called}");
}

#[test]
fn a_shift_of_ten_percent_is_found_within_five_runs() {
    let found = share(0.1, Series::is_found_soon);
    assert!(found >= 0.9, "{found}");
    let at_the_end = share(0.1, |series| series.is_found(&levels(&series.points)));
    assert!(at_the_end >= 0.95, "{at_the_end}");
}

/// 95 %, within three standard errors of a share of 200 series.
#[test]
fn the_interval_of_a_change_holds_the_shift() {
    let [held, found] = [Some(true), Some(false)].map(|covered| share(0.1, |series| series.is_covered() == covered));
    let held_of_found = held / (held + found);
    assert!((0.90..=1.0).contains(&held_of_found) && held + found > 0.9, "{held} {found}");
}

/// Times of streams have no interval within a run: the error of each point is that of a bucket, and the differences
/// between runs tell the rest. Spoilt runs are not known to be such.
#[test]
fn series_of_runs_without_intervals_are_judged_by_the_differences_between_runs() {
    let share = |shift: f64, is: &dyn Fn(&Series) -> bool| {
        let alone = |seed| {
            let mut series = Series::new(seed, NOISE, shift);
            series.points.iter_mut().for_each(|point| point.error = 0.0003);
            series
        };
        (0..200).map(alone).filter(is).count() as f64 / 200.0
    };
    let called = share(0.0, &|series| levels(&series.points).len() > 1);
    let found = share(0.1, &|series| series.is_found(&levels(&series.points)));
    let [held, lost] = [Some(true), Some(false)].map(|covered| share(0.1, &|series| series.is_covered() == covered));
    println!("called {called}, found {found}, held {held}, lost {lost}");
    assert!(called <= 0.05, "{called}");
    assert!(found >= 0.9, "{found}");
    assert!(held / (held + lost) >= 0.9, "{held} {lost}");
}
