use std::io::BufRead;

use truetail_run::ForeignRun;

use super::{Books, Lines, RunFacts};
use crate::{Excerpt, Format, FormatInfo, ImportError, ImportOptions, Likeness, RequestSink};

/// A format with a row for each request. [`Rows`] makes a [`Format`] of it.
pub(crate) trait RowFormat: Sync {
    /// Returns facts about the format.
    fn info(&self) -> &'static FormatInfo;

    /// Refuses options that this format does not use.
    fn check(&self, options: &ImportOptions) -> Result<(), ImportError> {
        options.refuse_all(self.info())
    }

    /// Compares an excerpt of a file with this format.
    fn likeness(&self, excerpt: &Excerpt<'_>) -> Likeness;

    /// Returns true if rows are in order of completion.
    fn in_order(&self) -> bool {
        true
    }

    /// Records every row in the books, and returns what the file states about the run.
    fn read(&self, input: RowInput<'_, '_, '_>) -> Result<RunFacts, ImportError>;
}

/// Input for the reader of a [`RowFormat`].
pub(crate) struct RowInput<'a, 'input, 'sink> {
    pub lines: &'a mut Lines<'input>,
    pub books: &'a mut Books<'sink, 'sink>,
    pub options: &'a ImportOptions,
}

/// Adapter from a [`RowFormat`] to a [`Format`].
pub(crate) struct Rows<F>(pub F);

impl<F: RowFormat> Format for Rows<F> {
    fn info(&self) -> &'static FormatInfo {
        self.0.info()
    }

    fn check(&self, options: &ImportOptions) -> Result<(), ImportError> {
        self.0.check(options)
    }

    fn likeness(&self, excerpt: &Excerpt<'_>) -> Likeness {
        self.0.likeness(excerpt)
    }

    fn read(
        &self,
        input: &mut dyn BufRead,
        options: &ImportOptions,
        sink: &mut RequestSink<'_>,
    ) -> Result<ForeignRun, ImportError> {
        let mut lines = Lines::new(input);
        lines.skip_byte_order_mark()?;
        lines.skip_blank_lines()?;
        let mut books = if self.0.in_order() { Books::in_order(sink) } else { Books::in_any_order(sink) };
        let facts = self.0.read(RowInput { lines: &mut lines, books: &mut books, options })?;
        books.close(self.info(), facts)
    }
}
