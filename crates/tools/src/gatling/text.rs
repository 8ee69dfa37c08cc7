//! Gatling's log up to 3.12: a line for each event, tab-separated, with times in milliseconds since 1970.

use super::log::{LOG_FILE, RequestLog};
use crate::ParseError;
use crate::output_reader::numbered_lines;

/// Parses the log. Fails on an unknown kind of line, and on a wrong number of fields.
pub(super) fn read(bytes: &[u8]) -> Result<RequestLog, ParseError> {
    LOG_FILE.check_last_line(bytes)?;
    let text = std::str::from_utf8(bytes).map_err(|error| LOG_FILE.error(None, error.to_string()))?;
    let mut lines = numbered_lines(text).skip_while(|(_, line)| is_before_run(line));
    let mut log = begin(lines.next().map_or("", |(_, line)| line))?;
    for (line, event) in lines {
        add(&mut log, line, event)?;
    }
    Ok(log)
}

/// Returns true for lines that may precede the line of the run: assertions and blank lines.
pub(super) fn is_before_run(line: &str) -> bool {
    line.starts_with("ASSERTION\t") || line.trim().is_empty()
}

/// Begins a log with the line of its run. The last field is the version of Gatling, or until 2.3 of the log.
pub(super) fn begin(line: &str) -> Result<RequestLog, ParseError> {
    let version = line.strip_prefix("RUN\t").and_then(|fields| fields.split('\t').skip(4).last());
    let version = LOG_FILE.require(1, "version in this line RUN", version)?;
    Ok(RequestLog::new(version.trim().to_owned()))
}

/// Adds a line after the first one. Fails like [`read`].
pub(super) fn add(log: &mut RequestLog, line: u64, event: &str) -> Result<(), ParseError> {
    let fields: Vec<_> = event.split('\t').collect();
    // The fields before the times are scenario and user (2.x), only the user (3.0 to 3.3), or neither. Groups and name
    // follow, and may contain tabs.
    let is_number =
        |text: &str| text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit()) && text.len() > 1;
    let is_end = |window: &[&str]| is_number(window[0]) && is_number(window[1]) && matches!(window[2], "OK" | "KO");
    let times = fields.windows(3).skip(3).position(is_end).map(|at| &fields[at + 3..]);
    match (fields[0], times) {
        ("REQUEST", Some([start, end, ok, message @ ..])) => {
            let message = message.first().copied().unwrap_or_default();
            let start = LOG_FILE.number(line, start)?;
            let end = LOG_FILE.number(line, end)?;
            LOG_FILE.require(line, "end after its start", log.add(start, end, *ok == "OK", message))
        }
        ("USER" | "GROUP" | "ERROR" | "ASSERTION", _) => Ok(()),
        _ => Err(LOG_FILE.error(line, "not USER, REQUEST, GROUP or ERROR with their fields")),
    }
}
