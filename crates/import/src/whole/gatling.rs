//! Gatling's simulation.log: text up to 3.12, binary from 3.13 on.

use truetail_run::{Claims, Damage, ForeignClock, ForeignRun, ForeignStarts, LatencyFrom};
use truetail_tools::files::{GatlingLog, gatling_log};

use super::file::{WholeFile, place_of, refused, request, run};
use crate::{FormatInfo, ImportError, Likeness, RequestSink, habits};

pub(super) static LOG: WholeFile = WholeFile {
    info: &FormatInfo { name: "gatling-log", about: "Gatling's simulation.log", tool: Some("gatling") },
    habits: habits::GATLING,
    model: None,
    likeness,
    parse: read,
};

/// A text log begins with a line `RUN`. A binary one begins with the kind 0 and the version: a length of four bytes and its
/// digits.
fn likeness(head: &[u8]) -> Likeness {
    let is_text = head.starts_with(b"RUN\t");
    let is_binary = matches!(head, [0, 0, 0, 0, 3..=60, b'0'..=b'9', ..]);
    if is_text || is_binary { Likeness::Yes } else { Likeness::No }
}

fn read(bytes: &[u8], sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    let log = gatling_log(bytes).map_err(|error| refused(bytes, &error))?;
    log.requests.iter().for_each(|one| sink(&request(one, None)));
    let made = Some(log.requests.len() as u64);
    let claims =
        Claims { measured: made, requests: made, failed: Some(log.failed), ..Claims::silent(LatencyFrom::Send) };
    let clock =
        ForeignClock { starts: ForeignStarts::Unix, start_resolution_ns: 1_000_000, duration_resolution_ns: 1_000_000 };
    let damage = damage(bytes, &log);
    Ok(ForeignRun { version: Some(log.version), clock, damage, notes: log.notes, ..run(claims) })
}

fn damage(bytes: &[u8], log: &GatlingLog) -> Damage {
    let first = log.broken.first().map(|(byte, error)| (place_of(bytes, *byte as usize), error.what.clone()));
    let truncated_at = log.ends_at.map(|byte| place_of(bytes, byte as usize));
    Damage { rows_left_out: log.broken.len() as u64, first, truncated_at }
}
