//! Formats that are read row by row: what each of them says, and what is the same for all.

use std::io::BufRead;

use truetail_run::ForeignRun;

use super::{Books, Lines, RunFacts};
use crate::{Format, FormatInfo, ImportError, ImportOptions, Likeness, RequestSink};

/// A format with a row for each request. [`Rows`] makes a [`Format`] of it.
pub(crate) trait RowFormat: Sync {
    /// As [`Format::info`].
    fn info(&self) -> &'static FormatInfo;

    /// As [`Format::check`].
    fn check(&self, options: &ImportOptions) -> Result<(), ImportError> {
        options.refuse_all(self.info())
    }

    /// As [`Format::likeness`].
    fn likeness(&self, head: &[u8]) -> Likeness;

    /// Rows are in the order in which requests ended.
    fn in_order(&self) -> bool {
        true
    }

    /// Puts every row into the books, and returns what the file says of the run.
    ///
    /// # Errors
    /// As [`Format::read`].
    fn read(&self, input: RowInput<'_, '_, '_>) -> Result<RunFacts, ImportError>;
}

/// What the reader of a [`RowFormat`] works with.
pub(crate) struct RowInput<'a, 'input, 'sink> {
    /// The rows, from the first on.
    pub lines: &'a mut Lines<'input>,
    /// Where each row goes.
    pub books: &'a mut Books<'sink, 'sink>,
    /// What the user said of the file.
    pub options: &'a ImportOptions,
}

/// A format that is read row by row.
pub(crate) struct Rows<F>(pub F);

impl<F: RowFormat> Format for Rows<F> {
    fn info(&self) -> &'static FormatInfo {
        self.0.info()
    }

    fn check(&self, options: &ImportOptions) -> Result<(), ImportError> {
        self.0.check(options)
    }

    fn likeness(&self, head: &[u8]) -> Likeness {
        self.0.likeness(head)
    }

    fn read(
        &self,
        input: &mut dyn BufRead,
        options: &ImportOptions,
        sink: &mut RequestSink<'_>,
    ) -> Result<ForeignRun, ImportError> {
        let mut lines = Lines::new(input);
        lines.skip_byte_order_mark()?;
        let mut books = if self.0.in_order() { Books::in_order(sink) } else { Books::in_any_order(sink) };
        let facts = self.0.read(RowInput { lines: &mut lines, books: &mut books, options })?;
        books.close(self.info(), facts)
    }
}
