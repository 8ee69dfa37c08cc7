//! Tables of tools whose rows are read column by column.

use std::io::BufRead;

use truetail_model::workload::LoadModelKind;
use truetail_run::{ForeignRun, ForeignStarts, Habit, LatencyFrom};

use super::columns::{Clock, ColumnReader, Columns, Length};
use super::{Header, Table, every_row};
use crate::habits;
use crate::head::first_line;
use crate::rows::number::Unit;
use crate::rows::{Books, Lines, RunFacts};
use crate::{Format, FormatInfo, ImportError, ImportOptions, Likeness, RequestSink};

/// A table of a tool.
pub(crate) struct SimpleTable {
    info: &'static FormatInfo,
    start: (&'static str, Unit),
    duration: (&'static str, Unit),
    /// Further columns, where the tool writes them.
    status: Option<&'static str>,
    error: Option<&'static str>,
    bytes: Option<&'static str>,
    starts: ForeignStarts,
    /// What the tool's clock shows, which may be coarser than its digits.
    resolution_ns: (u64, u64),
    /// Rows are in the order in which requests ended.
    in_order: bool,
    /// What every reader of such a file should know.
    notes: &'static [&'static str],
    habits: &'static [Habit],
    /// Requests without an answer have rows too.
    has_all_requests: bool,
}

/// hey's `-o csv`: requests without an answer have no row, and it keeps only the first million.
pub(crate) static HEY: SimpleTable = SimpleTable {
    info: &FormatInfo { name: "hey-csv", about: "hey's requests as CSV", tool: Some("hey") },
    start: ("offset", Unit::Seconds),
    duration: ("response-time", Unit::Seconds),
    status: Some("status-code"),
    error: None,
    bytes: None,
    starts: ForeignStarts::Run,
    resolution_ns: (100_000, 100_000),
    in_order: true,
    notes: &["hey's CSV has no rows for requests without an answer"],
    habits: habits::HEY,
    has_all_requests: false,
};

/// ab's `-g`: starts in whole seconds, sorted by latency, without status.
pub(crate) static AB: SimpleTable = SimpleTable {
    info: &FormatInfo { name: "ab-g", about: "ab's requests, written with -g", tool: Some("ab") },
    start: ("seconds", Unit::Seconds),
    duration: ("ttime", Unit::Millis),
    status: None,
    error: None,
    bytes: None,
    starts: ForeignStarts::Unix,
    resolution_ns: (1_000_000_000, 1_000_000),
    in_order: false,
    notes: &[
        "ab's file has starts in whole seconds, is sorted by latency, and does not tell requests that failed from answers",
    ],
    habits: habits::AB,
    has_all_requests: true,
};

/// The rows that truetail's own listener for Locust writes.
pub(crate) static LOCUST: SimpleTable = SimpleTable {
    info: &FormatInfo {
        name: "locust-samples",
        about: "requests of Locust, written by the listener of 'truetail lab'",
        tool: Some("locust"),
    },
    start: ("start_time", Unit::Seconds),
    duration: ("response_time_ms", Unit::Millis),
    status: Some("status"),
    error: Some("exception"),
    bytes: Some("response_length"),
    starts: ForeignStarts::Unix,
    resolution_ns: (1_000, 1_000),
    in_order: true,
    notes: &[],
    habits: habits::LOCUST,
    has_all_requests: true,
};

/// hey keeps no more results.
const HEY_KEEPS: u64 = 1_000_000;

impl SimpleTable {
    fn needed(&self) -> Vec<&'static str> {
        [Some(self.start.0), Some(self.duration.0), self.status].into_iter().flatten().collect()
    }

    fn columns(&self, header: &Header) -> Columns {
        let index = |name: Option<&str>| name.and_then(|name| header.index(name));
        Columns {
            start: index(Some(self.start.0)).map(|column| (column, Clock::In(self.start.1))),
            length: Length::Duration(index(Some(self.duration.0)).unwrap_or_default(), self.duration.1),
            worker: None,
            status: index(self.status),
            error: index(self.error),
            bytes: index(self.bytes),
        }
    }

    fn notes(&self, requests: u64) -> Vec<String> {
        let kept = (self.info.name == HEY.info.name && requests >= HEY_KEEPS)
            .then(|| format!("hey keeps only its first {HEY_KEEPS} results"));
        self.notes.iter().map(|note| (*note).to_owned()).chain(kept).collect()
    }
}

impl Format for SimpleTable {
    fn info(&self) -> &'static FormatInfo {
        self.info
    }

    fn likeness(&self, head: &[u8]) -> Likeness {
        let (line, needed) = (first_line(head), self.needed());
        match Header::with_columns(line, &needed) {
            Ok(_) => Likeness::Yes,
            Err(missing) if missing != needed[0] => Likeness::Near(format!("the column '{missing}' is missing")),
            Err(_) => Likeness::No,
        }
    }

    fn read(
        &self,
        input: &mut dyn BufRead,
        _options: &ImportOptions,
        sink: &mut RequestSink<'_>,
    ) -> Result<ForeignRun, ImportError> {
        let mut lines = Lines::new(input);
        lines.skip_byte_order_mark()?;
        let mut books = if self.in_order { Books::in_order(sink) } else { Books::in_any_order(sink) };
        let mut facts = RunFacts {
            starts: self.starts,
            latency_from: LatencyFrom::Send,
            has_all_requests: self.has_all_requests,
            habits: self.habits,
            ..RunFacts::default()
        };
        if let Some(first) = lines.peek()? {
            let row = lines.bytes(first).to_vec();
            let header = Header::with_columns(&row, &self.needed())
                .map_err(|missing| ImportError::content(lines.place(), format!("no column '{missing}'")))?;
            lines.take(first)?;
            let columns = self.columns(&header);
            let last_used = columns.last();
            let table = Table {
                delimiter: header.delimiter,
                columns: header.len(),
                last_used,
                header: Some(row),
                wanted: every_row,
            };
            let mut reader = ColumnReader::new(columns);
            table.read(&mut lines, &mut books, |row, fields| reader.take(row, fields))?;
            reader.close(&mut facts);
        }
        (facts.start_resolution_ns, facts.duration_resolution_ns) = self.resolution_ns;
        // Each of these tools has a fixed number of workers, who wait for their answers.
        facts.load.model = Some(LoadModelKind::Closed);
        facts.notes.extend(self.notes(books.requests()));
        books.close(self.info, facts)
    }
}
