//! The interface of a format.

use std::io::BufRead;

use truetail_model::time::Nanos;
use truetail_run::{ForeignRequest, ForeignRun};

use crate::ImportError;
use crate::rows::number::Unit;

/// Takes each request as it is read.
pub type RequestSink<'a> = dyn FnMut(&ForeignRequest) + 'a;

/// Facts about a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FormatInfo {
    /// Its name on the command line, such as `jmeter-csv`: lower-case letters, digits and `-`.
    pub name: &'static str,
    /// What such a file is, for lists and errors: `JMeter results as CSV`.
    pub about: &'static str,
    /// The tool that writes it; `None` for formats of no tool.
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

/// How much the beginning of a file looks like a format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Likeness {
    /// It is this format.
    Yes,
    /// It comes near, but for the reason given: `the column 'elapsed' is missing`.
    Near(String),
    /// It is something else.
    No,
}

/// What the user says of a file beside its format.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct ImportOptions {
    /// How many requests may have been outstanding, where the file does not say.
    pub users: Option<u32>,
    /// How often each user sends, where the file does not say.
    pub expected_interval: Option<Nanos>,
    /// Which columns hold what, for tables of no tool: `start`, `end`, `duration`, `worker`, `status`, `error`, `bytes`, each
    /// with the name of its column; in JSON lines with the path to it, and in a table without header with its number from 1.
    pub columns: Vec<(String, String)>,
    /// The units (`ns`, `us`, `ms`, `s`) of `start`, `end` and `duration`, for tables of no tool. Without one, a point in time is
    /// a date or a Unix time of 10, 13, 16 or 19 digits, and a duration has the unit at the end of its column's name.
    pub units: Vec<(String, String)>,
}

impl ImportOptions {
    /// Refuses columns and units.
    ///
    /// # Errors
    /// [`ImportError::Options`].
    pub(crate) fn refuse_all(&self, info: &FormatInfo) -> Result<(), ImportError> {
        match self.units.is_empty() {
            true => self.refuse_columns(info),
            false => Err(info.needs_no("--units")),
        }
    }

    /// Refuses columns.
    ///
    /// # Errors
    /// [`ImportError::Options`].
    pub(crate) fn refuse_columns(&self, info: &FormatInfo) -> Result<(), ImportError> {
        if self.columns.is_empty() { Ok(()) } else { Err(info.needs_no("--columns")) }
    }

    /// The unit of `start`, `end` or `duration`, where the user says it.
    ///
    /// # Errors
    /// [`ImportError::Options`], if it is no unit.
    pub(crate) fn unit(&self, role: &str) -> Result<Option<Unit>, ImportError> {
        let Some((_, unit)) = self.units.iter().find(|(name, _)| name == role) else { return Ok(None) };
        let wrong = || ImportError::Options(format!("the unit of '{role}' must be ns, us, ms or s, not '{unit}'"));
        Unit::by_name(unit).map(Some).ok_or_else(wrong)
    }
}

/// One kind of file.
pub trait Format: Sync {
    /// Facts about it.
    fn info(&self) -> &'static FormatInfo;

    /// Refuses what the user said of the file and this format does not ask for.
    ///
    /// # Errors
    /// [`ImportError::Options`].
    fn check(&self, options: &ImportOptions) -> Result<(), ImportError> {
        options.refuse_all(self.info())
    }

    /// Whether a file that begins with `head` is of this format. `head` holds the whole file if that is short, else at least
    /// 64 KiB.
    fn likeness(&self, head: &[u8]) -> Likeness;

    /// Reads a file to its end.
    ///
    /// # Errors
    /// [`ImportError`], if nothing of it can be used, or it cannot be read.
    fn read(
        &self,
        input: &mut dyn BufRead,
        options: &ImportOptions,
        sink: &mut RequestSink<'_>,
    ) -> Result<ForeignRun, ImportError>;
}
