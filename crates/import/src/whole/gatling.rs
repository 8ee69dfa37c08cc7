//! Gatling's simulation.log: text up to 3.12, binary from 3.13 on.

use truetail_run::{Claims, Damage, FilePlace, ForeignClock, ForeignRun, ForeignStarts, LatencyFrom};
use truetail_tools::files::{GatlingLog, gatling_log};

use super::file::{WholeFile, content, place_of, refused, request, run};
use crate::{FormatInfo, ImportError, Likeness, RequestSink};

pub(super) static LOG: WholeFile = WholeFile {
    info: &FormatInfo { name: "gatling-log", about: "Gatling's simulation.log", tool: Some("gatling") },
    model: None,
    likeness,
    parse: read,
};

/// A text log begins with a line `RUN`. A binary one begins with the kind 0 and the version: a length of four bytes and its
/// digits.
fn likeness(head: &[u8]) -> Likeness {
    let is_binary = matches!(head, [0, 0, 0, 0, 3..=60, b'0'..=b'9', ..]);
    if is_text(head) || is_binary { Likeness::Yes } else { Likeness::No }
}

fn is_text(log: &[u8]) -> bool {
    log.starts_with(b"RUN\t")
}

fn read(bytes: &[u8], sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    let log = gatling_log(bytes).map_err(|error| match is_text(bytes) {
        true => refused(bytes, &error),
        false => binary_refused(&error.what),
    })?;
    log.requests.iter().for_each(|one| sink(&request(one, None)));
    let made = Some(log.requests.len() as u64);
    let claims =
        Claims { measured: made, requests: made, failed: Some(log.failed), ..Claims::silent(LatencyFrom::Send) };
    let clock =
        ForeignClock { starts: ForeignStarts::Unix, start_resolution_ns: 1_000_000, duration_resolution_ns: 1_000_000 };
    let damage = damage(bytes, &log);
    Ok(ForeignRun { version: Some(log.version), clock, damage, notes: log.notes, ..run(claims) })
}

/// The parser's message names the byte: `at byte 17: …`.
fn binary_refused(what: &str) -> ImportError {
    let at = what.strip_prefix("at byte ").and_then(|rest| rest.split_once(": "));
    let (byte, what) = at.and_then(|(byte, what)| Some((byte.parse().ok()?, what))).unwrap_or((0, what));
    content(FilePlace { byte, line: 0 }, what)
}

fn damage(bytes: &[u8], log: &GatlingLog) -> Damage {
    // A binary file has no lines.
    let place = |byte| if is_text(bytes) { place_of(bytes, byte as usize) } else { FilePlace { byte, line: 0 } };
    let first = log.broken.first().map(|(byte, error)| (place(*byte), error.what.clone()));
    let truncated_at = log.ends_at.map(place);
    Damage { rows_left_out: log.broken.len() as u64, first, truncated_at }
}
