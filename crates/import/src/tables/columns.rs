//! Tables whose columns need nothing but a unit.

use truetail_model::record::Outcome;
use truetail_model::time::Nanos;
use truetail_run::ForeignRequest;
use truetail_tools::FailureClassifier;

use crate::rows::instant::{instant, unit_of_unix_time};
use crate::rows::json::Value;
use crate::rows::number::{Finest, Measured, NotUsable, Unit, time, whole};
use crate::rows::{Fields, RunFacts, Taken, Workers, Wrong};

/// Notation of an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Clock {
    In(Unit),
    /// A date with a time of day, or a current Unix time, whose digits tell its unit.
    OfOurDays,
    /// Not yet known: the first row decides.
    OfFirst,
    /// The first row did not show the unit.
    Unknown,
}

impl Clock {
    /// Reads an instant.
    pub(crate) fn read(&mut self, text: &[u8]) -> Result<Measured, NotUsable> {
        match *self {
            Clock::In(unit) => time(text, unit),
            Clock::OfOurDays => recent_instant(text),
            Clock::Unknown => Err(NotUsable::NoUnit),
            Clock::OfFirst => {
                *self = Clock::told_by(recent_instant(text))?;
                self.read(text)
            }
        }
    }

    /// Reads an instant from a JSON value.
    pub(crate) fn read_value(&mut self, value: &Value) -> Result<Measured, NotUsable> {
        match *self {
            Clock::In(unit) => value.time(unit),
            Clock::OfOurDays => value.with_digits(recent_instant),
            Clock::Unknown => Err(NotUsable::NoUnit),
            Clock::OfFirst => {
                *self = Clock::told_by(value.with_digits(recent_instant))?;
                self.read_value(value)
            }
        }
    }

    /// Returns the notation of a file whose first instant is this one.
    fn told_by(first: Result<Measured, NotUsable>) -> Result<Clock, NotUsable> {
        match first {
            Ok(_) => Ok(Clock::OfOurDays),
            Err(NotUsable::NoUnit) => Ok(Clock::Unknown),
            Err(why) => Err(why),
        }
    }

    /// Returns true if the unit of instants is not known.
    pub(crate) fn is_unknown(self) -> bool {
        self == Clock::Unknown
    }
}

/// Reads a date with a time of day, or a current Unix time.
fn recent_instant(text: &[u8]) -> Result<Measured, NotUsable> {
    let text = text.trim_ascii();
    match unit_of_unix_time(text) {
        Some(unit) => time(text, unit),
        None if time(text, Unit::Seconds).is_ok() => Err(NotUsable::NoUnit),
        None => instant(text),
    }
}

/// Source of a request's duration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Length {
    /// A column with the duration.
    Duration(usize, Unit),
    /// A column with the end.
    UntilEnd(usize, Clock),
}

/// Indexes of the columns. Columns that a table does not have are `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Columns {
    pub start: Option<(usize, Clock)>,
    pub length: Length,
    pub worker: Option<usize>,
    pub status: Option<usize>,
    /// The error of a request without an answer.
    pub error: Option<usize>,
    pub bytes: Option<usize>,
}

impl Columns {
    /// Returns the last used column.
    pub(crate) fn last(&self) -> usize {
        let length = match self.length {
            Length::Duration(column, _) | Length::UntilEnd(column, _) => column,
        };
        let optional = [self.start.map(|(column, _)| column), self.worker, self.status, self.error, self.bytes];
        optional.into_iter().flatten().fold(length, usize::max)
    }
}

/// Makes requests of rows.
pub(crate) struct ColumnReader {
    columns: Columns,
    workers: Workers,
    failures: FailureClassifier,
    starts: Finest,
    durations: Finest,
}

impl ColumnReader {
    pub(crate) fn new(columns: Columns) -> ColumnReader {
        ColumnReader {
            columns,
            workers: Workers::default(),
            failures: FailureClassifier::default(),
            starts: Finest::default(),
            durations: Finest::default(),
        }
    }

    /// Returns the request of a row.
    pub(crate) fn take(&mut self, row: &[u8], fields: &Fields) -> Result<Taken, Wrong> {
        let start = match &mut self.columns.start {
            Some((column, clock)) => {
                let column = *column;
                Some(clock.read(fields.get(row, column)).map_err(|why| Wrong::Number("start", why))?)
            }
            None => None,
        };
        let duration = match &mut self.columns.length {
            &mut Length::Duration(column, unit) => {
                time(fields.get(row, column), unit).map_err(|why| Wrong::Number("duration", why))?
            }
            Length::UntilEnd(column, clock) => {
                let end = clock.read(fields.get(row, *column)).map_err(|why| Wrong::Number("end", why))?;
                let ns = end.ns.checked_sub(start.map_or(0, |start| start.ns)).ok_or(Wrong::EndsBeforeStart)?;
                Measured { ns, resolution_ns: end.resolution_ns }
            }
        };
        self.durations.see(duration);
        start.into_iter().for_each(|start| self.starts.see(start));
        let field = |column: Option<usize>| column.map_or(&b""[..], |column| fields.get(row, column));
        Ok(Taken::Request(ForeignRequest {
            worker: self.workers.number(field(self.columns.worker)),
            bytes_in: whole(field(self.columns.bytes)).ok(),
            ..ForeignRequest::new(
                start.map(|start| start.ns),
                Nanos(duration.ns),
                outcome(&mut self.failures, field(self.columns.status), field(self.columns.error)),
            )
        }))
    }

    /// Returns the columns, with what the first rows showed about them.
    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Adds resolutions and notes to the facts of the run.
    pub(crate) fn close(self, facts: &mut RunFacts) {
        facts.start_resolution_ns = self.starts.ns();
        facts.duration_resolution_ns = self.durations.ns();
        facts.notes.extend(self.failures.notes());
        facts.notes.extend(self.workers.note());
    }
}

/// Returns true if a message means an error.
pub(crate) fn is_error(message: &[u8]) -> bool {
    !matches!(message, b"" | b"-" | b"0" | b"false")
}

/// Returns the outcome for a status and a message.
pub(crate) fn outcome(failures: &mut FailureClassifier, status: &[u8], error: &[u8]) -> Outcome {
    match whole(status) {
        Ok(status @ 1..=999) => Outcome::response(status as u16),
        _ if is_error(error) => failures.classify(&String::from_utf8_lossy(error)),
        Ok(_) => failures.unknown("status 0"),
        Err(_) => match std::str::from_utf8(status) {
            Ok("" | "OK" | "ok" | "true" | "success") => Outcome::ANSWERED,
            _ => failures.classify(&String::from_utf8_lossy(status)),
        },
    }
}

/// Returns the outcome for a JSON value, which may also be true or false.
pub(crate) fn outcome_of(failures: &mut FailureClassifier, status: &Value) -> Outcome {
    match (status.whole(), status.truth()) {
        (Ok(status @ 1..=999), _) => Outcome::response(status as u16),
        (_, Some(true)) => Outcome::ANSWERED,
        (Ok(_), _) => failures.unknown("status 0"),
        (_, Some(false)) => failures.unknown("false"),
        (Err(_), None) => outcome(failures, status.text().as_bytes(), b""),
    }
}
