use std::io::BufRead;

use truetail_model::time::Nanos;
use truetail_run::{ForeignRequest, ForeignRun};

use crate::rows::number::Unit;
use crate::{Excerpt, ImportError};

/// Receives each request as it is read.
pub type RequestSink<'a> = dyn FnMut(&ForeignRequest) + 'a;

/// Facts about a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FormatInfo {
    /// Its name on the command line, such as `jmeter-csv`: lower-case letters, digits and `-`.
    pub name: &'static str,
    /// Description of its files for lists and errors: `JMeter results as CSV`.
    pub about: &'static str,
    /// The tool that writes it, if it is the format of a tool.
    pub tool: Option<&'static str>,
}

impl FormatInfo {
    fn needs_no(&self, option: &str) -> ImportError {
        ImportError::Options(format!(
            "{option} says nothing of the format '{}', which is known; leave it out",
            self.name
        ))
    }
}

/// Result of comparing the start of a file with a format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Likeness {
    /// It has this format.
    Yes,
    /// It is similar, but differs for this reason: `the column 'elapsed' is missing`.
    Near(String),
    /// It has another format.
    No,
}

/// Options of the user for reading a file.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct ImportOptions {
    /// Number of simultaneous requests, if the file does not state it.
    pub users: Option<u32>,
    /// Sending interval of each user, if the file does not state it.
    pub expected_interval: Option<Nanos>,
    /// Columns of tables of no tool: pairs of a role (`start`, `end`, `duration`, `worker`, `status`, `error`, `bytes`)
    /// and a column. The column is a name, in JSON lines a path, and in a table without header a number from 1.
    pub columns: Vec<(String, String)>,
    /// Units (`ns`, `us`, `ms`, `s`) of `start`, `end` and `duration` in tables of no tool. By default, an instant is a
    /// date or a Unix time of 10, 13, 16 or 19 digits, and the unit of a duration is at the end of its column's name.
    pub units: Vec<(String, String)>,
}

impl ImportOptions {
    /// Refuses columns and units.
    pub(crate) fn refuse_all(&self, info: &FormatInfo) -> Result<(), ImportError> {
        match self.units.is_empty() {
            true => self.refuse_columns(info),
            false => Err(info.needs_no("--units")),
        }
    }

    /// Refuses columns.
    pub(crate) fn refuse_columns(&self, info: &FormatInfo) -> Result<(), ImportError> {
        if self.columns.is_empty() { Ok(()) } else { Err(info.needs_no("--columns")) }
    }

    /// Returns the unit of `start`, `end` or `duration`, if the user states it. An unknown unit is an error.
    pub(crate) fn unit(&self, role: &str) -> Result<Option<Unit>, ImportError> {
        let Some((_, unit)) = self.units.iter().find(|(name, _)| name == role) else { return Ok(None) };
        let wrong = || ImportError::Options(format!("the unit of '{role}' must be ns, us, ms or s, not '{unit}'"));
        Unit::by_name(unit).map(Some).ok_or_else(wrong)
    }
}

/// One kind of file.
pub trait Format: Sync {
    /// Returns facts about the format.
    fn info(&self) -> &'static FormatInfo;

    /// Refuses options that this format does not use.
    ///
    /// # Errors
    /// [`ImportError::Options`].
    fn check(&self, options: &ImportOptions) -> Result<(), ImportError> {
        options.refuse_all(self.info())
    }

    /// Compares an excerpt of a file with this format. The content begins with the first line of the excerpt.
    fn likeness(&self, excerpt: &Excerpt<'_>) -> Likeness;

    /// Reads a file to its end.
    ///
    /// # Errors
    /// [`ImportError`], if no part of the file can be used, or if it cannot be read.
    fn read(
        &self,
        input: &mut dyn BufRead,
        options: &ImportOptions,
        sink: &mut RequestSink<'_>,
    ) -> Result<ForeignRun, ImportError>;
}
