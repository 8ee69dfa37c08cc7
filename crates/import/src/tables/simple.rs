use truetail_model::workload::LoadModelKind;
use truetail_run::{ForeignStarts, LatencyFrom};

use super::columns::{Clock, ColumnReader, Columns, Length};
use super::{Header, Table};
use crate::head::first_line;
use crate::rows::number::Unit;
use crate::rows::{RowFormat, RowInput, Rows, RunFacts};
use crate::{FormatInfo, ImportError, Likeness};

/// A table of a tool whose rows are read column by column.
pub(crate) struct SimpleTable {
    info: &'static FormatInfo,
    start: (&'static str, Unit),
    duration: (&'static str, Unit),
    /// Optional columns.
    status: Option<&'static str>,
    error: Option<&'static str>,
    bytes: Option<&'static str>,
    starts: ForeignStarts,
    /// Resolution of the tool's clock for starts and durations, in nanoseconds. Its digits may be finer.
    resolution_ns: (u64, u64),
    /// Rows are ordered by the end of requests.
    in_order: bool,
    /// Notes for every reader of such a file.
    notes: &'static [&'static str],
    /// Limit on the requests that the tool keeps.
    keeps: Option<u64>,
    /// Requests without an answer have rows too.
    has_all_requests: bool,
}

/// hey's `-o csv`: requests without an answer have no row, and only the first million are kept.
pub(crate) static HEY: Rows<SimpleTable> = Rows(SimpleTable {
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
    keeps: Some(1_000_000),
    has_all_requests: false,
});

/// ab's `-g`: starts in whole seconds, sorted by latency, without status.
pub(crate) static AB: Rows<SimpleTable> = Rows(SimpleTable {
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
    keeps: None,
    has_all_requests: true,
});

/// Rows from truetail's listener for Locust.
pub(crate) static LOCUST: Rows<SimpleTable> = Rows(SimpleTable {
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
    keeps: None,
    has_all_requests: true,
});

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

    fn likeness(&self, head: &[u8]) -> Likeness {
        let (line, needed) = (first_line(head), self.needed());
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
            starts: self.starts,
            latency_from: LatencyFrom::Send,
            has_all_requests: self.has_all_requests,
            ..RunFacts::default()
        };
        if let Some((header, row)) = Header::read(lines, &self.needed())? {
            let columns = self.columns(&header);
            let table = Table::of(&header, Some(row), columns.last());
            let mut reader = ColumnReader::new(columns);
            table.read(lines, books, |row, fields| reader.take(row, fields))?;
            reader.close(&mut facts);
        }
        (facts.start_resolution_ns, facts.duration_resolution_ns) = self.resolution_ns;
        // Each of these tools has a fixed number of workers, which wait for their answers.
        facts.load.model = Some(LoadModelKind::Closed);
        facts.notes.extend(self.notes(books.requests()));
        Ok(facts)
    }
}
