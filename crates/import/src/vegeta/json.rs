use super::{Attempt, VegetaResults};
use crate::rows::json::JsonRow;
use crate::rows::json_lines::{each_row, first_row};
use crate::rows::number::Unit;
use crate::rows::{RowFormat, RowInput, RunFacts, Taken, Wrong};
use crate::{Excerpt, FormatInfo, ImportError, Likeness};

static INFO: FormatInfo =
    FormatInfo { name: "vegeta-json", about: "Vegeta's results as JSON lines", tool: Some("vegeta") };

const PATHS: [&str; 6] = ["timestamp", "latency", "code", "bytes_in", "error", "seq"];
const TIMESTAMP: usize = 0;
const LATENCY: usize = 1;
const CODE: usize = 2;
const BYTES_IN: usize = 3;
const ERROR: usize = 4;
const SEQUENCE: usize = 5;

/// Vegeta's results as JSON lines (`vegeta encode -to json`).
pub(crate) struct VegetaJson;

impl RowFormat for VegetaJson {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn likeness(&self, excerpt: &Excerpt<'_>) -> Likeness {
        let row = first_row(excerpt, &PATHS);
        let is_result =
            |row: JsonRow| [TIMESTAMP, LATENCY, CODE, SEQUENCE].iter().all(|path| row.value(*path).is_there());
        if row.is_some_and(is_result) { Likeness::Yes } else { Likeness::No }
    }

    fn read(&self, RowInput { lines, books, .. }: RowInput<'_, '_, '_>) -> Result<RunFacts, ImportError> {
        let mut results = VegetaResults::default();
        let mut row = JsonRow::new(&PATHS);
        each_row(lines, books, |text, _| {
            row.read(text)?;
            take(&row, &mut results)
        })?;
        Ok(results.close())
    }
}

fn take(row: &JsonRow, results: &mut VegetaResults) -> Result<Taken, Wrong> {
    let start = row.value(TIMESTAMP).instant().map_err(|why| Wrong::Number("timestamp", why))?;
    let latency = row.value(LATENCY).time(Unit::Nanos).map_err(|why| Wrong::Number("latency", why))?;
    Ok(results.request(&Attempt {
        start_ns: start.ns,
        latency_ns: latency.ns,
        code: row.value(CODE).whole().map_err(|why| Wrong::Number("code", why))?,
        bytes_in: row.value(BYTES_IN).whole().ok(),
        error: row.value(ERROR).text().as_bytes(),
    }))
}
