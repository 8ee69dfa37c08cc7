use super::left_out::Cause;
use super::request::{Asked, unescaped};
use crate::logs::{ENDS, Words, logged_request};
use crate::rows::json::{JsonRow, Value};
use crate::rows::number::{Measured, Unit};

/// nginx's keys: `$request`, or its parts.
const NGINX: [&str; 7] = ["request_time", "request", "request_method", "request_uri", "uri", "host", "http_host"];
/// Envoy's keys. The time is that of the start.
const ENVOY: [&str; 4] = ["start_time", "method", "path", "authority"];

/// A request as its line states it.
pub(super) struct Logged {
    pub(super) time: Measured,
    /// `None` if the time is that of the start, or is taken for it.
    pub(super) took: Option<Measured>,
    /// The line shows when the request came.
    pub(super) has_start: bool,
    pub(super) asked: Result<Asked, Cause>,
}

/// Reads lines. The buffers are reused.
pub(super) struct LineReader {
    words: Words,
    row: JsonRow,
}

impl LineReader {
    pub(super) fn new() -> LineReader {
        let paths: Vec<&str> = ENDS.into_iter().chain(NGINX).chain(ENVOY).collect();
        LineReader { words: Words::default(), row: JsonRow::new(&paths) }
    }

    /// Reads a line of any of the formats.
    pub(super) fn read(&mut self, line: &[u8]) -> Result<Logged, Cause> {
        if line.starts_with(b"{") {
            self.row.read(line).map_err(|_| Cause::Line)?;
            return self.parsed();
        }
        self.words.split(line);
        let logged = logged_request(line, &self.words).map_err(|_| Cause::Line)?;
        let asked = Asked::from_line(&unescaped(logged.request), logged.host);
        Ok(Logged { time: logged.time, took: logged.took, has_start: logged.is_start || logged.took.is_some(), asked })
    }

    fn value(&self, name: &str) -> &Value {
        let index = ENDS.iter().chain(&NGINX).chain(&ENVOY).position(|path| *path == name);
        self.row.value(index.unwrap_or_default())
    }

    fn first(&self, names: &[&str]) -> &str {
        names.iter().map(|name| self.value(name).text()).find(|text| !text.is_empty()).unwrap_or_default()
    }

    fn parsed(&self) -> Result<Logged, Cause> {
        let host = self.first(&["authority", "http_host", "host"]).as_bytes();
        let line = self.value("request").text();
        let asked = if line.is_empty() {
            let method = self.first(&["request_method", "method"]);
            Asked::from_parts(method, self.first(&["request_uri", "path", "uri"]), host)
        } else {
            Asked::from_line(line.as_bytes(), host)
        };
        let start = self.value("start_time");
        if start.is_there() {
            let time = start.instant().map_err(|_| Cause::Line)?;
            return Ok(Logged { time: in_millis(time), took: None, has_start: true, asked });
        }
        let mut ends = (0..ENDS.len()).map(|index| self.row.value(index));
        let end = ends.find(|value| value.is_there()).ok_or(Cause::Line)?;
        let time = end.instant().map_err(|_| Cause::Line)?;
        let took = self.value("request_time").time(Unit::Seconds).ok();
        Ok(Logged { time: in_millis(time), took, has_start: took.is_some(), asked })
    }
}

/// JSON numbers do not show their resolution. Servers write milliseconds.
fn in_millis(time: Measured) -> Measured {
    Measured { resolution_ns: time.resolution_ns.max(Unit::Millis.nanos()), ..time }
}
