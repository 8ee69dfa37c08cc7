//! Detects a backlog that grows without end, from the whole run.

use truetail_model::record::RequestRecord;
use truetail_run::{Findings, Run};

use super::connection_cap;
use super::thresholds::{
    GROWN_FROM_SHARE, NEAR_TIMEOUT_SHARE, SATURATED_GROWTH_SHARE, SATURATED_NOISE, SATURATED_RISING_SHARE,
    SATURATED_SLOWER, SATURATED_STRETCHES, TIMED_OUT_SHARE,
};
use super::validity_issue::ValidityIssue;
use crate::load_timeline::{LoadTimeline, Stretch};

/// Detects saturation in the later half of the run. Every condition must hold: the backlog rises nearly all the time,
/// it rises steeply enough and beyond noise, answers keep coming, and they get slower. The caller rules out other
/// causes first.
///
/// If all of the user's connections were busy and the service did not get slower, the cap was the limit. The answers
/// per second are then not the capacity of the service.
pub(super) fn saturated(
    run: &Run,
    findings: &Findings,
    timeline: &LoadTimeline,
    every: Option<&[RequestRecord]>,
) -> Option<ValidityIssue> {
    let half = timeline.later_half();
    if half.stretches.len() < SATURATED_STRETCHES {
        return None;
    }
    let outstanding = timeline.outstanding();
    let later = &outstanding[outstanding.len() - half.stretches.len()..];
    let growth_per_second = slope(later) / timeline.stretch_s;
    let offered_per_second = half.per_second(|stretch| stretch.planned);
    let grows =
        growth_per_second > offered_per_second * SATURATED_GROWTH_SHARE && rises(later) && beyond_noise(&half, later);
    if !(grows && keeps_answering(&half) && gets_slower(&half)) {
        return None;
    }
    let answered_per_second = half.per_second(|stretch| stretch.completed);
    let backlog = later[later.len() - 1].max(0.0) as u64;
    // Without the user's limit even a slow server gets every arrival: arrivals never issued are not its backlog.
    if run.facts.offered.connections.is_none() && run.snapshot.tally.never_issued > backlog / 2 {
        return None;
    }
    let connections = run.facts.connections_here();
    Some(match connection_cap::limiting_cap(run, findings, answered_per_second, every) {
        Some((connections, service_time_ns)) => ValidityIssue::ConnectionsExhausted {
            offered_per_second,
            answered_per_second,
            backlog,
            connections,
            service_time_ns,
        },
        None => ValidityIssue::Saturated {
            offered_per_second,
            capacity_per_second: answered_per_second,
            growth_per_second,
            backlog,
            connections,
        },
    })
}

/// Detects saturation that the timeout hides: the backlog grew until requests timed out in it. Before that, answers
/// grew nearly as old as the timeout. After that, a good part of the arrivals gets no answer.
pub(super) fn up_to_the_timeout(run: &Run, timeline: &LoadTimeline) -> Option<ValidityIssue> {
    let timeout_ns = run.facts.offered.timeout_ns?;
    let tally = &run.snapshot.tally;
    let onset = timeline.stretches.iter().position(gives_up)?;
    let (before, after) = timeline.stretches.split_at(onset);
    let giving_up = after.iter().filter(|stretch| gives_up(stretch)).count();
    let lasts = after.len() >= SATURATED_STRETCHES
        && giving_up as f64 >= after.len() as f64 * SATURATED_RISING_SHARE
        && tally.timed_out > tally.failed();
    (lasts && grew_old(before, timeout_ns)).then(|| ValidityIssue::SaturatedToTimeout {
        offered_per_second: timeline.per_second(|stretch| stretch.planned),
        capacity_per_second: most_answered(before, after) / timeline.stretch_s,
        from_ns: run.snapshot.measure_from.0 + (onset as f64 * timeline.stretch_s * 1e9) as u64,
        timed_out: tally.timed_out,
        arrivals: tally.planned,
        timeout_ns,
    })
}

fn gives_up(stretch: &Stretch) -> bool {
    stretch.ended > 0 && (stretch.ended - stretch.completed) as f64 >= stretch.ended as f64 * TIMED_OUT_SHARE
}

/// Returns true if the age of the answers grew from small to near the timeout.
fn grew_old(before: &[Stretch], timeout_ns: u64) -> bool {
    let mut ages = before.iter().filter_map(|stretch| stretch.median_ns);
    let (Some(first), Some(last)) = (ages.next(), ages.next_back()) else { return false };
    last as f64 >= timeout_ns as f64 * NEAR_TIMEOUT_SHARE && first as f64 <= last as f64 * GROWN_FROM_SHARE
}

/// Returns the mean number of answers in a stretch, the larger of before and after requests timed out. A server that
/// continues to work for clients that have gone answers none in time, so its capacity shows before. The first stretch
/// is left out, because it begins with nothing to answer.
fn most_answered(before: &[Stretch], after: &[Stretch]) -> f64 {
    let mean = |stretches: &[Stretch]| {
        stretches.iter().map(|stretch| stretch.completed as f64).sum::<f64>() / stretches.len().max(1) as f64
    };
    mean(before.get(1..).unwrap_or(before)).max(mean(after))
}

/// The slope of the least-squares line through values at 0, 1, 2 …
fn slope(values: &[f64]) -> f64 {
    let middle = (values.len() - 1) as f64 / 2.0;
    let off = |i: usize| i as f64 - middle;
    let along: f64 = values.iter().enumerate().map(|(i, value)| off(i) * value).sum();
    let spread: f64 = (0..values.len()).map(|i| off(i) * off(i)).sum();
    along / spread
}

fn rises(values: &[f64]) -> bool {
    let steps = values.len() - 1;
    let rising = values.windows(2).filter(|pair| pair[1] > pair[0]).count();
    rising as f64 >= steps as f64 * SATURATED_RISING_SHARE
}

fn beyond_noise(half: &LoadTimeline, outstanding: &[f64]) -> bool {
    let planned: u64 = half.stretches.iter().map(|stretch| stretch.planned).sum();
    outstanding[outstanding.len() - 1] - outstanding[0] > SATURATED_NOISE * (planned as f64).sqrt()
}

fn keeps_answering(half: &LoadTimeline) -> bool {
    let answering = half.stretches.iter().filter(|stretch| stretch.completed > 0).count();
    answering as f64 >= half.stretches.len() as f64 * SATURATED_RISING_SHARE
}

/// Compares the first with the last third.
fn gets_slower(half: &LoadTimeline) -> bool {
    let third = half.stretches.len().div_ceil(3);
    let early = middle(&half.stretches[..third]);
    let late = middle(&half.stretches[half.stretches.len() - third..]);
    early.zip(late).is_some_and(|(early, late)| late as f64 > early as f64 * SATURATED_SLOWER)
}

fn middle(stretches: &[Stretch]) -> Option<u64> {
    let mut medians: Vec<u64> = stretches.iter().filter_map(|stretch| stretch.median_ns).collect();
    medians.sort_unstable();
    medians.get(medians.len() / 2).copied()
}
