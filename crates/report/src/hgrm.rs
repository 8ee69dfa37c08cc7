//! HdrHistogram's text format of a percentile distribution, which its plotters and many scripts read.

use std::fmt::Write;

use truetail_model::record::{Histogram, Metric, Snapshot, rank_of};
use truetail_model::time::Nanos;

/// Lines for each halving of the remaining share: HdrHistogram's default.
const TICKS_PER_HALF: f64 = 5.0;
const NS: f64 = 1e6;
/// Sub-buckets of a [`Histogram`] with three significant digits.
const SUB_BUCKETS: u32 = 2048;

/// Returns the response times of a run in milliseconds, over all planned arrivals. An arrival without an answer is
/// slower than every answer: the lines end at the last answer, and a comment states the number of unanswered arrivals.
pub fn hgrm(snapshot: &Snapshot) -> String {
    let answered = snapshot.metric(Metric::ResponseTime);
    let missing: u64 = [Metric::Censored, Metric::Failed].map(|metric| snapshot.metric(metric).count()).iter().sum();
    let all = answered.count() + missing;
    let mut text = format!("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    lines(answered, all, &mut text);
    let milliseconds = |value: f64| value / NS;
    let (mean, deviation) = spread(answered);
    let max = answered.max().map_or(0.0, |max| milliseconds(max.0 as f64));
    let footer = |text: &mut String| {
        writeln!(text, "#[Mean    = {mean:12.3}, StdDeviation   = {deviation:12.3}]")?;
        writeln!(text, "#[Max     = {max:12.3}, Total count    = {all:12}]")?;
        writeln!(text, "#[Buckets = {:12}, SubBuckets     = {SUB_BUCKETS:12}]", buckets(answered))?;
        if missing > 0 {
            writeln!(text, "#[Unanswered = {missing} of {all} arrivals, which are slower than every value above]")?;
        }
        Ok::<(), std::fmt::Error>(())
    };
    footer(&mut text).expect("a String takes everything");
    text
}

/// Writes a line for each percentile, up to the last answer of `all` arrivals.
fn lines(answered: &Histogram, all: u64, text: &mut String) {
    let mut share = 0.0;
    while let Some(value) = answered.value_at_rank(rank_of(share, all)) {
        let so_far = answered.count_at_or_below(value);
        let at = value.0 as f64 / NS;
        let is_last = so_far == all;
        let line = match is_last {
            true => writeln!(text, "{at:12.3} {:14.12} {so_far:10}", 1.0),
            false => writeln!(text, "{at:12.3} {share:14.12} {so_far:10} {:14.2}", 1.0 / (1.0 - share)),
        };
        line.expect("a String takes everything");
        if is_last {
            return;
        }
        share = next(share);
    }
}

/// Returns the percentile after `share`: a fifth of the way to the point that halves the remaining share.
fn next(share: f64) -> f64 {
    let halves = libm::floor(libm::log2(1.0 / (1.0 - share))) + 1.0;
    share + 1.0 / (TICKS_PER_HALF * libm::pow(2.0, halves))
}

/// Returns mean and standard deviation in milliseconds; 0 without values.
pub(crate) fn spread(answered: &Histogram) -> (f64, f64) {
    let Some(mean) = answered.mean_ns() else { return (0.0, 0.0) };
    let middle = |low: Nanos, high: Nanos| (low.0 as f64 + high.0 as f64) / 2.0;
    let squares: f64 =
        answered.buckets().map(|(low, high, count)| count as f64 * (middle(low, high) - mean).powi(2)).sum();
    (mean / NS, libm::sqrt(squares / answered.count() as f64) / NS)
}

/// Returns the number of powers of two that the largest value needs.
fn buckets(answered: &Histogram) -> u32 {
    let largest = answered.max().map_or(0, |max| max.0);
    (64 - largest.leading_zeros()).saturating_sub(SUB_BUCKETS.trailing_zeros()) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(answered: u64, missing: u64) -> Snapshot {
        let mut snapshot = Snapshot::default();
        (1..=answered).for_each(|n| snapshot.metrics[Metric::ResponseTime as usize].record(Nanos(n * 1_000_000)));
        snapshot.metrics[Metric::Censored as usize].record_n(Nanos(5_000_000_000), missing);
        snapshot
    }

    /// Returns (value, percentile, total count) of each line.
    fn read(text: &str) -> Vec<(f64, f64, u64)> {
        let numbers = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
        let rows = text.lines().skip(2).filter(|line| !line.starts_with('#')).map(numbers);
        rows.map(|row| (row[0].parse().unwrap(), row[1].parse().unwrap(), row[2].parse().unwrap())).collect()
    }

    #[test]
    fn it_has_the_lines_that_hdrhistogram_writes() {
        let snapshot = snapshot(1_000, 0);
        let rows = read(&hgrm(&snapshot));
        let mut theirs = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 1 << 47, 3).unwrap();
        (1..=1_000).for_each(|n| theirs.record(n * 1_000_000).unwrap());
        let expected: Vec<(f64, f64)> = theirs
            .iter_quantiles(5)
            .map(|at| {
                let value = at.value_iterated_to().min(1_000_000_000) as f64 / 1e6;
                (value, at.quantile_iterated_to())
            })
            .collect();
        let total: Vec<u64> = rows.iter().map(|row| row.2).collect();
        assert_eq!(rows.last().map(|row| (row.0, row.1, row.2)), Some((1_000.0, 1.0, 1_000)));
        assert!(rows.is_sorted_by(|a, b| a.0 <= b.0 && a.1 < b.1), "{rows:?}");
        // Rounding may place a percentile such as 0.3 one rank higher, which is 1 ms here.
        let most_apart = |theirs: f64| 1.0 + theirs * 0.002;
        for (ours, theirs) in rows.iter().zip(&expected).take(20) {
            let apart = (ours.0 - theirs.0).abs();
            assert!((ours.1 - theirs.1).abs() < 1e-9 && apart <= most_apart(theirs.0), "{ours:?} {theirs:?}");
        }
        assert!(total.is_sorted());
    }

    #[test]
    fn lines_end_where_answers_do() {
        let text = hgrm(&snapshot(990, 10));
        let rows = read(&text);
        let last = rows.last().unwrap();
        assert!(last.1 <= 0.99 && last.1 > 0.98 && last.2 <= 990, "{last:?}");
        assert!(text.contains("#[Unanswered = 10 of 1000 arrivals"), "{text}");
        assert!(text.contains("Total count    =         1000]"), "{text}");
    }

    #[test]
    fn nothing_is_no_line() {
        for empty in [snapshot(0, 0), snapshot(0, 7)] {
            let text = hgrm(&empty);
            assert!(read(&text).is_empty() && text.contains("#[Max"), "{text}");
        }
    }
}
