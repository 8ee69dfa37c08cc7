use super::{Attempt, VegetaResults};
use crate::rows::number::whole;
use crate::rows::{Fields, RowFormat, RowInput, RunFacts, Taken, Wrong};
use crate::tables::{Table, every_row};
use crate::{Excerpt, FormatInfo, ImportError, Likeness};

static INFO: FormatInfo = FormatInfo { name: "vegeta-csv", about: "Vegeta's results as CSV", tool: Some("vegeta") };

const START: usize = 0;
const CODE: usize = 1;
const LATENCY: usize = 2;
const BYTES_IN: usize = 4;
const ERROR: usize = 5;
const SEQUENCE: usize = 8;
/// Versions up to 12.7 write 9 columns. Later versions add method, URL and headers.
const COUNTS: [usize; 2] = [9, 12];

/// Vegeta's results as CSV (`vegeta encode -to csv`): no header, and a row for each request, in order of completion.
pub(crate) struct VegetaCsv;

impl RowFormat for VegetaCsv {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn likeness(&self, excerpt: &Excerpt<'_>) -> Likeness {
        if columns(excerpt.first_line()).is_some() { Likeness::Yes } else { Likeness::No }
    }

    fn read(&self, RowInput { lines, books, .. }: RowInput<'_, '_, '_>) -> Result<RunFacts, ImportError> {
        let mut results = VegetaResults::default();
        if let Some(first) = lines.peek()? {
            let columns = columns(lines.bytes(first)).unwrap_or(COUNTS[1]);
            let table = Table { delimiter: b',', columns, last_used: SEQUENCE, header: None, wanted: every_row };
            table.read(lines, books, |row, fields| take(row, fields, &mut results))?;
        }
        Ok(results.close())
    }
}

/// Returns the number of columns of a row, if it is one of Vegeta's.
fn columns(row: &[u8]) -> Option<usize> {
    let mut fields = Fields::default();
    fields.split(row, b',');
    let numbers = [START, CODE, LATENCY, BYTES_IN, SEQUENCE];
    let is_row = COUNTS.contains(&fields.len())
        && fields.get(row, START).len() == 19
        && numbers.iter().all(|column| whole(fields.get(row, *column)).is_ok());
    is_row.then(|| fields.len())
}

fn take(row: &[u8], fields: &Fields, results: &mut VegetaResults) -> Result<Taken, Wrong> {
    let number = |column, name| whole(fields.get(row, column)).map_err(|why| Wrong::Number(name, why));
    Ok(results.request(&Attempt {
        start_ns: number(START, "timestamp")?,
        latency_ns: number(LATENCY, "latency")?,
        code: number(CODE, "code")?,
        bytes_in: whole(fields.get(row, BYTES_IN)).ok(),
        error: fields.get(row, ERROR),
    }))
}
