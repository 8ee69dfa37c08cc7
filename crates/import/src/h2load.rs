//! The file of `h2load --log-file`: a row for each answer.

use truetail_run::{Claims, ForeignClock, ForeignRun, ForeignStarts, LatencyFrom, UnusedRows};
use truetail_tools::files::h2load_row;

use crate::whole::file::{WholeFile, leave_out, request, run, text};
use crate::whole::rows::{Row, each_row};
use crate::{Excerpt, FormatInfo, ImportError, Likeness, RequestSink};

pub(crate) static LOG: WholeFile = WholeFile {
    info: &FormatInfo { name: "h2load-log", about: "the file of 'h2load --log-file'", tool: Some("h2load") },
    model: None,
    likeness,
    parse: read,
};

/// Digits of a Unix time in microseconds, from 2001 to 2286.
const DIGITS_OF_MICROS: usize = 16;

/// Recognises a file by its first row, because it has no header: three numbers, the first one a time.
fn likeness(excerpt: &Excerpt<'_>) -> Likeness {
    let first = text(excerpt.first_line());
    let is_time = first.split('\t').next().is_some_and(|start| start.len() == DIGITS_OF_MICROS);
    if is_time && h2load_row(&first).is_some() { Likeness::Yes } else { Likeness::No }
}

fn read(bytes: &[u8], sink: &mut RequestSink<'_>) -> Result<ForeignRun, ImportError> {
    let mut damage = UnusedRows::default();
    let mut rows = 0;
    let mut failed = 0;
    damage.truncated_at = each_row(bytes, |Row { place, line }| match h2load_row(line) {
        Some(one) => {
            rows += 1;
            failed += u64::from(!one.outcome.is_success());
            sink(&request(&one, None));
        }
        None => leave_out(&mut damage, || (place, "not a start, a status and a time in microseconds".to_owned())),
    });
    let claims = Claims {
        measured: Some(rows),
        requests: Some(rows),
        failed: Some(failed),
        ..Claims::silent(LatencyFrom::Send)
    };
    let clock = ForeignClock { starts: ForeignStarts::Unix, start_resolution_ns: 1_000, duration_resolution_ns: 1_000 };
    Ok(ForeignRun { clock, damage, ..run(claims) })
}
