//! The readable beginning of a Gatling log, for importers.

use super::log::RequestLog;
use super::{binary, text};
use crate::{ParseError, ReportedRequest};

/// First bytes of a text log. A binary log begins with a zero.
const TEXT: [&[u8]; 2] = [b"RUN\t", b"ASSERTION\t"];

/// The readable part of a log.
#[derive(Clone, Debug)]
pub struct GatlingLog {
    /// Version of Gatling.
    pub version: String,
    /// Requests, in order of completion.
    pub requests: Vec<ReportedRequest>,
    /// Number of requests that Gatling counts as failed.
    pub failed: u64,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// Lines that Gatling did not write: (byte offset, problem).
    pub broken: Vec<(u64, ParseError)>,
    /// Byte offset of the first incomplete line or record, if reading ended there.
    pub ends_at: Option<u64>,
}

/// Reads the complete part of a log, in text or binary. Skips invalid lines of a text log. Stops at the first invalid
/// record of a binary log.
///
/// # Errors
/// [`ParseError`] if the file does not begin like a log.
pub fn read_log(bytes: &[u8]) -> Result<GatlingLog, ParseError> {
    if TEXT.iter().any(|begin| bytes.starts_with(begin)) { text_log(bytes) } else { binary_log(bytes) }
}

impl GatlingLog {
    fn new(log: RequestLog) -> GatlingLog {
        let RequestLog { version, requests, failures, failed } = log;
        GatlingLog { version, requests, failed, notes: failures.notes(), broken: Vec::new(), ends_at: None }
    }
}

fn text_log(bytes: &[u8]) -> Result<GatlingLog, ParseError> {
    let mut lines = (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n'));
    let mut at = 0;
    let mut broken = Vec::new();
    let mut ends_at = None;
    let mut first = std::borrow::Cow::default();
    for (_, line) in lines.by_ref() {
        at += line.len() as u64;
        first = String::from_utf8_lossy(line);
        if !text::is_before_run(&first) {
            break;
        }
    }
    let mut log = text::begin(first.trim_end_matches(['\r', '\n']))?;
    for (number, line) in lines {
        let Some(whole) = line.strip_suffix(b"\n") else {
            ends_at = Some(at);
            break;
        };
        let event = String::from_utf8_lossy(whole);
        if let Err(error) = text::add(&mut log, number, event.trim_end_matches('\r')) {
            broken.push((at, error));
        }
        at += line.len() as u64;
    }
    Ok(GatlingLog { broken, ends_at, ..GatlingLog::new(log) })
}

fn binary_log(bytes: &[u8]) -> Result<GatlingLog, ParseError> {
    let (log, broken) = binary::read_beginning(bytes)?;
    let ends_at = broken.as_ref().map(|broken| broken.at as u64);
    let broken = broken.map(|broken| (broken.at as u64, broken.error)).into_iter().collect();
    Ok(GatlingLog { broken, ends_at, ..GatlingLog::new(log) })
}
