use super::{CALL_DURATION, DURATION, K6Requests, READ, Sample};
use crate::rows::json::JsonRow;
use crate::rows::json_lines::{each_row, first_row};
use crate::rows::number::Unit;
use crate::rows::{RowFormat, RowInput, RunFacts, Taken, Wrong};
use crate::{Excerpt, FormatInfo, ImportError, Likeness};
use memchr::memmem::Finder;

static INFO: FormatInfo = FormatInfo { name: "k6-json", about: "k6's samples as JSON lines", tool: Some("k6") };

const PATHS: [&str; 9] = [
    "metric",
    "type",
    "data.time",
    "data.value",
    "data.tags.status",
    "data.tags.error_code",
    "data.tags.error",
    "data.tags.vu",
    "data.metadata.vu",
];
const METRIC: usize = 0;
const TYPE: usize = 1;
const TIME: usize = 2;
const VALUE: usize = 3;
const STATUS: usize = 4;
const ERROR_CODE: usize = 5;
const ERROR: usize = 6;
const USERS: [usize; 2] = [7, 8];

/// k6's samples as JSON lines: an object for each sample, and one for each metric before its first sample.
pub(crate) struct K6Json;

impl RowFormat for K6Json {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn likeness(&self, excerpt: &Excerpt<'_>) -> Likeness {
        match first_row(excerpt, &PATHS) {
            Some(row) if row.value(METRIC).is_there() && matches!(row.value(TYPE).text(), "Metric" | "Point") => {
                Likeness::Yes
            }
            Some(row) if row.value(METRIC).is_there() && row.value(VALUE).is_there() => {
                Likeness::Near("its first row has no 'type'".to_owned())
            }
            _ => Likeness::No,
        }
    }

    fn read(&self, RowInput { lines, books, .. }: RowInput<'_, '_, '_>) -> Result<RunFacts, ImportError> {
        let mut requests = K6Requests::default();
        let mut samples = Samples::new();
        each_row(lines, books, |text, _| samples.take(text, &mut requests))?;
        Ok(requests.close())
    }
}

struct Samples {
    row: JsonRow,
    /// Most samples belong to other metrics and are skipped unparsed.
    wanted: [Finder<'static>; READ.len()],
}

impl Samples {
    fn new() -> Samples {
        Samples { row: JsonRow::new(&PATHS), wanted: READ.map(Finder::new) }
    }

    fn take(&mut self, text: &[u8], requests: &mut K6Requests) -> Result<Taken, Wrong> {
        if !self.wanted.iter().any(|metric| metric.find(text).is_some()) {
            let is_object = text.trim_ascii().first() == Some(&b'{') && text.trim_ascii().last() == Some(&b'}');
            return if is_object { Ok(Taken::Other) } else { Err(Wrong::Json) };
        }
        self.row.read(text)?;
        let row = &self.row;
        let metric = row.value(METRIC).text().as_bytes();
        if row.value(TYPE).text() != "Point" || !READ.contains(&metric) {
            return Ok(Taken::Other);
        }
        let value = row.value(VALUE).time(Unit::Millis).map_err(|why| Wrong::Number("value", why))?;
        let is_call = metric == CALL_DURATION;
        if metric != DURATION && !is_call {
            requests.count(metric, value.ns / Unit::Millis.nanos());
            return Ok(Taken::Other);
        }
        requests.request(&Sample {
            is_call,
            end: row.value(TIME).instant().map_err(|why| Wrong::Number("time", why))?,
            duration_ns: value.ns,
            status: row.value(STATUS).is_there().then(|| row.value(STATUS).text().as_bytes()),
            error_code: row.value(ERROR_CODE).text().as_bytes(),
            error: row.value(ERROR).text().as_bytes(),
            user: USERS
                .iter()
                .map(|user| row.value(*user).text().as_bytes())
                .find(|user| !user.is_empty())
                .unwrap_or(b""),
        })
    }
}
