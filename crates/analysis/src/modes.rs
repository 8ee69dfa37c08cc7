//! Groups of slow requests that took a similar time, apart from the others and at least twice as long: `2.0 % take 300
//! to 304 ms`.
//!
//! The hypothesis is that the density of response times does not rise beyond their main peak. Take a window of times
//! and a region directly before it. If the region has a share s of their common width, each value in one of them is in
//! the region with a probability of at least s. So the binomial distribution bounds the number of values in the window,
//! and a window with too many is a group. The bound assumes no form of the tail: every tail that falls, however slowly,
//! has no group.

mod connections;
mod property;

use truetail_model::record::{Outcome, RequestRecord};
use truetail_run::{HeaderPlace, Mode, ModePlace, Run};

use crate::binomial;
use crate::figures::time;
use crate::part_names::PARTS;
use property::{NEARLY_ALL, is_of_group};

/// Ratio between the edges of neighbouring bins.
const BIN: f64 = 1.02;
/// A window goes on while its bins have this share of the highest one. The wider window is tried first.
const EDGES: [f64; 2] = [0.05, 0.25];
/// A group takes at least this many times as long as the slowest of the main peak.
const LONGER: f64 = 2.0;
/// Fewest requests of a group …
const FEWEST: usize = 20;
/// … and its lowest share of the answers.
const LOWEST_SHARE: f64 = 0.001;
/// Limit on the groups.
const MOST: usize = 3;
/// Probability of a group in a run without any, over all windows.
const CHANCE: f64 = 1e-4;
/// From this share on, the gaps between requests of a group are equal.
const REGULAR: f64 = 0.7;
/// A group within this share of the run is not spread.
const SHORT: f64 = 0.1;

/// Returns the groups, the largest first.
pub(crate) fn modes(run: &Run) -> Vec<Mode> {
    let even = run.snapshot.samples.even().iter();
    let mut answers: Vec<&RequestRecord> =
        even.filter(|record| matches!(record.outcome, Outcome::Response { .. })).collect();
    answers.sort_unstable_by_key(|record| (record.response_time(), record.index));
    let times: Vec<u64> = answers.iter().map(|record| record.response_time().0.max(1)).collect();
    groups(&times).into_iter().map(|(from, to)| mode(run, &answers, from, to)).collect()
}

/// Returns the groups in ascending times as ranges of places, the largest first.
pub fn groups(times: &[u64]) -> Vec<(usize, usize)> {
    let Some(peak) = main_peak(times) else { return Vec::new() };
    let fewest = FEWEST.max((LOWEST_SHARE * times.len() as f64).ceil() as usize);
    let bins = Bins::new(&times[peak..]);
    let chance = CHANCE / bins.counts.len().max(1) as f64;
    let mut found: Vec<(usize, usize)> = Vec::new();
    for window in bins.windows() {
        let from = peak + times[peak..].partition_point(|time| (*time as f64) < bins.edge(window.0));
        let to = peak + times[peak..].partition_point(|time| (*time as f64) < bins.edge(window.1));
        let is_new = found.iter().all(|(a, b)| to <= *a || *b <= from);
        let is_longer = times.get(from).is_some_and(|low| *low as f64 >= LONGER * times[peak] as f64);
        if is_longer && to - from >= fewest && is_new && is_apart(times, peak, (from, to), chance) {
            found.push((from, to));
        }
    }
    found.sort_by_key(|(from, to)| std::cmp::Reverse(to - from));
    found.truncate(MOST);
    found
}

/// Returns the first place beyond the main peak: the end of the shortest interval with half of the values. `None` for
/// few values.
fn main_peak(times: &[u64]) -> Option<usize> {
    let half = times.len() / 2;
    if times.len() < 2 * FEWEST {
        return None;
    }
    let shortest = (0..times.len() - half).min_by_key(|from| times[from + half] - times[*from])?;
    Some(shortest + half)
}

/// Returns true if the window has too many values for a density that does not rise. The window is compared with the
/// region directly before it.
fn is_apart(times: &[u64], peak: usize, (from, to): (usize, usize), chance: f64) -> bool {
    let low = times[from];
    let width = (times[to - 1] - low).max(1);
    let mut region = width;
    loop {
        let begin = low.saturating_sub(region).max(times[peak]);
        let in_region = from - times[..from].partition_point(|time| *time < begin);
        let all = (in_region + to - from) as f64;
        let share = (low - begin) as f64 / (low - begin + width) as f64;
        if share > 0.0 && binomial::at_most(in_region as f64, all, share) < chance {
            return true;
        }
        if begin <= times[peak] {
            return false;
        }
        region = region.saturating_mul(2);
    }
}

/// Counts by time, in bins of equal ratio.
struct Bins {
    lowest: f64,
    counts: Vec<u64>,
}

impl Bins {
    fn new(times: &[u64]) -> Bins {
        let lowest = times.first().copied().unwrap_or(1) as f64;
        let place = |time: u64| (libm::log(time as f64 / lowest) / libm::log(BIN)).floor().max(0.0) as usize;
        let mut counts = vec![0; times.last().map_or(0, |last| place(*last) + 1)];
        times.iter().for_each(|time| counts[place(*time)] += 1);
        Bins { lowest, counts }
    }

    fn edge(&self, bin: usize) -> f64 {
        self.lowest * libm::pow(BIN, bin as f64)
    }

    /// Returns ranges of bins around each local maximum, the highest first.
    fn windows(&self) -> Vec<(usize, usize)> {
        let counts = &self.counts;
        let at = |bin: usize| counts.get(bin).copied().unwrap_or(0);
        let is_top = |bin: &usize| {
            let before = bin.checked_sub(1).map_or(0, at);
            at(*bin) > 0 && at(*bin) >= before && at(*bin) >= at(bin + 1)
        };
        let mut tops: Vec<usize> = (0..counts.len()).filter(is_top).collect();
        tops.sort_by_key(|bin| std::cmp::Reverse(at(*bin)));
        let window = |top: usize, edge: f64| {
            let least = (edge * at(top) as f64).max(1.0);
            let is_inside = |bin: &usize| at(*bin) as f64 >= least;
            let before = (0..top).rev().take_while(is_inside).count();
            let after = (top + 1..counts.len()).take_while(is_inside).count();
            (top - before, top + after + 1)
        };
        tops.into_iter().flat_map(|top| EDGES.map(|edge| window(top, edge))).collect()
    }
}

fn mode(run: &Run, answers: &[&RequestRecord], from: usize, to: usize) -> Mode {
    let group = &answers[from..to];
    let low_ns = group[0].response_time().0;
    let high_ns = group[group.len() - 1].response_time().0;
    let share = group.len() as f64 / answers.len() as f64;
    let (part, part_share) = largest_part(group);
    let place = place(run, answers, group);
    let how_much = if part_share >= NEARLY_ALL { "nearly all of it" } else { "most of it" };
    let message = format!(
        "{:.1}% of the answers took {} to {}, {how_much} {}; {}",
        share * 100.0,
        time(low_ns as f64),
        time(high_ns as f64),
        in_words(part),
        said(&place)
    );
    let part = part.to_owned();
    Mode { low_ns, high_ns, requests: group.len() as u64, share, part, part_share, place, message }
}

/// Returns the part with most of the time of these answers, and its share.
fn largest_part(group: &[&RequestRecord]) -> (&'static str, f64) {
    let mut sums = [0.0; PARTS.len()];
    for record in group {
        let delay = record.delay;
        let service = record.service_time().0 as f64;
        let first = record.first_byte.map(|first| first.max(record.actual_start).since(record.actual_start).0 as f64);
        let first_part = first.map(|first| first.min(service));
        let times = [
            delay.generator_lag.0 as f64,
            delay.connection_wait.0 as f64,
            delay.connect.0 as f64,
            first_part.unwrap_or(0.0),
            first_part.map_or(0.0, |first| service - first),
            if first.is_none() { service } else { 0.0 },
        ];
        sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
    }
    let all: f64 = sums.iter().sum::<f64>().max(1.0);
    let largest = (0..PARTS.len()).max_by(|a, b| sums[*a].total_cmp(&sums[*b])).unwrap_or(0);
    (PARTS[largest], sums[largest] / all)
}

fn in_words(part: &str) -> &str {
    match part {
        "generator lag" => "truetail's own lag",
        "connection wait" => "waiting for a connection, by your limit",
        "to the first byte" => "before the first byte",
        "from the first byte" => "after the first byte",
        "service" => "in the service",
        part => part,
    }
}

fn place(run: &Run, answers: &[&RequestRecord], group: &[&RequestRecord]) -> ModePlace {
    if let Some(name) = target(run, answers, group) {
        return ModePlace::Target(name);
    }
    if let Some(place) = header(run, answers, group) {
        return place;
    }
    let is_complete = run.snapshot.samples.is_complete();
    let all = run.snapshot.samples.even();
    let after_idle = || is_complete.then(|| connections::after_idle(all, answers, group)).flatten();
    if let Some(place) = connections::few_connections(answers, group).or_else(after_idle) {
        return place;
    }
    let starts = || group.iter().map(|record| record.intended_start.0);
    let [from_ns, to_ns] = [starts().min().unwrap_or(0), starts().max().unwrap_or(0)];
    let all = || answers.iter().map(|record| record.intended_start.0);
    let length = all().max().unwrap_or(0) - all().min().unwrap_or(0);
    if ((to_ns - from_ns) as f64) < SHORT * length as f64 {
        return ModePlace::Within { from_ns, to_ns };
    }
    regular_gap(group).filter(|_| is_complete).map_or(ModePlace::Spread, ModePlace::EveryNth)
}

/// Returns the name of the target of nearly all requests of the group, if the others have fewer of it.
fn target(run: &Run, answers: &[&RequestRecord], group: &[&RequestRecord]) -> Option<String> {
    let names = run.facts.offered.target_names();
    if names.len() < 2 {
        return None;
    }
    let first = group.first()?.target.index()?;
    let candidates = [first, group[group.len() / 2].target.index()?];
    let is_one = |target: &usize| is_of_group(answers, group, |record| record.target.index() == Some(*target));
    candidates.into_iter().find(is_one).and_then(|target| names.get(target).cloned())
}

/// Returns the value of a kept header that nearly all requests of the group have, if the others have it less often.
fn header(run: &Run, answers: &[&RequestRecord], group: &[&RequestRecord]) -> Option<ModePlace> {
    let kept = run.facts.kept_headers.as_ref()?;
    let candidates = [group.first()?, group[group.len() / 2]];
    kept.headers.iter().enumerate().find_map(|(nth, header)| {
        let place = |record: &RequestRecord| kept.of(record.index).map(|row| row.get(nth));
        let is_one =
            |candidate: &Option<HeaderPlace>| is_of_group(answers, group, |record| place(record) == *candidate);
        let found = candidates.iter().map(|record| place(record)).find(is_one)??;
        let HeaderPlace::Value(value) = found else { return None };
        let value = header.values.get(value)?.value.clone();
        Some(ModePlace::Header { name: header.name.clone(), value })
    })
}

/// Returns the gap that most requests of the group have to the one before, by index, if it is above 1.
fn regular_gap(group: &[&RequestRecord]) -> Option<u64> {
    let mut indices: Vec<u64> = group.iter().map(|record| record.index).collect();
    indices.sort_unstable();
    let mut gaps: Vec<u64> = indices.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_unstable();
    let middle = *gaps.get(gaps.len() / 2)?;
    let equal = gaps.iter().filter(|gap| **gap == middle).count();
    (middle > 1 && equal as f64 >= REGULAR * gaps.len() as f64).then_some(middle)
}

fn said(place: &ModePlace) -> String {
    match place {
        ModePlace::Spread => "they are spread over the run".to_owned(),
        ModePlace::EveryNth(n) => format!("they are every {n}th request"),
        ModePlace::Target(name) => format!("they are of {name}"),
        ModePlace::Header { name, value } => format!("they have {name}: {value}"),
        ModePlace::Connections { slow: 1, of } => format!("they were on one of {of} connections"),
        ModePlace::Connections { slow, of } => format!("they were on {slow} of {of} connections"),
        ModePlace::AfterIdle { at_least_ns } => {
            format!("their connections had been idle for {} or longer", time(*at_least_ns as f64))
        }
        ModePlace::Within { from_ns, to_ns } => {
            format!("they were due from {} to {}", time(*from_ns as f64), time(*to_ns as f64))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Returns values of an exponential distribution at equal probabilities.
    fn exponential(count: usize, mean: f64) -> Vec<u64> {
        let at = |i: usize| -libm::log(1.0 - (i as f64 + 0.5) / count as f64) * mean;
        (0..count).map(|i| at(i) as u64 + 1).collect()
    }

    fn sorted(mut times: Vec<u64>, more: impl Iterator<Item = u64>) -> Vec<u64> {
        times.extend(more);
        times.sort_unstable();
        times
    }

    #[test]
    fn a_smooth_tail_has_no_groups() {
        assert_eq!(groups(&exponential(10_000, 10e6)), []);
        let uniform: Vec<u64> = (0..10_000).map(|i| i * 1_000 + 1).collect();
        assert_eq!(groups(&uniform), []);
        assert_eq!(groups(&[]), []);
        assert_eq!(groups(&[5; 1_000]), []);
    }

    #[test]
    fn a_group_is_found_whole() {
        let times = sorted(exponential(9_800, 5e6), (0..200).map(|i| 300 * MS + i * 20_000));
        let found = groups(&times);
        assert_eq!(found.len(), 1, "{found:?}");
        let (from, to) = found[0];
        assert_eq!((times[from], times[to - 1], to - from), (300 * MS, 300 * MS + 199 * 20_000, 200));
    }

    #[test]
    fn a_group_among_others_is_found_too() {
        // A tail that reaches beyond the group, and two groups.
        let more = (0..300).map(|i| 60 * MS + i * 5_000).chain((0..100).map(|i| 200 * MS + i * 5_000));
        let times = sorted(exponential(9_600, 20e6), more);
        let found = groups(&times);
        assert_eq!(found.len(), 2, "{found:?}");
        // The tail reaches into the windows.
        let sizes: Vec<usize> = found.iter().map(|(from, to)| to - from).collect();
        assert!((300..360).contains(&sizes[0]) && (100..110).contains(&sizes[1]), "{found:?}");
    }

    #[test]
    fn a_few_requests_are_no_group() {
        assert_eq!(groups(&sorted(exponential(9_990, 5e6), (0..10).map(|_| 300 * MS))), []);
    }
}
