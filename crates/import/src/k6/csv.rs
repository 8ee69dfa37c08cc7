use super::{CALL_DURATION, DURATION, K6Requests, READ, Sample};
use crate::rows::instant::instant;
use crate::rows::number::{Unit, time};
use crate::rows::{Fields, RowFormat, RowInput, RunFacts, Taken, Wrong};
use crate::tables::{Header, Table, every_row};
use crate::{Excerpt, FormatInfo, ImportError, Likeness};

static INFO: FormatInfo = FormatInfo { name: "k6-csv", about: "k6's samples as CSV", tool: Some("k6") };

const NEEDED: [&str; 3] = ["metric_name", "timestamp", "metric_value"];

/// k6's samples as CSV: about ten rows for each request, one per metric. Rows of `http_req_duration` are the requests,
/// and rows of `grpc_req_duration` the calls.
pub(crate) struct K6Csv;

impl RowFormat for K6Csv {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn likeness(&self, excerpt: &Excerpt<'_>) -> Likeness {
        let line = excerpt.first_line();
        match Header::with_columns(line, &NEEDED) {
            Ok(_) => Likeness::Yes,
            Err(missing) if memchr::memmem::find(line, b"metric_name").is_some() => {
                Likeness::Near(format!("the column '{missing}' is missing"))
            }
            Err(_) => Likeness::No,
        }
    }

    fn read(&self, RowInput { lines, books, .. }: RowInput<'_, '_, '_>) -> Result<RunFacts, ImportError> {
        let mut requests = K6Requests::default();
        if let Some((header, row)) = Header::read(lines, &NEEDED)? {
            let columns = Columns::from_header(&header);
            let wanted = if columns.metric == 0 { is_wanted } else { every_row };
            let table = Table { wanted, ..Table::with_header(&header, Some(row), columns.last()) };
            table.read(lines, books, |row, fields| columns.take(row, fields, &mut requests))?;
        }
        Ok(requests.close())
    }
}

/// Returns true for a row of a request, or of another metric that is read.
fn is_wanted(row: &[u8]) -> bool {
    READ.iter().any(|metric| row.strip_prefix(*metric).is_some_and(|rest| rest.starts_with(b",")))
}

struct Columns {
    metric: usize,
    timestamp: usize,
    value: usize,
    status: Option<usize>,
    error_code: Option<usize>,
    error: Option<usize>,
    user: Option<usize>,
    /// Columns of tags without a separate column, such as `vu=3&iter=7`.
    tags: [Option<usize>; 2],
}

impl Columns {
    fn from_header(header: &Header) -> Columns {
        let index = |name| header.index(name);
        Columns {
            metric: index("metric_name").unwrap_or_default(),
            timestamp: index("timestamp").unwrap_or_default(),
            value: index("metric_value").unwrap_or_default(),
            status: index("status"),
            error_code: index("error_code"),
            error: index("error"),
            user: index("vu"),
            tags: [index("metadata"), index("extra_tags")],
        }
    }

    /// Tags do not count, because a request whose tags were cut off has everything that is needed.
    fn last(&self) -> usize {
        let optional = [self.status, self.error_code, self.error, self.user];
        optional.into_iter().flatten().fold(self.metric.max(self.timestamp).max(self.value), usize::max)
    }

    fn take(&self, row: &[u8], fields: &Fields, requests: &mut K6Requests) -> Result<Taken, Wrong> {
        let metric = fields.get(row, self.metric);
        if !READ.contains(&metric) {
            return Ok(Taken::Other);
        }
        let value =
            time(fields.get(row, self.value), Unit::Millis).map_err(|why| Wrong::Number("metric_value", why))?;
        let is_call = metric == CALL_DURATION;
        if metric != DURATION && !is_call {
            requests.count(metric, value.ns / Unit::Millis.nanos());
            return Ok(Taken::Other);
        }
        let end = instant(fields.get(row, self.timestamp)).map_err(|why| Wrong::Number("timestamp", why))?;
        let field = |column: Option<usize>| column.map_or(&b""[..], |column| fields.get(row, column));
        requests.request(&Sample {
            is_call,
            end,
            duration_ns: value.ns,
            status: self.status.map(|status| fields.get(row, status)),
            error_code: field(self.error_code),
            error: field(self.error),
            user: self.user(row, fields),
        })
    }

    fn user<'r>(&self, row: &'r [u8], fields: &Fields) -> &'r [u8] {
        if let Some(user) = self.user {
            return fields.get(row, user);
        }
        let tags = self.tags.iter().flatten().flat_map(|tags| fields.get(row, *tags).split(|byte| *byte == b'&'));
        tags.filter_map(|tag| tag.strip_prefix(b"vu=")).next().unwrap_or_default()
    }
}
