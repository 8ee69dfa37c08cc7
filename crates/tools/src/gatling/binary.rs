//! Gatling's log from 3.13 on. A record is a byte for its kind and then fields, with big-endian numbers. The first
//! record describes the run. Later times are in milliseconds since the start of the run.
//!
//! A text is its length in bytes and, unless that is 0, the bytes and a byte for the coding: 0 for Latin-1, 1 for
//! UTF-16 in the byte order of the machine that wrote it. A cached text is a positive index and the text at its first
//! use, and the negated index after that.

use std::collections::HashMap;
use std::rc::Rc;

use super::log::{LOG_FILE, RequestLog};
use crate::ParseError;
use crate::output_reader::shortened;

const RUN: u8 = 0;
const REQUEST: u8 = 1;
const USER: u8 = 2;
const GROUP: u8 = 3;
const ERROR: u8 = 4;

/// Maximum number of bytes kept of a text. Gatling's messages are shorter.
const MAX_TEXT: usize = 1_000;

const LATIN_1: u8 = 0;
const UTF_16: u8 = 1;

/// Parses the log in memory of its own length. Fails on an unknown or incomplete record, and on an impossible number.
pub(super) fn read(bytes: &[u8]) -> Result<RequestLog, ParseError> {
    let (log, broken) = read_beginning(bytes)?;
    broken.map_or(Ok(log), |broken| Err(broken.error))
}

/// Parses the log up to the first broken record. The rest is unreadable, because records do not state their length.
/// Fails if the run record is broken.
pub(super) fn read_beginning(bytes: &[u8]) -> Result<(RequestLog, Option<BrokenRecord>), ParseError> {
    let mut records = Records { bytes, at: 0, texts: HashMap::new() };
    if records.byte()? != RUN {
        return Err(records.error("no run record, with which logs of Gatling 3.13 and later begin"));
    }
    let run = records.run()?;
    let mut log = RequestLog::new(run.version);
    while records.at < bytes.len() {
        let at = records.at;
        if let Err(error) = records.record(run.start_ms, &mut log) {
            return Ok((log, Some(BrokenRecord { at, error })));
        }
    }
    Ok((log, None))
}

/// An invalid or incomplete record.
pub(super) struct BrokenRecord {
    /// Byte offset of its start.
    pub at: usize,
    pub error: ParseError,
}

struct Run {
    version: String,
    start_ms: u64,
}

struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
    texts: HashMap<i32, Rc<str>>,
}

impl<'a> Records<'a> {
    fn record(&mut self, run_start_ms: u64, log: &mut RequestLog) -> Result<(), ParseError> {
        match self.byte()? {
            REQUEST => self.request(run_start_ms, log),
            USER => self.skip(4 + 1 + 4),
            GROUP => {
                self.names()?;
                self.skip(3 * 4 + 1)
            }
            ERROR => {
                self.cached_text()?;
                self.skip(4)
            }
            kind => Err(self.error(&format!("a record of the unknown kind {kind}"))),
        }
    }

    /// Reads version, class, start, description, scenarios and assertions.
    fn run(&mut self) -> Result<Run, ParseError> {
        let version = self.text()?;
        if !version.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.error(&format!("'{}' is not a version of Gatling", shortened(&version))));
        }
        self.text()?;
        let start = i64::from_be_bytes(self.array()?);
        let start_ms = u64::try_from(start).map_err(|_| self.error("a run that started before 1970"))?;
        self.text()?;
        for _ in 0..self.count()? {
            self.text()?;
        }
        for _ in 0..self.count()? {
            let length = self.count()?;
            self.skip(length)?;
        }
        Ok(Run { version, start_ms })
    }

    /// Reads groups, name, start, end, success and message.
    fn request(&mut self, run_start_ms: u64, log: &mut RequestLog) -> Result<(), ParseError> {
        self.names()?;
        self.cached_text()?;
        let start = self.number()?;
        let end = self.number()?;
        let ok = self.byte()?;
        let message = self.cached_text()?;
        let since_1970 = |ms: i32| run_start_ms.checked_add_signed(i64::from(ms));
        let added =
            since_1970(start).zip(since_1970(end)).and_then(|(start, end)| log.add(start, end, ok != 0, &message));
        added.ok_or_else(|| self.error("a request that ends before it starts"))
    }

    fn names(&mut self) -> Result<(), ParseError> {
        for _ in 0..self.count()? {
            self.cached_text()?;
        }
        Ok(())
    }

    /// Reads a cached text: an index and the text, or the negated index of an earlier text.
    fn cached_text(&mut self) -> Result<Rc<str>, ParseError> {
        let number = self.number()?;
        if number > 0 {
            let text = Rc::<str>::from(self.text()?);
            self.texts.insert(number, Rc::clone(&text));
            return Ok(text);
        }
        let known = number.checked_neg().and_then(|number| self.texts.get(&number)).cloned();
        known.ok_or_else(|| self.error(&format!("no text with the number {number}")))
    }

    /// Reads a text, and keeps at most [`MAX_TEXT`] bytes of it.
    fn text(&mut self) -> Result<String, ParseError> {
        let length = self.count()?;
        if length == 0 {
            return Ok(String::new());
        }
        let bytes = self.take(length)?;
        let bytes = &bytes[..length.min(MAX_TEXT)];
        match self.byte()? {
            LATIN_1 => Ok(bytes.iter().copied().map(char::from).collect()),
            UTF_16 => Ok(utf_16(bytes)),
            coding => Err(self.error(&format!("a text in the unknown encoding {coding}"))),
        }
    }

    /// Reads a number that is not negative.
    fn count(&mut self) -> Result<usize, ParseError> {
        let number = self.number()?;
        usize::try_from(number).map_err(|_| self.error(&format!("a length of {number}")))
    }

    fn number(&mut self) -> Result<i32, ParseError> {
        self.array().map(i32::from_be_bytes)
    }

    fn byte(&mut self) -> Result<u8, ParseError> {
        self.array().map(|[byte]| byte)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ParseError> {
        self.take(N).map(|bytes| bytes.try_into().expect("as many bytes as were asked for"))
    }

    fn skip(&mut self, length: usize) -> Result<(), ParseError> {
        self.take(length).map(|_| ())
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], ParseError> {
        let rest = &self.bytes[self.at..];
        let taken = rest.get(..length).ok_or_else(|| self.error("the log ends within a record; it was cut off"))?;
        self.at += length;
        Ok(taken)
    }

    fn error(&self, what: &str) -> ParseError {
        LOG_FILE.error(None, format!("at byte {}: {what}", self.at))
    }
}

/// Decodes UTF-16 in little endian. The other byte order does no harm, because the wanted texts are all Latin-1.
fn utf_16(bytes: &[u8]) -> String {
    let units: Vec<_> = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use truetail_model::record::Outcome;

    use super::*;

    fn text(text: &str) -> Vec<u8> {
        let mut bytes = (text.len() as i32).to_be_bytes().to_vec();
        if !text.is_empty() {
            bytes.extend(text.bytes());
            bytes.push(LATIN_1);
        }
        bytes
    }

    fn numbers(numbers: &[i32]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
    }

    /// Returns a run record at 1970 with one scenario and one assertion of two bytes.
    fn run() -> Vec<u8> {
        [vec![RUN], text("3.15.1"), text("Class"), vec![0; 8], text(""), numbers(&[1]), text("s"), numbers(&[1, 2])]
            .concat()
            .into_iter()
            .chain([7, 7])
            .collect()
    }

    /// Returns the first request: in a group, successful.
    fn request() -> Vec<u8> {
        let names = [numbers(&[1, 1]), text("group"), numbers(&[2]), text("name")].concat();
        [vec![REQUEST], names, numbers(&[10, 25]), vec![1], numbers(&[3]), text("")].concat()
    }

    #[test]
    fn every_kind_of_record() {
        let user = [vec![USER], numbers(&[0]), vec![1], numbers(&[5])].concat();
        let group = [vec![GROUP], numbers(&[1, -1]), numbers(&[10, 25, 15]), vec![1]].concat();
        let error = [vec![ERROR], numbers(&[4]), text("crash"), numbers(&[30])].concat();
        let again = [vec![REQUEST], numbers(&[0, -2, 30, 31]), vec![0], numbers(&[5]), text("found 503")].concat();
        let log = read(&[run(), user, request(), group, error, again].concat()).expect("a log");
        assert_eq!((log.version.as_str(), log.failed), ("3.15.1", 1));
        let told: Vec<_> = log.requests.iter().map(|one| (one.start_ns, one.latency.0, one.outcome)).collect();
        let answer = |status| Outcome::response(status);
        assert_eq!(told, [(Some(10_000_000), 15_000_000, answer(0)), (Some(30_000_000), 1_000_000, answer(503))]);
    }

    #[test]
    fn a_text_in_utf_16() {
        let units: Vec<u8> = "found 404".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let message = [numbers(&[5, units.len() as i32]), units, vec![UTF_16]].concat();
        let log =
            read(&[run(), vec![REQUEST], numbers(&[0, 1]), text("n"), numbers(&[1, 2]), vec![0], message].concat());
        assert_eq!(log.expect("a log").requests[0].outcome, Outcome::response(404));
    }

    #[test]
    fn what_makes_no_sense_is_refused_and_says_where() {
        let after_run = |record: Vec<u8>| read(&[run(), record].concat()).err().expect("an error").to_string();
        let user = |bytes: &[u8]| [&[USER][..], bytes].concat();
        for (record, what) in [
            (vec![9], "unknown kind 9"),
            (user(&[0; 8]), "ends within a record"),
            ([vec![ERROR], numbers(&[1, i32::MAX])].concat(), "ends within a record"),
            ([vec![ERROR], numbers(&[1, -1])].concat(), "a length of -1"),
            ([vec![ERROR], numbers(&[-1, 0])].concat(), "no text with the number -1"),
            ([vec![ERROR], numbers(&[i32::MIN, 0])].concat(), "no text with the number"),
            ([vec![REQUEST], numbers(&[i32::MAX])].concat(), "ends within a record"),
            ([vec![ERROR], numbers(&[1, 1]), vec![b'x', 2]].concat(), "unknown encoding 2"),
            ([vec![REQUEST], numbers(&[0, 1, 0, 2, 1]), vec![1], numbers(&[2, 0])].concat(), "ends before it starts"),
        ] {
            let error = after_run(record);
            assert!(error.contains(what) && error.contains("at byte"), "{error} / {what}");
        }
        assert!(read(&[vec![RUN], text("version"), vec![0; 99]].concat()).is_err());
        assert!(read(&request()).is_err());
    }

    #[test]
    fn every_beginning_is_refused_or_has_no_more_requests() {
        let whole = [run(), request(), vec![USER], vec![0; 9]].concat();
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).map_or(0, |log| log.requests.len()) <= 1, "{length}");
        }
    }
}
