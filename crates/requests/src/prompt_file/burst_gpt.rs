//! Traces as BurstGPT published them: CSV with `Timestamp` in seconds, `Request tokens` and `Response tokens`. Requests
//! that failed have no response tokens.

use truetail_model::time::Timestamp;

use super::left_out::LeftOut;
use super::lengths::{BLOCK, RecordedLengths};
use super::requests::{FilePrompts, FileRequests};
use super::values::{MAX_LINE, NANOS_PER_SECOND, instant, length, lines};
use crate::{AskedLengths, InputError, Location};

const COLUMNS: [&str; 3] = ["Timestamp", "Request tokens", "Response tokens"];

pub(super) fn read(text: &str, file: &str) -> Result<FilePrompts, InputError> {
    let mut requests = RecordedLengths::new(BLOCK);
    let mut left_out = LeftOut::default();
    let mut instants: Vec<Timestamp> = Vec::new();
    let mut lines = lines(text, file, MAX_LINE);
    let Some(heading) = lines.next() else { return Ok(FilePrompts::new(FileRequests::Lengths(requests), left_out)) };
    let heading = Heading::parse(heading?)?;
    for line in lines {
        let (location, line) = line?;
        let wrong = |problem: String| location.invalid(problem);
        let [at, input, output] = heading.numbers(line).map_err(wrong)?;
        let at = instant(at, NANOS_PER_SECOND, instants.last(), COLUMNS[0]).map_err(wrong)?;
        let input = length(input, COLUMNS[1]).map_err(wrong)?;
        let output = length(output, COLUMNS[2]).map_err(wrong)?;
        match (input, output) {
            (_, 0) => left_out.in_line("that failed, with 0 response tokens", location.line),
            (0, _) => left_out.in_line("without a prompt", location.line),
            (input, output) => {
                requests.push(AskedLengths { input, output }, &[]).map_err(wrong)?;
                instants.push(at);
            }
        }
    }
    Ok(FilePrompts::new(FileRequests::Lengths(requests), left_out).at(instants))
}

/// Places of the columns.
struct Heading {
    columns: [usize; 3],
    count: usize,
}

impl Heading {
    fn parse((location, line): (Location, &str)) -> Result<Heading, InputError> {
        let names: Vec<&str> = fields(line).collect();
        let place = |wanted: &str| {
            let found = names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
            found.ok_or_else(|| {
                location.invalid(format!("the first line has no column '{wanted}', as a trace of BurstGPT has"))
            })
        };
        let [at, input, output] = COLUMNS;
        Ok(Heading { columns: [place(at)?, place(input)?, place(output)?], count: names.len() })
    }

    fn numbers(&self, line: &str) -> Result<[f64; 3], String> {
        let values: Vec<&str> = fields(line).collect();
        if values.len() != self.count {
            return Err(format!("wrong number of fields: {} here, {} in the first line", values.len(), self.count));
        }
        let mut numbers = [0.0; 3];
        for ((number, column), name) in numbers.iter_mut().zip(self.columns).zip(COLUMNS) {
            let value = values[column];
            *number = value.parse().map_err(|_| format!("{name}: '{}' is no number", shortened(value)))?;
        }
        Ok(numbers)
    }
}

fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|field| field.trim().trim_matches('"'))
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}
