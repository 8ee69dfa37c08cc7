//! Gatling's log up to 3.12: a line for each event, tab-separated, with times in milliseconds since 1970.

use super::log::{LOG_FILE, RequestLog};
use crate::ParseError;
use crate::output_reader::numbered_lines;

/// Parses the log.
///
/// # Errors
/// [`ParseError`] for an unknown kind of line or a wrong number of fields.
pub(super) fn read(bytes: &[u8]) -> Result<RequestLog, ParseError> {
    LOG_FILE.check_last_line(bytes)?;
    let text = std::str::from_utf8(bytes).map_err(|error| LOG_FILE.error(None, error.to_string()))?;
    let mut lines = numbered_lines(text);
    let mut log = begin(lines.next().map_or("", |(_, line)| line))?;
    for (line, event) in lines {
        add(&mut log, line, event)?;
    }
    Ok(log)
}

/// Begins a log with its first line, which names the version.
///
/// # Errors
/// [`ParseError`] if it does not.
pub(super) fn begin(line: &str) -> Result<RequestLog, ParseError> {
    let version = line.strip_prefix("RUN\t").and_then(|fields| fields.split('\t').nth(4));
    let version = LOG_FILE.require(1, "version in this line RUN", version)?;
    Ok(RequestLog::new(version.trim().to_owned()))
}

/// Adds one line but the first.
///
/// # Errors
/// [`ParseError`] as [`read`].
pub(super) fn add(log: &mut RequestLog, line: u64, event: &str) -> Result<(), ParseError> {
    let fields: Vec<_> = event.split('\t').collect();
    match fields[..] {
        ["REQUEST", _, _, start, end, ok @ ("OK" | "KO"), message] => {
            let (start, end) = (LOG_FILE.number(line, start)?, LOG_FILE.number(line, end)?);
            LOG_FILE.require(line, "end after its start", log.add(start, end, ok == "OK", message))
        }
        ["USER" | "GROUP" | "ERROR" | "ASSERTION", ..] => Ok(()),
        _ => Err(LOG_FILE.error(line, "not USER, REQUEST, GROUP or ERROR with their fields")),
    }
}
