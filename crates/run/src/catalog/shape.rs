//! The course of response times over a run, for a list.

use std::path::Path;

use truetail_model::record::Metric;

use crate::folder::TIMELINE;
use crate::folder::timeline::column;
use crate::input;

/// Percentile of each interval.
const Q: f64 = 0.99;
/// Column with the length of an interval, in the first row of that interval.
const INTERVAL: &str = "interval_s";

/// Returns the p99 of the response time of each interval of the run in `folder`, nanoseconds, from its `timeline.csv`.
/// An interval is `None` if its p99 falls among arrivals without an answer. The result is empty if the file is missing,
/// damaged, or larger than `most_bytes`.
pub fn times_over_run(folder: &Path, most_bytes: u64) -> Vec<Option<u64>> {
    let bytes = input::read(&folder.join(TIMELINE), most_bytes).unwrap_or_default();
    times_of(&bytes).unwrap_or_default()
}

fn times_of(bytes: &[u8]) -> Option<Vec<Option<u64>>> {
    let mut rows = csv::Reader::from_reader(bytes);
    let heads = rows.headers().ok()?.clone();
    let place = |name: &str| heads.iter().position(|head| head == name);
    let interval = place(INTERVAL)?;
    let value = place(&column(Metric::ResponseTime, Q))?;
    let mut times = Vec::new();
    for row in rows.records() {
        let row = row.ok()?;
        // A blank length is a row within an interval.
        if !row.get(interval)?.is_empty() {
            times.push(row.get(value)?.parse().ok());
        }
    }
    Some(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_one_value() {
        let rows = b"second,interval_s,response_time_p99_ns\n0,2,5\n1,,\n2,2,\n3,,\n";
        assert_eq!(times_of(rows), Some(vec![Some(5), None]));
        assert_eq!(times_of(b"second\n0\n"), None);
        assert_eq!(times_of(b"interval_s,response_time_p99_ns\n1,2\n1\n"), None, "a row is cut off");
        assert_eq!(times_of(b""), None);
    }

    #[test]
    fn a_file_beyond_the_limit_has_no_shape() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(TIMELINE), "interval_s,response_time_p99_ns\n1,2\n").expect("a file");
        assert_eq!(times_over_run(folder.path(), 1_000), [Some(2)]);
        assert_eq!(times_over_run(folder.path(), 10), []);
    }
}
