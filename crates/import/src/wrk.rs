//! The reports that wrk and wrk2 print.

use truetail_model::workload::LoadModelKind;
use truetail_run::{ForeignClock, ForeignLoad, ForeignRun};
use truetail_tools::{ParseError, ToolReport, files};

use crate::whole::file::{WholeFile, refused, run_of, text};
use crate::{Excerpt, FormatInfo, ImportError, Likeness, RequestSink};

/// Both keep whole microseconds.
const RESOLUTION_NS: u64 = 1_000;

pub(crate) static WRK: WholeFile = WholeFile {
    info: &FormatInfo { name: "wrk", about: "the report that wrk prints", tool: Some("wrk") },
    model: Some(LoadModelKind::Closed),
    likeness: |excerpt| likeness(excerpt, false),
    parse: |bytes, sink| read(bytes, sink, files::wrk),
};

pub(crate) static WRK2: WholeFile = WholeFile {
    info: &FormatInfo { name: "wrk2", about: "the report that wrk2 prints", tool: Some("wrk2") },
    model: Some(LoadModelKind::Open),
    likeness: |excerpt| likeness(excerpt, true),
    parse: |bytes, sink| read(bytes, sink, files::wrk2),
};

/// Lines of wrk2 only: with `--latency`; in runs of more than 10 s; in shorter runs.
const ONLY_WRK2: [&str; 3] = ["(HdrHistogram", "Thread calibration:", "-nan      -nan"];

fn likeness(excerpt: &Excerpt<'_>, wrk2: bool) -> Likeness {
    let head = excerpt.text();
    let begins = head.lines().any(|line| line.starts_with("Running ") && line.contains(" test @ "));
    if !begins {
        return Likeness::No;
    }
    match (wrk2, ONLY_WRK2.iter().any(|mark| head.contains(mark))) {
        (false, false) | (true, true) => Likeness::Yes,
        (false, true) => Likeness::Near("it has lines that only wrk2 prints".to_owned()),
        (true, false) => Likeness::Near("it has none of the lines that only wrk2 prints".to_owned()),
    }
}

fn read(
    bytes: &[u8],
    sink: &mut RequestSink<'_>,
    parse: fn(&[u8]) -> Result<ToolReport, ParseError>,
) -> Result<ForeignRun, ImportError> {
    let report = parse(bytes).map_err(|error| refused(bytes, &error))?;
    let load = ForeignLoad { users: connections(&text(bytes)), ..ForeignLoad::default() };
    let clock = ForeignClock { duration_resolution_ns: RESOLUTION_NS, ..ForeignClock::default() };
    Ok(ForeignRun { load, clock, ..run_of(report, sink) })
}

/// Reads `  2 threads and 6 connections`. Neither tool opens the remainder beyond an equal number per thread.
fn connections(text: &str) -> Option<u32> {
    let numbers = |line: &str| {
        let (threads, rest) = line.trim().split_once(" threads and ")?;
        let connections: u32 = rest.strip_suffix(" connections")?.parse().ok()?;
        connections.checked_div(threads.parse().ok()?)?.checked_mul(threads.parse().ok()?)
    };
    text.lines().find_map(numbers)
}

#[cfg(test)]
mod tests {
    use super::connections;

    #[test]
    fn a_remainder_of_connections_is_not_opened() {
        for (line, users) in [("  2 threads and 6 connections", 6), ("  4 threads and 10 connections", 8)] {
            assert_eq!(connections(line), Some(users));
        }
        assert_eq!(connections("  0 threads and 10 connections"), None);
    }
}
