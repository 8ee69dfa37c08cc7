//! Reader of lines, tables, JSON and numbers for all parsers. Its errors name the place.

use std::fmt::Display;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use truetail_run::ClaimedQuantile;

use crate::{ParseError, ToolOutput};

/// A line `[a] b`: line number, a, b.
pub(crate) type BracketedLine<'a> = (u64, &'a str, &'a str);

/// Reader of one output file of a tool. Knows the tool and the file, for its errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputReader {
    pub tool: &'static str,
    /// Version that the parser was tested with.
    pub tested: &'static str,
    /// `stdout`, or a key of [`ToolOutput::files`].
    pub file: &'static str,
}

impl OutputReader {
    /// Creates a reader of standard output.
    pub(crate) const fn stdout(tool: &'static str, tested: &'static str) -> OutputReader {
        OutputReader { tool, tested, file: "stdout" }
    }

    /// Creates a reader of another file of the same tool.
    pub(crate) const fn file(self, file: &'static str) -> OutputReader {
        OutputReader { file, ..self }
    }

    /// Returns an error in this file. Lines count from 1.
    pub(crate) fn error(&self, line: impl Into<Option<u64>>, what: impl Into<String>) -> ParseError {
        let OutputReader { tool, tested, file } = *self;
        ParseError { tool, tested, file, line: line.into(), what: what.into() }
    }

    /// Returns the error that `what` is missing, with the exit code and the first line on standard error.
    pub(crate) fn no_result(&self, output: &ToolOutput, what: &str) -> ParseError {
        let exit = match output.exit_code {
            Some(code) => format!("exit code {code}"),
            None => "ended by a signal".to_owned(),
        };
        let stderr = String::from_utf8_lossy(&output.stderr);
        let complaint = stderr.lines().map(str::trim).find(|line| !line.is_empty());
        let said = complaint.map(|line| format!("; it printed: {}", shortened(line))).unwrap_or_default();
        self.error(None, format!("no {what}; {exit}{said}"))
    }

    /// Checks that the file ends with a complete line. Otherwise it was cut off.
    pub(crate) fn check_last_line(&self, bytes: &[u8]) -> Result<(), ParseError> {
        if bytes.is_empty() || bytes.ends_with(b"\n") {
            return Ok(());
        }
        let last = 1 + bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        Err(self.error(last, "the file ends within this line; it was cut off"))
    }

    /// Parses a table with a header and without quotes into rows with line numbers. Ignores columns that `T` does not
    /// name.
    pub(crate) fn table<T: DeserializeOwned>(&self, bytes: &[u8], delimiter: u8) -> Result<Vec<(u64, T)>, ParseError> {
        let mut rows = Vec::new();
        let table = csv::ReaderBuilder::new().delimiter(delimiter).quoting(false).from_reader(bytes);
        self.each_row(bytes, table, |line, row| {
            rows.push((line, row));
            Ok(())
        })?;
        Ok(rows)
    }

    /// Calls `take` with each row of a CSV table and its line number. Ignores columns that `T` does not name.
    pub(crate) fn each_csv_row<T: DeserializeOwned>(
        &self,
        bytes: &[u8],
        take: impl FnMut(u64, T) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        self.each_row(bytes, csv::Reader::from_reader(bytes), take)
    }

    /// Calls `take` with each row of a CSV table without a header. `T` is a tuple of all columns.
    pub(crate) fn each_headerless_row<T: DeserializeOwned>(
        &self,
        bytes: &[u8],
        take: impl FnMut(u64, T) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        self.each_row(bytes, csv::ReaderBuilder::new().has_headers(false).from_reader(bytes), take)
    }

    fn each_row<T: DeserializeOwned>(
        &self,
        bytes: &[u8],
        mut table: csv::Reader<&[u8]>,
        mut take: impl FnMut(u64, T) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        self.check_last_line(bytes)?;
        let header = if table.has_headers() {
            Some(table.byte_headers().map_err(|error| self.csv(&error))?.clone())
        } else {
            None
        };
        for record in table.byte_records() {
            let record = record.map_err(|error| self.csv(&error))?;
            let line = record.position().map_or(0, csv::Position::line);
            let row = record.deserialize(header.as_ref()).map_err(|error| self.error(line, csv_message(&error)))?;
            take(line, row)?;
        }
        Ok(())
    }

    /// Parses the whole file as one JSON value.
    pub(crate) fn json<'a, T: Deserialize<'a>>(&self, bytes: &'a [u8]) -> Result<T, ParseError> {
        serde_json::from_slice(bytes).map_err(|error| self.error(error.line() as u64, error.to_string()))
    }

    /// Returns the lines `[a] b` below a heading, up to the next empty line; `None` without the heading.
    pub(crate) fn bracketed<'a>(
        &self,
        text: &'a str,
        heading: &str,
    ) -> Result<Option<Vec<BracketedLine<'a>>>, ParseError> {
        let Some((at, _)) = find_labelled(text, heading) else { return Ok(None) };
        let lines = numbered_lines(text).skip(at as usize).take_while(|(_, content)| !content.trim().is_empty());
        let parts = lines.map(|(line, content)| {
            let parts = strip_label(content, "[").and_then(|rest| rest.split_once(']'));
            let (inside, rest) = self.require(line, "[…] and what it stands for", parts)?;
            Ok((line, inside, rest.trim()))
        });
        parts.collect::<Result<_, _>>().map(Some)
    }

    /// Returns the sum over all lines such as `[200] 600 responses`.
    pub(crate) fn responses(&self, lines: &[BracketedLine<'_>]) -> Result<u64, ParseError> {
        lines.iter().try_fold(0u64, |sum, (line, _, rest)| {
            let count = self.require(*line, "number of responses", rest.strip_suffix(" responses"))?;
            Ok(sum.saturating_add(self.number(*line, count)?))
        })
    }

    pub(crate) fn number<T: FromStr>(&self, line: u64, text: &str) -> Result<T, ParseError> {
        text.trim().parse().map_err(|_| self.error(line, format!("'{}' is not a number", shortened(text))))
    }

    /// Parses a rate, which must be finite and not negative.
    pub(crate) fn rate(&self, line: u64, text: &str) -> Result<f64, ParseError> {
        let rate = text.trim().parse().ok().filter(|rate: &f64| rate.is_finite() && *rate >= 0.0);
        self.require(line, "rate", rate)
    }

    /// Returns the value, or the error that `what` is missing at this line.
    pub(crate) fn require<T>(
        &self,
        line: impl Into<Option<u64>>,
        what: impl Display,
        found: Option<T>,
    ) -> Result<T, ParseError> {
        found.ok_or_else(|| self.error(line, format!("no {what}")))
    }

    /// Checks that quantiles are strictly ascending.
    pub(crate) fn check_ascending(&self, quantiles: Vec<ClaimedQuantile>) -> Result<Vec<ClaimedQuantile>, ParseError> {
        match quantiles.windows(2).find(|two| two[0].q >= two[1].q) {
            Some(two) => Err(self.error(None, format!("p{} comes after p{}", two[1].q * 100.0, two[0].q * 100.0))),
            None => Ok(quantiles),
        }
    }

    fn csv(&self, error: &csv::Error) -> ParseError {
        self.error(error.position().map(csv::Position::line), csv_message(error))
    }
}

/// Returns the message of a CSV error without its position, which the [`ParseError`] states.
fn csv_message(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} fields, but the header has {expected_len}")
        }
        csv::ErrorKind::Deserialize { err, .. } => err.to_string(),
        _ => error.to_string(),
    }
}

/// Returns the lines of a text with their numbers, from 1.
pub(crate) fn numbered_lines(text: &str) -> impl Iterator<Item = (u64, &str)> + Clone {
    (1..).zip(text.lines())
}

/// Returns the rest of a line that begins with `label`, trimmed.
pub(crate) fn strip_label<'a>(line: &'a str, label: &str) -> Option<&'a str> {
    line.trim().strip_prefix(label).map(str::trim)
}

/// Returns the first line that begins with `label` after spaces: its number and its rest.
pub(crate) fn find_labelled<'a>(text: &'a str, label: &str) -> Option<(u64, &'a str)> {
    numbered_lines(text).find_map(|(line, content)| Some((line, strip_label(content, label)?)))
}

/// Returns at most 120 characters of a text.
pub(crate) fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 120;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
