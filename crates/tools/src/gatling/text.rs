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
    let run = lines.next().and_then(|(_, line)| line.strip_prefix("RUN\t")?.split('\t').nth(4));
    let mut log = RequestLog::new(LOG_FILE.require(1, "version in this line RUN", run)?.trim().to_owned());
    for (line, event) in lines {
        let fields: Vec<_> = event.split('\t').collect();
        match fields[..] {
            ["REQUEST", _, _, start, end, ok @ ("OK" | "KO"), message] => {
                let (start, end) = (LOG_FILE.number(line, start)?, LOG_FILE.number(line, end)?);
                LOG_FILE.require(line, "end after its start", log.add(start, end, ok == "OK", message))?;
            }
            ["USER" | "GROUP" | "ERROR" | "ASSERTION", ..] => {}
            _ => return Err(LOG_FILE.error(line, "not USER, REQUEST, GROUP or ERROR with their fields")),
        }
    }
    Ok(log)
}
