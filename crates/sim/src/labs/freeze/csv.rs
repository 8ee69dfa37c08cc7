//! The four CSV files.

use std::fmt::{self, Write};

use truetail_model::time::Nanos;

use super::{Artifact, FreezeResult, FreezeSeries};

const INTERVAL_COLUMNS: &str = "elapsed_s,p50_ms,p95_ms,p99_ms,p999_ms,throughput_rps,total_requests";
const SUMMARY_COLUMNS: &str = "series,total_requests,whole_run_p99_ms";

/// An interval file for each series, then the summary.
pub(super) fn files(freeze: &FreezeResult) -> Vec<Artifact> {
    let mut files: Vec<Artifact> = freeze.series.iter().map(intervals).collect();
    files.push(summary(&freeze.series));
    files
}

fn intervals(series: &FreezeSeries) -> Artifact {
    let mut text = format!("{INTERVAL_COLUMNS}\n");
    for row in &series.intervals {
        let [p50, p95, p99, p999] = [row.p50_ms, row.p95_ms, row.p99_ms, row.p999_ms].map(Ms);
        let (elapsed, total) = (Seconds(row.elapsed), row.total_requests);
        writeln!(text, "{elapsed},{p50},{p95},{p99},{p999},{:.1},{total}", row.throughput_rps)
            .expect("a String takes everything");
    }
    Artifact { name: format!("{}.csv", series.series.name), contents: text }
}

fn summary(all: &[FreezeSeries]) -> Artifact {
    let mut text = format!("{SUMMARY_COLUMNS}\n");
    for series in all {
        let (name, total, p99) = (series.series.name, series.total_requests, Ms(series.whole_run_p99_ms));
        writeln!(text, "{name},{total},{p99}").expect("a String takes everything");
    }
    Artifact { name: "summary.csv".into(), contents: text }
}

/// Milliseconds with one decimal; an empty field where there is no value.
struct Ms(Option<u64>);

impl fmt::Display for Ms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |ms| write!(f, "{ms}.0"))
    }
}

/// Seconds with as many decimals as they have.
struct Seconds(Nanos);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.as_secs_f64())
    }
}
