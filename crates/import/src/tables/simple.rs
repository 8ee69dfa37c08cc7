use truetail_model::workload::LoadModelKind;
use truetail_run::{ForeignStarts, LatencyFrom};

use super::columns::{Clock, ColumnReader, Columns, Length};
use super::{Header, Table};
use crate::rows::number::Unit;
use crate::rows::{RowFormat, RowInput, RunFacts};
use crate::{Excerpt, FormatInfo, ImportError, Likeness};

/// A table of a tool whose rows are read column by column.
pub(crate) struct SimpleTable {
    pub info: &'static FormatInfo,
    /// The column of starts in seconds, and their zero.
    pub start: (&'static str, ForeignStarts),
    pub duration: (&'static str, Unit),
    /// Optional columns.
    pub status: Option<&'static str>,
    pub error: Option<&'static str>,
    pub bytes: Option<&'static str>,
    /// Resolution of the tool's clock for starts and durations, in nanoseconds. Its digits may be finer.
    pub resolution_ns: (u64, u64),
    /// Rows are ordered by the end of requests.
    pub in_order: bool,
    /// Notes for every reader of such a file.
    pub notes: &'static [&'static str],
    /// Limit on the requests that the tool keeps.
    pub keeps: Option<u64>,
    /// The load model, if the tool has only one.
    pub model: Option<LoadModelKind>,
    /// Requests without an answer have rows too.
    pub has_all_requests: bool,
}

impl SimpleTable {
    /// Returns the table of a tool with a fixed number of workers that wait for answers. Every request has a row, in
    /// the order of completion.
    pub(crate) const fn new(
        info: &'static FormatInfo,
        start: (&'static str, ForeignStarts),
        duration: (&'static str, Unit),
        resolution_ns: (u64, u64),
    ) -> SimpleTable {
        SimpleTable {
            info,
            start,
            duration,
            status: None,
            error: None,
            bytes: None,
            resolution_ns,
            in_order: true,
            notes: &[],
            keeps: None,
            model: Some(LoadModelKind::Closed),
            has_all_requests: true,
        }
    }

    fn needed(&self) -> Vec<&'static str> {
        [Some(self.start.0), Some(self.duration.0), self.status].into_iter().flatten().collect()
    }

    fn columns(&self, header: &Header) -> Columns {
        let index = |name: Option<&str>| name.and_then(|name| header.index(name));
        Columns {
            start: index(Some(self.start.0)).map(|column| (column, Clock::In(Unit::Seconds))),
            length: Length::Duration(index(Some(self.duration.0)).unwrap_or_default(), self.duration.1),
            worker: None,
            status: index(self.status),
            error: index(self.error),
            bytes: index(self.bytes),
        }
    }

    fn notes(&self, requests: u64) -> Vec<String> {
        let kept = self.keeps.filter(|most| requests >= *most);
        let kept =
            kept.map(|most| format!("{} keeps only its first {most} results", self.info.tool.unwrap_or("the tool")));
        self.notes.iter().map(|note| (*note).to_owned()).chain(kept).collect()
    }
}

impl RowFormat for SimpleTable {
    fn info(&self) -> &'static FormatInfo {
        self.info
    }

    fn likeness(&self, excerpt: &Excerpt<'_>) -> Likeness {
        let line = excerpt.first_line();
        let needed = self.needed();
        match Header::with_columns(line, &needed) {
            Ok(_) => Likeness::Yes,
            Err(missing) if missing != needed[0] => Likeness::Near(format!("the column '{missing}' is missing")),
            Err(_) => Likeness::No,
        }
    }

    fn in_order(&self) -> bool {
        self.in_order
    }

    fn read(&self, RowInput { lines, books, .. }: RowInput<'_, '_, '_>) -> Result<RunFacts, ImportError> {
        let mut facts = RunFacts {
            starts: self.start.1,
            latency_from: LatencyFrom::Send,
            has_all_requests: self.has_all_requests,
            ..RunFacts::default()
        };
        if let Some((header, row)) = Header::read(lines, &self.needed())? {
            let columns = self.columns(&header);
            let table = Table::with_header(&header, Some(row), columns.last());
            let mut reader = ColumnReader::new(columns);
            table.read(lines, books, |row, fields| reader.take(row, fields))?;
            reader.close(&mut facts);
        }
        (facts.start_resolution_ns, facts.duration_resolution_ns) = self.resolution_ns;
        facts.load.model = self.model;
        facts.notes.extend(self.notes(books.requests()));
        Ok(facts)
    }
}
